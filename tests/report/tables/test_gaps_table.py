"""The gaps as a table."""

from __future__ import annotations

import pytest

from oodometer.analysis.gaps import gaps
from oodometer.core.errors import StoreError
from oodometer.report.tables import TableOptions, gaps_table
from oodometer.study import study_of


def test_the_same_as_gaps(four):
    table = gaps_table(four)
    known = {one.model: one.gap for one in gaps(four.index).rows}
    assert {row.model: row.cells[0] for row in table.rows} == known
    assert [row.model for row in table.rows] == ["a", "b", "c", "d"]  # the best on the clean set first
    assert not any(bold for row in table.rows for bold in row.bold)
    assert any("loses nothing" in note for note in table.footnotes)
    assert "n = 1,000 images." in table.footnotes


def test_largest_gap_first_where_asked(four):
    assert [row.model for row in gaps_table(four, TableOptions(sort="new")).rows] == ["c", "d", "a", "b"]


def test_no_shift_no_gap(filled, make_dataset, right):
    filled.add(make_dataset(10), right(5, 10))
    with pytest.raises(StoreError, match="no shift in it; a gap needs a clean set and a shifted one"):
        gaps_table(study_of(filled.store))
