"""The section of what drops are made of: what it shows is what ``explain`` says."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.explain import DEFAULT, explain
from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.document.section import Words
from oodometer.report.html.page import page_html
from oodometer.report.html.sections.drop_parts import section
from oodometer.stats.difficulty_model import Difficulty, simulated_answers
from oodometer.study import study_of

ALL = RobustnessOptions(baseline="", resampling=DEFAULT.resampling)


@pytest.fixture
def store(filled, make_dataset):
    """Five models on a clean set and on new images of the difficulty model, and on the clean ones in fog."""
    rng, skills = np.random.default_rng(0), np.linspace(0.3, 2.0, 5)
    val = make_dataset(600)
    new = make_dataset(500, ids=[f"new/{one}" for one in range(500)], name="imagenetv2")
    for condition, data, hard in (("clean", val, 0.0), ("imagenetv2", new, 0.6), ("fog/3", val, 1.0)):
        for place, one in enumerate(simulated_answers(skills, Difficulty(hard, 1.0), len(data), rng)):
            filled.add(data, (~one).astype(int), model=f"m{place}", digest=f"{place:032x}", condition=condition)
    return filled.store


def test_a_row_for_each_natural_shift_to_other_images(store):
    made = section(study_of(store, options=ALL))
    found = explain(store, "imagenetv2")
    (row,) = made.parts[0].rows
    first = found.models[0]
    assert row[:5] == (
        "imagenetv2", 5, first.drop, first.bounds.generalisation, first.bounds.adaptivity_and_distribution,
    )  # fmt: skip
    assert row[5:8] == (found.adaptivity.slope, found.difficulty.harder_by, found.difficulty.width_ratio)
    assert row[8:] == (found.spreads.sd_first, found.spreads.sd_second)
    (unknown,) = [part for part in made.parts if isinstance(part, Words)]
    assert len(unknown.lines) == len(found.unknown)
    assert "adaptivity and distribution are" in made.lead[1]
    page = page_html([made], [], title="a report")
    assert "What the drops are made of" in page


def test_nothing_without_new_images(filled, make_dataset):
    data = make_dataset(50)
    for condition in ("clean", "fog/3"):
        filled.add(data, [0, 1] * 25, condition=condition)
    assert section(study_of(filled.store, options=ALL)) is None
