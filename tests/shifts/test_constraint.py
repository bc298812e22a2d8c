"""What a user writes after --base and --shift."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.core.errors import UsageError
from oodometer.shifts.constraint import Constraint, matches, parse_base, parse_shift


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("shop=bakery", ("bakery",)),
        ("shop = gas station | bakery ", ("gas station", "bakery")),
        ('shop="fish, chips"|bakery', ("fish, chips", "bakery")),
        (r"shop=fish\, chips", ("fish, chips",)),
        (r"shop=a\|b|c", ("a|b", "c")),
        ('shop="a|b"', ("a|b",)),
        (r"shop=back\\slash", ("back\\slash",)),
        (r"shop=\"quoted\"", ('"quoted"',)),
        ("shop=l'eau", ("l'eau",)),
        ("shop=a=b", ("a=b",)),
        ("shop=a|b|a", ("a", "b")),
    ],
)
def test_values(text, values):
    assert parse_base(text) == (Constraint("shop", values),)
    assert parse_shift(text) == Constraint("shop", values)


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (parse_base, "a", "--base a: expected COLUMN=VALUE or COLUMN=VALUE|VALUE, with commas between columns"),
        (parse_base, "", "--base : expected COLUMN=VALUE or COLUMN=VALUE|VALUE, with commas between columns"),
        (parse_base, "a=1,", "--base a=1,: expected COLUMN=VALUE or COLUMN=VALUE|VALUE, with commas between columns"),
        (parse_base, "a=1|", "--base a=1|: expected COLUMN=VALUE or COLUMN=VALUE|VALUE, with commas between columns"),
        (parse_base, "=1", "--base =1: expected COLUMN=VALUE or COLUMN=VALUE|VALUE, with commas between columns"),
        (parse_base, "a=1,a=2", "--base a=1,a=2: a is given twice; write a=A|B where either will do"),
        (parse_base, 'a="1', 'a="1: a double quote without its second one'),
        (parse_shift, "a=1,b=2", "--shift a=1,b=2: one attribute at a time; give --shift once for each"),
        (parse_shift, "a", "--shift a: expected COLUMN=VALUE or COLUMN=VALUE|VALUE, with commas between columns"),
    ],
)  # fmt: skip
def test_what_means_nothing_is_one_line(parse, text, message):
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert str(caught.value) == message


@pytest.fixture
def data(make_dataset):
    columns = {
        "year": np.array([2017, 2018, 2019, 2019]),
        "zoom": np.array([1.5, np.nan, 2.0, 3.0]),
        "country": np.array(["us", "fr", "", "mx"]),
        "night": np.array([True, False, False, True]),
        "empty": np.array(["", "", "", ""]),
        "shop": np.array(["a", "b", "c", "d"]),
    }
    return make_dataset(4, columns=columns)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("year=2019", [False, False, True, True]),
        ("year=2019.0|2017", [True, False, True, True]),
        ("zoom=2", [False, False, True, False]),
        ("zoom=1.50", [True, False, False, False]),
        ("country=us|mx", [True, False, False, True]),
        ("night=true", [True, False, False, True]),
        ("night=False", [False, True, True, False]),
    ],
)
def test_numbers_are_compared_as_numbers(data, text, expected):
    assert matches(data, parse_shift(text), what="--shift").tolist() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("contry=us", "--base contry=us: val has no column 'contry'; did you mean country?"),
        ("country=us|gb", "--base country=us|gb: no image of val has country=gb; its values are fr, mx, us"),
        ("country=US", "--base country=US: no image of val has country=US; its values are fr, mx, us"),
        ("year=new", "--base year=new: no image of val has year=new; its values are 2017, 2018, 2019"),
        ("zoom=4", "--base zoom=4: no image of val has zoom=4; its values are 1.5, 2, 3"),
        ("night=maybe", "--base night=maybe: no image of val has night=maybe; its values are False, True"),
        ("empty=x", "--base empty=x: no image of val has empty=x; it is empty everywhere"),
    ],
)
def test_columns_and_values_that_are_not_there(data, text, message):
    with pytest.raises(UsageError) as caught:
        matches(data, parse_shift(text), what="--base")
    assert str(caught.value) == message


def test_long_lists_are_cut_and_data_may_have_no_columns(make_dataset):
    many = make_dataset(12, columns={"n": np.arange(12)})
    with pytest.raises(UsageError, match=r"its values are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more$"):
        matches(many, parse_shift("n=99"), what="--base")
    with pytest.raises(UsageError, match=r"val has no column 'n'; it has no columns besides path and label$"):
        matches(make_dataset(2), parse_shift("n=1"), what="--base")
