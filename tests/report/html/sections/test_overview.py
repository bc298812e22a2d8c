"""The first screen: its verdict, its picture and its doubts, of stores whose numbers are known."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.core.condition import Condition, Shift
from oodometer.core.records import record_of_shift
from oodometer.document.section import Dots, Words
from oodometer.document.table import Table
from oodometer.report.html.sections.overview import MOST_DOUBTS, section
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.intervals import corrected_level
from oodometer.stats.paired import PairedCounts, paired_difference
from oodometer.store.store import open_store
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import study_of

OPTIONS = RobustnessOptions(resampling=Resampling(draws=100))


def ranks(right: int, n: int = 200) -> np.ndarray:
    """Right on the last ``right`` images."""
    return (np.arange(n) < n - right).astype(np.int64)


def part(found, kind):
    return next((one for one in found.parts if isinstance(one, kind)), None)


@pytest.fixture
def study(filled, make_dataset):
    """Models right on so many of 200 clean images and of 200 images of each of two shifts."""
    clean = make_dataset(200, name="photos")
    others = {
        name: make_dataset(200, name=name, ids=[f"{name}{at}" for at in range(200)]) for name in ("drawn", "toys")
    }
    for name, other in others.items():
        shift = Shift(name, "style", Condition("iid", clean), Condition(name, other))
        filled.store.add_shift(record_of_shift(shift))

    def make(**counts: tuple[int, ...]):
        for model, (on_clean, *shifted) in counts.items():
            filled.add(clean, ranks(on_clean), model=model, condition="iid")
            for (name, other), right in zip(others.items(), shifted, strict=False):
                filled.add(other, ranks(right), model=model, condition=name)
        return study_of(filled.store, origins={name: Origin("standard") for name in counts}, options=OPTIONS)

    return make


def test_of_several_models_the_best_is_named_with_those_that_may_be_as_good(study):
    found = section(study(a=(180, 150, 140), b=(180, 149, 140), c=(180, 90, 80)))
    assert found.lead[0].startswith("On average over 2 shifts, a holds up best: 72.5 % [")
    assert found.lead[0].endswith("right; b can’t be told from it, the other one is behind.")


def test_one_that_is_left_is_named_not_counted(study):
    few = dict.fromkeys("abcde", (180, 150, 140))
    assert (
        section(study(**few, f=(60, 50, 40)))
        .lead[0]
        .endswith("b, c, d and e can’t be told from it, the other one is behind.")
    )


def test_a_clear_winner_is_ahead_of_all(study):
    found = section(study(a=(180, 150, 140), b=(180, 100, 90), c=(180, 60, 50)))
    assert found.lead[0].endswith("right, ahead of all 2 others.")


def test_the_picture_has_a_row_for_each_model_the_best_first_and_ties_as_ties(study):
    dots = part(section(study(c=(180, 90, 80), a=(180, 150, 140), b=(180, 149, 140))), Dots)
    assert [(row.name, row.rank) for row in dots.rows] == [("a", "1–2"), ("b", "1–2"), ("c", "3")]
    assert dots.panels == ("drawn", "toys")
    assert dots.ties == ((0, 1), (2, 2))
    assert [(clean.value, shifted.value) for clean, shifted in dots.rows[0].pairs] == [(0.9, 0.75), (0.9, 0.7)]
    assert "paired z tests over images of all pairs, corrected after Holm" in dots.caption


def test_a_mean_is_that_of_its_shifts_and_its_interval_that_of_independent_images(study):
    dots = part(section(study(a=(180, 150, 100), b=(180, 90, 80))), Dots)
    mean = dots.rows[0].mean
    error = np.sqrt((0.75 * 0.25 + 0.5 * 0.5) / 199) / 2
    assert mean.value == pytest.approx(0.625)
    assert (mean.low, mean.high) == pytest.approx((0.625 - 1.959964 * error, 0.625 + 1.959964 * error))


def test_two_models_get_a_paired_verdict_on_everything(study):
    found = section(study(new=(170, 150, 141), old=(180, 120, 140)))
    assert found.lead[0].startswith("new is better than old under 1 of 2 shifts (under drawn, by 15.0 points [")
    assert "), not to be told from it under 1; on iid it is worse by 5.0 points [" in found.lead[0]
    table = part(found, Table)
    assert [(row[0], row[4]) for row in table.rows] == [("iid", "worse"), ("drawn", "better"), ("toys", "can’t tell")]
    # new is right wherever old is, and on 30 more; three differences hold together
    expected = paired_difference(PairedCounts(120, 0, 30, 50), level=corrected_level(0.95, 3))
    difference = table.rows[1][3]
    assert (difference.value, difference.low, difference.high) == (expected.value, expected.low, expected.high)


def test_what_is_told_needs_no_more_images_and_what_is_not_says_how_many(study):
    rows = {row[0]: row for row in part(section(study(new=(170, 150, 141), old=(180, 120, 140))), Table).rows}
    assert rows["drawn"][6] is None
    assert rows["toys"][6] > 200


@pytest.mark.parametrize(("old", "hidden"), [((180, 120, 140), False), ((90, 80, 70), True)])
def test_images_that_would_tell_are_a_column_where_something_is_not_told(study, old, hidden):
    table = part(section(study(new=(170, 150, 141), old=old)), Table)
    assert table.columns[6].title == "To tell"
    assert table.columns[6].hidden is hidden


def test_two_that_can_not_be_told_apart_are_said_to_be_so(study):
    found = section(study(a=(180, 150, 141), b=(180, 150, 141)))
    assert found.lead[0].startswith("a and b can’t be told apart, neither on iid (+0.0 points [")
    assert found.lead[0].endswith(") nor under drawn or toys.")


def test_one_model_is_told_by_what_it_keeps(study):
    found = section(study(a=(180, 150, 100)))
    assert found.lead[0].startswith("On average over 2 shifts, a is right on 62.5 % [")
    assert found.lead[0].endswith("of the images; it loses most, 40.0 points on toys.")


def test_doubts_are_few_and_each_leads_to_its_evidence(study):
    doubts = part(section(study(a=(180, 150, 100), b=(180, 90, 80))), Words)
    assert doubts.title == "What not to trust"
    assert 0 < len(doubts.lines) <= MOST_DOUBTS
    assert len(doubts.evidence) == len(doubts.lines)
    assert set(doubts.evidence) <= {"leaderboard", "scatter", "provenance"}


def test_models_without_a_shift_have_no_place(study):
    dots = part(section(study(a=(180, 150, 100), b=(180, 90, 80), c=(180, 95))), Dots)
    assert [row.name for row in dots.rows] == ["a", "c", "b"]  # a shift on which a model is missing does not count
    assert dots.rows[1].pairs[1] == (None, None)


def test_without_n_nobody_is_told_apart(tmp_path):
    store = open_store(str(tmp_path / "runs"), create=True)
    rows = [
        Accuracy(name, on, value, None, "t.csv")
        for name, x in (("a", 0.8), ("b", 0.7), ("c", 0.6))
        for on, value in (("val", x), ("imagenet-sketch", x / 2))
    ]
    write_table(store, rows)
    found = section(study_of(store, options=OPTIONS))
    # What can't be tested is no tie.
    assert found.lead[0].endswith("no other can be tested against it, as nobody says of how many images.")
    dots = part(found, Dots)
    assert [row.rank for row in dots.rows] == ["1–3"] * 3
    assert dots.ties == ((0, 0), (1, 1), (2, 2))
    assert "accuracy under the shift (full), without intervals, as nobody says of how many images." in dots.caption


def test_without_a_shift_there_is_nothing_to_glance_at(filled, make_dataset):
    filled.add(make_dataset(20, name="photos"), ranks(10, 20), model="a", condition="iid")
    assert section(study_of(filled.store, options=OPTIONS)) is None
