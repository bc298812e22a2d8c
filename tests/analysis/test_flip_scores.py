"""Flips along sequences: plain loops over images, frames and draws are the reference."""

from __future__ import annotations

import numpy as np
import pytest

from few_groups import stretched
from oodometer.analysis.metric_request import ScoreOptions
from oodometer.analysis.score import score
from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.predictions import from_logits, from_top_classes
from oodometer.stats.bootstrap import Resampling, resample_counts

FLIP_METRICS = ["flip-probability", "top-5-distance"]


def logits_of(n: int, n_frames: int, seed: int, wobble: float = 1.0) -> np.ndarray:
    """(F, N, 8): frames that wobble around the first."""
    rng = np.random.default_rng(seed)
    still = rng.normal(size=(n, 8))
    return np.stack([still + (frame > 0) * rng.normal(size=(n, 8)) * wobble for frame in range(n_frames)])


def add_sequence(filled, data, name, frames, *, positions=None, **about) -> None:
    positions = np.arange(len(data)) if positions is None else np.asarray(positions)
    for at, logits in enumerate(frames):
        rows = from_logits(logits[positions], data.labels[positions], positions)
        filled.put(data, rows, condition=f"imagenet-p/{name}/{at:02d}", **about)


def best(logits: np.ndarray, n: int) -> list[int]:
    return sorted(range(len(logits)), key=lambda k: -logits[k])[:n]


def flips_of(frames: np.ndarray, image: int, *, noise: bool) -> float:
    """Hendrycks and Dietterich 2019: the share of frames whose answer is another than before."""
    changed = 0
    for at in range(1, len(frames)):
        before = frames[0 if noise else at - 1][image]
        changed += best(before, 1) != best(frames[at][image], 1)
    return changed / (len(frames) - 1)


def distance_of(frames: np.ndarray, image: int, *, noise: bool) -> float:
    """The same paper's top-5 distance, place by place."""
    total = 0
    for at in range(1, len(frames)):
        earlier, later = best(frames[0 if noise else at - 1][image], 5), best(frames[at][image], 5)
        for place, one in enumerate(earlier):
            total += abs(place - (later.index(one) if one in later else 5))
    return total / (len(frames) - 1)


def by_place(scores) -> dict:
    return {(row.metric, row.condition): row for row in scores.rows}


def resamples(n: int, draws: int) -> list[np.ndarray]:
    return [np.ones(n, dtype=int), *(times for block in resample_counts(n, Resampling(draws=draws)) for times in block)]


@pytest.fixture
def two(filled, make_dataset):
    """Two sequences of 12 images, one of noise; the first four images have no label."""
    data = make_dataset(12, k=8, labels=[-1] * 4 + [0, 1, 2, 3] * 2)
    sequences = {"gaussian_noise": logits_of(12, 5, 0), "rotate": logits_of(12, 4, 1, 0.5)}
    for name, frames in sequences.items():
        add_sequence(filled, data, name, frames)
    return data, sequences


@pytest.mark.parametrize(("metric", "of"), [("flip-probability", flips_of), ("top-5-distance", distance_of)])
def test_numbers_and_intervals_are_those_of_plain_loops(filled, two, metric, of):
    _, sequences = two
    found = score(filled.store, metrics=[metric], options=ScoreOptions(draws=100))
    scores = {
        name: np.array([of(frames, image, noise=name == "gaussian_noise") for image in range(12)])
        for name, frames in sequences.items()
    }
    draws = {name: [times @ values / 12 for times in resamples(12, 100)] for name, values in scores.items()}
    draws[None] = np.mean([draws[name] for name in sequences], axis=0)
    rows = by_place(found)
    assert len(rows) == 3
    for name, values in draws.items():
        estimate = rows[metric, f"imagenet-p/{name}" if name else "imagenet-p"].estimate
        assert estimate.value == pytest.approx(values[0], abs=1e-12)
        bounds = tuple(np.quantile(values[1:], [0.025, 0.975]))
        assert (estimate.low, estimate.high) == pytest.approx(bounds, abs=1e-12)
        assert estimate.n == 12  # labels are not needed
    assert "of 5, noise against frame 0" in rows[metric, "imagenet-p/gaussian_noise"].convention
    assert rows[metric, "imagenet-p"].convention.endswith("mean over 2 sequences")


