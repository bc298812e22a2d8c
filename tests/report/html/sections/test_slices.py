"""The section of slices: the numbers of ``score --by-value``, and only columns that cut the images into groups."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oodometer.analysis.metric_request import ScoreOptions
from oodometer.analysis.score import score
from oodometer.report.html.page import page_html
from oodometer.report.html.sections.slices import MOST_ROWS, section
from oodometer.study import study_of


@pytest.fixture
def cameras(filled, make_dataset):
    columns = {
        "camera": np.array(["new"] * 40 + ["old"] * 40),
        "country": np.array(["fr", "us"] * 40),
        "kind": np.array([f"kind {label}" for label in np.arange(80) % 4]),  # says what the class says
        "file": np.array([f"{at}.jpg" for at in range(80)]),
        "source": np.array(["one"] * 80),
    }
    data = make_dataset(80, k=4, columns=columns)
    filled.add(data, [0] * 38 + [1] * 2 + [0] * 10 + [1] * 30, model="good")
    filled.add(data, [1] * 80, model="bad", digest="b" * 32)
    return filled.store


def test_each_value_as_score_tells_it_the_most_telling_column_first(cameras):
    found = section(study_of(cameras))
    assert [table.columns[0].title for table in found.parts] == ["camera", "country"]
    assert [table.folded for table in found.parts] == [False, True]
    expected = {
        (row.model, row.metric): row.estimate
        for row in score(cameras, metrics=["top-1"], options=ScoreOptions(by_value=("camera",))).rows
    }
    (camera, _) = found.parts
    assert [row[:3] for row in camera.rows] == [("new", "clean", 40), ("old", "clean", 40)]
    for value, _, _, *accuracies in camera.rows:
        models = [column.title for column in camera.columns[3:]]
        assert accuracies == [expected[model, f"top-1[camera={value}]"] for model in models]
    assert "corrected for 2 values" in camera.columns[3].about


def test_the_lead_tells_what_can_be_told(cameras):
    (lead,) = section(study_of(cameras)).lead
    # Clopper-Pearson at 97.5 % of 38 and of 10 in 40, by scipy: binomtest(38, 40).proportion_ci(0.975)
    assert "By camera on clean, good has 95.0 % [81.2, 99.6] on new and 25.0 % [11.4, 43.4] on old." in lead
    assert "country" not in lead


def test_nothing_without_columns(filled, make_dataset):
    filled.add(make_dataset(6, k=3), [0] * 6)
    assert section(study_of(filled.store)) is None


def test_never_more_than_is_said(filled, make_dataset):
    columns = {f"c{number}": np.array([f"{(at + 7 * number) // 10 % 40}" for at in range(400)]) for number in range(8)}
    for place in range(9):
        ids = [f"{place}-{at}" for at in range(400)]
        data = make_dataset(400, k=4, columns=columns, name=f"d{place}", ids=ids)
        for number in range(8):
            about = {"model": f"model-of-a-long-name-{number}", "digest": f"{number}" * 32}
            filled.add(data, np.arange(400) % 3, condition=f"condition-{place}", **about)
    found = section(study_of(filled.store))
    assert [len(table.rows) for table in found.parts] == [MOST_ROWS] * 6
    assert "The first 120 of 320 rows." in found.parts[0].caption
    empty = replace(found, parts=())
    added = (page_html([each], ["standard"], title="t") for each in (found, empty))
    with_tables, without = (len(html) for html in added)
    assert with_tables - without < 500_000
