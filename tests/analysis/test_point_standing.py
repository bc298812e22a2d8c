"""Which models of a shift can be told apart: each kind of answers with its test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency, norm, ttest_rel

import oodometer as odo
from numbered_images import Knowing, damaged_family, numbered_images, run_in_fog
from oodometer.analysis.accuracy_pairs import pairs_of
from oodometer.analysis.compare import compare
from oodometer.analysis.differences import clean_as_shifted
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.measured_shifts import measured_shifts
from oodometer.analysis.point_standing import p_values_of, p_values_under, standings_of
from oodometer.core.estimate import Estimate
from oodometer.sampling.aim import Aim
from oodometer.sampling.run import run_sampled
from oodometer.store.index import index_at

SKILLS = {"good": 0.9, "fair": 0.8, "same": 0.8}


def points_in(source):
    index = index_at(source)
    (shift,) = measured_shifts(index).shifts
    return pairs_of(index, shift, origins={}, how=IntervalOptions())


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return run_in_fog(SKILLS, tmp_path_factory.mktemp("points"))


def test_of_single_conditions_it_is_mcnemars_test(store):
    points = clean_as_shifted(points_in(store))
    p_values, how = p_values_under(points)
    assert how == "exact McNemar tests"
    names = [point.model for point in points.models]
    for a in range(3):
        for b in range(a):
            (alone,) = compare(store, names[a], names[b], on="clean")
            assert p_values[a, b] == pytest.approx(alone.p_value)


def test_of_means_over_conditions_it_is_paired_over_images(store):
    points = points_in(store)
    p_values, how = p_values_under(points)
    assert how == "paired z tests over images"
    # of 800 images Student's distribution is the normal one to a hundredth
    for a, b in ((0, 1), (1, 2)):
        t = ttest_rel(points.right_y[a], points.right_y[b]).statistic
        assert p_values[a, b] == pytest.approx(2 * norm.sf(abs(t)), rel=1e-6)


def test_accuracies_alone_are_taken_as_of_other_images():
    found = p_values_of([Estimate(share, None, None, None, "") for share in (0.8, 0.75, 0.7)], [1000, 500, None])
    expected = chi2_contingency([[800, 200], [375, 125]], correction=True).pvalue
    assert found[0, 1] == pytest.approx(expected)
    assert np.isnan(found[2, :2]).all()


def test_models_beside_the_points_are_known_by_their_accuracy(store):
    points = clean_as_shifted(points_in(store))
    values = {point.model: point.y for point in points.models}
    alone = standings_of(values, points, level=0.95)
    assert alone.how == "exact McNemar tests of all pairs, corrected after Holm"
    assert alone.models[0] == "good"
    more = standings_of({**values, "theirs": Estimate(0.5, None, None, 800, "")}, points, level=0.95)
    assert more.how == "exact McNemar tests and unpaired z tests of all pairs, corrected after Holm"
    assert more.standing.rank_of(3) == (4, 4)
    unknown = standings_of({**values, "theirs": Estimate(0.5, None, None, None, "")}, points, level=0.95)
    assert unknown.standing.untested(3) == [0, 1, 2]
    nothing = standings_of({name: Estimate(0.5, None, None, None, "") for name in "ab"}, None, level=0.95)
    assert nothing.how == ""


def test_samples_that_were_stopped_are_compared_by_bets(tmp_path):
    data = numbered_images(2000)
    models = [Knowing(name, skill, 0.5).model for name, skill in SKILLS.items()]
    (shift,) = damaged_family(data, ["fog"], (3,))
    run = run_sampled(models, [odo.clean(data), shift], Aim(0.05, "until"), store=str(tmp_path / "runs"))
    points = clean_as_shifted(points_in(run))
    p_values, how = p_values_under(points)
    assert how == "bets (valid whenever it was stopped)"
    names = [point.model for point in points.models]
    (alone,) = compare(run, names[0], names[1], on="clean")
    assert p_values[0, 1] == pytest.approx(alone.p_value)
