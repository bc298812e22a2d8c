"""Models that are far from the line that they are part of are named; others are not."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.line_outliers import outlier_notes
from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.robustness import robustness


def names(n: int) -> list[str]:
    return [f"m{at}" for at in range(n)]


@pytest.mark.parametrize("seed", range(5))
def test_models_with_normal_distances_are_not_named(seed):
    """At five standard deviations one of 200 is named in 1 draw of 9,000 (normal distribution)."""
    assert outlier_notes(names(200), np.random.default_rng(seed).normal(0, 0.02, 200)) == []


def test_the_farthest_comes_first_and_many_are_counted():
    rho = np.concatenate([np.linspace(-0.01, 0.01, 40), -np.arange(1, 8) / 10])
    (line,) = outlier_notes(names(47), rho)
    assert line.startswith("far from the line that they are part of: m46 (-0.7000), m45 (-0.6000), ")
    assert " and 2 more; are they broken" in line


def test_a_hair_is_not_far_and_few_models_say_nothing():
    assert outlier_notes(names(12), np.append(np.zeros(11), 0.04)) == []
    assert outlier_notes(names(10), np.append(np.zeros(9), 0.9)) == []


def test_a_model_whose_answers_are_reversed_is_named(filled, make_dataset):
    """Twelve models on a line, and one that is as good on the clean images but wrong on all shifted ones."""
    clean = make_dataset(1000, k=10)
    shifted = make_dataset(1000, k=10, ids=[f"s{at}" for at in range(1000)], name="v2")
    for at in range(12):
        hits = 560 + 30 * at
        for data, n_right, condition in ((clean, hits, "clean"), (shifted, hits - 100, "imagenetv2-matched-frequency")):
            ranks = (np.arange(1000) >= n_right).astype(int)
            filled.add(data, ranks, model=f"m{at}", digest=f"{at:032x}", condition=condition)
    filled.add(clean, (np.arange(1000) >= 700).astype(int), model="broken", digest="f" * 32)
    filled.add(shifted, np.ones(1000, dtype=int), model="broken", digest="f" * 32,
               condition="imagenetv2-matched-frequency")  # fmt: skip
    found = robustness(filled.store, shift="imagenetv2-matched-frequency", options=RobustnessOptions(baseline=""))
    assert any(note.startswith("far from the line that it is part of: broken (-") for note in found.notes)
    without = RobustnessOptions(baseline="", leave_out=("broken",))
    found = robustness(filled.store, shift="imagenetv2-matched-frequency", options=without)
    assert not any(note.startswith("far from") for note in found.notes)
