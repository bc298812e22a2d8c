"""How restless a model is along perturbation sequences: flip probability, flip rate, top-5 distance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from oodometer.analysis.common_images import Joined, clusters_by, joined
from oodometer.analysis.families import family_in
from oodometer.analysis.intervals import SharedDraws, shared_draws
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.score_table import About, LeftOut, Score, about, or_left_out
from oodometer.core.condition import Family
from oodometer.core.errors import OodometerError, StoreError
from oodometer.metrics.flips import flip_scores as flips
from oodometer.metrics.flips import is_noise, mean_over_sequences, mean_rate, top5_distances
from oodometer.store.cells import Cell
from oodometer.store.index import Index

FAMILY = "imagenet-p"
FLIPS, RATE, DISTANCE = "flip-probability", "mean-flip-rate", "top-5-distance"
COMPARED = "noise against frame 0, others against the frame before"

Sequences = Mapping[str, Sequence[Cell]]
"""Sequence to its frames in order."""


def flip_scores(index: Index, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    """The flips of one model on every sequence that it saw, and their mean, per data set."""
    some = False
    for data in sorted({cell.data.digest for cell in cells}):
        frames = [cell for cell in cells if cell.data.digest == data and _frame(index, cell)]
        if len(frames) > 1:
            some = True
            found = _of_sequences(index, frames, asked)
            yield from or_left_out(found, (FLIPS, RATE, DISTANCE), f"{cells[0].model_name} on {frames[0].data}")
    if not some:
        raise OodometerError(f"{cells[0].model_name}: no perturbation sequence; run --on imagenet-p")


def _frame(index: Index, cell: Cell) -> Family | None:
    """The sequence and the frame that a cell is about; None where it is no frame."""
    member = family_in(index, cell.condition)
    return member if member is not None and member.name == FAMILY else None


def sequences_of(index: Index, cells: Sequence[Cell]) -> Sequences:
    """The sequences of these cells of one data set."""
    found: dict[str, dict[int, Cell]] = {}
    for cell in cells:
        if frame := _frame(index, cell):
            frames = found.setdefault(frame.corruption, {})
            if frame.severity in frames:
                raise StoreError(
                    f"{cell.condition_name} was run twice on {cell.data}, with other seeds; keep each in a store "
                    "of its own"
                )
            frames[frame.severity] = cell
    for name, frames in found.items():
        if sorted(frames) != list(range(len(frames))):
            missing = min(set(range(max(frames) + 1)) - set(frames))
            raise StoreError(f"imagenet-p/{name}: frame {missing} is missing; run --on imagenet-p to the end")
    return {name: [frames[at] for at in sorted(frames)] for name, frames in found.items()}


class _Kind(NamedTuple):
    """A number about one image along one sequence, and what it is called."""

    metric: str
    what: str
    of: Callable[[str, np.ndarray], np.ndarray]
    """Sequence and the five best classes of each frame, (N, F, 5) -> (N,)."""


KINDS = (
    _Kind(
        FLIPS,
        "share of frames with another prediction",
        # The best of the five is the prediction.
        lambda name, top5: flips(top5[:, :, 0], noise=is_noise(name)),
    ),
    _Kind(
        DISTANCE,
        "how far the five best classes move",
        lambda name, top5: top5_distances(top5, noise=is_noise(name)),
    ),
)


def _of_sequences(index: Index, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    sequences = sequences_of(index, cells)
    other: Sequences = {}
    if asked.options.normaliser is None:
        yield LeftOut((RATE,), "needs a model to divide by; name one of the store with --normaliser")
    else:
        try:
            other = _other(index, asked.options.normaliser, sequences)
        except StoreError as why:
            yield LeftOut((RATE,), f"{cells[0].model_name}: {why}")
    every = [cell for frames in sequences.values() for cell in frames]
    more = [cell for frames in other.values() for cell in frames]
    common = joined(index, [*every, *more], lambda rows: rows.top5, labelled=False)
    best = iter(common.values)
    top5 = [
        (name, np.stack([next(best) for _ in frames], axis=1)) for name, frames in (*sequences.items(), *other.items())
    ]
    for kind in KINDS:
        if asked.wants(kind.metric) or (kind.metric == FLIPS and other and asked.wants(RATE)):
            found = _numbers(index, sequences, kind, (common, top5), asked)
            yield from or_left_out(found, (kind.metric,), every[0].model_name)


def _numbers(
    index: Index,
    sequences: Sequences,
    kind: _Kind,
    frames: tuple[Joined, Sequence[tuple[str, np.ndarray]]],
    asked: Asked,
) -> Iterator[Score | LeftOut]:
    """One kind of number on each sequence and over all, from the frames of the model and then of the normaliser."""
    common, top5 = frames
    scores = np.stack([kind.of(name, of_sequence) for name, of_sequence in top5], axis=1)
    every = [cell for frames in sequences.values() for cell in frames]
    draws = shared_draws(scores, asked.how, clusters_by(index, every[0], common, asked.how.by))
    mine = draws.means[:, : len(sequences)]
    of_cells = about(index, every, missing=common.left_out)
    if asked.wants(kind.metric):
        for place, (name, of_sequence) in enumerate(sequences.items()):
            said = f"{kind.what} of {len(of_sequence)}, {COMPARED}"
            estimate = draws.estimate(mine[:, place], least=0.0)
            yield of_cells.score(kind.metric, estimate, said, condition=f"imagenet-p/{name}")
        said = f"{kind.what}, {COMPARED}; mean over {len(sequences)} sequences"
        yield of_cells.score(
            kind.metric, draws.estimate(mean_over_sequences(mine), least=0.0), said, condition="imagenet-p"
        )
    if kind.metric == FLIPS and len(top5) > len(sequences) and asked.wants(RATE):
        yield from or_left_out(
            _rate(draws, len(sequences), of_cells, str(asked.options.normaliser)), (RATE,), of_cells.model
        )


def _rate(draws: SharedDraws, n: int, of_cells: About, by: str) -> Iterator[Score]:
    """The mean flip rate, of the means of n sequences of the model, and then of the normaliser."""
    mine, others = draws.means[:, :n], draws.means[:, n:]
    values = np.full(len(mine), np.nan)
    values[0] = mean_rate(mine[0], others[0])
    # A draw in which the normaliser never flips has no rate; the interval counts such draws.
    defined = (others > 0).all(axis=1)
    values[defined] = mean_rate(mine[defined], others[defined])
    said = f"mean over {n} sequences of the flip probability by that of {by}"
    yield of_cells.score(RATE, draws.estimate(values, least=0.0), said, condition="imagenet-p")


def _other(index: Index, name: str, sequences: Sequences) -> Sequences:
    """The same sequences of the normaliser."""
    data = next(iter(sequences.values()))[0].data.digest
    found = sequences_of(index, [cell for cell in index.of_model(name) if cell.data.digest == data])
    for one, frames in sequences.items():
        if len(found.get(one, ())) != len(frames):
            raise StoreError(
                f"{index}: the normaliser {name} was not run on all frames of imagenet-p/{one} of {frames[0].data}"
            )
    return {one: found[one] for one in sequences}
