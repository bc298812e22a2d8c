"""The index: what is in a store, what each thing is called, how many rows are right, and what is read for that."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from made_cells import made_cell, made_condition
from oodometer.core.condition import Family
from oodometer.core.dataset import Dataset
from oodometer.core.errors import StoreError, UsageError
from oodometer.core.labels import numbered
from oodometer.core.model import Input
from oodometer.core.predictions import Predictions
from oodometer.core.preprocessing import Geometry
from oodometer.core.records import PREDICTIONS, ShiftRecord
from oodometer.store.cells import Cell
from oodometer.store.checked import listed, of_stem
from oodometer.store.files import Files, Signature
from oodometer.store.index import Index, forget, index_at, index_of_table, look
from oodometer.store.index_file import GRAIN, read_kept
from oodometer.store.look_at_cell import look_at
from oodometer.store.names import condition_names
from oodometer.store.run import Run
from oodometer.store.store import Store, open_store
from oodometer.store.tables import Accuracy, write_table

own_cells = settings(
    deadline=None, derandomize=True, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture]
)  # every example has a store of its own


@dataclass(frozen=True)
class Filler:
    """Fills a store with cells of random answers."""

    store: Store
    make_rows: Callable[..., Predictions]

    def add(self, data: Dataset, *, logits: bool = False, seed: int = 0, **about: Any) -> Cell:
        cell = made_cell(data, **about)
        self.store.add_cell(cell, data)
        self.store.write_part(cell.key, 0, len(data), self.make_rows(data, seed=seed, logits=logits))
        self.store.seal(cell, keep_logits=logits)
        return cell


@pytest.fixture
def filled(local_store, make_rows) -> Filler:
    return Filler(local_store, make_rows)


def rest() -> None:
    """Until what was written is older than the tick of the clock that the index does not trust."""
    time.sleep(2 * GRAIN / 1e9)


@pytest.fixture
def reads(monkeypatch) -> list[str]:
    """The files that were read, by path."""
    paths: list[str] = []
    read, pieces = Files.read, Files.pieces
    monkeypatch.setattr(Files, "read", lambda self, path: (paths.append(path), read(self, path))[1])
    monkeypatch.setattr(Files, "pieces", lambda self, path: (paths.append(path), pieces(self, path))[1])
    return paths


def said(index: Index) -> tuple[Any, ...]:
    """All that an index says."""
    return index.entries, index.shifts, index.tables, index.problems


# What is in a store


def test_nothing_is_in_a_new_store(store):
    index = look(store)
    assert said(index) == ((), (), (), ())
    assert (index.cells, index.answered, index.models, index.conditions) == ((), (), {}, {})


def test_a_cell_without_rows_is_there_and_not_answered(store, make_dataset, make_cell):
    data = make_dataset(3)
    cell = make_cell(data)
    store.add_cell(cell, data)
    index = look(store)
    assert (index.cells, index.answered) == ((cell,), ())
    assert not index.is_complete(cell)
    assert not index.has_rows(cell)
    assert index.entry(cell).covered(keep_logits=False) == []


@own_cells
@given(seed=st.integers(0, 2**32 - 1))
def test_counts_are_those_of_numpy(tmp_path_factory, make_dataset, make_cell, make_rows, seed):
    rng = np.random.default_rng(seed)
    store = open_store(str(tmp_path_factory.mktemp("runs")), create=True)
    expected = {}
    for number in range(int(rng.integers(1, 6))):
        n, k = int(rng.integers(1, 60)), int(rng.integers(2, 12))
        data = make_dataset(n, labels=rng.integers(-1, k, n), space=numbered(k), name=f"data {number}")
        cell = make_cell(data, model=f"m{number % 2}", condition=f"c{number}")
        store.add_cell(cell, data)
        broken = tuple(np.flatnonzero(rng.random(n) < 0.1).tolist())
        size, whole = int(rng.integers(1, 30)), bool(rng.random() < 0.6)
        written = 0
        for start in range(0, n, size):
            stop = min(start + size, n)
            if whole or stop < n:
                store.write_part(cell.key, start, stop, make_rows(data, start=start, stop=stop, broken=broken))
                written = stop
        store.seal(cell, keep_logits=False)
        rank = make_rows(data, stop=written, broken=broken).rank
        # reference: numpy
        counts = (len(rank), (rank >= 0).sum(), (rank == 0).sum(), ((rank >= 0) & (rank < 5)).sum())
        expected[cell.key] = (whole, *counts)
    for _ in range(2):  # the second time from what was kept
        index = look(store)
        assert {
            one.cell.key: (one.complete, one.n_rows, one.n, one.top1, one.top5) for one in index.entries
        } == expected
    assert [one.cell.key for one in index.answered] == [cell.key for cell in index.cells if expected[cell.key][1]]


def test_frames_are_no_rows_before_they_are_judged_as_one(local_store, make_dataset, make_rows):
    data = make_dataset(4, columns={"anchor": np.array([0, 0, 1, 1])})
    cell = made_cell(data, unit="anchor", n_units=2)
    local_store.add_cell(cell, data)
    local_store.write_part(cell.key, 0, 2, make_rows(data, stop=2))
    entry = look(local_store).entry(cell)
    assert (entry.n_rows, entry.n, entry.files) == (0, 0, ())
    assert entry.covered(keep_logits=False) == [(0, 2)]
    local_store.write_part(cell.key, 2, 4, make_rows(data, start=2))
    local_store.seal(cell, keep_logits=False)
    assert look(local_store).entry(cell).n_rows == 2


def test_what_comes_back_from_the_index_file_is_what_was_looked_at(filled, make_dataset):
    data, clip = make_dataset(5), make_dataset(4, columns={"anchor": np.array([0, 0, 1, 1])}, name="clip")
    filled.add(data, logits=True, versions={"numpy": "2"}, known_classes=None)
    filled.add(data, model="theirs", kind=PREDICTIONS, input=None, known_classes=2, card={"category": "more data"})
    filled.add(data, condition="several", answers=(0, 2, -1))
    filled.add(data, condition="fog/3", transform={"name": "fog", "severity": 3}, label_map="m" * 32)
    filled.add(clip, condition="pm-1", unit="anchor", n_units=2)
    first = look(filled.store)
    rest()
    look(filled.store)
    kept = read_kept(filled.store)
    assert {key: one.cell for key, one in kept.cells.items()} == {cell.key: cell for cell in first.cells}
    assert all(one.unchanged(filled.store.files) for one in kept.cells.values())
    assert said(look(filled.store)) == said(first)


# Names


def names_of(index: Index) -> set[str]:
    return set(index.models)


def test_models_of_one_name_are_told_apart_by_their_weights(filled, make_dataset):
    data = make_dataset(3)
    filled.add(data, model="net", digest="a" * 32)
    assert names_of(look(filled.store)) == {"net"}
    filled.add(data, model="net", digest="b" * 32)
    filled.add(data, model="other")
    index = look(filled.store)
    assert names_of(index) == {"net@aaaaaaaa", "net@bbbbbbbb", "other"}
    assert index.models["net@bbbbbbbb"].model.digest == "b" * 32
    assert {index.model_name_of[cell.key] for cell in index.cells} == names_of(index)


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ({"precision": "float32"}, {"precision": "mixed"}, {"net (float32)", "net (mixed)"}),
        (
            {"input": Input(Geometry(8, 8))},
            {"input": Input(Geometry(8, 8), mean=(0.5, 0.5, 0.5))},
            {"net (mean 0.485,0.456,0.406)", "net (mean 0.5,0.5,0.5)"},
        ),
        (
            {"input": Input(Geometry(8, 8))},
            {"input": Input(Geometry(9, 9, resize=10))},
            {"net (squash to 8x8 (bilinear))", "net (shorter side to 10 (bilinear), centre crop 9x9)"},
        ),
    ],
)
def test_models_of_one_name_and_weights_are_told_apart_in_words(filled, make_dataset, first, second, names):
    data = make_dataset(3)
    for about in (first, second):
        filled.add(data, **about)
        filled.add(data, condition="fog", **about)
    index = look(filled.store)
    assert names_of(index) == names
    assert all(len(named.entries) == 2 for named in index.models.values())


def test_answers_from_elsewhere_are_one_model_from_however_many_files(filled, make_dataset):
    data = make_dataset(3)
    for digest, condition in zip("ab", ("clean", "fog"), strict=True):
        filled.add(data, model="theirs", kind=PREDICTIONS, digest=digest * 32, input=None, condition=condition)
    assert {name: len(named.entries) for name, named in look(filled.store).models.items()} == {"theirs": 2}


def test_every_model_has_one_name(filled, make_dataset):
    data = make_dataset(3)
    for digest in "ab":
        for precision in ("float32", "mixed"):
            for mean in (0.4, 0.5):
                filled.add(data, digest=digest * 32, precision=precision, input=Input(Geometry(8, 8), mean=(mean,) * 3))
    index = look(filled.store)
    assert len(index.models) == 8
    assert all(len(named.entries) == 1 for named in index.models.values())


def test_a_model_is_found_by_whatever_tells_it(filled, make_dataset):
    data = make_dataset(3)
    cells = [filled.add(data, model="net", digest=digest * 32) for digest in "ab"]
    filled.add(data, model="alone", precision="mixed")
    index = look(filled.store)
    for name in ("net@aaaaaaaa", f"net@{'a' * 32}", f"net@{cells[0].key[:8]}"):
        assert index.of_model(name) == [cells[0]]
    assert [cell.precision for cell in index.of_model("alone")] == ["mixed"]
    with pytest.raises(UsageError) as caught:
        index.of_model("net")
    assert str(caught.value) == (
        f"{filled.store}: net stands for several models; say which: net@aaaaaaaa, net@bbbbbbbb"
    )
    with pytest.raises(UsageError, match=r"no predictions of a model named 'alnoe'; did you mean alone\?"):
        index.of_model("alnoe")


def test_conditions_of_one_name_are_told_apart_by_their_data(make_dataset):
    one, two, alike = make_dataset(3, name="one"), make_dataset(4, name="two"), make_dataset(5, name="two")
    fog = [made_condition(one, "fog", transform={"name": "fog", "seed": seed}) for seed in (0, 1)]
    assert condition_names([made_condition(one)]) == ["clean"]
    assert condition_names([made_condition(one), made_condition(two)]) == ["clean@one", "clean@two"]
    assert condition_names([made_condition(data) for data in (one, two, alike)]) == [
        "clean@one",
        f"clean@two@{two.digest[:8]}",
        f"clean@two@{alike.digest[:8]}",
    ]
    assert condition_names(fog) == ["fog#1", "fog#2"]
    assert condition_names([made_condition(one), *fog]) == ["clean", "fog#1", "fog#2"]


def test_a_condition_that_many_models_saw_has_one_name(filled, make_dataset):
    one, two = make_dataset(3, name="one"), make_dataset(4, name="two")
    for model in "ab":
        filled.add(one, model=model)
        filled.add(two, model=model)
    index = look(filled.store)
    assert {name: len(named.entries) for name, named in index.conditions.items()} == {"clean@one": 2, "clean@two": 2}
    assert index.condition_name_of[made_condition(two).key] == "clean@two"


# Looking again


def test_unchanged_cells_are_not_read_again(filled, make_dataset, reads):
    data = make_dataset(5)
    old = [filled.add(data, model=name, logits=name == "a") for name in "abc"]
    rest()
    first = look(filled.store)
    assert sum(path.startswith("cells/") for path in reads) >= 3 * 2, "cell and rows of each"
    reads.clear()
    again = look(filled.store)
    assert said(again) == said(first)
    assert [path for path in reads if not path.startswith("index.")] == []
    new = filled.add(data, model="d")
    rest()
    reads.clear()
    index = look(filled.store)
    assert index.by_key.keys() == {cell.key for cell in (*old, new)}
    assert {path.split("/")[1] for path in reads if path.startswith("cells/")} == {new.key}


def test_a_cell_that_has_changed_is_read_again(filled, make_dataset, make_rows):
    data = make_dataset(40)
    cell = filled.add(data)
    rest()
    before = look(filled.store).entry(cell)
    filled.store.remove_cell(cell.key)
    filled.add(data, seed=1)
    rest()
    entry = look(filled.store).entry(cell)
    assert entry.top1 == (make_rows(data, seed=1).rank == 0).sum() != before.top1


@pytest.mark.parametrize(("age", "seen"), [(0, "new"), (10 * GRAIN, "old")])
def test_a_file_as_young_as_the_index_is_looked_at_again(filled, make_dataset, make_rows, monkeypatch, age, seen):
    """Git's rule: within one tick of the clock a file may change twice, and its times do not tell."""
    data = make_dataset(40)
    stamp = time.time_ns() + 60 * 10**9 - age  # always the same, whatever is written
    monkeypatch.setattr(time, "time_ns", lambda: stamp + age)
    always = Signature(1, stamp, stamp, 1)
    monkeypatch.setattr(Files, "signature", lambda self, path: always)
    monkeypatch.setattr(Files, "has", lambda self, path, signature: signature == always)
    cell = filled.add(data)
    look(filled.store)
    filled.store.remove_cell(cell.key)
    filled.add(data, seed=1)
    expected = make_rows(data, seed=1 if seen == "new" else 0)
    assert look(filled.store).entry(cell).top1 == (expected.rank == 0).sum()
    assert make_rows(data).rank.tolist() != make_rows(data, seed=1).rank.tolist()


