"""Numbers of samples that were stopped by what was seen say where they are told as if n had been fixed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

import oodometer as odo
from numbered_images import Knowing, damaged_family, numbered_images, other_images
from oodometer.analysis.accuracy_pairs import accuracy_of
from oodometer.analysis.compare_effective import compare_effective
from oodometer.analysis.consistency import consistency
from oodometer.analysis.differences import drop_under_shift
from oodometer.analysis.explain import explain
from oodometer.analysis.hypotheses import hypotheses_in
from oodometer.analysis.origins import Origin
from oodometer.analysis.points import Point, Points
from oodometer.analysis.robustness import RobustnessOptions, robustness
from oodometer.analysis.sampled import NOT_ANYTIME
from oodometer.core.errors import OodometerError
from oodometer.core.sample import Sample
from oodometer.sampling.aim import Aim
from oodometer.sampling.run import run_sampled
from oodometer.study.errors_in_common import errors_in_common

N = 2000
MODELS = [Knowing(f"m{place}", 0.6 + 0.05 * place, shared=0.5, n=2 * N) for place in range(5)]
THROUGH_ALL = RobustnessOptions(baseline="")
STOPPED = "samples were stopped by what was seen: "


@pytest.fixture(scope="module", params=["until", "within"])
def sampled(request, tmp_path_factory):
    """A store of samples, and whether they were stopped by what was seen."""
    store = str(tmp_path_factory.mktemp(request.param))
    run_sampled([model.model for model in MODELS], other_images(N), Aim(0.05, request.param), store=store)
    return store, request.param == "until"


def said(notes) -> bool:
    """Whether a line says it, and whole."""
    lines = [note for note in notes if STOPPED in note]
    assert all(note.endswith(f" are {NOT_ANYTIME}") for note in lines)
    return bool(lines)


def test_of_errors_in_common(sampled):
    store, stopped = sampled
    found = consistency(store)
    intervals = [one.kappa.interval for one in found.pairs]
    intervals += [one.interval for one in found.means.values()] + [one.accuracy.interval for one in found.raters]
    assert len(intervals) == 10 + 1 + 5
    assert all(interval.endswith(f", {NOT_ANYTIME}") == stopped for interval in intervals)
    assert said(found.notes) == stopped


def test_of_the_report_on_errors_in_common(sampled):
    store, stopped = sampled
    found, notes = errors_in_common(odo.study_of(store))
    assert found
    for one in found:
        for estimate in (one.mean, one.most.kappa, one.least.kappa):
            assert estimate.interval.endswith(f", {NOT_ANYTIME}") == stopped
    assert said(notes) == stopped


def test_of_two_models(sampled):
    store, stopped = sampled
    compared = odo.compare(store, "m0", "m1")
    assert len(compared) == 2
    for one in compared:
        for estimate in (one.agreement, one.error_consistency):
            assert estimate.interval.endswith(f", {NOT_ANYTIME}") == stopped
        assert (f"({NOT_ANYTIME})" in str(one)) == stopped
        assert NOT_ANYTIME not in one.difference.interval


def test_of_lines(sampled):
    store, stopped = sampled
    assert said(robustness(store, "other", options=THROUGH_ALL).notes) == stopped
    assert said(explain(store, "other").notes) == stopped
    assert said(compare_effective(store, line=THROUGH_ALL).notes) == stopped


def test_of_hypotheses(sampled):
    store, stopped = sampled
    origins = {model.name: Origin(category="standard") for model in MODELS}
    assert said(hypotheses_in(store, origins=origins).notes) == stopped


def test_of_the_mean_of_gaps(sampled):
    store, stopped = sampled
    mean = odo.gaps(store, mean=True).mean
    for estimate in (mean.accuracy_standard, mean.accuracy_shifted, mean.gap):
        assert estimate.interval.endswith(f", {NOT_ANYTIME}") == stopped


@pytest.mark.parametrize("rule", ["until", "within"])
def test_there_is_no_mean_of_gaps_where_conditions_have_images_of_their_own(tmp_path, rule):
    shifts = damaged_family(numbered_images(N), ("fog", "snow"))
    run = run_sampled([MODELS[0].model], shifts, Aim(0.05, rule), store=str(tmp_path / "runs"))
    with pytest.raises(OodometerError, match="damage: each condition has images of its own, drawn apart"):
        odo.gaps(run, mean=True)


@pytest.mark.slow
def test_a_gap_to_other_images_is_held_at_every_look():
    # 1,000 runs that are looked at six times: the interval misses the truth at some look in 5 % of them at most
    rng, looks = np.random.default_rng(0), (150, 300, 450, 600, 800, 1000)
    sample = Sample(6000, "order", 0, "until", ((6000, 0.05),))
    missed = 0
    for _ in range(1000):
        clean, other = (rng.random((1, sample.of)) < share for share in (0.8, 0.72))
        truth = clean.mean() - other.mean()
        for n in looks:
            sides = clean[:, :n], other[:, :n]
            point = Point("m", Origin(), (accuracy_of(sides[0][0], 0.95),), accuracy_of(sides[1][0], 0.95))
            points = Points(("clean",), "other", ("other",), (point,), *sides, stopped_x=sample, stopped_y=sample)
            gap = drop_under_shift(points, 0, 0.95)
            if not gap.low <= truth <= gap.high:
                missed += 1
                break
    assert binomtest(missed, 1000, 0.05, alternative="greater").pvalue > 0.01
