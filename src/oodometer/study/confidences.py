"""How sure models are of their answers, and how often they are right then, on both sides of each shift."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.analysis.cell_estimates import CellEstimates
from oodometer.analysis.classwise_scores import classwise_scores
from oodometer.analysis.curve_scores import ANSWERS, reliability_of, response_of
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.metric_request import Asked, ScoreOptions
from oodometer.analysis.points import named
from oodometer.analysis.score_table import Score
from oodometer.analysis.text import listed
from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.metrics.metric import columns_of, metrics
from oodometer.stats.intervals import mean_of, share_of
from oodometer.store.cells import Cell
from oodometer.store.index import Index
from oodometer.study import Study, StudyModel, StudyShift
from oodometer.study.scores import draws_for

NUMBERS = ("ece", "rms-calibration", "aurra", "smooth-ece", "augrc", "risk@80%")
MOST_LOGITS = 5_000_000
"""Of one cell, of which a report reads all probabilities: beyond, it would take seconds for each."""
MOST_MODELS = 12
MOST_SHIFTS = 8
MOST_NAMES = 40
"""Of what is not shown; more are counted."""


@dataclass(frozen=True)
class Answers:
    """One model on one condition.

    Args:
        condition: As its cell has it; ``data`` the images.
        accuracy: Top-1; ``confidence`` the mean of the largest softmax probabilities, which it would equal if the
            model knew how good it is.
        bins: Of each bin of confidences its mean and the accuracy.
        response: Of each response rate the accuracy among as many images, the most confident ones.
        numbers: The metrics of `NUMBERS`.
        classwise: The error of every class's probability; None where the logits were not kept, or are too many.
    """

    model: str
    condition: str
    data: str
    accuracy: Estimate
    confidence: Estimate
    bins: tuple[tuple[float, Estimate], ...]
    response: tuple[tuple[float, Estimate], ...]
    numbers: Mapping[str, Estimate]
    classwise: Estimate | None = None


@dataclass(frozen=True)
class Sides:
    """A shift, and the cells of each model on its two sides.

    Args:
        clean, shifted: Names of the two conditions; None: there is no other side.
        cells: Model to the keys of its cells.
    """

    shift: str
    clean: str
    shifted: str | None
    cells: Mapping[str, tuple[str, str | None]]


@dataclass(frozen=True)
class Confidences:
    """What is known of the confidences of some models.

    Args:
        models: Names, the best first.
        sides: Natural shifts first.
        answers: By key of the cell.
        how: The intervals.
        notes: What was left out, and why.
    """

    models: tuple[str, ...]
    sides: tuple[Sides, ...]
    answers: Mapping[str, Answers]
    how: IntervalOptions
    notes: tuple[str, ...]


def confidences_of(study: Study) -> Confidences:
    """How sure the models of a study are; of a dozen where there are more, each of their cells read once."""
    sure = [model for model in study.models if any(cell.known_classes is None for cell in model.cells)]
    models = spread(sure, MOST_MODELS)
    notes = _left_out(study, sure, models)
    cells: dict[str, tuple[str, Cell]] = {}
    sides = []
    for shift, condition in _looked_at(study, notes):
        if both := _sides(models, shift, condition, cells):
            sides.append(both)
    if not sides and (one := _one_side(study, models, cells)):
        sides.append(one)
    how = _how(study, sum(cell.n_images for _, cell in cells.values()))
    # What the leaderboard shows of a cell is shown here too, not computed again.
    known = {(score.cell, score.metric): score.estimate for score in study.scores if score.metric in NUMBERS}
    answers = {}
    for key, (model, cell) in cells.items():
        try:
            found = answers_of(study.index, model, cell, how, known)
        except OodometerError as error:
            notes.append(f"{model} on {cell.condition_name} is left out: {error}")
            continue
        answers[key] = found
    return Confidences(tuple(model.name for model in models), tuple(sides), answers, how, tuple(notes))


def answers_of(
    index: Index, model: str, cell: Cell, how: IntervalOptions, known: Mapping[tuple[str, str], Estimate]
) -> Answers:
    """What the rows of a cell say, read once; ``known`` are numbers by the cell's key and the metric."""
    rows = index.read_some(cell, ANSWERS.columns)
    confidence, rank = columns_of(ANSWERS, rows)
    unknown = [metrics.get(name) for name in NUMBERS if (cell.key, name) not in known]
    estimates = CellEstimates(rows, unknown, how)
    numbers = {metric.name: estimates.of(metric) for metric in unknown}
    return Answers(
        model=model,
        condition=cell.condition_name,
        data=cell.data.title,
        accuracy=share_of(int((rank == 0).sum()), len(rank), interval=how.of_counts, level=how.level),
        confidence=mean_of(confidence.astype(np.float64), level=how.level, bounds=(0.0, 1.0)),
        bins=tuple(reliability_of(rows, how)),
        response=tuple(response_of(rows, how)),
        numbers={name: known[cell.key, name] if name not in numbers else numbers[name] for name in NUMBERS},
        classwise=_classwise(index, cell, how),
    )


