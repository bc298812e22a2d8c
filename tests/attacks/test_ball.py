from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from oodometer.attacks.ball import Ball

torch = pytest.importorskip("torch")
quick = settings(deadline=None, derandomize=True, max_examples=60)
balls = st.one_of(
    st.builds(Ball, st.just("linf"), st.floats(1e-3, 255)), st.builds(Ball, st.just("l2"), st.floats(1e-3, 300))
)
seeds = st.integers(0, 10_000)


def images_of(seed: int, *, n: int = 3, height: int = 5, width: int = 4) -> torch.Tensor:
    """Images with many pixels at the very ends of [0, 1]."""
    drawn = np.random.default_rng(seed).uniform(-0.3, 1.3, (n, 3, height, width))
    return torch.from_numpy(drawn.clip(0, 1).astype(np.float32))


def changed(images: torch.Tensor, seed: int, scale: float) -> torch.Tensor:
    return images + torch.from_numpy(np.random.default_rng(seed + 1).normal(0, scale, images.shape).astype(np.float32))


def norm_of(change: np.ndarray, norm: str) -> np.ndarray:
    flat = change.reshape(len(change), -1).astype(np.float64)
    return np.abs(flat).max(axis=1) if norm == "linf" else np.sqrt((flat**2).sum(axis=1))


@quick
@given(ball=balls, seed=seeds, scale=st.sampled_from([1e-4, 0.01, 1.0, 30.0]))
def test_what_is_projected_lies_in_the_ball_and_in_the_range_of_pixels(ball, seed, scale):
    images = images_of(seed)
    room = ball.around(images)
    found = room.project(changed(images, seed, scale))
    room.check(found)
    assert found.dtype == torch.float32
    assert 0 <= float(found.min()) <= float(found.max()) <= 1
    # computed apart from the library, in float64
    assert (
        norm_of(found.numpy().astype(np.float64) - images.numpy(), ball.norm) <= room.radius * (1 + 1e-5) + 1e-6
    ).all()
    np.testing.assert_allclose(room.project(found).numpy(), found.numpy(), atol=1e-6)


@quick
@given(ball=balls, seed=seeds)
def test_what_is_inside_stays(ball, seed):
    images = images_of(seed)
    room = ball.around(images)
    change = changed(images, seed, 1.0) - images
    inside = images + change * float(room.radius / norm_of(change.numpy(), ball.norm).max()) * 0.9
    np.testing.assert_allclose(room.project(inside).numpy(), inside.clamp(0, 1).numpy(), atol=1e-6)


# closed form: the largest inner product with a gradient over the unit ball is its dual norm
@quick
@given(seed=seeds, scale=st.sampled_from([1e-42, 1e-30, 1e-10, 1.0, 1e30]))
def test_directions_are_the_steepest(seed, scale):
    gradients = (torch.from_numpy(np.random.default_rng(seed).normal(size=(2, 3, 4, 4))) * scale).float()
    exact = gradients.double().flatten(1)
    for norm, dual in (("linf", 1), ("l2", 2)):
        direction = Ball(norm, 1).around(images_of(0, n=2)).direction(gradients)
        reached = (direction.double().flatten(1) * exact).sum(dim=1)
        np.testing.assert_allclose(reached.numpy(), exact.norm(p=dual, dim=1).numpy(), rtol=1e-5)


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_no_gradient_is_no_direction(norm):
    room = Ball(norm, 1).around(images_of(0))
    assert not room.direction(torch.zeros(3, 3, 5, 4)).any()


@pytest.mark.parametrize("ball", [Ball("linf", 2), Ball("l2", 0.5)])
def test_what_is_outside_is_an_error_of_ours(ball):
    images = torch.full((2, 3, 8, 8), 0.5)
    room = ball.around(images)
    room.check(images)
    # one pixel: its change is of the same size in both norms
    for bad in (0.5 + 1.001 * room.radius, 0.5 - 1.001 * room.radius, float("nan")):
        outside = images.clone()
        outside[1, 2, 3, 4] = bad
        with pytest.raises(RuntimeError, match="out of its ball"):
            room.check(outside)
    bright = torch.ones(1, 3, 8, 8)
    with pytest.raises(RuntimeError, match="out of its ball"):
        ball.around(bright).check(bright + 1e-4)


def test_the_l2_budget_keeps_the_mean_square_of_a_pixel():
    # the testbed: 0.5 at 224 pixels; a twin of twice the side holds four times the pixels, so twice the norm
    ball = Ball("l2", 0.5)
    assert ball.radius(224, 224) == 0.5
    assert ball.radius(448, 448) == 1.0
    assert ball.radius(112, 448) == 0.5
    assert Ball("linf", 0.5).radius(448, 448) == 0.5 / 255


def test_draws_depend_on_the_id_alone():
    images, ids = torch.full((6, 3, 4, 4), 0.5), [f"image {one}" for one in range(6)]
    for ball in (Ball("linf", 8), Ball("l2", 2)):
        whole = ball.uniform(images, ids, what="pgd", seed=3)
        backward = ball.uniform(images, ids[::-1], what="pgd", seed=3)
        alone = ball.uniform(images[:1], ids[4:5], what="pgd", seed=3)
        assert torch.equal(whole, backward.flip(0))
        assert torch.equal(whole[4:5], alone)
        assert not torch.equal(whole, ball.uniform(images, ids, what="pgd", seed=4))
        assert not torch.equal(whole, ball.uniform(images, ids, what="noise", seed=3))


# closed form: in n dimensions the share of a ball within a radius r of it is r^n
def test_draws_are_uniform_in_the_ball():
    images, ids = torch.full((600, 3, 1, 2), 0.5), [str(one) for one in range(600)]
    cube, ball = Ball("linf", 100), Ball("l2", 60)
    in_cube = (cube.uniform(images, ids, what="x", seed=0) - images).numpy() / cube.radius(1, 2)
    assert kstest(in_cube.ravel(), "uniform", (-1, 2)).pvalue > 0.01
    in_ball = (ball.uniform(images, ids, what="x", seed=0) - images).numpy() / ball.radius(1, 2)
    assert kstest(norm_of(in_ball, "l2") ** 6, "uniform").pvalue > 0.01
    # by symmetry the squares of all coordinates have the same mean, n / (n + 2) / n in total
    assert (in_ball**2).mean() == pytest.approx(1 / 8, rel=0.05)
