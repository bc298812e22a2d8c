"""Cells on disk and in memory: what is written comes back, whatever was interrupted in between."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from itertools import count, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oodometer import __version__
from oodometer.core.condition import Condition, clean
from oodometer.core.digests import digest_of
from oodometer.core.errors import StoreError
from oodometer.core.labels import mask
from oodometer.core.model import Card, Input
from oodometer.core.predictions import Predictions, from_top_classes
from oodometer.core.preprocessing import Geometry
from oodometer.core.records import DataRef, record_of_condition
from oodometer.shifts.imagenet_c import CANONICAL, SMALL, corrupted, without_colours
from oodometer.store.cells import FORMAT, Cell
from oodometer.store.checked import listed, of_stem
from oodometer.store.files import ASIDE, Files
from oodometer.store.index import look
from oodometer.store.look_at_cell import look_at
from oodometer.store.store import MARK, Store, open_store


def assert_same_rows(found: Predictions, expected: Predictions) -> None:
    for one in fields(Predictions):
        here, there = getattr(found, one.name), getattr(expected, one.name)
        if there is None:
            assert here is None
        else:
            np.testing.assert_array_equal(here, there, err_msg=one.name)
            assert here.dtype == there.dtype, one.name
            assert here.shape == there.shape, one.name


def message_of(make) -> str:
    with pytest.raises(StoreError) as caught:
        make()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def cell_folder(store: Store, cell: Cell) -> Path:
    return Path(store.files.address) / "cells" / cell.key


def path_of(store: Store, folder: str, stem: str) -> str:
    """The only file of that name, relative to the store."""
    (name,) = of_stem(listed(store.files, folder), stem)
    return name.path


def is_sealed(store: Store, cell: Cell) -> bool:
    entry = look_at(store, cell.key)
    return entry is not None and entry.complete


def has_logits(store: Store, cell: Cell) -> bool:
    entry = look_at(store, cell.key)
    return entry is not None and entry.has_logits


def covered_of(store: Store, cell: Cell, *, keep_logits: bool) -> list[tuple[int, int]]:
    entry = look_at(store, cell.key)
    return [] if entry is None else entry.covered(keep_logits=keep_logits)


def row_files(store: Store, cell: Cell) -> list[str]:
    """The files of a cell's rows, relative to its folder and without their digests."""
    entry = look_at(store, cell.key)
    assert entry is not None
    return [f"{name.folder}/{name.stem}".removeprefix(f"cells/{cell.key}/") for name in entry.files]


# Round trips


@pytest.mark.parametrize("logits", [False, True])
def test_what_is_written_comes_back(store, make_dataset, make_cell, make_rows, logits):
    data = make_dataset(23, labels=[-1, *np.arange(22) % 7])
    cell = make_cell(data)
    store.add_cell(cell, data)
    for start in range(0, 23, 5):
        stop = min(start + 5, 23)
        store.write_part(cell.key, start, stop, make_rows(data, start=start, stop=stop, logits=logits))
    expected = make_rows(data, logits=logits)
    assert not is_sealed(store, cell)
    assert_same_rows(store.read(cell, logits=logits), expected)
    store.seal(cell, keep_logits=logits)
    assert is_sealed(store, cell)
    assert has_logits(store, cell) == logits
    assert_same_rows(store.read(cell, logits=logits), expected)
    assert_same_rows(store.read(cell), replace(expected, logits=None))
    assert store.files.names(f"cells/{cell.key}/parts") == []


def test_rows_without_probabilities_come_back_as_nan(store, make_dataset, make_cell):
    data = make_dataset(4, labels=[0, 1, 2, -1])
    cell = make_cell(data)
    rows = from_top_classes(np.array([[0, 1], [2, 1], [3, 4], [5, 6]]), data.labels, np.arange(4))
    store.add_cell(cell, data)
    store.write_part(cell.key, 0, 4, rows)
    store.seal(cell, keep_logits=False)
    assert_same_rows(store.read(cell), rows)
    assert np.isnan(store.read(cell).confidence).all()


