"""The section of accuracies from labels of some images: what few labels tell of every model."""

from __future__ import annotations

from oodometer.analysis.text import plural
from oodometer.document.numbers import Value
from oodometer.document.section import Section
from oodometer.document.table import Column, Table
from oodometer.few_labels.estimate import FewLabelEstimates, ModelFromFew

LEAD = (
    "Accuracy on images of which only some are labelled: from these labels, and from the answers of all models to all "
    "images. The intervals hold whatever the help of the models is worth; where it is worth nothing they are those of "
    "the labels alone."
)


def few_labels_section(every: list[FewLabelEstimates]) -> Section:
    """A table for each set that some images are labelled of."""
    return Section("few-labels", "Few labels", (LEAD,), tuple(_table(at, one) for at, one in enumerate(every, start=1)))


def _table(at: int, found: FewLabelEstimates) -> Table:
    line = f" ρ: accuracy beyond {found.line}." if found.line else ""
    columns = (
        Column("Model"),
        Column("Clean", "percent", "Accuracy on clean images, by their labels.", "high"),
        Column("Accuracy", "percent", "From the labels and the answers to all images.", "high", bar=True),
        Column("Labels alone", "percent", "From the labelled images alone.", "high"),
        Column("As good as", "count", "So many labels alone would have an interval as narrow.", "high"),
        Column("Too sure by", "points", "Mean confidence minus accuracy; the calibration error is at least as large."),
        Column("ρ", "points", f"Effective robustness.{line}", "high"),
    )
    caption = f"{found.title}: {found.n} of {plural(found.of, 'image')} labelled ({found.source})."
    return Table(f"few-labels-{at}", caption, columns, tuple(_row(one) for one in found.models))


def _row(one: ModelFromFew) -> tuple[Value, ...]:
    rho = None if one.rho is None else one.rho.estimate
    worth = round(one.accuracy.worth)
    return one.model, one.clean, one.accuracy.estimate, one.accuracy.plain, worth, one.confidence_gap, rho
