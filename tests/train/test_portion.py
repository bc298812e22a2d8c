"""A part of the training images: shares, classes and folds against plain counting."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import oodometer as odo
from made_cifar import put_cifar_10, put_cifar_100
from oodometer.core.errors import UsageError
from oodometer.data.training_set import published_test_set, training_set
from oodometer.train.hold_out import split_for_training
from oodometer.train.portion import Portion, in_fold, of_classes, portion_of
from oodometer.train.recipe_from_card import options_like


@pytest.mark.parametrize("seed", [0, 3])
def test_a_share_is_of_every_class_and_smaller_ones_lie_within_larger_ones(make_dataset, seed):
    data = make_dataset(2000, k=5)
    whole = split_for_training(data)
    kept = set(whole.training.ids)
    for divisor in (1, 2, 4, 8, 16, 32):
        portion = Portion(share=Fraction(1, divisor))
        parts = split_for_training(data, portion=portion, seed=seed)
        assert set(parts.training.ids) <= kept
        assert parts.iid.ids == whole.iid.ids, "the test stays whole"
        assert len(parts.training) == round(len(whole.training) / divisor)
        exact = np.bincount(whole.training.labels) / divisor
        assert np.abs(np.bincount(parts.training.labels) - exact).max() < 1.0
        kept = set(parts.training.ids)


def test_a_share_depends_on_the_seed(make_dataset):
    data, portion = make_dataset(400, k=2), Portion(share=Fraction(1, 4))
    first, again, other = (split_for_training(data, portion=portion, seed=seed).training.ids for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_fewer_classes_lie_within_more_and_keep_their_order(make_dataset):
    data = make_dataset(300, k=10)
    classes = set(data.space.classes)
    for n in (7, 5, 2):
        few = of_classes(data, n, seed=1)
        assert len(few.space) == n
        assert set(few.space.classes) < classes
        assert list(few.space.classes) == [one for one in data.space.classes if one in few.space.classes]
        names = [data.space.classes[label] for label in data.labels.tolist()]
        wanted = [(id_, name) for id_, name in zip(data.ids, names, strict=True) if name in few.space.classes]
        told = [(id_, few.space.classes[label]) for id_, label in zip(few.ids, few.labels.tolist(), strict=True)]
        assert told == wanted
        classes = set(few.space.classes)


def test_of_images_with_several_labels_those_that_are_kept_stay(make_dataset):
    data = make_dataset(6, k=3)
    data = replace(data, labels=np.array([0, 1, 2, 0, 1, 2]), other_labels=((1,), (), (0, 1), (2,), (0,), ()))
    few = of_classes(data, 2, seed=0)
    kept = {data.space.classes.index(name) for name in few.space.classes}
    wanted = [
        {data.space.classes[one] for one in {first, *more} & kept}
        for first, more in zip(data.labels.tolist(), data.other_labels, strict=True)
    ]
    told = [
        {few.space.classes[one] for one in (first, *more)}
        for first, more in zip(few.labels.tolist(), few.other_labels, strict=True)
    ]
    assert told == [one for one in wanted if one]


def test_folds_are_a_partition_with_equal_shares_of_every_class(make_dataset):
    data = make_dataset(203, k=4)
    folds = np.stack([in_fold(data, (number, 5)) for number in range(1, 6)])
    assert (folds.sum(axis=0) == 1).all()
    assert np.ptp(folds.sum(axis=1)) <= 1
    for label in range(4):
        assert np.ptp(folds[:, data.labels == label].sum(axis=1)) <= 1
    backwards = data.take(np.arange(203)[::-1])
    assert (in_fold(backwards, (2, 5))[::-1] == folds[1]).all(), "by the ids, whatever their order"
    parts = split_for_training(data, portion=Portion(fold=(2, 5)))
    assert set(parts.iid.ids) == {data.ids[row] for row in np.flatnonzero(folds[1])}
    assert set(parts.training.ids) == set(data.ids) - set(parts.iid.ids)


def test_the_published_test_images_are_the_iid_test(tmp_path):
    put_cifar_10(tmp_path / "cifar-10-batches-bin", per_batch=20, binary=True)
    place = str(tmp_path / "cifar-10-batches-bin")
    data, test = training_set(place), published_test_set(place)
    parts = split_for_training(data, test=test)
    assert (parts.training.ids, len(parts.iid)) == (data.ids, 20)
    assert parts.iid.labels.tolist() == [(3 * row) % 10 for row in range(20)]
    by_name = published_test_set("cifar-10", data_root=str(tmp_path))
    assert by_name.labels.tolist() == test.labels.tolist()
    fold = split_for_training(data, test=test, portion=Portion(fold=(1, 4)))
    assert (len(fold.iid), len(fold.training)) == (25, 75), "a fold is of the training images"


def test_what_is_held_out_is_so_in_the_published_test_too(tmp_path):
    put_cifar_100(tmp_path / "cifar-100-python", per_subtype=4)
    place = str(tmp_path / "cifar-100-python")
    options = odo.TrainingOptions(net="linear", label="superclass", hold_outs=["subtypes/2"])
    job = odo.training_job(training_set(place), options, test=published_test_set(place))
    parts = split_for_training(job.dataset, job.hold_outs, test=job.test)
    assert job.test.space == job.dataset.space
    assert (len(parts.training), len(parts.held_out), len(parts.iid)) == (60 * 4, 40 * 4, 60 * 2)
    assert not set(parts.iid.columns["subtype"]) & set(parts.held_out.columns["subtype"])


def test_without_training_images_there_is_no_published_test(tmp_path, make_quarters):
    put_cifar_10(tmp_path / "cifar-10-batches-py", per_batch=2)
    (tmp_path / "cifar-10-batches-py" / "data_batch_1").unlink()
    assert published_test_set(str(tmp_path / "cifar-10-batches-py")) is None
    make_quarters(8)
    assert published_test_set(str(tmp_path / "quarters.npz")) is None
    assert published_test_set("nothing-of-that-name") is None


def test_what_is_said_is_in_the_job_the_card_and_its_likes(make_quarters, tmp_path):
    options = odo.TrainingOptions(net="linear", epochs=1, size=12, share="0.5", classes=3, fold="2/4", threads=1)
    job = odo.training_job(make_quarters(), options, out=tmp_path / "mine.onnx")
    assert job.portion == Portion(Fraction(1, 2), 3, (2, 4))
    assert len(job.dataset.space) == 3
    assert job.card.training_data == "quarters, 1/2 of the images, 3 classes, without fold 2 of 4"
    trained = odo.train(job)
    assert (trained.n_training, trained.n_iid) == (45, 30)
    told = options_like(tmp_path / "mine.toml")
    assert (told["share"], told["classes"], told["fold"]) == ("1/2", 3, "2/4")
    again = odo.training_job(make_quarters(), odo.TrainingOptions(), like=tmp_path / "mine.toml", out=job.out)
    assert odo.train(again).is_new is False


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (("2", None, None), "--share 2: expected a share of the images such as 1/8 or 0.125"),
        (("0", None, None), "--share 0: expected a share of the images such as 1/8 or 0.125"),
        (("1/0", None, None), "--share 1/0: expected a share of the images such as 1/8 or 0.125"),
        (("half", None, None), "--share half: expected a share of the images such as 1/8 or 0.125"),
        ((None, 1, None), "--classes 1: at least 2 classes can be told apart"),
        ((None, None, "6/5"), "--fold 6/5: expected which of how many folds, 1/5 to 5/5 for one"),
        ((None, None, "1/1"), "--fold 1/1: expected which of how many folds, 1/5 to 5/5 for one"),
        ((None, None, "first"), "--fold first: expected which of how many folds, 1/5 to 5/5 for one"),
    ],
)
def test_portions_that_mean_nothing(said, message):
    with pytest.raises(UsageError) as caught:
        portion_of(*said)
    assert str(caught.value) == message


def test_more_than_there_is(make_dataset):
    data = make_dataset(8, k=2)
    with pytest.raises(UsageError, match="--classes 3: val has 2 classes"):
        of_classes(data, 3, seed=0)
    with pytest.raises(UsageError, match="--fold 1/9: val has 8 images only"):
        in_fold(data, (1, 9))
