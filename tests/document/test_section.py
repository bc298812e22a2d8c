"""The parts of a section are plain data that can't be changed."""

from __future__ import annotations

import dataclasses

import pytest

from oodometer.document.section import Pictures, Plot, Section, Words
from oodometer.document.table import Column, Table


@pytest.mark.parametrize("kind", [Column, Pictures, Plot, Section, Table, Words])
def test_parts_are_frozen_and_say_what_they_are(kind: type) -> None:
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert kind.__doc__


def test_what_a_part_does_not_say_has_a_default() -> None:
    assert Column("model") == Column("model", "text", "", None, None, False, False)
    table = Table("t", "A table.", (Column("model"),), (("a",),))
    assert (table.filters, table.folded) == (None, False)
    assert dataclasses.replace(table, folded=True).folded
    assert Section("s", "S", (), ()).short == ""