def test_nothing_is_kept_of_a_store_far_away_but_it_is_right(store, make_dataset, make_cell, make_rows):
    data = make_dataset(5)
    cell = make_cell(data)
    store.add_cell(cell, data)
    store.write_part(cell.key, 0, 5, make_rows(data))
    store.seal(cell, keep_logits=False)
    for _ in range(3):
        assert look(store).entry(cell).n_rows == 5


@pytest.mark.parametrize("damage", ["gone", "empty", "cut", "another"])
def test_an_index_that_is_damaged_or_gone_is_made_anew(filled, make_dataset, damage):
    filled.add(make_dataset(5))
    rest()
    before = look(filled.store)
    folder = Path(str(filled.store))
    (path,) = folder.glob("index.*")
    if damage == "gone":
        path.unlink()
    else:
        rows = next(folder.glob("cells/*/rows.*")).read_bytes()
        path.write_bytes({"empty": b"", "cut": path.read_bytes()[:-9], "another": rows}[damage])
    for _ in range(2):
        assert said(look(filled.store)) == said(before)
    (path,) = folder.glob("index.*")
    assert read_kept(filled.store).cells.keys() == before.by_key.keys()


def test_a_look_that_saves_nothing_leaves_no_trace(filled, make_dataset):
    filled.add(make_dataset(5))
    look(filled.store, save=False)
    assert not list(Path(str(filled.store)).glob("index.*"))


