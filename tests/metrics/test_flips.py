"""Flips and top-5 distances: against plain loops over the published definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from oodometer.core.errors import OodometerError
from oodometer.corruptions.sequences import NOISES, SEQUENCES
from oodometer.metrics.flips import (
    flip_scores,
    is_noise,
    mean_over_sequences,
    mean_rate,
    sequence_rates,
    top5_distances,
)

quick = settings(deadline=None, derandomize=True, max_examples=60)
predictions_of = arrays(int, st.tuples(st.integers(1, 4), st.integers(4, 9)), elements=st.integers(0, 2))
ways = pytest.mark.parametrize(("noise", "step"), [(True, 1), (False, 1), (False, 2), (False, 3)])


def compared_frames(n_frames: int, noise: bool, step: int) -> list[tuple[int, int]]:
    """Reference: the pairs (before, after) as published, by walking k interleaved subsequences."""
    pairs = []
    for start in range(step):
        frames = list(range(start, n_frames, step))
        before = frames[0]
        for after in frames[1:]:
            pairs.append((before, after))
            if not noise:
                before = after
    return pairs


def distance(before: np.ndarray, after: np.ndarray) -> int:
    """Reference: d(sigma) of Hendrycks and Dietterich 2019 from full rankings, class numbers best first."""
    total = 0
    for i in range(1, 6):
        sigma = after.tolist().index(before[i - 1]) + 1
        total += sum(1 <= j - 1 <= 5 for j in range(min(i, sigma) + 1, max(i, sigma) + 1))
    return total


@ways
@quick
@given(predictions=predictions_of)
def test_flips_agree_with_a_plain_loop(noise, step, predictions):
    pairs = compared_frames(predictions.shape[1], noise, step)
    expected = [sum(one[a] != one[b] for a, b in pairs) / len(pairs) for one in predictions]
    assert flip_scores(predictions, noise=noise, step=step) == pytest.approx(expected)


@ways
@pytest.mark.parametrize("n_classes", [5, 7, 30])
def test_top5_distances_agree_with_the_published_definition(noise, step, n_classes):
    rng = np.random.default_rng(n_classes)
    orders = np.array([[rng.permutation(n_classes) for _ in range(7)] for _ in range(6)])
    pairs = compared_frames(7, noise, step)
    expected = [np.mean([distance(one[a], one[b]) for a, b in pairs]) for one in orders]
    assert top5_distances(orders[:, :, :5], noise=noise, step=step) == pytest.approx(expected)


@quick
@given(st.permutations(range(9)), st.permutations(range(9)))
def test_every_pair_of_rankings_has_its_published_distance(before, after):
    top5 = np.array([[before[:5], after[:5]]])
    assert top5_distances(top5, noise=False).tolist() == [distance(np.array(before), np.array(after))]


def test_five_new_classes_are_15_apart_and_the_same_five_0():
    # closed form: 5 + 4 + 3 + 2 + 1
    assert top5_distances(np.array([[[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]]), noise=True).tolist() == [15]
    assert top5_distances(np.array([[[0, 1, 2, 3, 4]] * 4]), noise=False).tolist() == [0]


def test_a_steady_and_a_restless_model():
    assert flip_scores(np.full((2, 31), 7), noise=False).tolist() == [0, 0]
    assert flip_scores(np.arange(62).reshape(2, 31), noise=False).tolist() == [1, 1]


def test_one_odd_frame_0_spoils_a_noise_sequence_and_only_one_step_of_another():
    predictions = np.array([[1] + [0] * 10])
    assert flip_scores(predictions, noise=True).tolist() == [1.0]
    assert flip_scores(predictions, noise=False).tolist() == [0.1]


def test_noises_are_those_of_the_sequences():
    assert {name for name in SEQUENCES if is_noise(name)} == set(NOISES)


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        ((3,), {"noise": False}, "shape"),
        ((0, 31), {"noise": False}, "no images"),
        ((2, 1), {"noise": False}, "1 frames at a step of 1"),
        ((2, 3), {"noise": False, "step": 3}, "3 frames at a step of 3"),
        ((2, 3), {"noise": False, "step": 0}, "at least 1"),
        ((2, 9), {"noise": True, "step": 2}, "its step is 1"),
    ],
)
def test_what_cannot_be_compared_is_an_error(shape, options, message):
    with pytest.raises(OodometerError, match=message):
        flip_scores(np.zeros(shape, int), **options)
    with pytest.raises(OodometerError, match=message):
        top5_distances(np.zeros((*shape, 5), int), **options)


def test_top5_distances_need_five_known_classes():
    with pytest.raises(OodometerError, match="need five"):
        top5_distances(np.zeros((2, 3, 4), int), noise=False)
    with pytest.raises(OodometerError, match="fewer than five"):
        top5_distances(np.array([[[0, 1, 2, -1, -1], [1, 0, 2, -1, -1]]]), noise=False)


@quick
@given(arrays(float, (4, 3), elements=st.floats(0, 1)), arrays(float, (4, 3), elements=st.floats(0.01, 1)))
def test_rates_agree_with_a_plain_loop_for_all_draws_at_once(means, base):
    expected = [sum(a / b for a, b in zip(one, by, strict=True)) / 3 for one, by in zip(means, base, strict=True)]
    assert mean_rate(means, base) == pytest.approx(expected)
    assert mean_rate(means, base[0])[0] == pytest.approx(expected[0])
    assert sequence_rates(means, base).shape == (4, 3)
    assert mean_over_sequences(means) == pytest.approx([sum(one) / 3 for one in means])


@pytest.mark.parametrize(
    ("means", "base", "message"),
    [
        ([0.1, 0.2], [0.1], "2 sequences, and 1 of the normaliser"),
        ([0.1, 0.2], [0.1, 0.0], "never changes its answer"),
        ([], [], "none of them empty"),
        ([0.1, np.nan], [0.1, 0.1], "not a number"),
        ([0.1], [-0.1], "negative"),
    ],
)
def test_rates_that_are_undefined(means, base, message):
    with pytest.raises(OodometerError, match=message):
        mean_rate(np.array(means), np.array(base))
