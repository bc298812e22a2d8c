"""Samples, by one rule wherever they are compared: single conditions, families, reports, whoever is named first."""

from __future__ import annotations

import pytest

import oodometer as odo
from numbered_images import Knowing, damaged_family, numbered_images
from oodometer.analysis.common_images import right_on_common
from oodometer.analysis.compare import compare
from oodometer.analysis.compare_many import compare_many
from oodometer.analysis.origins import Origin
from oodometer.report.html.sections.interventions import section
from oodometer.sampling.aim import Aim
from oodometer.sampling.run import run_sampled
from oodometer.store.index import index_at
from oodometer.study import study_of
from oodometer.study.interventions import interventions_of

A, B = Knowing("a", 0.8, 0.5), Knowing("b", 0.78, 0.5)
ORIGINS = {"b": Origin("more data", "a")}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """Both models on samples that were stopped, of the clean images and of a family with one member."""
    store, shifts = (
        str(tmp_path_factory.mktemp("stopped") / "runs"),
        damaged_family(numbered_images(2000), ["fog"], [1]),
    )
    run_sampled([A.model, B.model], shifts, Aim(0.05, "until"), store=store)
    return store


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A on samples of a family, each condition with images of its own; B on all images."""
    store = str(tmp_path_factory.mktemp("mixed") / "runs")
    shifts = damaged_family(numbered_images(2000), ["fog", "snow"], [1, 2])
    run_sampled([A.model], shifts, Aim(0.05, "until"), store=store)
    odo.run([B.model], shifts, store=store)
    return store


@pytest.fixture(scope="module")
def within(tmp_path_factory):
    """Both models on samples of a family, as many as were planned."""
    store = str(tmp_path_factory.mktemp("within") / "runs")
    shifts = damaged_family(numbered_images(2000), ["fog", "snow"], [1, 2])
    run_sampled([A.model, B.model], shifts, Aim(0.05, "within"), store=store)
    return store


def test_a_report_tests_stopped_samples_as_compare_does(stopped):
    study = study_of(stopped, origins=ORIGINS)
    found = {one.condition: one for one in interventions_of(study).differences}
    assert len(found) == 2
    for name, one in found.items():
        (alone,) = compare(stopped, "a", "b", on=name)
        assert alone.test == "betting, valid whenever it was stopped"
        assert (one.test, one.p_value, one.difference) == (alone.test, alone.p_value, alone.difference)
        assert (one.before, one.after) == (alone.accuracy_a, alone.accuracy_b)
    lead = section(study).lead[1]
    assert "bet" in lead
    assert "McNemar" not in lead


def test_a_family_with_one_member_is_as_its_member(stopped):
    (family,), (member,) = (compare(stopped, "a", "b", on=name) for name in ("damage", "damage/fog/1"))
    assert (family.accuracy_a, family.accuracy_b) == (member.accuracy_a, member.accuracy_b)
    assert family.difference == member.difference
    assert "over 1 condition, " in str(family)


def test_who_is_named_first_changes_the_sign_alone(mixed):
    (one,), (other,) = compare(mixed, "a", "b", on="damage"), compare(mixed, "b", "a", on="damage")
    assert one.p_value == pytest.approx(other.p_value)
    assert one.difference.value == pytest.approx(-other.difference.value)
    assert (one.difference.low, one.difference.high) == pytest.approx((-other.difference.high, -other.difference.low))
    assert (one.accuracy_a, one.accuracy_b) == (other.accuracy_b, other.accuracy_a)
    assert {one.accuracy_a.n, one.accuracy_b.n} == {one.difference.n}
    assert one.difference.value == pytest.approx(one.accuracy_b.value - one.accuracy_a.value)


def test_of_many_they_are_the_same_pair(mixed):
    (side,) = (side for side in compare_many(mixed).sides if side.kind != "clean")
    (pair,) = side.pairs
    (alone,) = compare(mixed, pair.model_a, pair.model_b, on="damage")
    assert (pair.p_value, pair.difference) == (pytest.approx(alone.p_value), alone.difference)


def test_images_drawn_apart_are_counted_once_and_told_as_such(within):
    (found,) = compare(within, "a", "b", on="damage")
    images = {A.name: set(), B.name: set()}
    index = index_at(within)
    for cell in index.cells:
        if cell.condition_name.startswith("damage"):
            images[cell.model_name] |= set(index.images(cell).ids.tolist())
    n = len(images["a"])
    assert images["a"] == images["b"]
    assert {found.accuracy_a.n, found.accuracy_b.n, found.difference.n, found.difference_at(0.9).n} == {n}
    assert str(found).splitlines()[0].endswith(f"mean top-1 over 4 conditions, {n} images in all, drawn apart")


def test_images_come_in_the_order_in_which_they_were_drawn_whoever_is_first(mixed):
    index = index_at(mixed)
    (sample,) = [cell for cell in index.of_model("a") if cell.condition_name == "damage/fog/1"]
    (whole,) = [cell for cell in index.of_model("b") if cell.condition_name == "damage/fog/1"]
    drawn = index.images(sample).ids.tolist()
    assert drawn != sorted(drawn)
    one, other = right_on_common(index, [sample, whole]), right_on_common(index, [whole, sample])
    assert one.ids.tolist() == other.ids.tolist() == drawn
    for at, turned in ((0, 1), (1, 0)):
        assert one.values[at].tolist() == other.values[turned].tolist()
        assert one.rows[at].tolist() == other.rows[turned].tolist()
