"""The section "summary": in plain sentences what was measured, who holds up best where, and what stays open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from oodometer.report.html.parts import Column, Part, Section, Table, Words
from oodometer.report.html.shown import leading, listed, percent, plural, points, spelled
from oodometer.report.study import Study, StudyShift
from oodometer.report.study.doubts import doubts_of
from oodometer.report.study.findings import Best, best_under, beyond_line, losses

TOLD = 6
"""Shifts that are told one by one; the leaderboard has all."""


def section(study: Study) -> Section | None:
    """What there is to say, and what can't be said."""
    parts: list[Part] = []
    shifts = leading([one for one in study.shifts if len(one.points.models) > 1], TOLD)
    level = study.options.resampling.level
    best = {shift.name: best_under(shift, level) for shift in shifts}
    if shifts:
        parts.append(Words(tuple(best_sentence(shift, best[shift.name]) for shift in shifts), "list"))
        parts.append(_key_figures(shifts, best))
    if said := [*loss_sentences(study), *beyond_sentences(study)]:
        parts.append(Words(tuple(said)))
    doubts = doubts_of(study)
    if doubts:
        parts.append(Words(("What can’t be concluded:",)))
        parts.append(Words(tuple(doubts), "list"))
    return Section("summary", "Summary", tuple(measured_sentences(study)), tuple(parts))


def measured_sentences(study: Study) -> list[str]:
    """What was measured: models, data, images, conditions."""
    categories = Counter(spelled(model.origin.category) for model in study.models)
    of = listed([f"{n:,} {name}" for name, n in categories.most_common()], 9)
    said = [f"{plural(len(study.models), 'model')} ({of}) on {plural(len(study.conditions), 'condition')}."]
    run = [one for one in study.conditions if one.described]
    if run:
        sizes: dict[str, int] = {}
        for one in run:
            sizes[one.data] = max(sizes.get(one.data, 0), *(found.n or 0 for found in one.accuracies.values()))
        answers = sum(found.n or 0 for one in run for found in one.accuracies.values())
        data = listed([f"{name} ({plural(n, 'image')})" for name, n in sizes.items()], 6)
        said.append(f"{plural(answers, 'labelled answer')} were judged, on {data}.")
    if study.sources:
        rows = sum(len(one.accuracies) for one in study.conditions if not one.described)
        tables = listed(list(study.sources), 3)
        said.append(f"{plural(rows, 'accuracy', 'accuracies')} come from {tables}, without the answers behind them.")
    return said


def best_sentence(shift: StudyShift, best: Best) -> str:
    """Who is the most accurate under a shift, and whether that can be told."""
    mean = f", the mean of {len(shift.shifted)} conditions" if len(shift.shifted) > 1 else ""
    start = f"On {shift.name} ({shift.kind}{mean}) {best.model} is the most accurate, with {percent(best.accuracy)}"
    lost = f", after {percent_points(best)} lost against {shift.standard or shift.points.x[0]}"
    others = len(shift.points.models) - 1
    if best.accuracy.low is None:
        return (
            f"{start}{lost}. Without an interval, whether it is ahead of the {plural(others, 'other')} can’t be told."
        )
    if not best.tied:
        assert best.next is not None
        name, behind = best.next
        return f"{start}{lost}. It is ahead of the {plural(others, 'other')}, by {points(behind)} of {name}."
    how = "paired differences" if best.paired else "differences"
    return f"{start}{lost}. It can’t be told apart from {listed(best.tied, 3)}: the intervals of the {how} hold 0."


def percent_points(best: Best) -> str:
    """What the best model loses."""
    return points(best.drop)


def loss_sentences(study: Study) -> list[str]:
    """How much is lost on the natural shift that costs most."""
    natural = [one for one in losses(study) if one.shift.natural]
    if not natural:
        return []
    most = natural[0]
    low, high = (f"{100 * one:.1f}" for one in most.quartiles)
    n = len(most.shift.points.models)
    if n == 1:
        return []
    return [
        f"Of {plural(len(natural), 'natural shift')}, {most.shift.name} costs most: the middle one of {n:,} models "
        f"loses {100 * most.median:.1f} points of accuracy against {most.shift.standard}, half of them between {low} "
        f"and {high}."
    ]


def beyond_sentences(study: Study) -> list[str]:
    """Whether any model is beyond the line, on each natural shift that has one."""
    level = study.options.resampling.level
    found = []
    for shift in leading([one for one in study.shifts if one.natural and one.robustness], TOLD):
        beyond = beyond_line(shift)
        if not beyond.others:
            above = f"{len(beyond.own):,} of them lie above it" if beyond.own else "none lies clearly above it"
            found.append(
                f"On {shift.name} the line goes through all {len(shift.points.models):,} models, and {above}: "
                "an intervention would show only beside models that the line does not go through."
            )
            continue
        if not beyond.above:
            found.append(
                f"On {shift.name} none of the {plural(beyond.others, 'model')} beside the line is above it: no "
                "interval of ρ is above 0."
            )
            continue
        top = beyond.above[0]
        found.append(
            f"On {shift.name} {len(beyond.above):,} of the {plural(beyond.others, 'model')} beside the line are above "
            f"it, with an interval of ρ above 0 (about {beyond.by_chance(level):.1f} would be by chance); the most is "
            f"{top.model} with ρ = {points(top.rho)}."
        )
    return found


def _key_figures(shifts: Sequence[StudyShift], best: dict[str, Best]) -> Table:
    columns = (
        Column("Shift"),
        Column("Kind"),
        Column("Models", "count", "Measured on both sides."),
        Column("Images", "count", "Behind each accuracy under the shift."),
        Column("Most accurate"),
        Column("Accuracy", "percent", "Top-1 under the shift.", "high"),
        Column("Loss", "points", "Of that model: its clean accuracy minus that under the shift.", "low"),
        Column("R²", "number", "The share of the variance between models that the line explains."),
        Column("Above the line", "count", "Models beside the line with an interval of ρ above 0."),
    )
    rows = tuple(
        (
            shift.name,
            shift.kind,
            len(shift.points.models),
            best[shift.name].accuracy.n,
            best[shift.name].model,
            best[shift.name].accuracy,
            best[shift.name].drop,
            shift.robustness.fitted.r2 if shift.robustness else None,
            len(beyond_line(shift).above) if shift.robustness else None,
        )
        for shift in shifts
    )
    return Table("summary-table", "The shifts at a glance.", columns, rows)