def test_a_store_that_may_only_be_read_is_looked_at(filled, make_dataset, monkeypatch):
    cell = filled.add(make_dataset(5))

    def refuse(*_: object) -> None:
        raise StoreError("can't be written")

    monkeypatch.setattr(Files, "write", refuse)
    assert look(filled.store).cells == (cell,)


def test_two_that_look_and_write_at_once(filled, make_dataset):
    data = make_dataset(5)
    keys = {filled.add(data, model="first").key}
    failed: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for number in range(6):
                keys.add(filled.add(data, model=f"{name}{number}").key)
                index = look(open_store(str(filled.store)))
                assert index.problems == ()
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    rest()
    index = look(filled.store)
    assert (index.by_key.keys(), index.problems) == (keys, ())
    assert len(list(Path(str(filled.store)).glob("index.*"))) == 1
    assert read_kept(filled.store).cells.keys() == index.by_key.keys()


# What is missing is told


def test_a_cell_that_is_gone_is_told_until_it_is_there_or_forgotten(filled, make_dataset):
    data = make_dataset(5)
    gone, there = (filled.add(data, model=name) for name in ("gone", "there"))
    look(filled.store)
    filled.store.remove_cell(gone.key)
    for _ in range(2):
        index = look(filled.store)
        assert index.cells == (there,)
        assert index.problems == (
            "missing: gone on clean: the files are gone; run again, or forget them with 'oodometer verify --forget'",
        )
    filled.add(data, model="gone")
    assert look(filled.store).problems == ()
    filled.store.remove_cell(gone.key)
    forget(filled.store, cells=[gone.key])
    assert look(filled.store).problems == ()


