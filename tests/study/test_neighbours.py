"""Each model beside the next best: its state is that of the whole column, its images those of a plan."""

from __future__ import annotations

import pytest

import oodometer as odo
from numbered_images import Knowing, damaged_family, numbered_images, run_in_fog
from oodometer.report.tables.neighbours import neighbours_table
from oodometer.sampling.aim import Aim
from oodometer.sampling.run import run_sampled
from oodometer.store.store import open_store
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import study_of
from oodometer.study.neighbours import MATTERS, neighbours_on

SKILLS = {"good": 0.9, "fair": 0.8, "same": 0.8, "poor": 0.5}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return run_in_fog(SKILLS, tmp_path_factory.mktemp("neighbours"))


def test_neighbours_are_the_pairs_of_compare(store):
    study = study_of(store)
    found = neighbours_on(study, study.shifts)
    assert [one.on for one in found] == ["clean"] * 3 + ["damage/fog"] * 3
    for one in found:
        # corrected within one set, as leaderboards are
        (side,) = odo.compare_many(store, on=[one.on]).sides
        (pair,) = [pair for pair in side.pairs if (pair.model_a, pair.model_b) == (one.first, one.next)]
        assert one.difference.value == pytest.approx(-pair.difference.value)
        if one.on == "clean":
            assert one.state == pair.state
    assert {one.state for one in found} == {"separated", "tied"}


def test_the_images_that_half_a_point_needs_are_those_of_plan(store):
    study = study_of(store)
    for one in neighbours_on(study, study.shifts):
        planned = odo.plan(store, one.first, one.next, options=odo.PlanOptions(MATTERS), on=[one.on]).pairs[0]
        assert one.images == planned.images.value


def test_of_samples_that_were_stopped_nobody_says_how_many_more(tmp_path):
    models = [Knowing(name, SKILLS[name], 0.5).model for name in ("good", "fair")]
    (shift,) = damaged_family(numbered_images(2000), ["fog"], (3,))
    run = run_sampled(models, [shift], Aim(0.05, "until"), store=str(tmp_path / "runs"))
    study = study_of(run)
    found = neighbours_on(study, study.shifts)
    assert [one.images for one in found] == [None, None]
    assert all(one.state != "can't be tested" for one in found)


def test_as_a_table(store):
    study = study_of(store)
    table = neighbours_table(neighbours_on(study, study.shifts), 0.95)
    assert table.folded
    assert len(table.rows) == 6
    assert table.rows[0][:2] == ("clean", "good")


def test_accuracies_of_unknown_n_can_not_be_tested(tmp_path):
    opened = open_store(str(tmp_path / "runs"), create=True)
    rows = [
        Accuracy(name, on, value, None, "t.csv")
        for name, x in (("a", 0.8), ("b", 0.7))
        for on, value in (("val", x), ("imagenet-sketch", x / 2))
    ]
    write_table(opened, rows)
    study = study_of(opened)
    found = neighbours_on(study, study.shifts)
    assert {(one.state, one.images) for one in found} == {("can't be tested", None)}
