"""The papers: their shifts are entries, their tables are bundled, and every published shift has a paper."""

from __future__ import annotations

from importlib import import_module

import pytest

from oodometer.catalogue.names import find_shift
from oodometer.catalogue.papers import paper_of, papers
from oodometer.catalogue.shifts import declared_shifts
from oodometer.published.reproduce import PAPERS, TESTBED
from oodometer.published.tables import table_names


def test_every_shift_and_table_of_a_paper_is_there():
    for paper in papers().values():
        assert all(find_shift(name) is not None for name in paper.shifts), paper.key
        assert all(one in table_names() or one.startswith("https://") for one in paper.tables), paper.key


def test_a_shift_is_introduced_by_one_paper():
    introduced = [name for paper in papers().values() for name in paper.shifts]
    assert len(introduced) == len(set(introduced))
    # What is made of the user's own corruptions, or by a method that was no test set before, has none.
    assert {name for name in declared_shifts() if paper_of(name) is None} == {"own", "adain", "hue"}


@pytest.mark.parametrize("key", [*PAPERS, TESTBED])
def test_what_is_derived_again_has_the_title_of_the_table(key):
    assert papers()[key].title == import_module(f"oodometer.published.{key}").TITLE
