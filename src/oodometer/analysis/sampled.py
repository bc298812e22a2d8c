"""Answers to samples: in the order in which their images were drawn, and as one number over a family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from oodometer.core.errors import StoreError
from oodometer.core.estimate import Estimate
from oodometer.core.sample import Sample
from oodometer.stats.confidence_sequence import confidence_sequence, p_value_at_any_time
from oodometer.stats.intervals import mean_of, share_of
from oodometer.store.cells import Cell
from oodometer.store.index import Index

NOT_ANYTIME = "as if n had been fixed"
"""What is said of an interval of a sample that was stopped by what was seen, if it is not made for that."""


def sample_of(cell: Cell) -> Sample | None:
    """How the images of a cell were drawn; None of all images, and of those that a user chose."""
    return cell.condition.data.sample


def stopped(cell: Cell) -> Sample | None:
    """The sample of a cell whose number of images depends on what was seen; None of others."""
    sample = sample_of(cell)
    return sample if sample is not None and sample.rule == "until" else None


def first_stopped(cells: Sequence[Cell]) -> Sample | None:
    """The sample that all these cells begin with, where one of them was stopped by what was seen."""
    found = [sample for cell in cells if (sample := stopped(cell)) is not None]
    return min(found, key=lambda sample: sample.aims[0][0]) if found else None


def if_fixed(estimate: Estimate, *, was_stopped: bool) -> Estimate:
    """The estimate; of samples that were stopped its interval says that it holds for a fixed n, if it does."""
    if not was_stopped or estimate.interval.startswith(("betting", "none")):
        return estimate
    return replace(estimate, interval=f"{estimate.interval}, {NOT_ANYTIME}")


def notes_of_stopped(numbers: str, *samples: Sample | None) -> list[str]:
    """A line about numbers that have no confidence sequences, where one of these samples was stopped."""
    if all(sample is None for sample in samples):
        return []
    return [f"samples were stopped by what was seen: {numbers} are {NOT_ANYTIME}"]


def drawn_apart(cells: Sequence[Cell]) -> bool:
    """Whether images were drawn apart for some of the cells, so that they have few in common; others may have all."""
    return len({sample.order for cell in cells if (sample := sample_of(cell)) is not None}) > 1


def pair_drawn_apart(a: Sequence[Cell], b: Sequence[Cell]) -> bool:
    """Whether two models have few images in common that both saw under every condition: those of either were apart."""
    return drawn_apart(a) or drawn_apart(b)


def in_order_drawn(index: Index, cell: Cell) -> np.ndarray:
    """Whether the cell is right on each labelled image, in the order in which they were drawn, (n,) bool."""
    (verdicts,) = index.verdicts([cell])
    # Rows come in the order of the data set, which is that in which its images were drawn.
    return np.asarray(verdicts.verdict[verdicts.verdict >= 0] == 0)


def accuracy_when_stopped(right: np.ndarray, sample: Sample, *, level: float) -> Estimate:
    """The accuracy over all images of which these are the first of a random order, with its confidence sequence.

    Args:
        right: In the order in which they were drawn, (n,).
    """
    return confidence_sequence(right, sample.of, aims=aims_of_member(sample), level=level)


def accuracy_of(right: np.ndarray, level: float, sample: Sample | None = None) -> Estimate:
    """The accuracy over images of which it is known whether the model is right, or in which share of the conditions.

    Of a family the images are the units, since an image that is hard clean is hard in all its corruptions.

    Args:
        sample: Whose first images these are, where how many there are depends on what was seen.
    """
    if sample is not None:
        return accuracy_when_stopped(right, sample, level=level)
    if right.dtype == bool:
        return share_of(int(right.sum()), len(right), level=level)
    return mean_of(right, level=level, bounds=(0.0, 1.0))


def one_minus(share: Estimate) -> Estimate:
    """The rest of a share, with the rest of its interval."""
    low, high = (None if end is None else 1 - end for end in (share.high, share.low))
    return Estimate(1 - share.value, low, high, share.n, share.interval)


def difference_when_stopped(a: np.ndarray, b: np.ndarray, sample: Sample, *, level: float) -> Estimate:
    """The mean of a minus that of b over all images of which these are the first of a random order.

    Args:
        a, b: Of the same images, in the order in which they were drawn, each in [0, 1], (n,).
    """
    halves, aims = _halves_of(a, b, sample)
    found = confidence_sequence(halves, sample.of, aims=aims, level=level)
    low, high = (None if end is None else 2 * end - 1 for end in (found.low, found.high))
    return Estimate(2 * found.value - 1, low, high, found.n, found.interval)


def p_value_when_stopped(a: np.ndarray, b: np.ndarray, sample: Sample) -> float:
    """Of "both means are the same", two-sided, by a bet; the arguments are those of `difference_when_stopped`."""
    halves, aims = _halves_of(a, b, sample)
    return p_value_at_any_time(halves, sample.of, 0.5, aims=aims)


def _halves_of(a: np.ndarray, b: np.ndarray, sample: Sample) -> tuple[np.ndarray, tuple[tuple[int, float], ...]]:
    """The differences as numbers between 0 and 1, with what bets about them aim at."""
    return (a.astype(np.float64) - b + 1) / 2, tuple((n, width / 2) for n, width in aims_of_member(sample))


def aims_of_member(sample: Sample) -> tuple[tuple[int, float], ...]:
    """The half widths that bets about one condition aim at: wider, where many conditions are summed up."""
    return tuple((n, min(width * float(np.sqrt(sample.members)), 0.49)) for n, width in sample.aims)


def sum_when_stopped(index: Index, cells: Sequence[Cell], weights: np.ndarray, *, level: float) -> Estimate:
    """A weighted sum of the errors of cells that were stopped together, with its confidence sequence.

    Each step of it is one image of every cell, weighted: a number between 0 and the sum of the weights.

    Args:
        weights: Of the error of each cell, (K,).
    """
    samples = [sample for cell in cells if (sample := stopped(cell)) is not None]
    if len(samples) < len(cells) or len({(sample.of, sample.aims) for sample in samples}) > 1:
        raise StoreError(f"{cells[0].model_name}: these samples were not stopped together; run them with one --until")
    scale, sample = float(weights.sum()), samples[0]
    found = confidence_sequence(
        steps_of(index, cells, weights), sample.of, aims=aims_of_sum(sample, scale), level=level
    )
    low, high = (None if end is None else scale * end for end in (found.low, found.high))
    name = found.interval.replace(" images,", f" images x {len(cells)},")
    return Estimate(scale * found.value, low, high, found.n, name)


def steps_of(index: Index, cells: Sequence[Cell], weights: np.ndarray) -> np.ndarray:
    """The error on one image of every cell after the other, weighted so that 1 is wrong on all, (n,)."""
    wrong = [~in_order_drawn(index, cell) for cell in cells]
    n = min(len(values) for values in wrong)
    steps = weights @ np.stack([values[:n] for values in wrong]) / weights.sum()
    return np.asarray(np.clip(steps, 0, 1))


def aims_of_sum(sample: Sample, scale: float) -> tuple[tuple[int, float], ...]:
    """The half widths that are aimed at, of a number whose steps lie between 0 and 1."""
    return tuple((stop, width / scale) for stop, width in sample.aims)
