"""The section of what drops are made of: the three gaps and the difficulty of the images, as far as data tell."""

from __future__ import annotations

from oodometer.analysis.explain import Explanation
from oodometer.core.estimate import Estimate
from oodometer.document.numbers import amount_in_words
from oodometer.document.section import Part, Section, Words
from oodometer.document.table import Column, Table
from oodometer.study import Study
from oodometer.study.explained_drops import explained_drops

LEAD = (
    "A drop on new images is the sum of three gaps: adaptivity (models were chosen by the clean images), distribution "
    "(the new images are others) and generalisation (which new images were drawn). The last is chance alone, and "
    "bounded by their number; the first two are known as a sum."
)
MEANINGS = {
    "growing": "growing returns: no sign of adaptivity that grows with accuracy",
    "diminishing": "diminishing returns, as adaptivity that grows would give, or a distribution gap that does",
    "not told": "neither growing nor diminishing returns are shown",
}


def section(study: Study) -> Section | None:
    """A row for each natural shift to other images; None where there is none."""
    found, notes = explained_drops(study)
    if not found:
        return None
    parts: list[Part] = [_table(found), Words(_unknown(found[0]), "list", "What these data can't tell")]
    if notes:
        parts.append(Words(tuple(notes), "note"))
    return Section("drop-parts", "What the drops are made of", (LEAD, *_first(found[0])), tuple(parts), short="Drops")


def _first(one: Explanation) -> list[str]:
    """The first shift in a sentence or two."""
    rest = one.models[0].bounds.adaptivity_and_distribution
    whose = f"the mean of {len(one.models) - 1} models" if len(one.models) > 1 else one.models[0].model
    said = f"On {one.shifted}, adaptivity and distribution are {amount_in_words(rest)} of {whose}."
    if one.adaptivity is None:
        return [said]
    return [f"{said} Over the models there are {MEANINGS[one.adaptivity.returns]}."]


def _unknown(one: Explanation) -> tuple[str, ...]:
    return tuple(f"{line[0].upper()}{line[1:]}." for line in one.unknown)


def _table(found: list[Explanation]) -> Table:
    columns = (
        Column("Shift"),
        Column("Models", "count"),
        Column("Drop", "points", about="Clean minus shifted accuracy, the mean of the models."),
        Column("Chance", "points", about="What the choice of the shifted images can be of it, by its interval."),
        Column("Adaptivity + distribution", "points", about="What is left of the drop, whatever images were drawn."),
        Column(
            "Slope",
            "number",
            about="Points under the shift for a point of clean accuracy, from the median model to the best.",
            digits=2,
        ),
        Column("Harder by", "number", about="Mean difficulty, in widths of the shifted set (probit line).", digits=2),
        Column("Width ratio", "number", about="Of the difficulties, clean over shifted: the probit slope.", digits=2),
        Column("σ clean", "number", about="Spread of difficulty, from the answers to each image.", digits=2),
        Column("σ shifted", "number", about="The same of the shifted images.", digits=2),
    )
    return Table("drop-parts-table", "The parts of each drop, of the mean model.", columns, tuple(map(_row, found)))


def _row(one: Explanation) -> tuple[str | int | Estimate | None, ...]:
    first, reading, spreads = one.models[0], one.difficulty, one.spreads
    return (
        one.shifted,
        max(len(one.models) - 1, 1),
        first.drop,
        first.bounds.generalisation,
        first.bounds.adaptivity_and_distribution,
        one.adaptivity.slope if one.adaptivity else None,
        reading.harder_by if reading else None,
        reading.width_ratio if reading else None,
        spreads.sd_first if spreads else None,
        spreads.sd_second if spreads else None,
    )
