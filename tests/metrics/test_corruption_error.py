"""Corruption errors: against the published tables, a plain loop, and where they are undefined."""

from __future__ import annotations

import csv
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from oodometer.core.errors import OodometerError, UsageError
from oodometer.corruptions import registry
from oodometer.metrics.corruption_error import (
    COMMON,
    EXTRA,
    SEVERITIES,
    Normaliser,
    alexnet,
    corruption_errors,
    error_matrix,
    mean_corruption_error,
    mean_error,
    relative_corruption_errors,
    relative_mean_corruption_error,
)

quick = settings(deadline=None, derandomize=True, max_examples=60)
share = st.floats(0.01, 1.0)


def published(name: str) -> list[dict[str, str]]:
    with (files("oodometer.published") / "data" / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def three(errors: list[list[float]], clean: float | None = None) -> Normaliser:
    return Normaliser("mine", ("a", "b", "c")[: len(errors)], np.array(errors), clean)


def test_the_names_are_those_of_the_corruptions():
    assert tuple(registry.COMMON) == COMMON
    assert tuple(registry.EXTRA) == EXTRA


def test_alexnet_means_are_the_published_ones():
    # Hendrycks and Dietterich 2019: AlexNet's mean error per corruption, in percent with one digit.
    rows = published("alexnet_corruption_error")
    assert [row["corruption"] for row in rows] == [*COMMON, *EXTRA]
    means = 100 * alexnet((*COMMON, *EXTRA)).errors.mean(axis=1)
    for row, mean in zip(rows, means, strict=True):
        assert mean == pytest.approx(float(row["mean_top1_error_over_5_severities"]), abs=0.05 + 1e-9), row
    assert 100 * alexnet().clean == pytest.approx(43.5, abs=0.05)


def test_alexnet_difficulty_is_monotone_in_severity_but_for_three():
    # corruptions whose severity 2 is harder than 3: a known quirk of ImageNet-C
    names = (*COMMON, *EXTRA)
    falls = (np.diff(alexnet(names).errors, axis=1) < 0).any(axis=1)
    assert {name for name, fall in zip(names, falls, strict=True) if fall} == {"snow", "elastic_transform", "saturate"}


def with_ces(ces: np.ndarray, base: np.ndarray) -> np.ndarray:
    """Errors that are CE times AlexNet's at every severity (above 1 for a few, hence halved by the caller)."""
    return ces[:, None] * base


@pytest.mark.parametrize("table", ["hendrycks2019_imagenet_c_ce", "hendrycks2021_imagenet_c_ce"])
def test_published_mces_are_the_means_of_their_published_ces(table):
    for row in published(table):
        ces = np.array([float(row[name]) for name in COMMON]) / 100
        # Half of everything, so that the errors stay below 1 where CE is above; CE is a ratio, so it halves as well.
        mean = 2 * mean_corruption_error(with_ces(ces, alexnet().errors) / 2, alexnet())
        # CE is rounded to whole percent: their mean is known to half a percent; mCE itself to 0.05.
        assert 100 * mean == pytest.approx(float(row["mean"]), abs=0.55), row["model"]


def test_published_relative_mces_are_the_means_of_their_published_relative_ces():
    base, clean = alexnet().errors, alexnet().clean
    for row in published("hendrycks2019_imagenet_c_relative_ce"):
        relative = np.array([float(row[name]) for name in COMMON]) / 100
        own_clean = float(row["clean_error"]) / 100
        errors = own_clean + relative[:, None] * (base - clean) / 4  # a quarter: errors stay below 1
        assert errors.max() < 1
        mean = 4 * relative_mean_corruption_error(errors, own_clean, alexnet())
        assert 100 * mean == pytest.approx(float(row["mean"]), abs=0.55), row["model"]


@quick
@given(arrays(float, (3, 5), elements=share), arrays(float, (3, 5), elements=share), share)
def test_they_agree_with_a_plain_loop(errors, base, clean):
    base_clean = 0.005  # below every error, so that the normaliser degrades
    mine = three(base.tolist(), base_clean)
    ces, relative = [], []
    for c in range(3):  # reference: the definitions
        ces.append(sum(errors[c, s] for s in range(5)) / sum(base[c, s] for s in range(5)))
        above = sum(base[c, s] - base_clean for s in range(5))
        relative.append(sum(errors[c, s] - clean for s in range(5)) / above)
    assert corruption_errors(errors, mine) == pytest.approx(np.array(ces))
    assert mean_corruption_error(errors, mine) == pytest.approx(sum(ces) / 3)
    assert relative_corruption_errors(errors, clean, mine) == pytest.approx(np.array(relative), abs=1e-9)
    assert relative_mean_corruption_error(errors, clean, mine) == pytest.approx(sum(relative) / 3, abs=1e-9)
    assert mean_error(errors) == pytest.approx(sum(errors.ravel()) / 15)


def test_all_draws_at_once_are_what_they_are_one_by_one():
    rng = np.random.default_rng(0)
    errors, clean = rng.uniform(0.3, 1, (20, 15, 5)), rng.uniform(0, 0.3, 20)
    base, base_clean = rng.uniform(0.5, 1, (20, 15, 5)), rng.uniform(0, 0.4, 20)
    one_table = alexnet()
    batched = Normaliser("other", COMMON, base, base_clean)
    both = [Normaliser("other", COMMON, base[i], base_clean[i]) for i in range(20)]
    assert mean_error(errors) == pytest.approx(np.array([mean_error(one) for one in errors]))
    assert mean_corruption_error(errors, one_table) == pytest.approx(
        np.array([mean_corruption_error(one, one_table) for one in errors])
    )
    assert mean_corruption_error(errors, batched) == pytest.approx(
        np.array([mean_corruption_error(one, of) for one, of in zip(errors, both, strict=True)])
    )
    assert relative_mean_corruption_error(errors, clean, batched) == pytest.approx(
        np.array([relative_mean_corruption_error(*one) for one in zip(errors, clean, both, strict=True)])
    )
    assert corruption_errors(errors.reshape(4, 5, 15, 5), one_table).shape == (4, 5, 15)


def test_a_model_measured_against_itself_is_1():
    mine = three([[0.2, 0.4], [0.3, 0.3], [0.9, 1.0]], 0.1)
    assert corruption_errors(mine.errors, mine).tolist() == [1, 1, 1]
    assert relative_corruption_errors(mine.errors, 0.1, mine) == pytest.approx(np.ones(3))


def test_a_model_without_errors_has_0_and_one_that_gains_has_a_negative_relative_error():
    mine = three([[0.2, 0.4]], 0.1)
    assert corruption_errors(np.zeros((1, 2)), mine).tolist() == [0]
    assert relative_corruption_errors(np.array([[0.2, 0.2]]), 0.3, mine) == pytest.approx([-0.5])


def test_conditions_become_a_matrix_in_the_order_asked_for():
    errors = {(name, severity): place + severity / 10 for place, name in enumerate("abc") for severity in (1, 2, 3)}
    assert error_matrix(errors, ["c", "a"], [3, 1]).tolist() == [[2.3, 2.1], [0.3, 0.1]]


def test_the_extra_corruptions_do_not_enter_the_matrix_unless_named():
    everything = {(name, severity): 0.5 for name in (*COMMON, *EXTRA) for severity in SEVERITIES}
    assert error_matrix(everything).shape == (15, 5)
    assert error_matrix(everything, EXTRA).shape == (4, 5)


def test_draws_of_each_condition_become_draws_of_the_matrix():
    errors = {("a", 1): np.array([0.1, 0.2]), ("a", 2): np.array([0.3, 0.4])}
    assert error_matrix(errors, ["a"], [1, 2]).tolist() == [[[0.1, 0.3]], [[0.2, 0.4]]]


def test_missing_conditions_are_named():
    errors = {(name, severity): 0.5 for name in COMMON for severity in SEVERITIES}
    del errors["fog", 3], errors["snow", 5]
    with pytest.raises(OodometerError, match=r"2 of 75 conditions are missing: snow/5, fog/3; run them"):
        error_matrix(errors)
    with pytest.raises(OodometerError, match=r"75 of 75 .*gaussian_noise/1, .*, \.\.\."):
        error_matrix({})
    with pytest.raises(OodometerError, match="no corruptions"):
        error_matrix(errors, [])


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        (np.full((15, 5), 55.0), r"between 0 and 1, found 55 to 55; percent\?"),
        (np.full((15, 5), -0.1), "between 0 and 1"),
        (np.full((15, 5), np.nan), "between 0 and 1"),
        (np.full((19, 5), 0.5), "19 corruptions at 5 severities, but of 15 .* never the 4 extra"),
        (np.full((15, 4), 0.5), "15 corruptions at 4 severities"),
        (np.full(15, 0.5), "shape"),
        (np.empty((0, 15, 5)), "none of them empty"),
    ],
)
def test_errors_that_mean_nothing(errors, message):
    with pytest.raises(OodometerError, match=message):
        mean_corruption_error(errors, alexnet())


