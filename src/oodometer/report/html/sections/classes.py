"""The section "Classes": whose classes lead where, and what a shift does to each class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oodometer.analysis.text import listed, plural
from oodometer.document.numbers import in_words
from oodometer.document.section import Part, Plot, Section, Words
from oodometer.document.table import Column, Table
from oodometer.report.html.class_data import class_data
from oodometer.study import Study
from oodometer.study.class_views import ClassView, ClassViews, class_views

FEW_IMAGES = 10
"""Of a class, below which a share says little."""
SENTENCES = 4
EACH = 5
"""Rows of the tables for each model on each set."""


def section(study: Study) -> Section | None:
    """Confusions as a map and a list with the images behind them, and the change of each class; None without any."""
    found = class_views(study)
    if not any(view.confusion.confusions for view in found.views.values()):
        return None
    plot = Plot("classes-confusion", CAPTION, "confusion", class_data(study.picture, found), height=520)
    parts: list[Part] = [plot, _confusions(found)]
    if any(view.changes for view in found.views.values()):
        parts.append(_changes(found))
    if found.notes:
        parts.append(Words(found.notes, "note"))
    return Section("classes", "Classes", (" ".join(_lead(found)),), tuple(parts))


CAPTION = (
    "True classes are rows, answers columns. The stronger the colour, the larger the share of the images of a class "
    "that is called so. A cell tells its interval and number of images when it is pointed at; a click shows images "
    "behind it."
)


def _lead(found: ClassViews) -> Iterator[str]:
    """What the first model confuses most often on each set, and how many images there are of a class."""
    model = found.models[0]
    views = [view for (name, _), view in found.views.items() if name == model]
    enough = [view for view in views if _images_of_class(view) >= FEW_IMAGES]
    yield from (_most(view) for view in enough[:SENTENCES] if view.confusion.confusions)
    few = {view.confusion.on: _images_of_class(view) for view in views if view not in enough}
    if few:
        yield (
            f"On {listed(list(few), 3)} half of the classes have at most {plural(max(few.values()), 'image')}: "
            "shares of so few say little."
        )


def _most(view: ClassView) -> str:
    first, found = view.confusion.confusions[0], view.confusion
    times = f"{plural(first.count, 'time')} in {plural(len(found.conditions), 'condition')}, " * (
        len(found.conditions) > 1
    )
    return (
        f"On {found.on}, {found.model} most often takes {first.truth} for {first.answer}: {times}"
        f"{in_words(first.share, 'percent')} of {plural(first.share.n or 0, 'image')}."
    )


def _images_of_class(view: ClassView) -> int:
    """Of the class in the middle."""
    sizes = sorted({cell.truth: cell.share.n or 0 for cell in view.confusion.cells}.values())
    return sizes[(len(sizes) - 1) // 2]


def _confusions(found: ClassViews) -> Table:
    columns = (
        Column("Model"),
        Column("On", about="A clean set or a shift."),
        Column("Class", about="The true one."),
        Column("Called", about="What the model says instead."),
        Column("Count", "count", about="How often; under several conditions each counts."),
        Column("Share", "percent", about="Of the images of the true class. Each interval is for itself."),
    )
    rows = tuple(
        (model, on, cell.truth, cell.answer, cell.count, cell.share)
        for (model, on), view in found.views.items()
        for cell in view.confusion.confusions[:EACH]
    )
    caption = f"What each model confuses most often: the first {EACH} of each set."
    return Table("classes-most-confused", caption, columns, rows, filters="On", folded=True)


def _changes(found: ClassViews) -> Table:
    views = [view for view in found.views.values() if view.changes]
    columns = (
        Column("Model"),
        Column("Shift"),
        Column("Class"),
        Column("Clean", "percent", about="Accuracy on the clean images of this class."),
        Column("Shifted", "percent", about="Accuracy on the shifted ones."),
        Column("Change", "points", about=f"Shifted minus clean. {_corrected(views)}", better="high"),
    )
    rows = tuple(
        (change.model, change.on, row.name, row.standard, row.shifted, row.change)
        for view in views
        if (change := view.changes) is not None
        for row in change.rows[:EACH]
    )
    caption = f"The {EACH} classes that lose most under each shift."
    return Table("classes-most-changed", caption, columns, rows, filters="Shift", folded=True)


def _corrected(views: Sequence[ClassView]) -> str:
    n = sorted({view.changes.n_tests for view in views if view.changes})
    of = f"{n[0]:,}" if len(n) == 1 else f"{n[0]:,} to {n[-1]:,}"
    return f"Its interval is corrected for the number of classes, {of} (Bonferroni); those of the accuracies are not."
