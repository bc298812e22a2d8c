"""Models as a table of a page: names lead to their pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from oodometer.analysis.origins import Origin
from oodometer.document.table import Table
from oodometer.explorer.links import path_link
from oodometer.report.tables.footnotes import common_footnotes
from oodometer.report.tables.model_table import Numbers, Words, model_table, on_page
from oodometer.report.tables.options import TableOptions


def models_table(
    origins: Mapping[str, Origin], numbers: Sequence[Numbers], words: Words, *, sort: str = "", order: str = ""
) -> Table:
    """The best in the column ``sort`` first, or in the first; ``order`` says so."""
    footnotes = (*common_footnotes(numbers), *words.footnotes)
    spaced = {name: replace(one, category=one.category.replace("_", " ")) for name, one in origins.items()}
    options = TableOptions(grouped=False, sort=sort)
    table = on_page(
        model_table(spaced, numbers, replace(words, footnotes=footnotes), options),
        lambda column: column.key != "parent",
    )
    return replace(
        table, order=order, links={(at, 0): path_link("model", str(row[0])) for at, row in enumerate(table.rows)}
    )
