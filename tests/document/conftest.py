"""Tables whose text is known beforehand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from oodometer.document.table import Column, Table
from oodometer.stats.intervals import share_of

N = 1000


@pytest.fixture
def names() -> tuple[str, ...]:
    """Names that mean something in LaTeX, Markdown, CSV or a terminal."""
    return (
        r"a_b & 50% $x^2$ #1 {~} \evil{} <b>|</b>",
        "[t] *star* -- `code` 'it' \"q\" ]]",
        "=cmd|' /C calc'!A0",
        "two\nlines\tand \x07 中文 é",
        "https://example.org/x www.example.org",
    )


@pytest.fixture
def table_of() -> Callable[..., Table]:
    """``table_of({"a": (900, 500)})``: models by how many of 1,000 images they are right on, clean and shifted.

    The first model of a group of categories is bold on the clean set; the difference of both sides stands beside them.
    """

    def make(models: dict[str, tuple[int, int]], *, groups: tuple[tuple[str, int], ...] = ()) -> Table:
        columns = (
            Column("Model", id="model"),
            Column("Category", hidden=True, id="category"),
            Column("clean", "percent", better="high"),
            Column("acc.", "percent", better="high", id="new", over="new", label="new"),
            Column("ρ", "points", id="rho:new", over="new", label="ρ new"),
        )
        rows = tuple(
            (name, "standard", share_of(clean, N), share_of(shifted, N), (shifted - clean) / N)
            for name, (clean, shifted) in models.items()
        )
        notes = ("n = 1,000 images.", "Bold: better than all others.")
        return Table("board", "Accuracy.", columns, rows, groups=groups, bold=frozenset({(0, 2)}), footnotes=notes)

    return make


@pytest.fixture
def four(table_of: Callable[..., Table]) -> Table:
    return table_of({"a": (950, 600), "b": (800, 599), "c": (700, 300), "d": (600, 200)})


@pytest.fixture
def hostile(table_of: Callable[..., Table], names: tuple[str, ...]) -> Table:
    models = {name: (900 - 100 * place, 500 - 90 * place) for place, name in enumerate(names)}
    return table_of(models, groups=(("cat_0 & co", 3), ("one | two", 2)))
