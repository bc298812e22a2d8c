"""The section "summary": in plain sentences what was measured, who holds up best where, and what stays open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from oodometer.analysis.robustness import ModelRobustness
from oodometer.analysis.text import listed, plural
from oodometer.core.estimate import Estimate
from oodometer.document.numbers import amount_in_words, in_words
from oodometer.document.section import Part, Section, Words
from oodometer.document.table import Column, Table
from oodometer.study import Study, StudyShift
from oodometer.study.caveats import doubts_of
from oodometer.study.findings import Best, Loss, best_under, beyond_line, leading, losses

TOLD = 6
"""Shifts that are told one by one; the leaderboard has all."""

MOST_CATEGORIES = 4

FEW = 4
"""Fewer models have no middle half."""

IN_WORDS = {"dataset": "dataset shift", "style": "style shift", "attribute": "attribute shift", "adversarial": "attack"}
"""Kinds of shifts that are no words by themselves."""


def section(study: Study) -> Section | None:
    """What there is to say, and what can't be said."""
    shifts = leading(study.shifts, TOLD)
    level = study.options.resampling.level
    best = {shift.name: best_under(shift, level) for shift in shifts}
    parts: list[Part] = []
    if shifts:
        said = tuple(best_sentence(shift, best[shift.name]) for shift in shifts)
        parts.append(Words(said, "list", title="Who holds up best"))
        parts += [Words((how_told(level),))] if any(one.tied for one in best.values()) else []
        parts.append(_key_figures(shifts, best))
    if said := tuple(beyond_sentences(study)):
        parts.append(Words(said, "list", title="Beyond the line"))
    if said := tuple(doubt.text for doubt in doubts_of(study)):
        parts.append(Words(said, "list", title="What can’t be concluded"))
    parts += _notes(study)
    return Section("summary", "Summary", (*measured_sentences(study), *loss_sentences(study)), tuple(parts))


def spelled(category: str) -> str:
    """A category in words.

    >>> spelled("robust_intervention"), spelled("")
    ('robust intervention', 'of unknown category')
    """
    return category.replace("_", " ") or "of unknown category"


def measured_sentences(study: Study) -> list[str]:
    """What was measured: models, data, images, conditions."""
    were = "was" if len(study.models) == 1 else "were"
    on = plural(len(study.conditions), "condition")
    said = [f"{plural(len(study.models), 'model')} ({_categories(study)}) {were} measured on {on}."]
    run = [one for one in study.conditions if one.record]
    if run:
        sizes: dict[str, int] = {}
        apart: set[str] = set()
        for one in run:
            sizes[one.data] = max(sizes.get(one.data, 0), *(found.n or 0 for found in one.accuracies.values()))
            sample = one.record.data.sample if one.record else None
            apart |= {one.data} if sample and sample.members > 1 else set()
        answers = sum(found.n or 0 for one in run for found in one.accuracies.values())
        each = dict.fromkeys(apart, " of each condition")
        data = listed([f"{name} ({plural(n, 'image')}{each.get(name, '')})" for name, n in sizes.items()], 6)
        said.append(f"{plural(answers, 'answer')} to labelled images were judged; the data are {data}.")
    if study.sources:
        rows = sum(len(one.accuracies) for one in study.conditions if not one.record)
        tables = listed(study.sources, 3)
        said.append(f"{plural(rows, 'accuracy', 'accuracies')} come from {tables}, without the answers behind them.")
    return said


def _categories(study: Study) -> str:
    """How many models are of each category, the most first."""
    found = Counter(model.origin.category for model in study.models)
    if len(found) == 1:
        return f"{'all ' if len(study.models) > 1 else ''}{spelled(next(iter(found)))}"
    order = sorted(found.items(), key=lambda one: (not one[0], -one[1]))
    return listed([f"{n:,} {spelled(name)}" for name, n in _few(order)], MOST_CATEGORIES + 2)


