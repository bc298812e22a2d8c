"""The section "leaderboard": every model with all its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from oodometer.analysis.score_table import Score
from oodometer.core.estimate import Estimate
from oodometer.document.numbers import about_n
from oodometer.document.section import Section
from oodometer.document.table import Column, Table
from oodometer.report.palette import UNKNOWN
from oodometer.study import Study, StudyShift
from oodometer.study.findings import leading

SHOWN_SHIFTS = 6
SHOWN_RHO = 2
"""How many columns are there at first; all others can be chosen."""


@dataclass(frozen=True)
class Numbers:
    """A column of numbers: what is above it, and that of each model that has one."""

    column: Column
    of_model: Mapping[str, Estimate]


def section(study: Study) -> Section | None:
    """All models in one table."""
    if not study.conditions:
        return None
    numbers = [*_clean(study), *_shifts(study), *_scores(study)]
    columns = (
        Column("Model"),
        Column("Category", about="What the model is, by its card or by the table of categories."),
        Column("Parent", about="The model that it was made from.", hidden=True),
        *(one.column for one in numbers),
    )
    rows = tuple(
        (
            model.name,
            model.origin.category or UNKNOWN,
            model.origin.parent,
            *(one.of_model.get(model.name) for one in numbers),
        )
        for model in study.models
    )
    caption = "All models. Other columns can be chosen."
    order = f"The best on {study.conditions[0].name} first."
    return Section(
        "leaderboard",
        "Leaderboard",
        (_lead(study),),
        (Table("leaderboard-table", caption, columns, rows, filters="Category", order=order),),
    )


def _lead(study: Study) -> str:
    level = f"{100 * study.options.resampling.level:g} %"
    return (
        f"Every number stands with its {level} interval, where it has one. Effective robustness ρ is what a model has "
        "under a shift beyond what the line through the baseline models leads to expect at its clean accuracy; "
        "relative robustness τ is what it has beyond its parent. Both are in percentage points."
    )


def _clean(study: Study) -> Iterator[Numbers]:
    """Accuracy on each clean set."""
    # Anchor frames are the clean side of a shift, and a shifted side themselves: they are told among the shifts.
    used = {shift.standard for shift in study.shifts} - {shift.name for shift in study.shifts}
    first = study.conditions[0].name
    for one in study.conditions:
        if one.name in used | {first}:
            about = f"Top-1 accuracy on {one.name}, as it is: {about_n(one.accuracies.values())}."
            yield Numbers(
                Column(one.name, "percent", about, "high", bar=True, hidden=one.name != first), one.accuracies
            )


def _shifts(study: Study) -> Iterator[Numbers]:
    """Under each shift the accuracy, and ρ and τ where it has a line."""
    shown = {one.name for one in leading(study.shifts, SHOWN_SHIFTS)}
    lines = [one for one in study.shifts if one.natural and one.robustness]
    shown_rho = {one.name for one in leading(lines, SHOWN_RHO)}
    for shift in study.shifts:
        yield _accuracies(study, shift, hidden=shift.name not in shown)
        yield from _robustness(shift, hidden=shift.name not in shown_rho)


def _accuracies(study: Study, shift: StudyShift, *, hidden: bool) -> Numbers:
    of_model = accuracies_under(study, shift)
    what = f"the mean of {len(shift.shifted)} conditions" if len(shift.shifted) > 1 else shift.kind
    about = f"Top-1 accuracy on {shift.name} ({what}), to be compared with {shift.standard}: "
    return Numbers(
        Column(shift.name, "percent", f"{about}{about_n(of_model.values())}.", "high", bar=True, hidden=hidden),
        of_model,
    )


def accuracies_under(study: Study, shift: StudyShift) -> Mapping[str, Estimate]:
    """Each model under a shift: all that were asked about its condition, or the mean over a family."""
    if len(shift.shifted) == 1:
        return study.condition(shift.shifted[0]).accuracies
    return {point.model: point.y for point in shift.points.models}


def _robustness(shift: StudyShift, *, hidden: bool) -> Iterator[Numbers]:
    if shift.robustness is None:
        return
    fitted = shift.robustness.fitted
    line = f"{fitted.kind} through {fitted.n} models, {fitted.scale} scale, R² {fitted.r2:.3f}"
    rho = {name: one.rho for name, one in shift.of_model.items()}
    about = (
        f"Effective robustness on {shift.name}: accuracy minus what is expected at the accuracy on {shift.standard} "
        f"({line}): {about_n(rho.values())}. Of a model that the line goes through it is closer to 0 than otherwise."
    )
    yield Numbers(Column(f"ρ {shift.name}", "points", about, "high", hidden=hidden), rho)
    tau = {name: one.tau for name, one in shift.of_model.items() if one.tau is not None}
    if tau:
        about = f"Relative robustness on {shift.name}: accuracy minus that of the parent: {about_n(tau.values())}."
        yield Numbers(Column(f"τ {shift.name}", "points", about, "high", hidden=True), tau)


@dataclass(frozen=True)
class Title:
    """Of a score: above the column, what it is, and which end is good."""

    short: str
    long: str
    better: Literal["high", "low"]


TITLES = {
    "mce": Title("mCE", "Mean corruption error", "low"),
    "relative-mce": Title("relative mCE", "Mean corruption error, of what corruptions add to the clean error", "low"),
    "mean-corruption-error": Title("mean error", "Mean error under corruptions", "low"),
    "rms-calibration": Title("calibration error", "RMS calibration error", "low"),
    "aurra": Title("AURRA", "Area under the curve of accuracy by response rate", "high"),
}
OF_FAMILIES = ("mce", "relative-mce", "mean-corruption-error")


def _scores(study: Study) -> Iterator[Numbers]:
    """The mCE of each family; calibration and AURRA on each side of a shift."""
    first = study.conditions[0].name
    groups = _grouped(one for one in study.scores if one.metric in TITLES)
    for (metric, condition, data), scores in groups.items():
        title = TITLES[metric]
        several = sum(key[:2] == (metric, condition) for key in groups) > 1
        on = f"{condition}@{data}" if several else condition
        said = "; ".join(sorted({one.convention for one in scores}))
        about = f"{title.long} on {on} ({said}): {about_n(one.estimate for one in scores)}."
        hidden = metric != "mce" and condition != first
        column = Column(f"{title.short} {on}", "percent", about, title.better, hidden=hidden)
        yield Numbers(column, {one.model: one.estimate for one in scores})


def _grouped(scores: Iterable[Score]) -> dict[tuple[str, str, str], list[Score]]:
    """The scores of each column, by metric, condition and, for families, data; in the order of the titles."""
    groups: dict[tuple[str, str, str], list[Score]] = {}
    for one in scores:
        groups.setdefault((one.metric, one.condition, one.data if one.metric in OF_FAMILIES else ""), []).append(one)
    order = list(TITLES)
    return dict(sorted(groups.items(), key=lambda item: order.index(item[0][0])))
