"""The tables keep up with a store that a run is going on in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import oodometer as odo
from oodometer.core.predictions import Predictions
from oodometer.explorer.answer_tables import AnswerTables
from oodometer.store.index import look
from oodometer.study import study_of


@pytest.fixture
def tables(own_shop):
    made = AnswerTables(own_shop.store)
    made.catalogue()
    yield made
    made.close()


def looked(tables):
    """What is in the store now, without the pause between two looks."""
    tables._next_look = 0.0
    return tables.catalogue()


def some(rows: Predictions, start: int, stop: int) -> Predictions:
    return replace(rows, **{name: value[start:stop] for name, value in vars(rows).items() if value is not None})


def begin(own_shop, model: str, start: int, stop: int):
    """A part of a new model's answers on ``clean``: those that another model gave."""
    old = next(
        cell for cell in look(own_shop.store).cells if (cell.model_name, cell.condition_name) == ("plain", "clean")
    )
    cell = replace(old, model=replace(old.model, name=model, digest="b" * 32))
    own_shop.store.add_cell(cell, own_shop.data)
    own_shop.store.write_part(cell.key, start, stop, some(own_shop.rows["plain", "clean"], start, stop))
    return cell


def agreement(tables):
    """Place to (models, of these right) on ``clean``, summed up by the database."""
    asked = tables.catalogue().condition("clean")[0].asked
    rows = tables.ask(
        "SELECT place, sum(n), sum(n_right) FROM agreement WHERE condition = $asked GROUP BY place", asked=asked
    )
    return {place: (n, right) for place, n, right in rows}


def test_a_run_shows_up_part_by_part_and_sealed(own_shop, tables):
    before, n = agreement(tables), len(own_shop.data)
    first = tables.catalogue()
    assert looked(tables) is first  # nothing new, nothing read
    cell = begin(own_shop, "new", 0, 10)
    held = looked(tables).cell("new", "clean")
    rank = own_shop.rows["plain", "clean"].rank
    assert (held.n_rows, held.top1, held.sealed) == (10, int((rank[:10] == 0).sum()), False)
    begin(own_shop, "new", 10, n)
    assert looked(tables).cell("new", "clean").n_rows == n
    own_shop.store.seal(cell, keep_logits=False)
    held = looked(tables).cell("new", "clean")
    assert (held.n_rows, held.top1, held.sealed) == (n, int((rank == 0).sum()), True)
    first = tables.catalogue().data[held.data].first
    expected = {first + at: (before[first + at][0] + 1, before[first + at][1] + int(rank[at] == 0)) for at in range(n)}
    assert agreement(tables) == expected
    for at in range(n):
        said = [answer for answer in tables.about(first + at) if answer.cell == held.number]
        assert [answer.rank for answer in said] == [rank[at]]  # once, and not the parts' rows besides
    assert {answer.cell for answer in tables.about(first)} == {one.number for one in tables.catalogue().held}


def test_a_cell_that_is_gone_is_forgotten(own_shop, tables):
    before = agreement(tables)
    cell = begin(own_shop, "new", 0, 10)
    looked(tables)
    own_shop.store.files.remove(f"cells/{cell.key}")
    assert "new" not in looked(tables).by_model
    assert agreement(tables) == before


def test_a_damaged_file_is_told_and_the_others_are_shown(own_shop):
    index = look(own_shop.store, save=False)  # nothing is kept that would stand for a damaged description
    cells = index.cells
    where = index.row_files(cells[0])[0]
    whole = Path(where).read_bytes()
    Path(where).write_bytes(whole[:100])
    (description,) = Path(f"{own_shop.store}/cells/{cells[1].key}").glob("cell.*.json")
    description.write_text("{")
    tables = AnswerTables(own_shop.store)
    found = tables.catalogue()
    assert len(found.held) == len(cells) - 2
    assert [cells[0].model_name in line or f"{cells[1].key}/cell" in line for line in found.problems] == [True, True]
    Path(where).write_bytes(whole)
    assert len(looked(tables).held) == len(cells) - 1  # mended
    tables.close()


def test_pages_show_what_is_new_after_a_reload(own_shop, explore):
    explorer, pages = explore(own_shop.store)
    explorer.wait_for_study()
    assert pages.get("/model/new").status_code == 404
    begin(own_shop, "new", 0, 10)
    explorer.index._next_look = 0.0
    found = pages.get("/.json").json()
    new = next(row for row in found["table"]["models"] if row["model"] == "new")
    assert new["values"]["clean"]["n"] == 10
    assert found["notes"][0] == f"unfinished: new on clean (10 of {len(own_shop.data)} images)"
    assert any("unfinished: new on clean" in line for line in explorer.wait_for_study().notes)


def test_names_are_those_of_a_study(own_shop, tables):
    other = replace(own_shop.data, name="other", labels=np.zeros(len(own_shop.data), dtype=np.int64))
    own_shop.add("plain", "clean", skill=1.0, data=other)
    expected = {one.name for one in study_of(own_shop.store).conditions}
    assert {"clean@val", "clean@other"} <= expected
    assert set(looked(tables).by_condition) == expected


def test_models_that_number_classes_otherwise_are_called_by_the_data(own_shop, explore):
    """A model whose classes are in the opposite order: label and answers are its own numbers."""
    rows = own_shop.rows["plain", "clean"]
    k = len(own_shop.classes)
    turned = replace(rows, label=k - 1 - rows.label, prediction=k - 1 - rows.prediction, top5=k - 1 - rows.top5)
    old = look(own_shop.store).cells[0]
    cell = replace(
        old,
        model=replace(old.model, name="turned", digest="c" * 32),
        condition=replace(old.condition, name="clean"),
    )
    own_shop.store.add_cell(cell, own_shop.data)
    own_shop.store.write_part(cell.key, 0, len(own_shop.data), turned)
    own_shop.store.seal(cell, keep_logits=False)
    _, pages = explore(own_shop.store)
    found = pages.get("/image.json", params={"data": "val", "id": "ünï", "on": "clean"}).json()
    answers = {one["model"]: one["answer"] for one in found["answers"] if one["condition"] == "clean"}
    assert answers["turned"] == answers["plain"]


def test_classes_that_stand_for_several_of_the_data_have_no_name(own_shop, explore):
    """Answers over pairs of classes; the same numbers as of a score per class, which calls them by number."""
    rows = own_shop.rows["plain", "clean"]
    merged = replace(rows, label=rows.label // 2, prediction=rows.prediction // 2, top5=rows.top5 // 2)
    old = look(own_shop.store).cells[0]
    cell = replace(
        old,
        model=replace(old.model, name="merged", digest="d" * 32),
        condition=replace(old.condition, name="super", label_map="e" * 32),
        n_classes=4,
    )
    own_shop.store.add_cell(cell, own_shop.data)
    own_shop.store.write_part(cell.key, 0, len(own_shop.data), merged)
    own_shop.store.seal(cell, keep_logits=False)
    _, pages = explore(own_shop.store)
    found = pages.get("/model/merged.json").json()["classes"]
    scores = odo.score(own_shop.store, metrics=["per-class"]).only(lambda row: row.model == "merged")
    expected = {row.metric: row.estimate.value for row in scores.rows}
    # The last of seven classes is alone in its pair, and keeps its name.
    assert {f"per-class[{one['class'].removeprefix('class ')}]": one["accuracy"]["value"] for one in found} == expected
    assert sorted(one["class"] for one in found if one["has_name"]) == ["gnu"]
    assert pages.get("/model/merged").status_code == 200