def test_a_part_of_broken_images_alone_has_no_rows(store, make_dataset, make_cell, make_rows):
    data = make_dataset(6)
    cell = make_cell(data)
    store.add_cell(cell, data)
    broken = (0, 1, 2, 4)
    for start in (0, 3):
        rows = make_rows(data, start=start, stop=start + 3, broken=broken, logits=True)
        store.write_part(cell.key, start, start + 3, rows)
    store.seal(cell, keep_logits=True)
    found = store.read(cell, logits=True)
    assert_same_rows(found, make_rows(data, broken=broken, logits=True))
    assert found.image.tolist() == [3, 5]
    assert covered_of(store, cell, keep_logits=True) == [(0, 6)]


def test_a_cell_comes_back_as_it_was_described(store, make_dataset, make_cell):
    data, other = make_dataset(3), make_dataset(4, name="v2")
    cells = [
        make_cell(other, model="b"),
        make_cell(data, model="b", condition="fog/3"),
        make_cell(data, model="b"),
        replace(make_cell(data, model="a"), known_classes=2),
    ]
    for cell in cells:
        store.add_cell(cell, other if cell.data.name == "v2" else data)
        store.add_cell(cell, other if cell.data.name == "v2" else data)
    found = look(store).cells
    assert [(cell.model_name, cell.condition_name, cell.data.title) for cell in found] == [
        ("a", "clean", "val"),
        ("b", "clean", "v2"),
        ("b", "clean", "val"),
        ("b", "fog/3", "val"),
    ]
    assert {cell.key for cell in found} == {cell.key for cell in cells} == set(store.files.names("cells"))
    assert found == tuple(sorted(cells, key=lambda cell: (cell.model_name, cell.condition_name, cell.data.title)))


def test_the_images_are_kept_with_ids_labels_contents_and_classes(local_store, make_dataset, make_cell):
    import pyarrow.parquet as pq

    data = make_dataset(3, labels=[2, -1, 0])
    data = replace(data, columns={"video": np.array(["x", "y", "z"])})
    cell = make_cell(data)
    local_store.add_cell(cell, data)
    table = pq.read_table(local_store.images_file(data.digest))
    assert table["image"].to_pylist() == [0, 1, 2]
    assert table["id"].to_pylist() == list(data.ids)
    assert table["label"].to_pylist() == [2, -1, 0]
    assert table["content"].to_pylist() == list(data.scan().contents)
    assert table["column:video"].to_pylist() == ["x", "y", "z"]
    assert json.loads(table.schema.metadata[b"classes"]) == list(data.space.classes)


# Keys


def test_a_key_covers_everything_that_the_answers_depend_on(make_dataset, make_cell):
    data = make_dataset(3)
    plain = make_cell(data)
    others = [
        make_cell(data, model="other"),
        make_cell(data, digest="b" * 32),
        make_cell(data, condition="fog"),
        make_cell(data, precision="mixed"),
        make_cell(make_dataset(3, labels=[0, 0, 0])),
        replace(plain, model=replace(plain.model, input=Input(Geometry(9, 9)))),
        replace(plain, model=replace(plain.model, classes="another order of the classes")),
        replace(plain, condition=replace(plain.condition, label_map="a mask")),
    ]
    assert len({cell.key for cell in (plain, *others)}) == len(others) + 1
    # A card that is written later does not make old predictions stale.
    assert replace(plain, model=replace(plain.model, card=Card("more data"), notes={"a": "b"})).key == plain.key
    renamed = replace(plain.condition, data=DataRef(data.digest, "another name", "part", "some"))
    assert replace(plain, condition=renamed, n_images=9, versions={"numpy": "9"}).key == plain.key