def test_a_normaliser_without_error_is_named():
    with pytest.raises(OodometerError, match="mine has no error under b: CE is undefined"):
        corruption_errors(np.full((2, 2), 0.5), three([[0.1, 0.2], [0.0, 0.0]]))
    twice = Normaliser("mine", ("a", "b"), np.array([[[0.1], [0.0]], [[0.1], [0.1]]]))
    with pytest.raises(OodometerError, match="under b in 1 of 2 draws"):
        corruption_errors(np.full((2, 1), 0.5), twice)


@pytest.mark.parametrize("clean", [0.2, 0.3])
def test_a_normaliser_that_does_not_degrade_is_named(clean):
    with pytest.raises(OodometerError, match="mine does not degrade under b: relative CE is undefined"):
        relative_corruption_errors(np.full((2, 2), 0.5), 0.1, three([[0.9, 0.9], [0.2, 0.2]], clean))


def test_equal_errors_do_not_pass_for_a_degradation():
    # 0.1 + 0.1 + 0.1 is a hair above 3 * 0.1 in floating point or not; either way nothing was added.
    with pytest.raises(OodometerError, match="does not degrade"):
        relative_corruption_errors(np.full((1, 3), 0.5), 0.1, three([[0.1, 0.1, 0.1]], 0.1))


