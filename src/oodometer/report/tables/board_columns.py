"""The columns of the leaderboard, each with its number of every model.

Made here alone; the report, tables for papers, the explorer and the quickstart show them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from oodometer.analysis.differences import clean_as_shifted, difference_under_shift, drop_under_shift
from oodometer.analysis.point_standing import standings_of
from oodometer.analysis.points import Points
from oodometer.analysis.score_table import Score
from oodometer.core.estimate import Estimate
from oodometer.document.numbers import about_n
from oodometer.document.table import Column
from oodometer.report.tables.best import Differ
from oodometer.report.tables.model_table import Numbers, Stand
from oodometer.study import Study, StudyShift

MEASURES = {"map": "mAP", "top-1": "Top-1 accuracy"}


@dataclass(frozen=True)
class ScoreKind:
    """A score besides accuracies: its metric, above the column, what it is, and which end is good."""

    metric: str
    title: str
    long: str
    better: Literal["high", "low"] = "low"


OF_CONDITIONS = {
    "ece": ScoreKind("ece", "ECE", "expected calibration error"),
    "calibration": ScoreKind("rms-calibration", "RMS cal.", "RMS calibration error"),
    "aurra": ScoreKind("aurra", "AURRA", "area under the curve of accuracy by response rate", "high"),
}
OF_FAMILIES = {
    "mce": ScoreKind("mce", "mCE", "mean corruption error"),
    "relative-mce": ScoreKind(
        "relative-mce", "rel. mCE", "mean corruption error, of what corruptions add to the clean error"
    ),
    "mean-corruption-error": ScoreKind("mean-corruption-error", "mean error", "mean error under corruptions"),
}
SCORES = {**OF_CONDITIONS, **OF_FAMILIES}


def board_numbers(study: Study, kinds: Sequence[str], shifts: Sequence[StudyShift]) -> Iterator[Numbers]:
    """What is told of each model: on the clean set, under each of these shifts, and under whole families.

    Args:
        kinds: Which of `KINDS`, in their order below each shift.
    """
    if "clean" in kinds and study.conditions:
        yield _clean(study)
    if study.conditions:
        yield from scores_on(study, kinds, study.conditions[0].name, "clean")
    for shift in shifts:
        for kind in kinds:
            if kind in OF_SHIFTS:
                yield OF_SHIFTS[kind](study, shift)
            elif kind in OF_CONDITIONS and len(shift.shifted) == 1:
                yield from scores_on(study, [kind], shift.shifted[0], shift.name)
    yield from _of_families(study, [kind for kind in kinds if kind in OF_FAMILIES])


def measure_of(shifts: Sequence[StudyShift]) -> str:
    """What is called accuracy: top-1, but where all is judged by mAP."""
    by_map = bool(shifts) and all(shift.points.measure == "map" for shift in shifts)
    return MEASURES["map" if by_map else "top-1"]


def _clean(study: Study) -> Numbers:
    """The first clean set; two models are told apart on the images that both saw."""
    clean = study.conditions[0]
    near = [shift.points for shift in study.shifts if shift.points.x == (clean.name,)]
    points = next((one for one in near if one.right_x is not None), near[0] if near else None)
    differ = None if points is None else differ_in(clean_as_shifted(points), study.options.resampling.level)
    stand = None if points is None else stand_in(clean_as_shifted(points), study.options.resampling.level)
    found = replace(accuracy_on(clean.name, clean.accuracies), differ=differ, stand=stand, said="clean")
    if points is not None and points.measure == "map":
        values = {one.model: one.x[0] for one in points.models}
        about = f"mAP on {clean.name}, as it is: {about_n(values.values())}."
        found = replace(found, values=values, column=replace(found.column, about=about))
    return replace(found, column=replace(found.column, id="clean", title="clean"))


def accuracy_on(condition: str, accuracies: Mapping[str, Estimate]) -> Numbers:
    """Accuracy on a set as it is: of each model on all images that it saw."""
    about = f"Top-1 accuracy on {condition}, as it is: {about_n(accuracies.values())}."
    return Numbers(Column(condition, "percent", about, "high", bar=True, label=condition), accuracies, "clean")


def clean_side(study: Study, shift: StudyShift, place: int = 0) -> Numbers:
    """The models of a shift on one of its clean sets, on the images by which the shift is judged."""
    points = shift.points
    values = {one.model: one.x[place] for one in points.models}
    on = f"{MEASURES[points.measure]} on {points.x[place]}"
    about = f"{on}, with which {shift.name} is compared: {about_n(values.values())}."
    level = study.options.resampling.level
    column = Column(points.x[place], "percent", about, "high", bar=True)
    if place:
        return Numbers(column, values, "clean")
    clean = clean_as_shifted(points)
    return Numbers(column, values, "clean", differ=differ_in(clean, level), stand=stand_in(clean, level))


def differ_in(points: Points, level: float) -> Differ:
    """The difference of two models under the shift, paired where it is known which images each is right on."""
    places = {one.model: place for place, one in enumerate(points.models)}

    def differ(a: str, b: str) -> Estimate | None:
        if a not in places or b not in places:
            return None
        return difference_under_shift(points, places[a], places[b], level)

    return differ


def stand_in(points: Points, level: float) -> Stand:
    """How models stand to each other under the shift, paired where it is known which images each is right on."""
    return partial(standings_of, points=points, level=level)


def _accuracy(study: Study, shift: StudyShift) -> Numbers:
    """On the images that all models of the shift saw; of models that have no clean side, on all that they saw."""
    alone = len(shift.shifted) == 1 and shift.points.measure == "top-1"
    others = study.condition(shift.shifted[0]).accuracies if alone else {}
    values = {**others, **{point.model: point.y for point in shift.points.models}}
    what = f"the mean of {len(shift.shifted)} conditions" if len(shift.shifted) > 1 else shift.kind
    measure = MEASURES[shift.points.measure]
    about = f"{measure} on {shift.name} ({what}), to be compared with {shift.standard}: {about_n(values.values())}."
    column = Column("acc.", "percent", about, "high", bar=True, id=shift.name, over=shift.name, label=shift.name)
    level = study.options.resampling.level
    differ, stand = differ_in(shift.points, level), stand_in(shift.points, level)
    return Numbers(column, values, "accuracy", differ=differ, stand=stand)


def _rho(study: Study, shift: StudyShift) -> Numbers:  # noqa: ARG001 - as the others
    values = {name: one.rho for name, one in shift.of_model.items()}
    about = ""
    if shift.robustness:
        fitted = shift.robustness.fitted
        line = f"{fitted.kind} through {fitted.n} models, {fitted.scale} scale, R² {fitted.r2:.3f}"
        about = (
            f"Effective robustness on {shift.name}: accuracy minus what is expected at the accuracy on "
            f"{shift.standard} ({line}): {about_n(values.values())}. Of a model that the line goes through it is "
            "closer to 0 than otherwise."
        )
    return _in_points(shift, "rho", "ρ", about, values, "high")


def _tau(study: Study, shift: StudyShift) -> Numbers:
    """What a model has beyond its parent; those of other parents are not compared, so none is bold."""
    differ = differ_in(shift.points, study.options.resampling.level)
    parents = {one.model: one.origin.parent for one in shift.points.models}
    found = {name: one.tau for name, one in shift.of_model.items()} or {
        model: differ(model, parent) for model, parent in parents.items() if parent and parent != model
    }
    values = {model: one for model, one in found.items() if one is not None}
    about = f"Relative robustness on {shift.name}: accuracy minus that of the parent: {about_n(values.values())}."
    return _in_points(shift, "tau", "τ", about, values)


def _drop(study: Study, shift: StudyShift) -> Numbers:
    """Clean minus shifted; none is bold, since a model that is always wrong loses nothing."""
    level = study.options.resampling.level
    values = {name: one.drop for name, one in shift.of_model.items()} or {
        one.model: drop_under_shift(shift.points, at, level) for at, one in enumerate(shift.points.models)
    }
    about = f"Accuracy on {shift.standard} minus that on {shift.name}: {about_n(values.values())}."
    return _in_points(shift, "drop", "drop", about, values)


def _in_points(
    shift: StudyShift,
    kind: str,
    title: str,
    about: str,
    values: Mapping[str, Estimate],
    better: Literal["high"] | None = None,
) -> Numbers:
    id_, label = f"{kind}:{shift.name}", f"{title} {shift.name}"
    return Numbers(Column(title, "points", about, better, id=id_, over=shift.name, label=label), values, kind, title)


OF_SHIFTS: dict[str, Callable[[Study, StudyShift], Numbers]] = {
    "accuracy": _accuracy,
    "drop": _drop,
    "rho": _rho,
    "tau": _tau,
}

KINDS = ("clean", *OF_SHIFTS, *SCORES)
"""What can be told of each model."""


def scores_on(study: Study, kinds: Sequence[str], condition: str, over: str) -> Iterator[Numbers]:
    """Those of these kinds that are about single conditions."""
    for kind in kinds:
        if kind in OF_CONDITIONS:
            metric = OF_CONDITIONS[kind].metric
            found = [one for one in study.scores if (one.metric, one.condition) == (metric, condition)]
            said = condition if over == "clean" else over  # there may be several clean sets
            yield _scored(kind, found, over, f"on {said}", f"on {condition}")


def _of_families(study: Study, kinds: Sequence[str]) -> Iterator[Numbers]:
    """A number about each family of corruptions; of a family on several data sets, each by itself."""
    groups: dict[tuple[str, str, str], list[Score]] = {}
    for score in study.scores if kinds else ():
        if score.metric in kinds:
            groups.setdefault((score.metric, score.condition, score.data), []).append(score)
    for (metric, family, data), scores in sorted(groups.items(), key=lambda item: kinds.index(item[0][0])):
        several = len({key for key in groups if key[:2] == (metric, family)}) > 1
        over = f"{family}@{data}" if several else family
        yield _scored(metric, scores, over, f"of {over}", f"on {over}")


def _scored(kind: str, scores: Sequence[Score], over: str, said: str, where: str) -> Numbers:
    is_ = SCORES[kind]
    convention = "; ".join(sorted({score.convention for score in scores}))
    about = (
        f"{is_.long[:1].upper()}{is_.long[1:]} {where} ({convention}): {about_n(score.estimate for score in scores)}."
    )
    label = f"{is_.title} {said}"
    column = Column(is_.title, "percent", about, is_.better, id=f"{kind}:{over}", over=over, label=label)
    return Numbers(column, {score.model: score.estimate for score in scores}, kind)
