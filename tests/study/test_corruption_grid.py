"""The grid of corruptions: plain means of the store's accuracies, and intervals that hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from oodometer.analysis.score import score
from oodometer.core.estimate import Estimate
from oodometer.metrics.corruption_error import COMMON, EXTRA, SEVERITIES
from oodometer.stats.intervals import clopper_pearson_bounds
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import study_of
from oodometer.study.corruption_grid import grids_of, mean_accuracy

N = 40


def add_family(filled, data, *, model="net", family="cifar10-c", names=COMMON[:3], seed=0, **about):
    """A model that is wrong more often at higher severities; whether it was right, by corruption and severity."""
    rng = np.random.default_rng(seed)
    found = {}
    for name in names:
        for severity in SEVERITIES:
            wrong = rng.random(len(data)) < 0.1 * severity
            filled.add(data, wrong.astype(int), model=model, condition=f"{family}/{name}/{severity}", **about)
            found[name, severity] = ~wrong
    return found


def only_grid(store):
    (grid,) = grids_of(study_of(store))
    return grid


def test_means_are_those_of_the_images(filled, make_dataset):
    data = make_dataset(N)
    right = add_family(filled, data)
    filled.add(data, (np.arange(N) % 10 == 0).astype(int), model="net")
    grid = only_grid(filled.store)
    # reference: means of numpy over the answers that were put in
    assert grid.over_severities("net", "shot_noise").value == pytest.approx(
        np.mean([right["shot_noise", severity] for severity in SEVERITIES])
    )
    assert grid.over_corruptions("net", 4).value == pytest.approx(np.mean([right[name, 4] for name in COMMON[:3]]))
    assert grid.mean("net").value == pytest.approx(np.mean(list(right.values())))
    assert grid.at("net", "gaussian_noise", 1).value == pytest.approx(right["gaussian_noise", 1].mean())
    assert (grid.clean["net"].value, grid.clean_name) == (pytest.approx(0.9), "clean")
    assert (grid.title, grid.sizes, grid.severities) == ("cifar10-c of val", (N,), SEVERITIES)


def test_the_mean_is_the_accuracy_under_the_shift(filled, make_dataset):
    """Of all conditions, the four extra ones too, and of corruptions that were shown at one severity alone."""
    data = make_dataset(N)
    add_family(filled, data, names=(*COMMON[:3], EXTRA[0]), family="imagenet-c")
    filled.add(data, (np.arange(N) % 3 == 0).astype(int), model="net", condition="imagenet-c/fog/2")
    filled.add(data, (np.arange(N) % 10 == 0).astype(int), model="net")
    study = study_of(filled.store)
    (grid,) = grids_of(study)
    (shift,) = study.shifts
    assert grid.mean("net") == shift.points.models[0].y
    assert len(grid.corruptions) == 5


def test_without_extra_corruptions_the_mean_is_what_score_says_of_the_error(filled, make_dataset):
    add_family(filled, make_dataset(N), family="imagenet-c")
    (row,) = score(filled.store, metrics=["mean-corruption-error"]).rows
    assert only_grid(filled.store).mean("net").value == pytest.approx(1 - row.estimate.value)


def test_a_family_whose_images_are_known_has_the_interval_over_images(filled, make_dataset):
    data = make_dataset(N)
    right = add_family(filled, data)
    filled.add(data, np.zeros(N, dtype=int), model="net")
    mean = only_grid(filled.store).mean("net")
    per_image = np.mean(list(right.values()), axis=0)
    # reference: Student's standard error over the images, each with its share of right answers
    error = per_image.std(ddof=1) / np.sqrt(N)
    assert (mean.high - mean.low) / 2 == pytest.approx(2.0227 * error, rel=1e-3)  # t quantile at 0.975, 39 degrees


def test_corruptions_stand_in_their_groups(filled, make_dataset):
    names = ("fog", "plasma_noise", "speckle_noise", "jpeg_compression", "gaussian_noise")
    add_family(filled, make_dataset(4), names=names)
    assert only_grid(filled.store).corruptions == (
        "gaussian_noise", "speckle_noise", "fog", "jpeg_compression", "plasma_noise"
    )  # fmt: skip


def test_the_best_model_comes_first_and_the_incomplete_last(filled, make_dataset):
    data = make_dataset(N)
    add_family(filled, data, model="half", names=("fog",))
    for name, wrong in (("good", 2), ("bad", 20)):
        for corruption in ("fog", "snow"):
            for severity in SEVERITIES:
                ranks = (np.arange(N) < wrong).astype(int)
                filled.add(data, ranks, model=name, condition=f"cifar10-c/{corruption}/{severity}")
    grid = only_grid(filled.store)
    assert grid.models == ("good", "bad", "half")
    assert grid.mean("half") is None
    assert grid.over_severities("half", "snow") is None
    assert grid.over_severities("half", "fog") is not None


def test_a_corruption_at_some_severities_is_not_averaged(filled, make_dataset):
    data = make_dataset(N)
    add_family(filled, data, names=("fog",))
    filled.add(data, np.zeros(N, dtype=int), model="net", condition="cifar10-c/snow/3")
    grid = only_grid(filled.store)
    assert grid.averaged == ("fog",)
    assert grid.over_severities("net", "snow") is None
    assert grid.at("net", "snow", 3).value == 1


def test_families_and_data_sets_are_never_mixed(filled, make_dataset):
    first, second = make_dataset(N), make_dataset(N, name="other", contents=[bytes([9, n] * 8) for n in range(N)])
    right = {
        (family, data.name): add_family(filled, data, family=family, names=("fog",), seed=at)
        for at, (family, data) in enumerate(
            (family, data) for family in ("imagenet-c", "imagenet-c:raw") for data in (first, second)
        )
    }
    grids = {(grid.family, grid.data): grid for grid in grids_of(study_of(filled.store))}
    assert grids.keys() == right.keys()
    for key, grid in grids.items():
        assert grid.mean("net").value == pytest.approx(np.mean(list(right[key].values())))


def test_the_clean_side_is_that_of_the_same_data(filled, make_dataset):
    first, second = make_dataset(N), make_dataset(N, name="other", contents=[bytes([9, n] * 8) for n in range(N)])
    for data, wrong in ((first, 4), (second, 8)):
        add_family(filled, data, names=("fog",))
        filled.add(data, (np.arange(N) < wrong).astype(int), model="net")
    clean = {grid.data: grid.clean["net"].value for grid in grids_of(study_of(filled.store))}
    assert clean == {"val": pytest.approx(0.9), "other": pytest.approx(0.8)}


def test_data_of_one_name_are_told_apart_by_their_content(filled, make_dataset):
    first, second = make_dataset(N), make_dataset(N, contents=[bytes([9, n] * 8) for n in range(N)])
    right = []
    for at, (data, wrong) in enumerate(((first, 4), (second, 8))):
        right.append(np.mean(list(add_family(filled, data, names=("fog",), seed=at).values())))
        filled.add(data, (np.arange(N) < wrong).astype(int), model="net")
    grids = grids_of(study_of(filled.store))
    assert len({grid.data for grid in grids}) == 2
    found = {(round(grid.clean["net"].value, 6), round(grid.mean("net").value, 6)) for grid in grids}
    assert found == {(0.9, round(right[0], 6)), (0.8, round(right[1], 6))}


def test_a_family_run_with_two_seeds_is_two(filled, make_dataset):
    data = make_dataset(N)
    for seed in (0, 1):
        add_family(filled, data, names=("fog",), seed=seed, transform={"name": "fog", "seed": seed})
    assert [grid.data for grid in grids_of(study_of(filled.store))] == ["val#1", "val#2"]


def test_predictions_and_a_table_of_one_family_are_apart(filled, make_dataset):
    data = make_dataset(N)
    add_family(filled, data, names=("fog",))
    rows = [Accuracy("net", f"cifar10-c/fog/{severity}", 0.5, N, "t.csv") for severity in SEVERITIES]
    write_table(filled.store, rows)
    grids = {grid.data: grid for grid in grids_of(study_of(filled.store))}
    assert grids.keys() == {"val", "imported"}
    assert grids["imported"].mean("net").value == 0.5


def test_frames_of_sequences_are_no_corruptions(filled, make_dataset):
    data = make_dataset(N)
    for frame in range(3):
        filled.add(data, np.zeros(N, dtype=int), condition=f"imagenet-p/rotate/{frame:02d}")
    assert grids_of(study_of(filled.store)) == []


def test_the_testbeds_names_are_two_families(filled):
    rows = [
        Accuracy("net", f"imagenet-c.{name}.{severity}_{where}", 0.9 - 0.1 * severity, 1000, "t.csv")
        for name in ("fog", "glass_blur")
        for severity in SEVERITIES
        for where in ("on-disk", "in-memory")
        if (name, where) != ("glass_blur", "in-memory")
    ]
    write_table(filled.store, [*rows, Accuracy("net", "val", 0.95, 1000, "t.csv")])
    grids = grids_of(study_of(filled.store))
    assert [(grid.title, grid.corruptions) for grid in grids] == [
        ("imagenet-c_on-disk", ("glass_blur", "fog")),
        ("imagenet-c_in-memory", ("fog",)),
    ]
    assert grids[0].mean("net").value == pytest.approx(0.6)  # the mean of 0.8, 0.7, 0.6, 0.5, 0.4
    assert (grids[0].clean["net"].value, grids[0].clean_name) == (0.95, "val")
    assert grids[0].mean("net").low is not None  # the table says how many images


def test_without_n_there_is_no_interval():
    known = Estimate(0.5, 0.4, 0.6, 100, "wilson 95%")
    mean = mean_accuracy([known, Estimate(0.7, None, None, None, "none: n is not known")])
    assert (mean.value, mean.low, mean.n) == (pytest.approx(0.6), None, None)
    assert mean_accuracy([]) is None
    assert mean_accuracy([known]) is known


def test_the_mean_of_bounds_covers_however_conditions_go_together():
    """Five conditions of 60 images, 2,000 times: with the same images hard in all of them, and with none in common."""
    rng = np.random.default_rng(0)
    shares = np.array([0.9, 0.8, 0.7, 0.6, 0.5])
    for shared in (True, False):
        draws = rng.random((2000, 60, 1 if shared else 5))
        right = (draws < shares).sum(axis=1)
        low, high = clopper_pearson_bounds(right.ravel(), np.full(right.size, 60), 0.95)
        mean = [side.reshape(right.shape).mean(axis=1) for side in (low, high)]
        covered = int(((mean[0] <= shares.mean()) & (shares.mean() <= mean[1])).sum())
        # at least 95 %: not significantly fewer
        assert binomtest(covered, 2000, 0.95, alternative="less").pvalue > 0.001