def test_keys_stay_what_they_were(make_dataset, make_cell):
    """Golden: the keys of format 3, as this test printed them when the format was made.

    They hold while nobody changes what answers depend on: a key that moves makes every store start anew, so either
    undo the change, or raise the format and write the new keys here.
    """
    data = make_dataset(3)
    conditions = {
        "clean": clean(data),
        "mapped": clean(data, label_map=mask("some", data.space, ["0", "1", "2"])),
        "imagenet-c/fog/3": corrupted(data, "imagenet-c", "fog", 3, quality=85, view=CANONICAL, seed=0),
        "cifar10-c/snow/1": corrupted(data, "cifar10-c", "snow", 1, quality=None, view=SMALL, seed=0),
        "greyscale": Condition("greyscale", data, transform=without_colours()),
    }
    plain = make_cell(data)
    assert {name: replace(plain, condition=record_of_condition(one)).key for name, one in conditions.items()} == {
        "clean": "32e72a9ad25f80d79e60d77db3b2252e",
        "mapped": "e9e8e98817d1afc2c4de97f1e15ab1df",
        "imagenet-c/fog/3": "c0ebffeb2a919b9f64c11d0dc6f143be",
        "cifar10-c/snow/1": "f1f21066a394c4ee68430e7f4e3dd1fb",
        "greyscale": "ddc4f291149015ef39ff028090367b7d",
    }


# Parts


cuts = st.lists(st.integers(1, 39), max_size=8, unique=True).map(lambda found: [0, *sorted(found), 40])


numbers = count()


@settings(
    deadline=None, derandomize=True, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)  # every example has a cell of its own
@given(first=cuts, second=cuts, dropped=st.sets(st.integers(0, 8)), kept=st.sets(st.integers(0, 8)))
def test_parts_of_two_runs_never_give_an_image_twice(
    local_store, make_dataset, make_cell, make_rows, first, second, dropped, kept
):
    data = make_dataset(40)
    cell = make_cell(data, model=f"net {next(numbers)}")
    local_store.add_cell(cell, data)
    written = set()
    for cut, chosen in ((first, set(range(9)) - dropped), (second, kept)):
        for place, (start, stop) in enumerate(pairwise(cut)):
            if place in chosen:
                local_store.write_part(cell.key, start, stop, make_rows(data, start=start, stop=stop))
                written.update(range(start, stop))
    covered = covered_of(local_store, cell, keep_logits=False)
    positions = [one for start, stop in covered for one in range(start, stop)]
    assert positions == sorted(set(positions))
    assert set(positions) <= written
    if positions:
        found = local_store.read(cell)
        assert found.image.tolist() == positions
        whole = make_rows(data)
        np.testing.assert_array_equal(found.rank, whole.rank[positions])
        np.testing.assert_array_equal(found.confidence, whole.confidence[positions])
    # What a next run does: fill the gaps. Then everything is there once.
    todo = sorted(set(range(40)) - set(positions))
    for start in todo:
        local_store.write_part(cell.key, start, start + 1, make_rows(data, start=start, stop=start + 1))
    local_store.seal(cell, keep_logits=False)
    assert_same_rows(local_store.read(cell), make_rows(data))


def test_covered_tells_what_needs_no_more_work(store, make_dataset, make_cell, make_rows):
    data = make_dataset(40)
    cell = make_cell(data)
    assert covered_of(store, cell, keep_logits=False) == []
    store.add_cell(cell, data)
    assert covered_of(store, cell, keep_logits=False) == []
    for start, stop, logits in [(0, 10, True), (20, 30, False), (10, 12, True), (25, 40, True)]:
        store.write_part(cell.key, start, stop, make_rows(data, start=start, stop=stop, logits=logits))
    assert covered_of(store, cell, keep_logits=False) == [(0, 10), (10, 12), (20, 30)]  # 25-40 overlaps 20-30
    assert covered_of(store, cell, keep_logits=True) == [(0, 10), (10, 12), (25, 40)]
    assert store.read(cell, logits=True).image.tolist() == [*range(12), *range(25, 40)]


def test_an_unfinished_cell_is_not_sealed(store, make_dataset, make_cell, make_rows):
    data = make_dataset(10)
    cell = make_cell(data)
    store.add_cell(cell, data)
    store.write_part(cell.key, 0, 6, make_rows(data, stop=6))
    store.seal(cell, keep_logits=False)
    assert not is_sealed(store, cell)
    assert store.read(cell).image.tolist() == list(range(6))
    assert row_files(store, cell) == ["parts/000000000-000000006"]