def test_a_relative_error_needs_both_clean_errors_as_shares():
    with pytest.raises(OodometerError, match="mine has no clean error"):
        relative_corruption_errors(np.full((1, 2), 0.5), 0.1, three([[0.5, 0.5]]))
    with pytest.raises(OodometerError, match="the clean error: must lie between 0 and 1"):
        relative_corruption_errors(np.full((1, 2), 0.5), 23.9, three([[0.5, 0.5]], 0.1))
    with pytest.raises(OodometerError, match="the clean error of mine: must"):
        relative_corruption_errors(np.full((1, 2), 0.5), 0.1, three([[0.5, 0.5]], 10.0))


def test_alexnet_has_no_errors_under_other_corruptions():
    with pytest.raises(UsageError, match=r"no AlexNet errors for 'sparkles'.*normaliser"):
        alexnet(["sparkles"])
    with pytest.raises(UsageError, match="no AlexNet errors for 'clean'"):
        alexnet(["clean"])
    with pytest.raises(UsageError, match="did you mean frost"):
        alexnet(["forst"])


def test_a_normaliser_has_a_name_for_each_corruption():
    with pytest.raises(OodometerError, match="mine: 1 names for errors of 2 corruptions"):
        corruption_errors(np.full((2, 1), 0.5), Normaliser("mine", ("a",), np.full((2, 1), 0.5)))
