"""The section "leaderboard": every model with all its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from oodometer.core.estimate import Estimate
from oodometer.report.html.parts import Column, Section, Table, Value
from oodometer.report.html.shown import about_n, leading, spelled
from oodometer.report.scores import Score
from oodometer.report.study import Study, StudyShift

SHOWN_SHIFTS = 6
SHOWN_RHO = 2
"""How many columns are there at first; all others can be chosen."""


@dataclass(frozen=True)
class Numbers:
    """A column of numbers: what is above it, and that of each model that has one."""

    column: Column
    of_model: Mapping[str, Value]


def section(study: Study) -> Section | None:
    """All models in one table."""
    if not study.conditions:
        return None
    numbers = [*_clean(study), *_accuracies(study), *_robustness(study), *_scores(study)]
    columns = (
        Column("Model"),
        Column("Category", about="What the model is, by its card or by the table of categories."),
        Column("Parent", about="The model that it was made from.", hidden=True),
        *(one.column for one in numbers),
    )
    rows = tuple(
        (
            model.name,
            spelled(model.origin.category),
            model.origin.parent,
            *(one.of_model.get(model.name) for one in numbers),
        )
        for model in study.models
    )
    caption = f"All models, the best on {study.conditions[0].name} first. Other columns can be chosen."
    return Section(
        "leaderboard",
        "Leaderboard",
        (_lead(study),),
        (Table("leaderboard-table", caption, columns, rows, filters="Category"),),
    )


def _lead(study: Study) -> str:
    level = f"{100 * study.options.resampling.level:g} %"
    return (
        f"Every number stands with its {level} interval. Effective robustness ρ is what a model has under a shift "
        "beyond what the line through the baseline models leads to expect at its clean accuracy; relative robustness τ "
        "is what it has beyond its parent. Differences are in percentage points."
    )


def _clean(study: Study) -> Iterable[Numbers]:
    """Accuracy on each clean set."""
    # Anchor frames are the clean side of a shift, and a shifted side themselves: they are told among the shifts.
    used = {shift.standard for shift in study.shifts} - {shift.name for shift in study.shifts}
    first = study.conditions[0].name
    for one in (one for one in study.conditions if one.name in used | {first}):
        about = f"Top-1 accuracy on {one.name}, as it is: {about_n(one.accuracies.values())}."
        yield Numbers(Column(one.name, "percent", about, "high", bar=True, hidden=one.name != first), one.accuracies)


def _accuracies(study: Study) -> Iterable[Numbers]:
    """Accuracy under each shift."""
    shown = leading(study.shifts, SHOWN_SHIFTS)
    for shift in study.shifts:
        of_model = accuracies_under(study, shift)
        what = f"the mean of {len(shift.shifted)} conditions" if len(shift.shifted) > 1 else shift.kind
        about = f"Top-1 accuracy on {shift.name} ({what}), against {shift.standard}: {about_n(of_model.values())}."
        yield Numbers(Column(shift.name, "percent", about, "high", bar=True, hidden=shift not in shown), of_model)


def accuracies_under(study: Study, shift: StudyShift) -> Mapping[str, Estimate]:
    """Each model under a shift: all that were asked about its condition, or the mean over a family."""
    if len(shift.shifted) == 1:
        return study.condition(shift.shifted[0]).accuracies
    return {point.model: point.y for point in shift.points.models}


def _robustness(study: Study) -> Iterable[Numbers]:
    """ρ and τ under each shift that has a line."""
    shown = leading([one for one in study.shifts if one.natural and one.robustness], SHOWN_RHO)
    for shift in study.shifts:
        if shift.robustness is None:
            continue
        fitted = shift.robustness.fitted
        line = f"{fitted.kind} through {fitted.n} models, {fitted.scale} scale, R² {fitted.r2:.3f}"
        rho = {name: one.rho for name, one in shift.of_model.items()}
        about = (
            f"Effective robustness on {shift.name}: accuracy minus what is expected at the accuracy on "
            f"{shift.standard} ({line}); {_intervals(rho.values())}. Of a model that the line goes through it is "
            "closer to 0 than otherwise."
        )
        yield Numbers(Column(f"ρ {shift.name}", "points", about, "high", hidden=shift not in shown), rho)
        tau = {name: one.tau for name, one in shift.of_model.items() if one.tau is not None}
        if tau:
            about = (
                f"Relative robustness on {shift.name}: accuracy minus that of the parent; {_intervals(tau.values())}."
            )
            yield Numbers(Column(f"τ {shift.name}", "points", about, "high", hidden=True), tau)


def _intervals(estimates: Iterable[Estimate]) -> str:
    names = sorted({one.interval for one in estimates})
    return "interval: " + " or ".join(names[:2])


TITLES = {
    "mce": ("mCE", "Mean corruption error", "low"),
    "relative-mce": ("relative mCE", "Mean corruption error relative to the clean one", "low"),
    "mean-corruption-error": ("mean error", "Mean error under corruptions", "low"),
    "rms-calibration": ("calibration error", "RMS calibration error", "low"),
    "aurra": ("AURRA", "Area under the curve of accuracy by response rate", "high"),
}
"""Of each score: above the column, what it is, and which end is good."""


def _scores(study: Study) -> Iterable[Numbers]:
    """The mCE of each family; calibration and AURRA on each side of a shift."""
    groups: dict[tuple[str, str, str], list[Score]] = {}
    for one in study.scores:
        place = (one.metric, one.condition, one.data if one.metric not in ("rms-calibration", "aurra") else "")
        groups.setdefault(place, []).append(one)
    shown = {study.conditions[0].name, *(condition for metric, condition, _ in groups if metric == "mce")}
    order = list(TITLES)
    for (metric, condition, data), scores in sorted(groups.items(), key=lambda item: order.index(item[0][0])):
        short, long, better = TITLES[metric]
        several = sum(key[:2] == (metric, condition) for key in groups) > 1
        on = f"{condition}@{data}" if several else condition
        said = "; ".join(sorted({one.convention for one in scores}))
        about = f"{long} on {on} ({said}): {about_n(one.estimate for one in scores)}."
        of_model = {one.model: one.estimate for one in scores}
        yield Numbers(
            Column(
                f"{short} {on}",
                "percent",
                about,
                "high" if better == "high" else "low",
                hidden=metric in ("relative-mce", "mean-corruption-error") or condition not in shown,
            ),
            of_model,
        )
