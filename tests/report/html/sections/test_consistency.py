"""The section of errors in common: what it shows is what the analysis says."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.consistency import consistency
from oodometer.analysis.hardest import hardest
from oodometer.document.table import Table
from oodometer.report.html.page import page_html
from oodometer.report.html.sections.consistency import section
from oodometer.study import study_of


def filled_with(filled, data, n_models, seed=0):
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=len(data))
    for number in range(n_models):
        right = rng.normal(size=len(data)) + hard < 0.3 + 0.1 * number
        filled.add(data, (~right).astype(int), model=f"m{number}", digest=f"{number:032x}")
    return filled.store


def test_a_row_for_the_condition_and_a_map(filled, make_dataset):
    store = filled_with(filled, make_dataset(400), 4)
    made = section(study_of(store))
    every = consistency(store)
    (row,) = made.parts[0].rows
    assert row[:3] == ("clean", 4, 400)
    assert row[3] == every.means["models"]
    best, worst = every.pairs[0], every.pairs[-1]
    assert set(row[4].split(", ")) == {best.a, best.b}
    assert row[5] == best.kappa
    assert set(row[6].split(", ")) == {worst.a, worst.b}
    assert row[7] == worst.kappa
    first = hardest(store).by_chance[0]
    assert row[8:] == pytest.approx((first.found, first.expected, first.p_value))
    assert f"{first.found:,} images are missed by all 4 models" in made.lead[1]
    shown = made.parts[1]
    assert isinstance(shown, Table)
    by_name = {row[1]: row[2:] for row in shown.rows}
    places = {rater.name: at for at, rater in enumerate(every.raters)}
    for a, values in by_name.items():
        for b, value in zip(by_name, values, strict=True):
            assert value == pytest.approx(every.matrix()[places[a], places[b]])
    assert "Errors in common" in page_html([made], [], title="a report")


def test_many_models_have_no_map(filled, make_dataset):
    made = section(study_of(filled_with(filled, make_dataset(50), 13)))
    assert [part.id for part in made.parts] == ["consistency-table"]


def test_of_very_many_models_some_are_compared_two_by_two(filled, make_dataset, monkeypatch):
    monkeypatch.setattr("oodometer.study.errors_in_common.MOST_PAIRED", 3)
    store = filled_with(filled, make_dataset(200), 13)
    made = section(study_of(store))
    (row,) = made.parts[0].rows
    assert row[1] == 13
    three = {name for place in (4, 6) for name in row[place].split(", ")}
    assert len(three) == 3
    some = [pair.kappa for pair in consistency(store).pairs if {pair.a, pair.b} <= three]
    assert row[5] == max(some, key=lambda kappa: kappa.value)
    assert row[7] == min(some, key=lambda kappa: kappa.value)
    assert row[8] == hardest(store).by_chance[0].found, "what all miss is counted over all"
    assert made.parts[-1].lines[0].startswith("κ is that of 3 of the 13 models, evenly from the first to the last")


def test_nothing_of_one_model_or_of_perfect_ones(filled, make_dataset):
    data = make_dataset(20)
    filled.add(data, [0] * 10 + [1] * 10)
    assert section(study_of(filled.store)) is None


def test_nothing_where_nobody_errs(filled, make_dataset):
    data = make_dataset(20)
    for number in range(2):
        filled.add(data, [0] * 20, model=f"m{number}", digest=f"{number:032x}")
    assert section(study_of(filled.store)) is None
