"""Many models on the images that they share: every pair on the clean sets and under every shift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from oodometer.analysis.common_images import few_groups_in, right_on_common
from oodometer.analysis.compared_sides import ComparedSide, compared_sides, model_names_in
from oodometer.analysis.family_apart import judged_apart, mean_accuracy_apart
from oodometer.analysis.judged_pair import DEFAULT, CompareOptions, Judged, Resampled, judged, judged_alone
from oodometer.analysis.many_comparisons import Asked, ComparedOn, ManyComparisons, Pair, told_together
from oodometer.analysis.people import models_alone
from oodometer.analysis.sampled import accuracy_of, drawn_apart, first_stopped
from oodometer.analysis.side_answers import SideAnswers
from oodometer.core.errors import OodometerError, StoreError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.store.index import Index, Source, index_at


def compare_many(
    store: Source,
    models: Sequence[str] = (),
    *,
    on: Sequence[str] = (),
    options: CompareOptions = DEFAULT,
) -> ManyComparisons:
    """Every pair of models on the clean sets and under every shift, on the images that both saw.

    Args:
        models: By name; none: all of the store but people.
        on: Conditions, shifts, or families of them; none: all of them.
        options: Which test, and how its p-values are corrected for the number of all comparisons.

    Raises:
        StoreError: There are not two models that were measured on one of these.
    """
    index = index_at(store) if models else models_alone(index_at(store))
    names = model_names_in(index, models)
    sides = [_of_models(side, names) for side in compared_sides(index, on=on, level=options.level)]
    by_map = [side.name for side in sides if side.measure != "top-1"]
    notes = [f"{', '.join(by_map)}: judged by mAP, which this does not compare"] if by_map else []
    compared = [side for side in sides if side.measure == "top-1" and len(side.models) > 1]
    if not compared:
        raise StoreError(f"{index}: no two of these models were measured on one condition")
    notes += _few_classes(index, compared) if options.by_class else []
    asked = [_asked(index, side, options) for side in compared]
    return told_together(asked, options, measure="top-1", notes=notes, resamples=options.resamples)


def _few_classes(index: Index, sides: Sequence[ComparedSide]) -> list[str]:
    """A warning for each data set that has too few classes to resample."""
    cells = [cell for side in sides for of_model in side.cells.values() for cell in of_model]
    said = [line.removeprefix("--by class: ") for line in few_groups_in(index, cells, "class")]
    return [line.replace("groups", "classes") for line in said]


def compare_side(index: Index, side: ComparedSide, options: CompareOptions = DEFAULT) -> ComparedOn:
    """Every pair of models on one side, corrected for the number of these alone."""
    found = told_together(
        [_asked(index, side, options)], options, measure="top-1", notes=(), resamples=options.resamples
    )
    return found.sides[0]


def _of_models(side: ComparedSide, names: Sequence[str]) -> ComparedSide:
    return replace(
        side,
        cells={name: side.cells[name] for name in names if name in side.cells},
        imported={name: side.imported[name] for name in names if name in side.imported},
    )


def _asked(index: Index, side: ComparedSide, options: CompareOptions) -> Asked:
    """A side with all its pairs."""
    found = {name: _accuracy(index, side, name, options.level) for name in side.models}
    order = sorted(found, key=lambda name: (-found[name].value, name))
    conditions = max((len(cells) for cells in side.cells.values()), default=1)
    pairs = _pairs_of(SideAnswers.of(index, side), {name: found[name] for name in order}, options)
    return Asked(side.name, side.kind, conditions, {name: found[name] for name in order}, pairs)


def _accuracy(index: Index, side: ComparedSide, name: str, level: float) -> Estimate:
    """On all images that the model saw."""
    if name not in side.cells:
        return side.imported[name]
    cells = side.cells[name]
    if drawn_apart(cells):
        return mean_accuracy_apart(index, cells, level=level)
    values = right_on_common(index, cells).values
    right = np.mean(values, axis=0) if len(values) > 1 else values[0]
    return accuracy_of(right, level, first_stopped(cells))


# Pairs


def _pairs_of(answers: SideAnswers, values: Mapping[str, Estimate], options: CompareOptions) -> list[Pair]:
    same = answers.same
    resampled = Resampled(same.right, same.labels, options) if same and options.resamples else None
    found: list[Pair] = []
    for a, b in combinations(values, 2):
        if {a, b} <= answers.side.cells.keys():
            found.append(Pair(a, b, *_judged(answers, resampled, (a, b), options)))
        else:
            found.append(Pair(a, b, *_judged_alone(values[a], values[b])))
    return found


def _judged_alone(a: Estimate, b: Estimate) -> tuple[Judged | None, str]:
    """The test of two models of one of which the accuracy alone is known, or why there is none."""
    try:
        return judged_alone(a, b), ""
    except StoreError as why:
        return None, str(why)


def _judged(
    answers: SideAnswers, resampled: Resampled | None, models: tuple[str, str], options: CompareOptions
) -> tuple[Judged | None, str]:
    """The test of two models, or why there is none."""
    a, b = models
    try:
        if answers.same is not None and resampled is not None and {a, b} <= answers.same.place.keys():
            return resampled.judged(answers.same.place[a], answers.same.place[b]), ""
        if answers.apart(a, b):
            answers.check(a, b)
            cells = answers.side.cells
            return judged_apart(answers.index, list(zip(cells[a], cells[b], strict=True))), ""
        return judged(answers.pair(a, b), options), ""
    except UsageError:
        raise
    except OodometerError as why:
        return None, str(why)