def test_many_cells_that_are_gone_are_counted(filled, make_dataset):
    data = make_dataset(5)
    for number in range(5):
        filled.add(data, model=f"m{number}")
    for cell in look(filled.store).cells:
        filled.store.remove_cell(cell.key)
    (line,) = look(filled.store).problems
    assert line.count(" on clean") == 3
    assert "and 2 more: the files are gone" in line


@pytest.mark.parametrize(
    ("stem", "line"),
    [
        ("rows", "missing: the rows of net on clean: the file is gone; run again"),
        ("logits", "missing: the logits of net on clean: the file is gone; run again with --keep logits"),
    ],
)
def test_a_file_of_a_cell_that_is_gone_is_told(filled, make_dataset, stem, line):
    cell = filled.add(make_dataset(5), logits=True)
    look(filled.store)
    (name,) = of_stem(listed(filled.store.files, f"cells/{cell.key}"), stem)
    filled.store.files.remove(name.path)
    for _ in range(2):
        index = look(filled.store)
        assert index.problems == (line,)
        assert index.entry(cell).covered(keep_logits=True) == []
    filled.add(make_dataset(5), logits=True)
    assert look(filled.store).problems == ()


@pytest.mark.parametrize(
    ("stem", "line"),
    [
        ("rows", "net on clean: its rows are damaged; run again to replace them"),
        ("logits", "net on clean: its logits are damaged; run again with --keep logits to replace them"),
    ],
)
@pytest.mark.parametrize("looked_before", [True, False])
def test_a_file_of_a_cell_that_is_damaged_is_told_and_made_again(filled, make_dataset, stem, line, looked_before):
    cell = filled.add(make_dataset(5), logits=True)
    rest()
    if looked_before:
        look(filled.store)
    (name,) = of_stem(listed(filled.store.files, f"cells/{cell.key}"), stem)
    where = Path(str(filled.store)) / name.path
    where.write_bytes(where.read_bytes()[:-1] + b"x")
    rest()
    for _ in range(2):
        index = look(filled.store)
        assert index.problems == (line,)
        assert index.entry(cell).covered(keep_logits=True) == []
    filled.add(make_dataset(5), logits=True)
    index = look(filled.store)
    assert index.problems == ()
    assert index.entry(cell).has_logits