def test_sealing_twice_changes_nothing(store, make_dataset, make_cell, make_rows):
    data = make_dataset(4)
    cell = make_cell(data)
    store.add_cell(cell, data)
    store.write_part(cell.key, 0, 4, make_rows(data))
    store.seal(cell, keep_logits=False)
    before = store.files.names(f"cells/{cell.key}")
    store.seal(cell, keep_logits=False)
    assert store.files.names(f"cells/{cell.key}") == before  # their digests are in the names


def test_logits_may_be_added_to_a_sealed_cell(store, make_dataset, make_cell, make_rows):
    data = make_dataset(10)
    cell = make_cell(data)
    store.add_cell(cell, data)
    store.write_part(cell.key, 0, 10, make_rows(data))
    store.seal(cell, keep_logits=False)
    assert covered_of(store, cell, keep_logits=False) == [(0, 10)]
    assert covered_of(store, cell, keep_logits=True) == []
    assert message_of(lambda: store.read(cell, logits=True)) == f"{store}: no logits of net on clean"

    store.write_part(cell.key, 0, 5, make_rows(data, stop=5, logits=True))
    assert_same_rows(store.read(cell), make_rows(data))  # half-way: the sealed rows are still all there
    assert row_files(store, cell) == ["rows"]
    assert not has_logits(store, cell)
    store.write_part(cell.key, 5, 10, make_rows(data, start=5, logits=True))
    store.seal(cell, keep_logits=True)
    assert has_logits(store, cell)
    assert_same_rows(store.read(cell, logits=True), make_rows(data, logits=True))
    assert store.files.names(f"cells/{cell.key}/parts") == []


def test_logits_that_are_all_there_are_kept_by_a_run_that_did_not_ask(store, make_dataset, make_cell, make_rows):
    data = make_dataset(10)
    cell = make_cell(data)
    store.add_cell(cell, data)
    store.write_part(cell.key, 0, 10, make_rows(data, logits=True))  # killed before it was sealed
    store.seal(cell, keep_logits=False)
    assert_same_rows(store.read(cell, logits=True), make_rows(data, logits=True))


def test_a_sealed_cell_survives_a_logits_run_that_was_killed(store, make_dataset, make_cell, make_rows):
    data = make_dataset(10)
    cell = make_cell(data)
    store.add_cell(cell, data)
    store.write_part(cell.key, 0, 10, make_rows(data))
    store.seal(cell, keep_logits=False)
    store.write_part(cell.key, 0, 5, make_rows(data, stop=5, logits=True))  # and here it was killed
    store.seal(cell, keep_logits=False)  # the same run again, without logits
    assert_same_rows(store.read(cell), make_rows(data))


def test_a_seal_that_was_killed_while_it_cleaned_up_loses_nothing(local_store, make_dataset, make_cell, make_rows):
    data = make_dataset(10)
    cell = make_cell(data)
    local_store.add_cell(cell, data)
    for start in (0, 5):
        local_store.write_part(cell.key, start, start + 5, make_rows(data, start=start, stop=start + 5))
    local_store.seal(cell, keep_logits=False)
    local_store.write_part(cell.key, 5, 10, make_rows(data, start=5))  # a part that was not yet removed
    local_store.seal(cell, keep_logits=False)
    assert_same_rows(local_store.read(cell), make_rows(data))


def test_parts_that_vanish_while_they_are_joined_were_sealed_by_another_run(
    local_store, make_dataset, make_cell, make_rows, monkeypatch
):
    data = make_dataset(10)
    cell = make_cell(data)
    local_store.add_cell(cell, data)
    local_store.write_part(cell.key, 0, 10, make_rows(data))
    stale = local_store.files.names(f"cells/{cell.key}/parts")
    local_store.seal(cell, keep_logits=False)
    names = Files.names
    monkeypatch.setattr(Files, "names", lambda self, path: stale if path.endswith("parts") else names(self, path))
    local_store.seal(cell, keep_logits=False)
    assert_same_rows(local_store.read(cell), make_rows(data))


