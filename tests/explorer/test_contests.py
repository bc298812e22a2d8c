"""Two models on everything at once: the same numbers as of ``compare``, corrected for their number; tables too."""

from __future__ import annotations

import pytest

import oodometer as odo

TABLE = """model,val,imagenetv2-matched-frequency,imagenet-sketch
good,80.0,70.0,40.0
bad,70.0,58.0,39.0
worst,60.0,40.0,20.0
"""


def rows_of(pages, **asked):
    return {row["name"]: row for row in pages.get("/compare.json", params=asked).json()["rows"]}


def level_of(n):
    return 1 - 0.05 / n  # Bonferroni


def estimate(found):
    return {"value": found.value, "low": found.low, "high": found.high, "n": found.n, "interval": found.interval}


def test_every_condition_equals_compare_at_the_corrected_level(pages, shop):
    a, b = shop.models[1], shop.models[2]
    rows = rows_of(pages, a=a, b=b)
    assert set(rows) == {"clean", "sketch", "fam/fog"}
    for name in ("clean", "sketch"):
        expected = odo.compare(shop.store, a, b, on=name, level=level_of(3))[0]
        assert rows[name]["difference"] == estimate(expected.difference)
    family = odo.compare(shop.store, a, b, on="fam/fog", level=level_of(3))[0].difference
    found = rows["fam/fog"]["difference"]
    assert found["n"] == family.n
    assert [found[part] for part in ("value", "low", "high")] == pytest.approx([family.value, family.low, family.high])


def test_a_family_unfolds_into_its_conditions(pages, shop):
    a, b = shop.models[1], shop.models[2]
    assert rows_of(pages, a=a, b=b)["fam/fog"]["members"] == []
    members = rows_of(pages, a=a, b=b, family="fam/fog")["fam/fog"]["members"]
    assert [row["name"] for row in members] == ["fam/fog/1", "fam/fog/2"]
    for row in members:
        expected = odo.compare(shop.store, a, b, on=row["name"], level=level_of(2))[0]
        assert row["difference"] == estimate(expected.difference)


def test_words_follow_the_interval(pages, shop):
    worst, best = shop.models[0], shop.models[-1]
    for a, b, word in ((worst, best, "better"), (best, worst, "worse")):
        for row in rows_of(pages, a=a, b=b).values():
            low, high = row["difference"]["low"], row["difference"]["high"]
            assert row["answer"] == (word if low > 0 or high < 0 else "can't tell")
    answers = {row["answer"] for row in rows_of(pages, a=worst, b=best).values()}
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
