"""The quadrants: ρ and τ as `robustness` has them, and words where there is no τ."""

from __future__ import annotations

import json

import numpy as np
import pytest

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.document.section import Plot, Words
from oodometer.report.html.scatter_data import PARTS
from oodometer.report.html.sections.quadrants import NO_PARENTS, section
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.effective_robustness import tau_from_counts
from oodometer.store.tables import parse_table, write_table
from oodometer.study import study_of

OPTIONS = RobustnessOptions(resampling=Resampling(draws=100))
CLEAN = (0.55, 0.6, 0.64, 0.7, 0.73, 0.78)
SHIFTED = (0.4, 0.43, 0.5, 0.55, 0.6, 0.66)
STANDARD = {f"m{place}": Origin("standard") for place in range(6)}
N = 1000


@pytest.fixture
def study(filled):
    def make(origins, clean=CLEAN, shifted=SHIFTED):
        lines = [f"m{place},{x},{y}" for place, (x, y) in enumerate(zip(clean, shifted, strict=True))]
        write_table(filled.store, parse_table("\n".join(["model,clean,shifted", *lines]), source="t.csv", n=N))
        return study_of(filled.store, origins=origins, options=OPTIONS)

    return make


def words(found):
    assert [type(part) for part in found.parts] == [Words]
    return found.parts[0].lines[0]


def test_only_models_with_a_parent_are_drawn(study):
    made = study({**STANDARD, "m4": Origin("more_data", "m3"), "m5": Origin("robust", "m0")})
    found = section(made)
    plot = found.parts[0]
    assert isinstance(plot, Plot)
    json.dumps(plot.data, allow_nan=False)
    (shift,) = plot.data["shifts"]
    assert dict(zip(shift["models"], shift["parents"], strict=True)) == {"m4": "m3", "m5": "m0"}
    assert plot.data["category"]["m4"] == "more_data"
    of_model = made.shifts[0].of_model
    for row, model in enumerate(shift["models"]):
        for name in ("rho", "tau"):
            estimate = getattr(of_model[model], name)
            packed = [shift[f"{name}{end}"][row] / PARTS for end in ("", "Low", "High")]
            assert packed == pytest.approx([estimate.value, estimate.low, estimate.high], abs=1e-5)


def test_tau_is_the_difference_to_the_parent(study):
    (shift,) = section(study({**STANDARD, "m5": Origin("robust", "m0")})).parts[0].data["shifts"]
    expected = tau_from_counts(0.66, 0.4, N, N)
    assert np.array([shift["tau"], shift["tauLow"], shift["tauHigh"]]).ravel() / PARTS == pytest.approx(
        [expected.value, expected.low, expected.high], abs=1e-5
    )
    assert shift["tau"] == [26_000]  # 66 % minus 40 %


def test_without_parents_it_says_what_is_needed(study):
    found = section(study(STANDARD))
    assert words(found) == NO_PARENTS
    assert "--categories" in NO_PARENTS
    assert "card" in NO_PARENTS


def test_parents_that_were_not_measured_are_named(study):
    said = words(section(study({**STANDARD, "m5": Origin("robust", "elsewhere")})))
    assert said.startswith("Parents are named (elsewhere) but were not measured")


def test_parents_without_a_line(study):
    said = words(section(study({"m0": Origin("a"), "m1": Origin("b", "m0")}, CLEAN[:2], SHIFTED[:2])))
    assert said.startswith("No shift has both a line (no model of category 'standard'")


def test_no_section_without_a_shift(filled):
    write_table(filled.store, parse_table("model,clean\nm0,0.5", source="t.csv", n=N))
    assert section(study_of(filled.store, options=OPTIONS)) is None