@pytest.mark.parametrize("seen", ["parts", "nothing"])
def test_a_cell_that_is_sealed_while_it_is_read(local_store, make_dataset, make_cell, make_rows, monkeypatch, seen):
    data = make_dataset(10)
    cell = make_cell(data)
    local_store.add_cell(cell, data)
    local_store.write_part(cell.key, 0, 10, make_rows(data))
    names = Files.names

    def seal_meanwhile(self: Files, path: str) -> list[str]:
        before = names(self, path)
        monkeypatch.undo()
        local_store.seal(cell, keep_logits=False)
        return before if seen == "parts" else names(self, path)

    monkeypatch.setattr(Files, "names", seal_meanwhile)
    assert_same_rows(local_store.read(cell), make_rows(data))


def test_leftovers_and_foreign_files_are_not_parts(local_store, make_dataset, make_cell, make_rows):
    data = make_dataset(10)
    cell = make_cell(data)
    local_store.add_cell(cell, data)
    local_store.write_part(cell.key, 0, 5, make_rows(data, stop=5))
    parts = cell_folder(local_store, cell) / "parts"
    for name in (
        "000000005-000000010.parquet",
        "000000005-000000010.0123456789abcdef.parquet.tmp",
        "000000005-000000010.notes.0123456789abcdef.parquet",
        "notes.0123456789abcdef.parquet",
        "5-10.0123456789abcdef.parquet",
        "a-b.0123456789abcdef.parquet",
        ".DS_Store",
        "Thumbs.db",
    ):
        (parts / name).write_bytes(b"something else")
    cells = cell_folder(local_store, cell).parent
    (cells / ".DS_Store").write_bytes(b"")
    (cells / "notes").mkdir()
    assert covered_of(local_store, cell, keep_logits=False) == [(0, 5)]
    assert_same_rows(local_store.read(cell), make_rows(data, stop=5))
    index = look(local_store)
    assert (index.cells, index.problems) == ((cell,), ())
    assert len(index.row_files(cell)) == 1
    local_store.write_part(cell.key, 5, 10, make_rows(data, start=5))
    local_store.seal(cell, keep_logits=False)
    assert_same_rows(local_store.read(cell), make_rows(data))


# Opening


def test_opening_what_is_not_there(tmp_path):
    where = tmp_path / "runs"
    assert message_of(lambda: open_store(str(where))) == (
        f"{where}: no store there (it has no oodometer.json); 'oodometer run' makes one"
    )
    assert not where.exists()
    assert message_of(lambda: open_store("memory://nothing-is-here/runs")) == (
        "memory://nothing-is-here/runs: no store there (it has no oodometer.json); 'oodometer run' makes one"
    )


def test_a_store_is_made_once_and_found_again(address):
    made = open_store(address, create=True)
    mark = json.loads(made.files.read(MARK))
    said = {"format": FORMAT, "version": __version__}
    assert mark == {**said, "check": digest_of(said)}
    assert open_store(address) == open_store(address, create=True) == made
    assert str(made) == address


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    assert message_of(lambda: open_store(str(tmp_path), create=True)) == (
        f"{tmp_path}: is not a store and not empty; give an empty or new folder"
    )
    assert [one.name for one in tmp_path.iterdir()] == ["thesis.tex"]


def test_an_empty_folder_becomes_a_store(tmp_path):
    open_store(str(tmp_path), create=True)
    assert [one.name for one in tmp_path.iterdir() if one.name != ASIDE] == [MARK]


def test_a_start_that_was_killed_does_not_spoil_the_folder(tmp_path):
    (tmp_path / ASIDE).mkdir()
    (tmp_path / ASIDE / "elsewhere-1-0123456789abcdef").write_text("{")
    assert look(open_store(str(tmp_path), create=True)).cells == ()


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"{}", b"\xff\xfe", b"7", b'{"format": 2}', b'{"format": 2, "version": "1", "check": "00"}'],
)
def test_a_damaged_mark_is_replaced_by_whoever_writes(tmp_path, content, make_dataset, make_cell, make_rows):
    store, data = open_store(str(tmp_path), create=True), make_dataset(3)
    cell = make_cell(data)
    store.add_cell(cell, data)
    store.write_part(cell.key, 0, 3, make_rows(data))
    (tmp_path / MARK).write_bytes(content)
    assert message_of(lambda: open_store(str(tmp_path))) == (
        f"{tmp_path}/oodometer.json: damaged; the next 'oodometer run' or 'oodometer verify' on it replaces it"
    )
    assert look(open_store(str(tmp_path), create=True)).cells == (cell,)
    assert open_store(str(tmp_path)) == store