def test_a_damaged_part_is_told_and_not_counted(local_store, make_dataset, make_cell, make_rows):
    data = make_dataset(10)
    cell = make_cell(data)
    local_store.add_cell(cell, data)
    for start in (0, 4):
        local_store.write_part(cell.key, start, start + 4, make_rows(data, start=start, stop=start + 4))
    first = listed(local_store.files, f"cells/{cell.key}/parts")[0]
    local_store.files.write(first.path, b"")
    index = look(local_store)
    assert index.problems == ("net on clean: a part is damaged; run again to replace it",)
    assert (index.entry(cell).n_rows, index.entry(cell).covered(keep_logits=False)) == (4, [(4, 8)])


def test_parts_that_are_sealed_while_they_are_looked_at_are_not_damaged(
    local_store, make_dataset, make_cell, make_rows, monkeypatch
):
    data = make_dataset(10)
    cell = make_cell(data)
    local_store.add_cell(cell, data)
    local_store.write_part(cell.key, 0, 10, make_rows(data))
    read = Files.read

    def seal_meanwhile(self: Files, path: str) -> bytes:
        if "/parts/" in path:
            monkeypatch.undo()
            local_store.seal(cell, keep_logits=False)
        return read(self, path)

    monkeypatch.setattr(Files, "read", seal_meanwhile)
    index = look(local_store)
    assert index.problems == ()
    assert (index.entry(cell).complete, index.entry(cell).n_rows) == (True, 10)


def test_logits_that_are_being_added_to_a_complete_cell_are_seen(filled, make_dataset, make_rows):
    data = make_dataset(10)
    cell = filled.add(data)
    rest()
    look(filled.store)
    for start in (0, 4):
        filled.store.write_part(cell.key, start, start + 4, make_rows(data, start=start, stop=start + 4, logits=True))
        rest()
        entry = look(filled.store).entry(cell)
        assert (entry.complete, entry.has_logits, entry.n_rows) == (True, False, 10)
        assert entry.covered(keep_logits=False) == [(0, 10)]
        assert entry.covered(keep_logits=True) == [(one, one + 4) for one in (0, 4) if one <= start]


