"""Numbers in tables: how they are written, and what the scripts get."""

from __future__ import annotations

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
    (Column("Model"), Column("acc.", "percent", label="new", below="n = 4", bar=True)),
    (("<b>a", Estimate(0.75, 0.2, 0.9, 4, "x")), ("b", None)),
    filters="Model",
    bold=frozenset({(0, 1)}),
    footnotes=("Bold: better than <all> others.",),
    links=("/model/%3Cb%3Ea", "/model/b"),
)


def drawn(macro: str, table: Table) -> str:
    environment = environment_of("oodometer.report.html", extra="report", what="a page")
    template = environment.from_string(f"{{% import 'parts.html.j2' as parts %}}{{{{ parts.{macro}(table) }}}}")
    return str(template.render(table=table))


def test_a_page_shows_what_is_bold_where_names_lead_and_what_stands_below() -> None:
    text = drawn("sortable", BOARD)
    assert '<a href="/model/%3Cb%3Ea">&lt;b&gt;a</a>' in text
    assert '<td class="percent" data-value="0.75"><b>75.0</b><small>[20.0, 90.0]</small></td>' in text.replace(
        ' style="--low:0.0000;--high:1.0000"', ""
    )
    assert '<td class="percent" data-value="">–</td>' in text
    assert 'class="percent">new<small>n = 4</small></th>' in text
    assert "<small>Bold: better than &lt;all&gt; others.</small>" in text


def test_the_scripts_of_a_report_know_what_is_bold() -> None:
    assert table_data(BOARD)["bold"] == [(0, 1)]
    assert table_data(BOARD)["columns"][1]["title"] == "new"
    text = drawn("table", BOARD)
    assert "<b>75.0</b>" in text
    assert "data-value" not in text
    assert '"bold":[[0,1]]' in text
