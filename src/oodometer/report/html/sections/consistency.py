"""The section of errors in common: which models fail on the same images, and whether more than by chance."""

from __future__ import annotations

import numpy as np

from oodometer.document.section import Part, Section, Words
from oodometer.document.table import Column, Table
from oodometer.study import Study
from oodometer.study.errors_in_common import ErrorsInCommon, errors_in_common

MOST_ON_A_MAP = 12
LEAD = (
    "Whether models fail on the same images: error consistency κ is 1 where two fail on exactly the same ones, 0 where "
    "they fail as independent models of their accuracies would, below 0 where they avoid each other's errors. Images "
    "that are hard for everyone, or wrongly labelled, make it positive without any likeness between the models."
)


def section(study: Study) -> Section | None:
    """A row for each condition that is worth a look, and a map of the first; None where no two models err there."""
    found, notes = errors_in_common(study)
    if not found:
        return None
    parts: list[Part] = [_table(found), *_map(found[0])]
    if paired := [one for one in found if one.n_paired < len(one.models)]:
        one = paired[0]
        notes.append(
            f"κ is that of {one.n_paired} of the {len(one.models)} models, evenly from the first to the last; "
            "'oodometer consistency' has all pairs."
        )
    if notes:
        parts.append(Words(tuple(notes), "note"))
    return Section("consistency", "Errors in common", (LEAD, _first(found[0])), tuple(parts))


def _first(one: ErrorsInCommon) -> str:
    """The first condition in a sentence."""
    missed = one.missed_by_all
    images = "1 image is" if missed.found == 1 else f"{missed.found:,} images are"
    return (
        f"On {one.condition}, {images} missed by all {len(one.models)} models, where {_few(missed.expected)} would be "
        "by chance, were their errors independent."
    )


def _few(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def _table(found: list[ErrorsInCommon]) -> Table:
    columns = (
        Column("Condition"),
        Column("Models", "count"),
        Column("Images", "count", about="That all of these models saw."),
        Column("Mean κ", "number", about="Of all pairs; interval over images.", digits=2),
        Column("Most alike", about="The two models that fail together most."),
        Column("κ", "number", about="Of these two; bootstrap over images.", digits=2, id="most", label="κ, most alike"),
        Column("Least alike", about="The two that fail together least."),
        Column(
            "κ", "number", about="Of these two; bootstrap over images.", digits=2, id="least", label="κ, least alike"
        ),
        Column("Missed by all", "count", about="Images that every model misses."),
        Column("By chance", "number", about="As many would be, were errors independent.", digits=1),
        Column("p", "number", about="The chance of as many or more then.", digits=4, least=0.0001),
    )
    rows = tuple(
        (
            one.condition,
            len(one.models),
            one.n,
            one.mean,
            f"{one.most.a}, {one.most.b}",
            one.most.kappa,
            f"{one.least.a}, {one.least.b}",
            one.least.kappa,
            one.missed_by_all.found,
            one.missed_by_all.expected,
            one.missed_by_all.p_value,
        )
        for one in found
    )
    return Table("consistency-table", "Errors in common: clean, and where natural shifts are hardest.", columns, rows)


def _map(one: ErrorsInCommon) -> list[Table]:
    """Kappa of every two models, where these are few enough to stand beside each other."""
    if len(one.models) > MOST_ON_A_MAP:
        return []
    numbers = [str(at) for at in range(1, len(one.models) + 1)]
    columns = (
        Column("", id="number"),
        Column("Model"),
        *(
            Column(number, "number", about=f"κ with {name}.", digits=2)
            for number, name in zip(numbers, one.models, strict=True)
        ),
    )
    rows = tuple(
        (number, name, *(None if np.isnan(value) else float(value) for value in row))
        for number, name, row in zip(numbers, one.models, one.matrix, strict=True)
    )
    caption = f"Error consistency of every two models on {one.condition}; 'oodometer consistency' has the intervals."
    return [Table("consistency-map", caption, columns, rows, folded=True)]
