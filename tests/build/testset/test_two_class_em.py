"""The steps of EM: none goes down, and a rate that is held does not move. The fit itself: test_dawid_skene.py."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings

from made_answers import from_table, tables
from oodometer.build.testset.two_class_em import CLOSE_ENOUGH, Held, Problem, Rates, climb

quick = settings(deadline=None, derandomize=True, max_examples=60)


def problem_of(table, held=None, smoothing=1.0):
    return Problem(from_table(table), np.full((2, table.shape[1]), smoothing), held)


def start_for(table):
    n = table.shape[1]
    return Rates(0.4, np.linspace(0.6, 0.9, n), np.linspace(0.9, 0.7, n))


@quick
@given(tables())
def test_no_step_goes_down(table):
    assume((table >= 0).any())
    heights = [climb(problem_of(table), start_for(table), steps).height for steps in range(8)]
    assert (np.diff(heights) > -1e-10).all()


@pytest.mark.parametrize(
    "held", [None, Held("prevalence", 0, 0.2), Held("sensitivity", 1, 0.55), Held("specificity", 2, 1.0)]
)
def test_a_rate_that_is_held_does_not_move_and_all_others_do(held):
    table = np.random.default_rng(0).integers(-1, 2, (40, 4))
    found = climb(problem_of(table, held), start_for(table), 2000)
    before = start_for(table)
    values = np.array([found.rates.prevalence, *found.rates.sensitivity, *found.rates.specificity])
    at = {None: -1, "prevalence": 0, "sensitivity": 2, "specificity": 7}[held and held.rate]
    if held is not None:
        assert values[at] == held.value
    moved = values != np.array([before.prevalence, *before.sensitivity, *before.specificity])
    assert np.delete(moved, at).all() if held is not None else moved.all()
    assert found.converged


def test_convergence_is_that_nothing_moves_any_more():
    table = np.random.default_rng(1).integers(-1, 2, (60, 4))
    problem = problem_of(table)
    found = climb(problem, start_for(table), 2000)
    assert found.converged
    assert climb(problem, found.rates, 1).rates.farthest(found.rates) <= CLOSE_ENOUGH
    short = climb(problem, start_for(table), found.n_steps - 1)
    assert (short.converged, short.n_steps) == (False, found.n_steps - 1)


def test_how_far_rates_are_apart():
    one, other = Rates(0.5, np.array([0.7, 0.8]), np.array([0.9, 0.9])), Rates(0.4, np.array([0.7, 0.5]), np.full(2, 1))
    assert one.farthest(other) == pytest.approx(0.3)
    assert one.with_held(None) is one


def test_a_rate_of_nothing_is_one_half():
    found = climb(problem_of(np.ones((3, 2), dtype=np.int64), smoothing=0.0), Rates(1.0, np.ones(2), np.ones(2)), 5)
    assert found.rates.specificity.tolist() == [0.5, 0.5]
    assert found.rates.sensitivity.tolist() == [1.0, 1.0]