def has_few_logits(index: Index, cell: Cell) -> bool:
    """Whether all logits of a cell were kept, and are few enough to be read for a report."""
    return index.entry(cell).logits_of_all_rows and cell.n_rows * cell.n_classes <= MOST_LOGITS


def _classwise(index: Index, cell: Cell, how: IntervalOptions) -> Estimate | None:
    if not has_few_logits(index, cell):
        return None
    found = next(classwise_scores(index, [cell], Asked((), how, ScoreOptions())))
    return found.estimate if isinstance(found, Score) else None


def spread(models: Sequence[StudyModel], most: int) -> list[StudyModel]:
    """At most so many models, evenly from the first to the last."""
    if len(models) <= most:
        return list(models)
    return [models[round(place)] for place in np.linspace(0, len(models) - 1, most)]


def _how(study: Study, n_images: int) -> IntervalOptions:
    """The intervals of the study, with fewer draws where there are very many images."""
    wanted = study.options.resampling
    return IntervalOptions(level=wanted.level, draws=draws_for(n_images, wanted.draws), seed=wanted.seed)


def _left_out(study: Study, sure: Sequence[StudyModel], models: Sequence[StudyModel]) -> list[str]:
    notes = []
    unsure = [model.name for model in study.models if model not in sure]
    if unsure and sure:
        notes.append(f"Only classes or accuracies are known of {named(unsure)}, no confidences.")
    if len(models) < len(sure):
        rest = [model.name for model in sure if model not in models]
        notes.append(
            f"{len(models)} of {len(sure)} models are shown, evenly from the best to the worst on "
            f"{study.conditions[0].name}; not shown: {listed(rest, MOST_NAMES)}."
        )
    return notes


def _looked_at(study: Study, notes: list[str]) -> Iterator[tuple[StudyShift, str]]:
    """The shifts of which there are predictions, and the condition of each that is looked at."""
    shifts = [shift for shift in study.shifts if shift.points.cells]
    if rest := [one.name for one in shifts[MOST_SHIFTS:]]:
        notes.append(f"Not shown: the shifts {listed(rest, MOST_NAMES)}.")
    for shift in shifts[:MOST_SHIFTS]:
        condition = middle_condition(study, shift)
        if len(shift.points.conditions) > 1:
            notes.append(
                f"{shift.name} is {len(shift.points.conditions)} conditions; {condition} stands for them, on which the "
                "mean accuracy of the models is in the middle; others are harder."
            )
        yield shift, condition


def middle_condition(study: Study, shift: StudyShift) -> str:
    """The condition of a family with the median of the mean accuracies, of two the harder; that of a single one."""
    of_family = set(shift.points.conditions)
    means: dict[str, list[float]] = {}
    for one in study.conditions:
        if one.condition in of_family:
            means.setdefault(one.condition, []).extend(found.value for found in one.accuracies.values())
    ranked = sorted(means, key=lambda name: (float(np.mean(means[name])), name))
    return ranked[(len(ranked) - 1) // 2] if len(of_family) > 1 and ranked else shift.points.conditions[0]


def _sides(
    models: Sequence[StudyModel], shift: StudyShift, condition: str, cells: dict[str, tuple[str, Cell]]
) -> Sides | None:
    """The cells of each model on both sides, which are remembered; None where no model has both."""
    keys: dict[str, tuple[str, str | None]] = {}
    for model in models:
        clean, shifted = shift.points.cells.get(model.name, ((), ()))
        for cell in shifted:
            if cell.condition_name == condition or len(shifted) == 1:
                keys[model.name] = clean[0].key, cell.key
                cells.update({one.key: (model.name, one) for one in (clean[0], cell)})
    return Sides(shift.name, shift.points.x[0], condition, keys) if keys else None


def _one_side(study: Study, models: Sequence[StudyModel], cells: dict[str, tuple[str, Cell]]) -> Sides | None:
    """The first condition alone, where there is no shift."""
    for one in study.conditions:
        found = {
            model.name: cell
            for model in models
            for cell in model.cells
            if (cell.condition_name, cell.data.title) == (one.condition, one.data)
        }
        if found:
            cells.update({cell.key: (name, cell) for name, cell in found.items()})
            return Sides(one.name, one.name, None, {name: (cell.key, None) for name, cell in found.items()})
    return None