def mark_of(version: int) -> str:
    said = {"format": version, "version": "1.0"}
    return json.dumps({**said, "check": digest_of(said)})


@pytest.mark.parametrize(("version", "mark"), [(1, '{"format": 1}'), (2, mark_of(2)), (4, mark_of(4))])
def test_a_store_of_another_format_is_refused(tmp_path, version, mark):
    which = " (oodometer 1.0)" if version > 1 else ""  # the mark of format 1 does not say it
    (tmp_path / MARK).write_text(mark)
    for create in (False, True):
        assert message_of(lambda create=create: open_store(str(tmp_path), create=create)) == (
            f"{tmp_path}: a store of format {version}, and this version of oodometer reads format 3; "
            f"use the version that wrote it{which}, or another folder"
        )
    assert (tmp_path / MARK).read_text() == mark


def test_a_file_is_not_a_store(tmp_path):
    (tmp_path / "runs").write_text("")
    message = message_of(lambda: open_store(str(tmp_path / "runs"), create=True))
    assert message == f"{tmp_path}/runs/oodometer.json: can't be read (Not a directory)"


def test_an_address_that_means_nothing():
    assert message_of(lambda: open_store("", create=True)) == (
        "the store's address is empty; give a folder, for example runs/"
    )
    message = message_of(lambda: open_store("nosuchprotocol://x", create=True))
    assert message == "nosuchprotocol://x: Protocol not known: nosuchprotocol"


def test_file_addresses_and_the_home_folder_are_local(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert open_store("~/runs", create=True).files.address == str(tmp_path / "runs")
    assert (tmp_path / "runs" / MARK).exists()
    assert open_store(f"file://{tmp_path}/runs").files.is_local


def test_a_trailing_slash_changes_nothing(tmp_path):
    open_store(f"{tmp_path}/runs/", create=True)
    assert look(open_store(f"{tmp_path}/runs")).cells == ()


# Damage


def emptied(content: bytes) -> bytes:
    return b""


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flipped(content: bytes) -> bytes:
    return content[:40] + bytes([content[40] ^ 1]) + content[41:]


@pytest.mark.parametrize("damage", [emptied, cut, flipped])
def test_a_damaged_file_is_an_error_of_one_line(store, make_dataset, make_cell, make_rows, damage):
    data = make_dataset(50)
    cell = make_cell(data)
    store.add_cell(cell, data)
    store.write_part(cell.key, 0, 50, make_rows(data, logits=True))
    for stem in ("000000000-000000050", "000000000-000000050.logits"):
        where = path_of(store, f"cells/{cell.key}/parts", stem)
        whole = store.files.read(where)
        store.files.write(where, damage(whole))
        assert message_of(lambda: store.read(cell, logits=True)).endswith(": damaged; run again to replace it")
        store.files.write(where, whole)
    store.seal(cell, keep_logits=True)
    where = path_of(store, f"cells/{cell.key}", "rows")
    store.files.write(where, damage(store.files.read(where)))
    assert message_of(lambda: store.read(cell)) == f"{store.files.locate(where)}: damaged; run again to replace it"


def test_a_file_of_another_cell_is_damaged(local_store, make_dataset, make_cell, make_rows):
    data = make_dataset(3)
    mine, other = make_cell(data), make_cell(data, model="other")
    for seed, cell in enumerate((mine, other)):
        local_store.add_cell(cell, data)
        local_store.write_part(cell.key, 0, 3, make_rows(data, seed=seed))
        local_store.seal(cell, keep_logits=False)
    own, others = (Path(str(local_store)) / path_of(local_store, f"cells/{one.key}", "rows") for one in (mine, other))
    own.unlink()
    strange = own.parent / others.name
    strange.write_bytes(others.read_bytes())
    assert message_of(lambda: local_store.read(mine)) == f"{strange}: damaged; run again to replace it"


def test_of_two_files_of_one_name_the_whole_one_is_read(local_store, make_dataset, make_cell, make_rows):
    data = make_dataset(5)
    cell = make_cell(data)
    local_store.add_cell(cell, data)
    local_store.write_part(cell.key, 0, 5, make_rows(data))
    local_store.seal(cell, keep_logits=False)
    (cell_folder(local_store, cell) / "rows.0000000000000000.parquet").write_bytes(b"damaged")
    assert_same_rows(local_store.read(cell), make_rows(data))
    assert look(local_store).is_complete(cell)


def test_a_part_that_is_damaged_is_not_sealed_but_made_again(local_store, make_dataset, make_cell, make_rows):
    data = make_dataset(10)
    cell = make_cell(data)
    local_store.add_cell(cell, data)
    for start in (0, 5):
        local_store.write_part(cell.key, start, start + 5, make_rows(data, start=start, stop=start + 5))
    damaged = path_of(local_store, f"cells/{cell.key}/parts", "000000005-000000010")
    local_store.files.write(damaged, b"")
    local_store.seal(cell, keep_logits=False)
    assert not is_sealed(local_store, cell)
    assert covered_of(local_store, cell, keep_logits=False) == [(0, 5)]
    assert not local_store.files.exists(damaged)
    local_store.write_part(cell.key, 5, 10, make_rows(data, start=5))
    local_store.seal(cell, keep_logits=False)
    assert_same_rows(local_store.read(cell), make_rows(data))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"model": {}}', '{"surprise": 1}'])
