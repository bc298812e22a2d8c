"""The section "Without labels": estimated accuracy on images that nobody labelled."""

from __future__ import annotations

from oodometer.analysis.unlabelled_methods import METHODS
from oodometer.analysis.unlabelled_table import UnlabelledAccuracies, UnlabelledAccuracy
from oodometer.document.numbers import Value, number
from oodometer.document.section import Part, Section, Words
from oodometer.document.table import Column, Table
from oodometer.study import Study
from oodometer.study.unlabelled import unlabelled_sets

TITLE = "Without labels"
MOST_ROWS = 500
"""Of one table: a hundred models."""

LEAD = (
    "Accuracy on images that nobody labelled, estimated from how often models agree there and from how sure they are. "
    "No method can know it: beside each estimate stands how far off the method has been where labels exist, and why it "
    "can't be trusted where that shows. All hold only if the images are of the classes that the models answer. Labels "
    "of a few of these images would tell it with an interval that holds: oodometer label says of which."
)


def section(study: Study) -> Section | None:
    """A table for each set of images without labels; None where there is none."""
    sets = unlabelled_sets(study)
    if not sets.found and not sets.notes:
        return None
    parts: list[Part] = []
    for at, one in enumerate(sets.found, start=1):
        parts.append(_table(at, one))
        if doubts := one.warnings():
            parts.append(Words(tuple(f"{one.shifted}: {line}" for line in doubts), "note"))
    if sets.notes:
        parts.append(Words(sets.notes, "note"))
    return Section("without-labels", TITLE, (LEAD,), tuple(parts))


def _table(at: int, one: UnlabelledAccuracies) -> Table:
    columns = (
        Column("model"),
        Column("method", about="; ".join(f"{name}: {about}" for name, about in METHODS.items())),
        Column("clean", "percent", f"Accuracy on {one.clean}, by labels.", "high"),
        Column("estimate", "percent", one.convention, "high", bar=True),
        Column("expected error", about="Mean absolute error of other models whose labels are known, and where."),
        Column("doubtful", about="Whether something speaks against it; the lines below the table say what."),
    )
    rows = tuple(_row(row) for row in one.rows[:MOST_ROWS])
    some = f" The first {MOST_ROWS} of {len(one.rows)} rows." if len(one.rows) > MOST_ROWS else ""
    line = one.line
    drawn = f" The line of agreement goes through {line.n} pairs, R² {number(line.r2)}." if line is not None else ""
    caption = f"Estimated accuracy on {one.shifted}, {one.n:,} images without labels, from {one.clean}.{drawn}{some}"
    return Table(f"without-labels-{at}", caption, columns, rows, filters="method")


def _row(row: UnlabelledAccuracy) -> tuple[Value, ...]:
    error = row.expected_error
    told = "not known" if error is None else f"{number(error.value, 'percent')} points ({error.behind})"
    return row.model, row.method, row.clean, row.estimate, told, "yes" if row.warnings else ""
