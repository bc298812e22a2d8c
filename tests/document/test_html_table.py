"""Numbers in tables: how they are written, and what the scripts get."""

from __future__ import annotations

import re

import numpy as np

from oodometer.core.estimate import Estimate
from oodometer.document.html_environment import environment_of
from oodometer.document.html_table import cell_texts, plain, shown_columns, table_data
from oodometer.document.table import Column, Table

TABLE = Table(
    "t",
    "A table.",
    (
        Column("model"),
        Column("top-1", "percent", bar=True),
        Column("ρ", "points"),
        Column("mCE", "number", hidden=True),
        Column("n", "count"),
    ),
    (
        ("a", Estimate(0.741, 0.7127, 0.7679, 1000, "clopper-pearson 95%"), -0.0213, 76.7, 1000),
        ("a rather long name of a model, as they are", Estimate(0.5, 0.4, 0.6, 100, "x"), 0.0, None, 12345),
        ("c", Estimate(0.5, None, None, None, "none: n is not known"), None, float("nan"), None),
    ),
)


def test_numbers_are_written_as_their_column_says_and_hidden_ones_not_at_all() -> None:
    assert [[cell.text for cell in row] for row in cell_texts(TABLE)] == [
        ["a", "74.1", "−2.1", "1,000"],
        ["a rather long name of a model, as they are", "50.0", "+0.0", "12,345"],
        ["c", "50.0", "–", "–"],
    ]


def test_an_interval_stands_beside_its_number_where_it_is_known() -> None:
    assert [row[1].interval for row in cell_texts(TABLE)] == ["[71.3, 76.8]", "[40.0, 60.0]", ""]


def test_a_bar_lies_between_the_ends_of_its_column() -> None:
    bars = [row[1].bar for row in cell_texts(TABLE)]
    # the ends of the column are 0.4 and 0.7679
    np.testing.assert_allclose(bars[0] or (), [(0.7127 - 0.4) / 0.3679, 1.0])
    np.testing.assert_allclose(bars[1] or (), [0.0, 0.2 / 0.3679])
    assert bars[2] is None


def test_a_bar_of_a_column_without_intervals_or_with_one_point_is_none() -> None:
    for value in (0.5, Estimate(0.5, 0.5, 0.5, 1, "x")):
        table = Table("t", "", (Column("x", "percent", bar=True),), ((value,),))
        assert cell_texts(table)[0][0].bar is None


def test_columns_get_room_but_not_too_much() -> None:
    assert [room for _, room in shown_columns(TABLE)] == [36, 5, 1, 1]
    names = Table("t", "", (Column("a rather long title"), Column("a rather long title", "count")), (("a", 1),))
    assert [room for _, room in shown_columns(names)] == [19, 14]


def test_scripts_get_every_number_in_full_precision() -> None:
    data = table_data(TABLE)
    assert data["rows"][0] == ["a", [0.741, 0.7127, 0.7679, 1000], -0.0213, 76.7, 1000]
    assert data["rows"][2] == ["c", [0.5, None, None, None], None, None, None]
    assert [column["digits"] for column in data["columns"]] == [3, 1, 1, 1, 0]


def test_numpys_numbers_become_plain() -> None:
    made = plain({"a": np.float32(0.5), "b": np.array([1.0, np.nan]), "c": np.int64(3), 4: (np.bool_(True),)})
    assert made == {"a": 0.5, "b": [1.0, None], "c": 3, "4": [True]}
    assert [type(made["a"]), type(made["c"]), type(made["4"][0])] == [float, int, bool]


def test_a_table_without_rows_is_empty() -> None:
    assert cell_texts(Table("t", "", (Column("x"),), ())) == []


BOARD = Table(
    "board",
    "Models.",
    (Column("Model"), Column("acc.", "percent", label="new", bar=True)),
    (("<b>a", Estimate(0.75, 0.2, 0.9, 4, "x")), ("b", None)),
    filters="Model",
    bold=frozenset({(0, 1)}),
    footnotes=("Bold: better than <all> others.",),
    links={(0, 0): "/model/%3Cb%3Ea", (1, 1): "/model/b?on=new"},
)


def drawn(table: Table, *, styled: bool = True) -> str:
    environment = environment_of("oodometer.report.html", extra="report", what="a page")
    template = environment.from_string("{% import 'parts.html.j2' as parts %}{{ parts.table(table, styled) }}")
    return str(template.render(table=table, styled=styled))


def test_a_page_shows_what_is_bold_where_names_lead_and_what_stands_below() -> None:
    text = drawn(BOARD)
    assert '<th scope="row" class="text"><a href="/model/%3Cb%3Ea">&lt;b&gt;a</a></th>' in text
    cell = '<td class="percent" style="--low:0.0000;--high:1.0000"><b>75.0</b><small>[20.0, 90.0]</small></td>'
    assert cell in text
    assert '<td class="percent"><a href="/model/b?on=new">–</a></td>' in text
    assert "<small>Bold: better than &lt;all&gt; others.</small>" in text


def test_where_elements_may_have_no_styles_a_table_is_the_same_without_them() -> None:
    assert "style=" not in drawn(BOARD, styled=False)
    assert drawn(BOARD, styled=False) == re.sub(r' style="[^"]*"', "", drawn(BOARD))


def test_differences_are_drawn_with_nought_in_the_middle() -> None:
    differences = (Estimate(0.1, 0.0, 0.2, 4, "x"), Estimate(-0.05, -0.1, 0.0, 4, "x"))
    table = Table("t", "", (Column("d", "points", bar=True),), tuple((one,) for one in differences))
    # Between -0.2 and +0.2, the farthest end: 0 is half way, -0.1 a quarter.
    assert [row[0].bar for row in cell_texts(table)] == [(0.5, 1.0), (0.25, 0.5)]


def test_the_scripts_of_a_report_know_what_is_bold() -> None:
    assert table_data(BOARD)["bold"] == [(0, 1)]
    assert table_data(BOARD)["columns"][1]["title"] == "new"
    text = drawn(BOARD)
    assert "<b>75.0</b>" in text
    assert '"bold":[[0,1]]' in text
