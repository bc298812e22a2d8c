"""The leaderboard: models by what they are on the clean set, under each shift, and beyond their clean accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from oodometer.analysis.differences import difference_under_shift, drop_under_shift
from oodometer.analysis.points import Points
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.report.tables.best import Differ
from oodometer.report.tables.footnotes import common_footnotes
from oodometer.report.tables.shift_footnotes import clean_sides, lines, means_and_measures, without_line
from oodometer.report.tables.shifts import chosen_shifts
from oodometer.report.tables.table import Column, ModelTable, TableOptions, left_out, rows_in_groups, wanted_models
from oodometer.study import Study, StudyShift

OF_FAMILIES = ("mce", "relative-mce", "mean-corruption-error")
OF_CONDITIONS = {"calibration": "rms-calibration", "aurra": "aurra"}
TITLES = {
    "mce": "mCE",
    "relative-mce": "rel. mCE",
    "mean-corruption-error": "mean error",
    "calibration": "RMS cal.",
    "aurra": "AURRA",
}
COLUMNS = ("clean", "accuracy", "drop", "rho", "tau", *OF_CONDITIONS, *OF_FAMILIES)
"""What can be told of each model."""

USUAL = ("clean", "accuracy", "rho")


@dataclass(frozen=True)
class Asked:
    """What is told, about which shifts and models."""

    study: Study
    columns: tuple[str, ...]
    shifts: tuple[StudyShift, ...]
    models: frozenset[str]

    def of_these(self, values: Mapping[str, Estimate | None]) -> dict[str, Estimate]:
        """The numbers of the models that are wanted."""
        return {name: one for name, one in values.items() if one is not None and name in self.models}


def leaderboard_table(study: Study, options: TableOptions | None = None) -> ModelTable:
    """The leaderboard of a study."""
    options = options or TableOptions()
    shifts, notes = chosen_shifts(study, options)
    asked = Asked(study, _columns(study, shifts, options), shifts, frozenset(wanted_models(study, options.models)))
    columns = [one for one in _all_columns(asked) if one.values]
    if not columns:
        raise UsageError(f"{study.address}: nothing is known of {', '.join(asked.columns)}; ask for other --columns")
    footnotes = [*clean_sides(study, shifts), *means_and_measures(shifts), *lines(study, shifts, asked.columns)]
    return ModelTable(
        "leaderboard",
        f"{_measure(shifts)} of each model in per cent{', clean and under shift' if shifts else ''}.",
        tuple(columns),
        rows_in_groups(study, columns, options),
        (*common_footnotes(columns), *footnotes, *_conventions(asked)),
        (
            *study.notes,
            *notes,
            *left_out(study, columns, options),
            *(without_line(shifts) if "rho" in asked.columns else ()),
        ),
    )


def _measure(shifts: Sequence[StudyShift]) -> str:
    """Top-1 accuracy, but where all is judged by mAP."""
    return "mAP" if shifts and all(one.points.measure == "map" for one in shifts) else "Top-1 accuracy"


def _columns(study: Study, shifts: Sequence[StudyShift], options: TableOptions) -> tuple[str, ...]:
    for name in options.columns:
        if name not in COLUMNS:
            raise UsageError(f"no column {name!r}{did_you_mean(name, COLUMNS)}")
    # mCE is divided by AlexNet's errors on ImageNet-C: elsewhere it takes long to find that there is none.
    whole = any(one.kind == "corruption" and one.name.startswith("imagenet-c") for one in shifts)
    usual = (*USUAL, "mce") if whole and study.shifts else USUAL
    return options.columns or usual


def _all_columns(asked: Asked) -> Iterator[Column]:
    if "clean" in asked.columns and asked.study.conditions:
        yield _clean(asked)
    for name in asked.columns:
        if name in OF_CONDITIONS:
            yield _of_condition(asked, name, asked.study.conditions[0].name, "clean")
    for shift in asked.shifts:
        for name in asked.columns:
            if name in OF_SHIFTS:
                yield OF_SHIFTS[name](asked, shift)
            elif name in OF_CONDITIONS and len(shift.points.conditions) == 1:
                yield _of_condition(asked, name, shift.points.conditions[0], shift.name)
    yield from _of_families(asked)


def _clean(asked: Asked) -> Column:
    """The first clean set; two models are told apart on the images that both saw."""
    clean = asked.study.conditions[0]
    near = [one.points for one in asked.study.shifts if one.points.x == (clean.name,)]
    points = next((one for one in near if one.right_x is not None), near[0] if near else None)
    differ = None if points is None else differ_in(as_shifted(points), asked.study.options.resampling.level)
    by_map = points is not None and points.measure == "map"
    values = {one.model: one.x[0] for one in points.models} if points and by_map else clean.accuracies
    return Column("clean", "clean", "percent", "high", asked.of_these(values), differ=differ)


def as_shifted(points: Points) -> Points:
    """The clean side in the place of the shifted one."""
    models = tuple(replace(one, y=one.x[0]) for one in points.models)
    return replace(points, models=models, right_y=points.right_x)


def differ_in(points: Points, level: float) -> Differ:
    """The difference of two models under the shift, paired where it is known which images each is right on."""
    places = {one.model: place for place, one in enumerate(points.models)}

    def differ(a: str, b: str) -> Estimate | None:
        if a not in places or b not in places:
            return None
        return difference_under_shift(points, places[a], places[b], level)

    return differ


def _accuracy(asked: Asked, shift: StudyShift) -> Column:
    values = asked.of_these({one.model: one.y for one in shift.points.models})
    differ = differ_in(shift.points, asked.study.options.resampling.level)
    return Column(shift.name, "acc.", "percent", "high", values, shift.name, shift.name, differ)


def _rho(asked: Asked, shift: StudyShift) -> Column:
    values = asked.of_these({name: one.rho for name, one in shift.of_model.items()})
    return Column(f"rho:{shift.name}", "ρ", "points", "high", values, shift.name)


def _tau(asked: Asked, shift: StudyShift) -> Column:
    """What a model has beyond its parent; those of other parents are not compared, so none is bold."""
    differ = differ_in(shift.points, asked.study.options.resampling.level)
    parents = {one.model: one.origin.parent for one in shift.points.models}
    found = {model: differ(model, parent) for model, parent in parents.items() if parent and parent != model}
    return Column(f"tau:{shift.name}", "τ", "points", None, asked.of_these(found), shift.name)


def drops(shift: StudyShift, level: float) -> dict[str, Estimate]:
    """What each model loses."""
    return {one.model: drop_under_shift(shift.points, place, level) for place, one in enumerate(shift.points.models)}


def _drop(asked: Asked, shift: StudyShift) -> Column:
    """Clean minus shifted; none is bold, since a model that is always wrong loses nothing."""
    values = asked.of_these(drops(shift, asked.study.options.resampling.level))
    return Column(f"drop:{shift.name}", "drop", "points", None, values, shift.name)


OF_SHIFTS: dict[str, Callable[[Asked, StudyShift], Column]] = {
    "accuracy": _accuracy,
    "drop": _drop,
    "rho": _rho,
    "tau": _tau,
}


def _of_condition(asked: Asked, name: str, condition: str, over: str) -> Column:
    """A number about one condition."""
    metric = OF_CONDITIONS[name]
    found = {
        one.model: one.estimate for one in asked.study.scores if (one.metric, one.condition) == (metric, condition)
    }
    better: Literal["high", "low"] = "high" if name == "aurra" else "low"
    label = f"{TITLES[name]} on {over}"
    return Column(f"{name}:{over}", TITLES[name], "percent", better, asked.of_these(found), over, label)


def _of_families(asked: Asked) -> Iterator[Column]:
    """A number about each family of corruptions; of a family on several data sets, each by itself."""
    wanted = [name for name in asked.columns if name in OF_FAMILIES]
    found: dict[tuple[str, str, str], dict[str, Estimate]] = {}
    for one in asked.study.scores if wanted else ():
        if one.metric in wanted:
            found.setdefault((one.metric, one.condition, one.data), {})[one.model] = one.estimate
    for (metric, family, data), values in found.items():
        several = len({key for key in found if key[:2] == (metric, family)}) > 1
        over = f"{family}@{data}" if several else family
        label = f"{TITLES[metric]} of {over}"
        yield Column(f"{metric}:{over}", TITLES[metric], "percent", "low", asked.of_these(values), over, label)


def _conventions(asked: Asked) -> list[str]:
    """What each score is, as it was computed."""
    names = {OF_CONDITIONS.get(name, name): name for name in asked.columns if name in TITLES}
    if not names:
        return []
    said = dict.fromkeys((names[one.metric], one.convention) for one in asked.study.scores if one.metric in names)
    return [f"{TITLES[name]}: {convention}." for name, convention in said if convention]