def test_a_damaged_description_is_told_and_replaced(local_store, make_dataset, make_cell, make_rows, content):
    data = make_dataset(3)
    cell = make_cell(data)
    local_store.add_cell(cell, data)
    local_store.write_part(cell.key, 0, 3, make_rows(data))
    path = path_of(local_store, f"cells/{cell.key}", "cell")
    local_store.files.write(path, content.encode())
    index = look(local_store)
    assert (index.cells, index.problems) == (
        (),
        (
            f"{cell_folder(local_store, cell)}/cell: missing or damaged, so nothing is known of its rows; run again to "
            "replace it",
        ),
    )
    local_store.add_cell(cell, data)
    assert look(local_store).cells == (cell,)
    assert_same_rows(local_store.read(cell), make_rows(data))


def test_a_cell_that_is_just_being_made_is_not_there_yet(local_store):
    (Path(local_store.files.address) / "cells" / ("0" * 32)).mkdir(parents=True)
    index = look(local_store)
    assert (index.cells, index.problems) == ((), ())


def test_a_cell_without_rows(store, make_dataset, make_cell):
    data = make_dataset(3)
    cell = make_cell(data)
    store.add_cell(cell, data)
    assert row_files(store, cell) == look(store).row_files(cell) == []
    assert message_of(lambda: store.read(cell)) == f"{store}: no predictions of net on clean"


def test_a_removed_cell_is_gone_with_all_its_files(store, make_dataset, make_cell, make_rows):
    data = make_dataset(3)
    cells = [make_cell(data, model=name) for name in "ab"]
    for cell in cells:
        store.add_cell(cell, data)
        store.write_part(cell.key, 0, 3, make_rows(data))
    store.remove_cell(cells[0].key)
    store.remove_cell(cells[0].key)
    assert store.cell_keys() == [cells[1].key]
    assert_same_rows(store.read(cells[1]), make_rows(data))


def test_columns_that_come_later_are_kept(local_store, make_dataset, make_cell):
    plain = make_dataset(3)
    local_store.add_cell(make_cell(plain), plain)
    # The same images, known better: ids, labels and contents are what the digest is of.
    for columns in ({"video": np.array(["x", "y", "z"])}, {"frame": np.array([4, 5, 6]), "video": np.array(["a"] * 3)}):
        known = replace(plain, columns=columns)
        assert known.digest == plain.digest
        local_store.add_cell(make_cell(known, condition="again"), known)
    images = look(local_store).images(make_cell(plain))
    assert images.columns["video"].tolist() == ["x", "y", "z"]  # what was there first stays
    assert images.columns["frame"].tolist() == [4, 5, 6]
    assert images.ids.tolist() == list(plain.ids)
    assert images.space == plain.space
    assert len(local_store.files.names("datasets")) == 1, "the table without them is gone"
