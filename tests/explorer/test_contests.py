"""Two models on everything at once: the same numbers as of ``compare``, corrected for their number; tables too."""

from __future__ import annotations

import pytest

import oodometer as odo
from oodometer.explorer.pages.compare import compare, tables
from oodometer.report.tables.contests import contests_table
from oodometer.study.pair_verdict import pair_verdict

TABLE = """model,val,imagenetv2-matched-frequency,imagenet-sketch
good,80.0,70.0,40.0
bad,70.0,58.0,39.0
worst,60.0,40.0,20.0
"""


def told(pages, **asked):
    return {row["name"]: row for row in pages.get("/compare.json", params=asked).json()["rows"]}


def level_of(n):
    return 1 - 0.05 / n  # Bonferroni


def estimate(found):
    return {"value": found.value, "low": found.low, "high": found.high, "n": found.n, "interval": found.interval}


def test_every_condition_equals_compare_at_the_corrected_level(pages, shop):
    a, b = shop.models[1], shop.models[2]
    rows = told(pages, a=a, b=b)
    assert set(rows) == {"clean", "sketch", "fam/fog"}
    for name in rows:
        expected = odo.compare(shop.store, a, b, on=name, level=level_of(3))[0]
        assert rows[name]["difference"] == estimate(expected.difference)


FAMILY = ("fam/fog/1", "fam/fog/2", "fam/fog/3")
BEGUN = {
    "none is finished": {"a": 30, "b": 24, "c": 12},
    "one of the two is finished": {"a": 36, "b": 24, "c": 36},
}
"""How many of 36 images each model has answered: on those that all three have, the answers would be others."""


@pytest.fixture(params=BEGUN)
def unfinished(request, bare_shop):
    """Three models in the middle of a run; of the family, B lacks a condition."""
    for at, (model, stop) in enumerate(BEGUN[request.param].items()):
        for place, condition in enumerate(("clean", "sketch", *FAMILY)):
            if (model, condition) != ("b", FAMILY[-1]):
                bare_shop.add(model, condition, skill=1 + at - 0.2 * place, stop=stop)
    return bare_shop.store


def test_in_an_unfinished_store_every_row_is_what_compare_says(unfinished, explore):
    opened, pages = explore(unfinished)
    opened.wait_for_study()
    rows = told(pages, a="a", b="b")
    assert set(rows) == {"clean", "sketch", "fam/fog"}
    for name, row in rows.items():
        (expected,) = odo.compare(unfinished, "a", "b", on=name, level=level_of(3))
        assert row["difference"] == estimate(expected.difference)
        assert row["difference"]["n"] == 24  # what both saw
        (accuracies,) = odo.compare(unfinished, "a", "b", on=name)
        assert (row["a"], row["b"]) == (estimate(accuracies.accuracy_a), estimate(accuracies.accuracy_b))
    (family,) = odo.compare(unfinished, "a", "b", on="fam/fog")
    assert rows["fam/fog"]["left_out"] == list(family.left_out) == ["fam/fog/3"]
    page = pages.get("/compare", params={"a": "a", "b": "b", "family": "fam/fog"})
    assert "fam/fog: without 1 of its 3 conditions, which one of the two lacks." in page.text
    members = told(pages, a="a", b="b", family="fam/fog")["fam/fog"]["members"]
    assert [row["name"] for row in members] == ["fam/fog/1", "fam/fog/2"]


def test_the_report_and_the_page_show_one_table_of_two_models(pages, explorer, shop):
    pair = pair_verdict(explorer.study(), shop.models[2], shop.models[1])
    expected = contests_table("contests", pair.contests, "B", "A", pair.level)
    found = compare(explorer, a=shop.models[1], b=shop.models[2])
    table = tables(found)["table"]
    assert (table.columns, table.caption) == (expected.columns, expected.caption)
    assert [row[0] for row in table.rows] == [row[0] for row in expected.rows]
    assert table.values(4) == expected.values(4)


def test_a_family_unfolds_into_its_conditions(pages, shop):
    a, b = shop.models[1], shop.models[2]
    assert told(pages, a=a, b=b)["fam/fog"]["members"] == []
    members = told(pages, a=a, b=b, family="fam/fog")["fam/fog"]["members"]
    assert [row["name"] for row in members] == ["fam/fog/1", "fam/fog/2"]
    for row in members:
        expected = odo.compare(shop.store, a, b, on=row["name"], level=level_of(2))[0]
        assert row["difference"] == estimate(expected.difference)


def test_words_follow_the_interval(pages, shop):
    worst, best = shop.models[0], shop.models[-1]
    for a, b, word in ((worst, best, "better"), (best, worst, "worse")):
        for row in told(pages, a=a, b=b).values():
            low, high = row["difference"]["low"], row["difference"]["high"]
            assert row["answer"] == (word if low > 0 or high < 0 else "can't tell")
    answers = {row["answer"] for row in told(pages, a=worst, b=best).values()}
    assert "better" in answers


@pytest.fixture
def table_pages(tmp_path, explore):
    (tmp_path / "table.csv").write_text(TABLE)
    store = odo.open_store(str(tmp_path / "runs"), create=True)
    odo.import_table(str(tmp_path / "table.csv"), store=store, n=10_000)
    opened, pages = explore(store)
    opened.wait_for_study()
    return pages


def test_a_table_is_compared_and_has_no_pages_of_images(table_pages):
    page = table_pages.get("/")
    for path in ("/images", "/calibration", "/corruptions"):
        assert f'href="{path}"' not in page.text
    assert 'href="/compare"' in page.text
    assert 'href="/scatter"' in page.text
    found = table_pages.get("/compare.json").json()
    assert (found["a"], found["b"], found["comparison"]) == ("good", "bad", None)
    rows = {row["name"]: row for row in found["rows"]}
    matched = rows["imagenetv2-matched-frequency"]["difference"]
    assert (round(matched["value"], 6), matched["n"]) == (-0.12, 10_000)
    assert matched["high"] < 0
    assert rows["imagenetv2-matched-frequency"]["answer"] == "worse"
    assert table_pages.get("/compare", params={"a": "good", "b": "worst"}).status_code == 200
    assert table_pages.get("/model/good").status_code == 200
