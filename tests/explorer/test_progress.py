"""What takes long is computed in the background, and pages say how far it is."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from oodometer.explorer import answer_tables, load_answers
from oodometer.explorer.answer_tables import AnswerTables
from oodometer.explorer.by_image import Block, ByImage, Said, no_answers
from oodometer.explorer.progress import Progress
from oodometer.store.index import Index

NOTHING = "Nothing has been measured yet"


@pytest.fixture
def held_up(monkeypatch):
    """Reading stops before the first cell until the event is set."""
    go_on = threading.Event()
    read = Index.columns

    def slow(self, cell, *names):
        if "prediction" in names:
            go_on.wait(60)
        return read(self, cell, *names)

    monkeypatch.setattr(answer_tables, "AT_ONCE", 0)
    monkeypatch.setattr(Index, "columns", slow)
    yield go_on
    go_on.set()


def test_what_is_in_a_store_is_known_before_it_is_read(shop, held_up):
    tables = AnswerTables(shop.store)
    try:
        found = tables.catalogue()
        assert len(found.held) == 4 * len(shop.models)
        progress = tables.progress()
        assert (progress.what, progress.done, progress.total) == ("cells read", 0, len(found.held))
        assert tables.about(0) == []
        held_up.set()
        tables.wait()
        assert tables.progress() is None
        expected = {(one.number, int(shop.rows[one.model, one.condition].rank[3])) for one in found.held}
        first = next(iter(found.data.values())).first
        assert {(said.cell, said.rank) for said in tables.about(first + 3)} == expected
        right = tables.ask("SELECT sum(n_right) FROM agreement")[0][0]
        assert right == sum(int((rows.rank == 0).sum()) for rows in shop.rows.values())
    finally:
        tables.close()


def test_blocks_of_few_cells_give_the_same(shop, monkeypatch):
    whole, small = AnswerTables(shop.store), AnswerTables(shop.store)
    whole.catalogue()
    monkeypatch.setattr(load_answers, "MOST_CELLS", 5)
    small.catalogue()
    counts = "SELECT place, condition, sum(n), sum(n_right) FROM agreement GROUP BY ALL ORDER BY ALL"
    assert whole.ask(counts) == small.ask(counts)
    for place in range(len(shop.data)):
        assert sorted(whole.about(place)) == sorted(small.about(place))
    whole.close(), small.close()


def test_pages_say_computing_with_progress(shop, explore, held_up):
    _, pages = explore(shop.store)
    told = pages.get("/progress.json").json()["computing"]
    assert told["total"] in (0, 3, 4 * len(shop.models))  # of the shifts, once they are counted; or of the cells
    page = pages.get("/")
    assert "Computing: " in page.text
    assert "data-pending" in page.text
    assert NOTHING not in page.text
    assert "plain" in page.text  # what is known is shown


def test_when_all_is_computed_nothing_is_said(pages):
    assert pages.get("/progress.json").json() == {"computing": None}
    page = pages.get("/").text
    assert "Computing" not in page
    assert "data-pending" not in page


def test_an_empty_store_says_that_nothing_is_measured(bare_shop, explore):
    explorer, pages = explore(bare_shop.store)
    explorer.wait_for_study()
    page = pages.get("/").text
    assert "nothing in it yet" in page or NOTHING in page
    assert "Computing" not in page


def test_a_study_tells_how_many_shifts_are_done(shop):
    from oodometer.study import study_of

    told = []
    study = study_of(shop.store, progress=lambda done, total: told.append((done, total)))
    assert told == [(done, len(study.shifts)) for done in range(len(study.shifts))]


def test_words_of_progress():
    assert str(Progress("shifts", 3, 10, 1e12)).startswith("3 of 10 shifts, ")
    assert "of" not in str(Progress("shifts", 0, 0, 1e12))


def test_answers_by_image_are_replaced_in_one_step(tmp_path):
    by_image = ByImage(tmp_path / "answers")
    answers = no_answers(3, 2)
    answers["rank"][0], answers["prediction"][0], answers["confidence"][0] = [0, 4], [7, 8], [0.5, np.nan]
    by_image.change([Block((1, 2), 10, answers)], ())
    assert by_image.about(10) == [Said(1, 7, 0, 0.5), Said(2, 8, 4, None)]
    assert by_image.about(11) == by_image.about(9) == by_image.about(13) == []
    first, ranks = by_image.ranks(2)
    assert (first, ranks.tolist()) == (10, [4, -2, -2])
    by_image.change([Block((3, 4), 10, answers)], (1,))
    assert [said.cell for said in by_image.about(10)] == [2, 3, 4]
    by_image.change((), (2,))  # its room is free now
    size = (tmp_path / "answers").stat().st_size
    by_image.change([Block((5, 6), 10, answers)], ())
    assert [said.cell for said in by_image.about(10)] == [3, 4, 5, 6]
    assert (tmp_path / "answers").stat().st_size == size
    by_image.close()
