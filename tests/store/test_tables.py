"""Accuracies from tables: long and wide, percent and fraction, and a real grid."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oodometer.core.errors import DataError
from oodometer.store.index import look
from oodometer.store.store import Store
from oodometer.store.tables import Accuracy, parse_table, write_table
from shared_data import shared
from small_testbed import MODELS, accuracies, write_small_testbed


def read_tables(store: Store) -> list[Accuracy]:
    """All that the store has, none of which is damaged."""
    index = look(store)
    assert index.problems == ()
    return list(index.tables)


def error_of(text: str) -> str:
    with pytest.raises(DataError) as caught:
        parse_table(text, source="t.csv")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_long_table():
    text = "model,condition,accuracy,n\nnet,val,76.1,50000\nnet,v2, 63.3 ,\nbig,val,,50000\n"
    assert parse_table(text, source="t.csv", n=10_000) == [
        Accuracy("net", "val", 0.761, 50_000, "t.csv"),
        Accuracy("net", "v2", 0.633, 10_000, "t.csv"),
    ]


def test_a_long_table_without_n_and_in_another_order_of_columns():
    text = "accuracy,model,note,condition\n0.5,net,hello,val\n"
    assert parse_table(text, source="t.csv") == [Accuracy("net", "val", 0.5, None, "t.csv")]


def test_a_wide_table():
    text = "model, val ,v2\nnet,0.76,\nbig,0.8,0.7\n\n"
    assert parse_table(text, source="t.csv", n=100, sizes={"val": 50_000}) == [
        Accuracy("net", "val", 0.76, 50_000, "t.csv"),
        Accuracy("big", "val", 0.8, 50_000, "t.csv"),
        Accuracy("big", "v2", 0.7, 100, "t.csv"),
    ]


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=8))
def test_percent_and_fraction_mean_the_same(values):
    # 0 and 0.01 % .. 100 %, and one cell that tells percent from fraction
    percent = "model,a,b\n" + "".join(f"m{row},{value / 100},99\n" for row, value in enumerate(values))
    fraction = "model,a,b\n" + "".join(f"m{row},{value / 10_000},0.99\n" for row, value in enumerate(values))
    assert parse_table(percent, source="t") == parse_table(fraction, source="t")


def test_a_table_of_nothing_above_one_is_of_fractions():
    assert [row.accuracy for row in parse_table("model,a,b\nnet,1,0\n", source="t")] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "name,val\nnet,5\n",
            "t.csv: no column 'model'; expected model,condition,accuracy,n or model and a column each",
        ),
        ("", "t.csv: no column 'model'; expected model,condition,accuracy,n or model and a column each"),
        ("model,val\n", "t.csv: no accuracies in it"),
        ("model,val\nnet,\nbig,  \n", "t.csv: no accuracies in it"),
        ("model,val\nnet,76.1\nbig,high\n", "t.csv, line 3: 'high' is not a number"),
        ("model,val\n\nnet,76.1\n\nbig,high\n", "t.csv, line 5: 'high' is not a number"),
        ("model,val\nnet,101\n", "t.csv, line 2: 101 is not an accuracy"),
        ("model,val\nnet,-0.1\n", "t.csv, line 2: -0.1 is not an accuracy"),
        ("model,val\nnet,nan\n", "t.csv, line 2: nan is not an accuracy"),
        ("model,val\nnet,inf\n", "t.csv, line 2: inf is not an accuracy"),
        ("model,val\nnet,5\nbig,6\nnet,5\n", "t.csv, line 4: a second accuracy of net on val"),
        ("model,val,val\nnet,5,6\n", "t.csv: two columns are named 'val'"),
        ("model,val\nnet,5,6\n", "t.csv, line 2: more cells than the header has columns"),
        (",model,val\n0,net,5\n", "t.csv, line 2: 0 belongs to no condition"),
        ("model,val\n,5\n", "t.csv, line 2: 5 belongs to no model"),
        ("model,condition,accuracy,n\nnet,val,5,many\n", "t.csv, line 2: n 'many' is not a number of images"),
        ("model,condition,accuracy,n\nnet,val,5,0\n", "t.csv, line 2: n '0' is not a number of images"),
        ("model,condition,accuracy,n\nnet,val,5,1.5\n", "t.csv, line 2: n '1.5' is not a number of images"),
    ],
)
def test_a_table_that_can_not_be_read(text, message):
    assert error_of(text) == message


def test_empty_cells_at_the_end_are_no_cells():
    assert len(parse_table("model,val,\nnet,5,\nbig,6,,\n", source="t")) == 2


def test_tables_come_back_and_the_same_one_twice_is_once(store):
    assert read_tables(store) == []
    first = parse_table("model,val,v2\nnet,76.1,\nbig,80,70\n", source="one.csv", n=50_000)
    second = parse_table("model,val\nnet,76\n", source="two.csv")
    write_table(store, first)
    write_table(store, first)
    assert read_tables(store) == first
    write_table(store, second)
    write_table(store, first)
    assert sorted(read_tables(store), key=repr) == sorted([*first, *second], key=repr)
    assert len(store.files.names("tables")) == 2


def test_a_table_that_is_read_again_with_n_takes_the_place_of_the_old_one(store):
    text = "model,val\nnet,76\n"
    write_table(store, parse_table(text, source="one.csv"))
    write_table(store, parse_table(text, source="one.csv", n=100))
    assert [row.n for row in read_tables(store)] == [100]


def test_leftovers_are_not_tables(local_store):
    rows = parse_table("model,val\nnet,76\n", source="one.csv")
    write_table(local_store, rows)
    folder = Path(local_store.files.address) / "tables"
    (folder / "0123.parquet.abcdef.tmp").write_bytes(b"PAR1 half of a")
    (folder / ".DS_Store").write_bytes(b"")
    index = look(local_store)
    assert list(index.tables) == rows
    assert index.problems == (
        f"{folder}/.DS_Store: no file of a store",
        f"{folder}/0123.parquet.abcdef.tmp: no file of a store",
    )


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_damaged_or_lost_table_is_told_until_it_is_there_again(local_store, damage):
    rows = parse_table("model,val\nnet,76\n", source="one.csv")
    write_table(local_store, rows)
    assert look(local_store).problems == ()
    (path,) = (Path(local_store.files.address) / "tables").iterdir()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:100])
    where = str(path).removesuffix(".parquet").rpartition(".")[0]
    for _ in range(2):
        index = look(local_store)
        assert (index.tables, index.problems) == ((), (f"{where}: missing or damaged; import the table again",))
    write_table(local_store, rows)
    assert read_tables(local_store) == rows


def test_a_made_grid_is_read_whole(local_store, tmp_path):
    grid = (write_small_testbed(tmp_path) / "robustness_top1s.csv").read_text(encoding="utf-8")
    check_read_whole(grid, local_store, (len(MODELS), len(accuracies())))


def test_the_real_grid_is_read_whole(local_store):
    check_read_whole(shared("testbed", "robustness_top1s.csv").read_text(encoding="utf-8"), local_store, (338, 213))


def check_read_whole(grid, local_store, shape):
    rows = parse_table(grid, source="robustness_top1s.csv")
    # reference: the csv module alone
    header, *lines = csv.reader(grid.splitlines())
    expected = {
        (line[0], setting): float(value) / 100
        for line in lines
        for setting, value in zip(header[1:], line[1:], strict=True)
        if value
    }
    assert (len({row.model for row in rows}), len(header) - 1) == (len(lines), len(header) - 1) == shape
    assert len(rows) < len(lines) * (len(header) - 1)  # empty cells are no rows
    assert {row.condition for row in rows} <= set(header)
    assert len(rows) == len(expected)
    assert max(abs(row.accuracy - expected[row.model, row.condition]) for row in rows) < 1e-12
    write_table(local_store, rows)
    write_table(local_store, rows)
    assert read_tables(local_store) == rows
