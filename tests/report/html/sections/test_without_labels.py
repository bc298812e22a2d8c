"""The section of estimates without labels: the rows of `estimate`, and nothing where every image has a label."""

from __future__ import annotations

import numpy as np
import pytest

import oodometer as odo
from made_unlabelled import made_answers
from oodometer.document.section import Words
from oodometer.report.html.page import page_html
from oodometer.report.html.sections.without_labels import section
from oodometer.study import study_of
from oodometer.study.unlabelled import MOST_SETS

N, K = 200, 10


@pytest.fixture
def put(filled, make_dataset):
    """Puts the answers of some models to images of that name, with or without labels."""

    def put(name: str, *, labelled: bool, models: int = 5, harder: float = 0.0, condition: str = "clean"):
        rng = np.random.default_rng(len(name))
        truth = rng.integers(K, size=N)
        data = make_dataset(
            N, labels=truth if labelled else [-1] * N, name=name, ids=[f"{name}-{place}" for place in range(N)]
        )
        made = made_answers(truth, K, np.linspace(0, 1, models), harder=harder, seed=len(name))
        for model in range(models):
            filled.put(data, made.rows(model, data), model=f"m{model}", digest=f"{model:032x}", condition=condition)

    return put


def test_the_rows_are_those_of_estimate(filled, put):
    put("val", labelled=True)
    put("street", labelled=False, harder=0.5)
    found = section(study_of(filled.store))
    expected = odo.estimate_without_labels(filled.store, "street")
    table = found.parts[0]
    assert [(row[0], row[1], row[2], row[3]) for row in table.rows] == [
        (row.model, row.method, row.clean, row.estimate) for row in expected.rows
    ]
    assert {row[4] for row in table.rows} == {"not known"}
    assert "200 images without labels, from clean@val" in table.caption
    assert f"through 10 pairs, R² {expected.line.r2:.3f}" in table.caption
    assert "Without labels" in page_html([found], ["standard"], title="t")


def test_errors_and_doubts_stand_beside(filled, put):
    put("val", labelled=True)
    put("street", labelled=False, harder=0.8)
    put("alley", labelled=True, harder=0.2, condition="alley")
    found = section(study_of(filled.store))
    assert all(row[4].endswith("points (4 models under 1 other shift)") for row in found.parts[0].rows)
    said = [line for part in found.parts if isinstance(part, Words) for line in part.lines]
    assert any(line.startswith("clean@street: aline-s") and "milder shifts" in line for line in said)
    assert "yes" in {row[5] for row in found.parts[0].rows}


def test_what_can_not_be_estimated_is_told(filled, put):
    put("val", labelled=True, models=2)
    put("street", labelled=False, models=2)
    found = section(study_of(filled.store))
    said = [line for part in found.parts if isinstance(part, Words) for line in part.lines]
    assert any("a line through agreements needs 3" in line for line in said)
    assert {row[1] for row in found.parts[0].rows} == {"atc-confidence", "atc-entropy", "confidence-difference"}


def test_nothing_where_every_image_has_a_label_or_is_of_no_class(filled, put):
    put("val", labelled=True)
    put("elsewhere", labelled=True, condition="elsewhere")
    put("textures", labelled=False, condition="textures")
    assert section(study_of(filled.store)) is None


def test_never_more_sets_than_is_said(filled, put):
    put("val", labelled=True, models=3)
    for length in range(4, 6 + MOST_SETS):
        put("x" * length, labelled=False, models=3)
    found = section(study_of(filled.store))
    assert len([part for part in found.parts if not isinstance(part, Words)]) == MOST_SETS
    said = [line for part in found.parts if isinstance(part, Words) for line in part.lines]
    assert any(line.startswith("Not estimated here: clean@xxxxxxx") for line in said)
