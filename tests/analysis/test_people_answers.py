"""What people answered, from tables of both kinds, and every way in which a table is none."""

from __future__ import annotations

import pytest

from oodometer.analysis.people_answers import judged, parse_people_answers, read_people_answers
from oodometer.core.errors import DataError

NAMES = {"cat": 0, "sea lion": 1, "crane": -1, "n02012849": 2}


def test_long_and_wide_tables_say_the_same():
    long = parse_people_answers("image,person,answer\na,Ann,cat\nb,Ann,dog\na,Ben,cat\nb,Ben,\n", source="t.csv")
    wide = parse_people_answers("id, Ann ,Ben\na,cat,cat\nb,dog,\n", source="t.csv")
    assert long == wide == {"Ann": {"a": "cat", "b": "dog"}, "Ben": {"a": "cat"}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("file,answer\na,cat\n", "expected the columns image,answer"),
        ("image\na\n", "expected the columns image,answer"),
        ("image,answer\na,cat\na,dog\n", "line 3: a second answer of people to a"),
        ("image,answer\n,cat\n", "line 2: 'cat' belongs to no image"),
        ("image,person,answer\na,,cat\n", "no answers in it|belongs to no person"),
        ("image,answer\na,\n", "no answers in it"),
        ("image,A,A\na,b,c\n", "two columns are named 'A'"),
        ("image,answer\na,cat,dog\n", "more cells than the header has columns"),
    ],
)
def test_what_is_no_such_table(text, said):
    if text.startswith("image,person,answer"):
        assert parse_people_answers(text, source="t.csv") == {"people": {"a": "cat"}}
        return
    with pytest.raises(DataError, match=said):
        parse_people_answers(text, source="t.csv")


def test_files(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("﻿image,answer\na,cat\n", encoding="utf-8")
    assert read_people_answers(str(file)) == {"people": {"a": "cat"}}
    with pytest.raises(DataError, match=r"missing\.csv"):
        read_people_answers(str(tmp_path / "missing.csv"))


def test_answers_are_judged_by_any_name_of_the_class():
    said = ["cat", "SEA_LION", "n02012849", "-", None, "sea lion"]
    assert judged(said, [0, 1, 2, 0, 0, 0], NAMES).tolist() == [True, True, True, False, False, False]
    with pytest.raises(DataError, match=r"is no class of these data \(- is none of them\); did you mean sea lion"):
        judged(["sea lyon"], [1], NAMES)
    with pytest.raises(DataError, match="'crane' stands for several classes; write their ids or numbers"):
        judged(["crane"], [2], NAMES)
