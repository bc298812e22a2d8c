"""Tables as plain text."""

from __future__ import annotations

from dataclasses import replace

from oodometer.document.table import Column, Table
from oodometer.document.text import text_of


def test_as_it_is_written(four):
    assert text_of(four, "none").splitlines() == [
        "Accuracy.",
        "",
        "                   new",
        "   clean   acc.      ρ",
        "a   95.0*  60.0  −35.0",
        "b   80.0   59.9  −20.1",
        "c   70.0   30.0  −40.0",
        "d   60.0   20.0  −40.0",
        "",
        "n = 1,000 images.",
        "*: better than all others.",
        # by scipy: half the width of the exact interval of 600 of 1,000
        "Intervals are not shown; half their width is at most 3.1.",
    ]


def test_groups_have_headings_and_numbers_stand_in_line(table_of):
    made = table_of({"a": (900, 500), "long-name-of-a-model": (910, 560)}, groups=(("standard", 1), ("more data", 1)))
    lines = text_of(made).splitlines()
    assert (lines[4], lines[6]) == ("standard:", "more data:")
    assert lines[5].index("[") == lines[7].index("[")
    assert lines[5].rindex("]") == lines[7].rindex("]")


def test_no_name_breaks_the_lines_or_the_terminal(hostile, names):
    text = text_of(hostile)
    assert all(line.isprintable() for line in text.split("\n"))
    assert sum(name[:3] in text for name in names) == len(names)


def test_other_texts_stand_to_the_left_with_their_titles(four):
    shown = replace(four, columns=tuple(replace(column, hidden=False) for column in four.columns))
    lines = text_of(shown, "none").splitlines()
    assert lines[3].split() == ["Category", "clean", "acc.", "ρ"]
    assert lines[4].startswith("a  standard   95.0*")


def test_digits_and_least_are_those_of_the_column():
    columns = (Column("Model"), Column("acc.", "percent", digits=0), Column("p", "number", digits=3, least=0.001))
    table = Table("t", "Words.", columns, (("a", 0.745, 0.00001), ("b", 0.5, None)))
    assert [line.split() for line in text_of(table).splitlines()[3:5]] == [["a", "74", "<", "0.001"], ["b", "50", "–"]]