def test_the_flip_rate_is_by_a_model_that_is_resampled_along(filled, two):
    data, sequences = two
    other = {"gaussian_noise": logits_of(12, 5, 5), "rotate": logits_of(12, 4, 6)}
    for name, frames in other.items():
        add_sequence(filled, data, name, frames, model="other")
    options = ScoreOptions(draws=100, normaliser="other")
    found = score(filled.store, metrics=["mean-flip-rate"], options=options)

    def mean(frames: np.ndarray, name: str, times: np.ndarray) -> float:
        noise = name == "gaussian_noise"
        return sum(times[image] * flips_of(frames, image, noise=noise) for image in range(12)) / 12

    draws = [
        np.mean([mean(sequences[name], name, times) / mean(other[name], name, times) for name in sequences])
        for times in resamples(12, 100)
    ]
    mine, itself = found.rows
    assert mine.estimate.value == pytest.approx(draws[0], abs=1e-12)
    bounds = tuple(np.quantile(draws[1:], [0.025, 0.975]))
    assert (mine.estimate.low, mine.estimate.high) == pytest.approx(bounds, abs=1e-12)
    assert (itself.model, itself.estimate.value, itself.estimate.low) == ("other", pytest.approx(1.0), None)
    assert mine.convention == "mean over 2 sequences of the flip probability by that of other"


def test_the_rate_alone_needs_a_normaliser(filled, two):
    found = score(filled.store, metrics=["all"])
    assert {row.metric for row in found.rows if row.condition == "imagenet-p"} == set(FLIP_METRICS)
    line = "mean-flip-rate: needs a model to divide by; name one of the store with --normaliser"
    assert line in found.left_out
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["mean-flip-rate", "flip-probability"])
    assert str(caught.value) == line
    with pytest.raises(UsageError, match="no predictions of a model named 'mine2'; did you mean mine"):
        score(filled.store, metrics=["all"], options=ScoreOptions(normaliser="mine2"))


def test_a_normaliser_that_never_flips(filled, two):
    data, sequences = two
    for name, frames in sequences.items():
        add_sequence(filled, data, name, frames[:1].repeat(len(frames), axis=0), model="calm")
    options = ScoreOptions(normaliser="calm")
    found = score(filled.store, metrics=["all"], options=options)
    assert any("mean-flip-rate: mine: the normaliser never changes its answer" in line for line in found.left_out)
    calm = by_place(found.only(lambda row: row.model == "calm"))["flip-probability", "imagenet-p"]
    assert (calm.estimate.value, calm.estimate.low) == (0.0, None)


def test_draws_in_which_the_normaliser_never_flips_are_counted(filled, make_dataset):
    data = make_dataset(12, k=8)
    mine, other = logits_of(12, 3, 7), logits_of(12, 3, 8, 0.0)
    other[2, :3] = -other[2, :3]  # three images flip once
    add_sequence(filled, data, "rotate", mine)
    add_sequence(filled, data, "rotate", other, model="other")
    options = ScoreOptions(draws=400, normaliser="other")
    (row, _) = score(filled.store, metrics=["mean-flip-rate"], options=options).rows
    of_mine = np.array([flips_of(mine, image, noise=False) for image in range(12)])
    of_other = np.where(np.arange(12) < 3, 0.5, 0.0)
    draws = [times @ of_mine / (times @ of_other) if times @ of_other else np.nan for times in resamples(12, 400)[1:]]
    undefined = int(np.isnan(draws).sum())
    assert 0 < undefined <= 20  # (9 / 12)^12 = 3 % of the draws have none of the three
    assert row.estimate.interval == f"bootstrap 95% ({undefined} of 400 draws undefined)"
    assert row.estimate.high == pytest.approx(np.nanquantile(draws, 0.975))


def test_every_data_set_is_scored(filled, make_dataset, two):
    more = make_dataset(6, k=8, name="more")
    add_sequence(filled, more, "rotate", logits_of(6, 3, 9))
    rows = score(filled.store, metrics=["flip-probability"]).rows
    assert sorted((row.data, row.condition, row.estimate.n) for row in rows) == [
        ("more", "imagenet-p", 6),
        ("more", "imagenet-p/rotate", 6),
        ("val", "imagenet-p", 12),
        ("val", "imagenet-p/gaussian_noise", 12),
        ("val", "imagenet-p/rotate", 12),
    ]


