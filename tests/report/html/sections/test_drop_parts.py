"""The section of what drops are made of: what it shows is what ``explain`` says."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from click.testing import CliRunner

from oodometer.analysis.explain import DEFAULT, explain
from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.cli.main import main
from oodometer.document.section import Words
from oodometer.report.commands import commands_of
from oodometer.report.html.page import page_html
from oodometer.report.html.sections.drop_parts import section
from oodometer.stats.bootstrap import Resampling
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


def test_the_commands_give_the_numbers_again(store):
    study = study_of(store, options=RobustnessOptions(baseline="", resampling=Resampling(200, 0.9, seed=4)))
    found = {one.what: one.lines for one in commands_of(study)}
    (line,) = found["What the drops are made of:"]
    said = json.loads(CliRunner().invoke(main, [*line[1:], "--json"]).stdout)
    (row,) = section(study).parts[0].rows
    assert said["models"][0]["drop"] == asdict(row[2])
    assert said["difficulty"]["width_ratio"] == asdict(row[7])
    lines = found["Errors in common, and the hardest images:"]
    assert [line[1] for line in lines] == ["consistency", "hardest"] * 2
    for line in lines:
        assert CliRunner().invoke(main, [*line[1:], "--json"]).exit_code == 0


def test_nothing_without_new_images(filled, make_dataset):
    data = make_dataset(50)
    for condition in ("clean", "fog/3"):
        filled.add(data, [0, 1] * 25, condition=condition)
    assert section(study_of(filled.store, options=ALL)) is None
