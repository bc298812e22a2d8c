"""Interventions: each model against the one that it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oodometer.analysis.family_apart import Z_APART
from oodometer.analysis.judged_pair import BETTING, EXACT, PAIRED_T
from oodometer.analysis.text import plural
from oodometer.document.numbers import in_words
from oodometer.document.section import Part, Plot, Section, Words
from oodometer.document.table import Column, Table
from oodometer.report.palette import UNKNOWN
from oodometer.study import Study
from oodometer.study.interventions import Difference, Interventions, OnShift, interventions_of

ROW_HEIGHT, FIRST_ROWS = 40, 40
"""In pixels, and how many the plot shows at first: as its script has them."""

MOST_SHOWN = 300
"""Rows of a table that are in the page from the start; more are folded away."""

SAME_IMAGES = {
    EXACT: (
        "the interval of a difference is Tango's, the p-value that of the exact McNemar test, on the images that one "
        "of them gets right and the other does not"
    ),
    BETTING: (
        "where the number of images depends on what was seen (run --until) the interval is a confidence sequence, the "
        "p-value that of a bet, both valid whenever it was stopped"
    ),
    PAIRED_T: "over a family of corruptions it is the mean, with Student's interval over images and no p-value",
    Z_APART: (
        "over a family of corruptions each of which has images of its own it is the mean, with the normal interval and "
        "no p-value"
    ),
}
"""By test, what is told of it."""

TABLE_ONLY = (
    "These accuracies come from a table, so nobody knows on which images two models agree: the intervals are "
    "Newcombe's for two separate samples, wider than those of the same images would be, and there are no p-values."
)


def section(study: Study) -> Section | None:
    """Differences between models and their parents; None where no model has one."""
    found = interventions_of(study)
    if not found.found:
        return None
    parts: list[Part] = [_plot(study, found), _table(study, found)]
    if found.notes:
        parts.append(Words(found.notes, "note"))
    return Section("interventions", "Interventions", _lead(found), tuple(parts))


def _lead(found: Interventions) -> tuple[str, ...]:
    n = len({one.model for one in found.found})
    made = "1 model was made from another that was" if n == 1 else f"{n} models were made from others that were"
    tests = {one.test for one in found.differences}
    paired = "; ".join(words for test, words in SAME_IMAGES.items() if test in tests)
    told = [f"Both are judged on the same images: {paired}."] if paired else []
    how = " ".join([*told, *([TABLE_ONLY] if "" in tests else [])])
    return (f"{made} measured too. {_first_shift(found)}", how)


def _first_shift(found: Interventions) -> str:
    """What happened on the first shift, in a sentence or two."""
    first = [one for one in found.found if one.shift == found.found[0].shift]
    best = first[0]
    said = (
        f"{best.model} comes out best: {in_words(best.shifted.difference, 'points')}, and "
        f"{in_words(best.clean.difference, 'points')} on {best.clean.condition}."
    )
    known = [one.shifted.difference for one in first if one.shifted.difference.low is not None]
    if not known:  # accuracies of which nobody says how many images are behind them
        return f"On {best.shift} {said}"
    better = sum((one.low or 0) > 0 for one in known)
    worse = sum((one.high or 0) < 0 for one in known)
    return f"On {best.shift} {better} of {len(known)} beat their parent beyond chance, {worse} lost to it. {said}"


def _plot(study: Study, found: Interventions) -> Plot:
    category = {model.name: model.origin.category or UNKNOWN for model in study.models}
    shifts: dict[str, list[OnShift]] = {}
    for one in found.found:
        shifts.setdefault(one.shift, []).append(one)
    return Plot(
        "interventions-plot",
        "Accuracy of each model minus that of its parent, in points: on the clean images (hollow) and under the shift "
        "(filled), with intervals. Right of the line the intervention helped.",
        "interventions",
        {
            "shifts": [
                {
                    "name": name,
                    "clean": some[0].clean.condition,
                    "rows": [
                        {
                            "model": one.model,
                            "parent": one.parent,
                            "category": category[one.model],
                            "clean": _plain(one.clean),
                            "shifted": _plain(one.shifted),
                        }
                        for one in some
                    ],
                }
                for name, some in shifts.items()
            ]
        },
        height=170 + ROW_HEIGHT * min(max(map(len, shifts.values())), FIRST_ROWS),
    )


def _plain(one: Difference) -> dict[str, Any]:
    return {"difference": [one.difference.value, one.difference.low, one.difference.high], "p": one.p_value}


def _table(study: Study, found: Interventions) -> Table:
    differences = found.differences
    tests = sum(one.p_value is not None for one in differences)
    done = _interventions(study)
    caption = "Every model against its parent."
    if tests:
        caption += f" {plural(tests, 'p-value')}, not corrected for their number"
        by_chance = round(0.05 * tests)
        caption += f": without any difference up to about {by_chance} would be below 0.05." if by_chance else "."
    columns = (
        Column("model"),
        Column("parent"),
        Column("intervention", about="What was done, as the model's card has it"),
        Column("condition"),
        Column("parent's accuracy", "percent"),
        Column("accuracy", "percent", better="high"),
        Column("difference", "points", "Accuracy of the model minus that of the parent", "high"),
        Column("p", "number", "Of the test of the same images, two-sided", digits=4, least=0.0001),
        Column("only parent right", "count"),
        Column("only model right", "count"),
        Column("n", "count", "Common images"),
    )
    rows = tuple(
        (
            one.model,
            one.parent,
            done.get(one.model, ""),
            one.condition,
            one.before,
            one.after,
            one.difference,
            one.p_value,
            one.only_before,
            one.only_after,
            one.difference.n,
        )
        for one in differences
    )
    return Table("interventions-table", caption, columns, rows, filters="condition", folded=len(rows) > MOST_SHOWN)


def _interventions(study: Study) -> Mapping[str, str]:
    """Model to what its card says was done to it; its category where the card is silent."""
    found = {}
    for model in study.models:
        interventions = model.cells[0].model.card.interventions if model.cells else ()
        found[model.name] = ", ".join(interventions) or model.origin.category
    return found