def _few(categories: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The largest categories, the others as one, and what nobody has told last."""
    named = [one for one in categories if one[0]]
    if len(named) <= MOST_CATEGORIES + 1:
        return categories
    others = sum(n for _, n in named[MOST_CATEGORIES:])
    return [*named[:MOST_CATEGORIES], ("of other categories", others), *(one for one in categories if not one[0])]


def best_sentence(shift: StudyShift, best: Best) -> str:
    """Who is the most accurate under a shift, and whether that can be told."""
    of = f" of {plural(best.accuracy.n, 'image')}" if best.accuracy.n else ""
    of += " under each" if of and shift.points.apart else ""
    mean = f", the mean of {len(shift.shifted)} conditions" if len(shift.shifted) > 1 else ""
    kind = IN_WORDS.get(shift.kind, shift.kind)
    others = len(shift.points.models) - 1
    equal = best.next is not None and best.next[1].value == 0
    first = f"no model is more accurate than {best.model}" if equal else f"{best.model} is the most accurate"
    first = first if others else f"only {best.model} was measured"
    start = (
        f"On {shift.name} ({kind}{mean}), {first}: {in_words(best.accuracy, 'percent')}{of}, "
        f"{_below(best.drop)} {shift.standard or shift.points.x[0]}."
    )
    if not others:
        return start
    if best.accuracy.low is None:
        return f"{start} Whether it is ahead of the {plural(others, 'other')} can’t be told without intervals."
    if not best.tied and best.next is not None:
        name, behind = best.next
        ahead = (
            f"It is ahead of all {others:,} others; the next, {name}, is" if others > 1 else f"The other, {name}, is"
        )
        return f"{start} {ahead} {amount_in_words(behind)} behind."
    if len(best.tied) == others > 1:
        return f"{start} None of the {others:,} others can be told apart from it."
    return f"{start} {listed(best.tied, 3)} can’t be told apart from it."


def _below(drop: Estimate) -> str:
    """By how much an accuracy is below another, or above it."""
    if drop.value >= 0:
        return f"{amount_in_words(drop)} below"
    low, high = (None if one is None else -one for one in (drop.high, drop.low))
    return f"{amount_in_words(replace(drop, value=-drop.value, low=low, high=high))} above"


def how_told(level: float) -> str:
    """When models can't be told apart."""
    return (
        f"Models can’t be told apart where the {100 * level:g} % interval of their difference (image by image, where "
        "the answers are known) holds 0; each pair by itself."
    )


def loss_sentences(study: Study) -> list[str]:
    """How much is lost on the natural shift that costs most."""
    natural = [one for one in losses(study) if one.shift.natural and len(one.shift.points.models) > 1]
    if not natural:
        return []
    most = natural[0]
    if most.median <= 0:
        return ["On no natural shift does the median model lose accuracy."]
    several = f"Of {len(natural)} natural shifts, {most.shift.name} costs most:"
    where = several if len(natural) > 1 else f"On {most.shift.name}, the only natural shift,"
    return [f"{where} {_lost(most)}."]


def _lost(loss: Loss) -> str:
    """What models lose: the median and the middle half of them, or the least and the most of a few."""
    models, against = len(loss.shift.points.models), f"points of accuracy against {loss.shift.standard}"
    if models < FEW:
        low, high = (f"{100 * one:.1f}" for one in loss.ends)
        return f"the {models} models lose {low} to {high} {against}"
    low, high = (f"{100 * one:.1f}" for one in loss.quartiles)
    middle = f"the middle half lose between {low} and {high}"
    return f"the median of {models:,} models loses {100 * loss.median:.1f} {against} ({middle})"


def beyond_sentences(study: Study) -> list[str]:
    """Whether any model is beyond the line, on each natural shift that has one."""
    shifts = leading([one for one in study.shifts if one.natural and one.robustness], TOLD)
    found = []
    for shift in shifts:
        beyond = beyond_line(shift)
        if not beyond.others:
            above = f"above it {_are(beyond.own)}" if beyond.own else "none is above it"
            through = f"all {len(shift.points.models):,} models"
            found.append(f"On {shift.name} the line goes through {through}; {above}.")
        elif not beyond.above:
            none = (
                f"none of the {beyond.others:,} models beside the line is"
                if beyond.others > 1
                else "the only model beside the line is not"
            )
            found.append(f"On {shift.name} {none} above it.")
        else:
            found.append(_above_sentence(shift))
    if found:
        chance = f"{50 * (1 - study.options.resampling.level):.3g} %"
        found.append(
            f"Above the line means that the whole interval of ρ is above 0; by chance alone {chance} of the models "
            "beside a line would be. Of models that the line goes through it says little: they help to draw it."
        )
    return found


def _are(models: Sequence[ModelRobustness]) -> str:
    names = [f"{one.model} (ρ = {in_words(one.rho, 'points')})" for one in models]
    return f"{'is' if len(names) == 1 else 'are'} {listed(names, 3)}"


def _above_sentence(shift: StudyShift) -> str:
    beyond = beyond_line(shift)
    top = beyond.above[0]
    if beyond.others == 1:
        where = ", where that is only extended" if beyond.extended else ""
        rho = in_words(top.rho, "points")
        return f"On {shift.name} the only model beside the line, {top.model}, is above it{where}: ρ = {rho}."
    extended = f", {len(beyond.extended):,} of them where it is only extended" if beyond.extended else ""
    are = "is" if len(beyond.above) == 1 else "are"
    return (
        f"On {shift.name}, {len(beyond.above):,} of the {beyond.others:,} models beside the line {are} above "
        f"it{extended}; the highest is {top.model}, with ρ = {in_words(top.rho, 'points')}."
    )


def _key_figures(shifts: Sequence[StudyShift], best: Mapping[str, Best]) -> Table:
    columns = (
        Column("Shift"),
        Column("Kind", about="What changes between the two sides.", hidden=True),
        Column("Models", "count", "Measured on both sides.", hidden=True),
        Column("Images", "count", "Behind each accuracy under the shift."),
        Column("Most accurate"),
        Column("Accuracy", "percent", "Top-1 under the shift.", "high"),
        Column("Loss", "points", "Of that model: its clean accuracy minus that under the shift.", "low"),
        Column("R²", "number", "The share of the variance between models that the line explains."),
        Column(
            "Above line",
            "count",
            "Models with an interval of ρ above 0: of those beside the line, or of all where it goes through all.",
        ),
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
            _n_above(shift) if shift.robustness else None,
        )
        for shift in shifts
    )
    return Table("summary-table", "The shifts at a glance.", columns, rows)


def _n_above(shift: StudyShift) -> int:
    """How many models are above the line, as the sentences below count them."""
    beyond = beyond_line(shift)
    return len(beyond.above if beyond.others else beyond.own)


def _notes(study: Study) -> list[Part]:
    """What was left out of each shift, folded."""
    rows = tuple((shift.name, note) for shift in study.shifts for note in shift.notes)
    columns = (Column("Shift"), Column("Note"))
    caption = "What was left out of single shifts, and why."
    return [Table("summary-notes", caption, columns, rows, folded=True)] if rows else []