def test_broken_and_unfinished_frames_leave_their_images_out(filled, make_dataset):
    data, frames = make_dataset(12, k=8), logits_of(12, 3, 10)
    add_sequence(filled, data, "rotate", frames[:2])
    rows = from_logits(frames[2][:8], data.labels[:8], np.arange(8))
    filled.put(data, rows, condition="imagenet-p/rotate/02", finished=False)
    row = by_place(score(filled.store, metrics=["flip-probability"]))["flip-probability", "imagenet-p"]
    assert (row.state, row.missing, row.estimate.n) == ("unfinished", 4, 8)
    assert row.estimate.value == pytest.approx(np.mean([flips_of(frames, image, noise=False) for image in range(8)]))


def test_a_missing_frame_is_named(filled, make_dataset):
    data, frames = make_dataset(4, k=8), logits_of(4, 4, 11)
    for at in (0, 1, 3):
        rows = from_logits(frames[at], data.labels, np.arange(4))
        filled.put(data, rows, condition=f"imagenet-p/rotate/{at:02d}")
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["flip-probability"])
    assert str(caught.value) == (
        "flip-probability: mine on val: imagenet-p/rotate: frame 2 is missing; run --on imagenet-p to the end"
    )


def test_a_normaliser_without_the_sequence_or_with_fewer_frames(filled, make_dataset):
    data = make_dataset(4, k=8)
    add_sequence(filled, data, "rotate", logits_of(4, 4, 12))
    add_sequence(filled, data, "rotate", logits_of(4, 3, 13), model="short")
    filled.add(data, [0] * 4, model="none")
    for name in ("short", "none"):
        found = score(filled.store, metrics=["all"], options=ScoreOptions(normaliser=name))
        rows = by_place(found.only(lambda row: row.model == "mine"))
        assert ("flip-probability", "imagenet-p") in rows
        assert ("mean-flip-rate", "imagenet-p") not in rows
        assert (
            f"mean-flip-rate: mine: {filled.store}: the normaliser {name} was not run on all frames of "
            "imagenet-p/rotate of val"
        ) in found.left_out
    with pytest.raises(OodometerError, match=r"^mean-flip-rate: mine: .* was not run on all frames"):
        score(filled.store, metrics=["mean-flip-rate"], options=ScoreOptions(normaliser="none"))


def test_the_best_classes_are_enough_for_flips(filled, make_dataset):
    data = make_dataset(4, k=8)
    for at, classes in enumerate(([[1], [2], [3], [4]], [[1], [5], [3], [5]])):
        rows = from_top_classes(np.array(classes), data.labels, np.arange(4))
        filled.put(data, rows, condition=f"imagenet-p/rotate/{at:02d}", known_classes=1)
    found = score(filled.store, metrics=["all"])
    assert by_place(found)["flip-probability", "imagenet-p/rotate"].estimate.value == 0.5
    assert any(line.startswith("top-5-distance: mine: fewer than five classes are known") for line in found.left_out)


def test_no_sequence_at_all(filled, make_dataset):
    filled.add(make_dataset(4, k=8), [0] * 4)
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["top-5-distance"])
    assert str(caught.value) == "top-5-distance: mine: no perturbation sequence; run --on imagenet-p"


def test_groups_are_drawn_together(filled, make_dataset):
    videos = np.repeat(np.arange(4), 3)
    data, frames = make_dataset(12, k=8, columns={"video": videos}), logits_of(12, 3, 14)
    add_sequence(filled, data, "rotate", frames)
    options = ScoreOptions(draws=100, by="video")
    row = by_place(score(filled.store, metrics=["flip-probability"], options=options))["flip-probability", "imagenet-p"]
    scores = np.array([flips_of(frames, image, noise=False) for image in range(12)])
    draws = [times[videos] @ scores / 12 for times in resamples(4, 100)[1:]]
    ends = stretched(np.quantile(draws, [0.025, 0.975]), scores.mean(), 4)
    assert (row.estimate.low, row.estimate.high) == pytest.approx(ends)
    assert row.estimate.interval == "cluster bootstrap 95%"