# Shifts


@pytest.fixture
def pair(make_dataset) -> ShiftRecord:
    standard, shifted = make_dataset(4), make_dataset(3, ids=["x", "y", "z"], name="a")
    return ShiftRecord("a", "dataset", made_condition(standard), made_condition(shifted, "a"))


def test_a_pair_is_remembered_once_with_both_sides(store, pair):
    for _ in range(2):
        store.add_shift(pair)
    assert look(store).shifts == (pair,)


def test_pairs_come_by_name_and_what_is_said_about_them_is_part_of_them(store, pair):
    pairs = [replace(pair, name=name) for name in ("b", "a", "c")]
    for one in pairs:
        store.add_shift(one)
    assert [one.name for one in look(store).shifts] == ["a", "b", "c"]
    family = Family("imagenet-c", "fog", 3)
    store.add_shift(replace(pair, family=family, kind="corruption"))
    index = look(store)
    assert len(index.shifts) == 4
    assert index.families == {pair.shifted.key: family}


def test_other_files_are_told(store, pair):
    store.add_shift(pair)
    store.files.write("shifts/notes.txt", b"mine")
    index = look(store)
    assert index.shifts == (pair,)
    assert index.problems == (f"{store}/shifts/notes.txt: no file of a store",)


@pytest.mark.parametrize("damage", ["gone", b"", b"[]", b"{}"])
def test_a_pair_that_is_gone_or_damaged_is_told_until_it_is_there_or_forgotten(store, pair, damage):
    store.add_shift(pair)
    look(store)
    (name,) = listed(store.files, "shifts")
    store.files.remove(name.path) if damage == "gone" else store.files.write(name.path, damage)
    for _ in range(2):
        index = look(store)
        assert index.shifts == ()
        assert index.problems == (f"{store}/shifts/{pair.key}: missing or damaged; run again to replace it",)
    store.add_shift(pair)
    assert said(look(store))[1:] == ((pair,), (), ())
    store.files.remove(name.path)
    forget(store, shifts=[name.name])
    assert look(store).problems == ()


# What an index can be of


def test_only_some_cells(filled, make_dataset, pair):
    data, other = make_dataset(3, name="one"), make_dataset(4, name="two")
    mine = [filled.add(data, model=name) for name in "ab"]
    filled.add(other, model="a")
    filled.store.add_shift(pair)
    index = look(filled.store).only(mine)
    assert index.cells == tuple(mine)
    assert index.shifts == (pair,)
    assert set(index.conditions) == {"clean"}, "without the others it needs no longer name"
    assert index.only([]).cells == ()


def test_an_index_of_whatever_stands_for_a_store(filled, make_dataset, pair):
    data = make_dataset(3)
    mine, other = filled.add(data), filled.add(data, model="other")
    theirs = replace(pair, name="theirs")
    for one in (pair, theirs):
        filled.store.add_shift(one)
    write_table(filled.store, [Accuracy("net", "val", 0.5, None, "t.csv")])
    whole = index_at(filled.store)
    assert said(index_at(str(filled.store))) == said(whole)
    assert index_at(whole) is whole
    assert len(whole.tables) == 1
    of_run = index_at(Run(filled.store, (mine,), (pair,)))
    assert (of_run.cells, of_run.shifts, of_run.tables) == ((mine,), (pair,), ())
    assert whole.by_key.keys() == {mine.key, other.key}
    with pytest.raises(StoreError, match="no store there"):
        index_at(f"{filled.store}/nothing")


def test_an_index_of_a_table_alone():
    rows = [Accuracy("net", "val", 0.5, 100, "t.csv")]
    assert said(index_of_table(rows)) == ((), (), tuple(rows), ())


def test_a_look_at_one_cell(filled, make_dataset):
    cell = filled.add(make_dataset(3))
    assert look_at(filled.store, cell.key) == look(filled.store).entry(cell)
    assert look_at(filled.store, "0" * 32) is None
