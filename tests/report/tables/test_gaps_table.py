"""The gaps as a table."""

from __future__ import annotations

import pytest

from made_tables import column_of, models_of
from oodometer.analysis.gaps import gaps
from oodometer.core.errors import StoreError
from oodometer.report.tables import TableOptions, gaps_table
from oodometer.study import study_of


def test_the_same_as_gaps(four):
    table = gaps_table(four)
    known = {one.model: one.gap for one in gaps(four.index).rows}
    assert column_of(table, "new") == known
    assert models_of(table) == ["a", "b", "c", "d"]  # the best on the clean set first
    assert not table.bold
    assert any("loses nothing" in note for note in table.footnotes)
    assert "n = 1,000 images." in table.footnotes


def test_largest_gap_first_where_asked(four):
    assert models_of(gaps_table(four, TableOptions(sort="new"))) == ["c", "d", "a", "b"]


def test_no_shift_no_gap(filled, make_dataset, right):
    filled.add(make_dataset(10), right(5, 10))
    with pytest.raises(StoreError, match="no shift in it; a gap needs a clean set and a shifted one"):
        gaps_table(study_of(filled.store))
