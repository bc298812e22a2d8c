"""The page of the hypotheses: there where two models differ in one thing, and nowhere else."""

from __future__ import annotations

import oodometer as odo
from known_stores import Filled
from oodometer.report.html.sections.hypotheses import section
from oodometer.store.store import open_store

MIXED = {"category": "robust intervention", "parent": "base", "interventions": ("augmix",)}


def test_the_page_is_the_section_of_the_report(tmp_path, make_dataset, explore):
    filled = Filled(open_store(str(tmp_path / "runs"), create=True))
    clean = make_dataset(100, k=10)
    shifted = make_dataset(100, k=10, name="imagenet-r", ids=[f"r{at}" for at in range(100)])
    for place, (model, hits) in enumerate({"base": 30, "mixed": 60}.items()):
        about = {"model": model, "digest": f"{place:032d}", "card": MIXED if model == "mixed" else {}}
        for data, right in ((clean, 70), (shifted, hits)):
            condition = "clean" if data is clean else "imagenet-r"
            filled.add(data, [int(at >= right) for at in range(100)], condition=condition, **about)
    explorer, pages = explore(filled.store)
    explorer.wait_for_study()
    expected = section(odo.study_of(filled.store))
    found = pages.get("/hypotheses.json").json()
    assert found["lead"] == list(expected.lead)
    assert [part["part"] for part in found["parts"]] == ["table", "table", "words"]
    page = pages.get("/hypotheses")
    assert page.status_code == 200
    assert '<a href="/hypotheses" aria-current="page">' in page.text
    assert "Diverse Data Augmentation" in page.text


def test_without_pairs_nothing_leads_there(pages):
    assert 'href="/hypotheses"' not in pages.get("/").text
