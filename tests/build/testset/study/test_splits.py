"""Splits to train on, and what models get right of what was held out."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import oodometer as odo
from made_study import made_model
from made_testset import CLASSES, picture
from oodometer.build.testset.study.discriminator import accuracy_over_folds
from oodometer.build.testset.study.held_out import held_out_accuracies
from oodometer.build.testset.study.splits import folds, halves, read_splits
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError
from oodometer.data.load import load_data
from oodometer.stats.paired import PairedCounts, paired_difference


def made_data(folder: Path, n: int, role: str) -> Dataset:
    """So many images of each class, in class folders."""
    for at, entry in enumerate(CLASSES):
        (folder / entry.name).mkdir(parents=True)
        for i in range(n):
            (folder / entry.name / f"{i}.png").write_bytes(picture(at, role, i))
    return load_data(folder)


def contents(data: Dataset) -> Counter[bytes]:
    return Counter(data.scan().contents)


def per_class(data: Dataset) -> dict[str, int]:
    return dict(Counter(data.space.classes[label] for label in data.labels.tolist()))


@pytest.fixture
def sets(tmp_path: Path) -> tuple[Dataset, Dataset, Dataset]:
    """A release, an original test set, and training images, some of which are called the same."""
    return tuple(made_data(tmp_path / name, n, name) for name, n in (("release", 10), ("val", 7), ("train", 20)))  # type: ignore[return-value]


def test_halves_of_a_release(sets, tmp_path):
    release, _, train = sets
    splits = halves(release, tmp_path / "halves", train=train, n=2, seed=3)
    assert [(one.name, one.n_train, one.n_test) for one in splits] == [("half-1", 75, 15), ("half-2", 75, 15)]
    held = []
    for one in splits:
        test, more = (load_data(tmp_path / "halves" / file) for file in (one.test, one.train))
        assert per_class(test) == {"cat": 5, "duck": 5, "owl": 5}
        assert contents(test) + contents(more) == contents(release) + contents(train)
        assert set(test.ids) <= set(release.ids), "predictions about them are found by the ids of the release"
        held.append(set(test.ids))
    assert held[0] != held[1]
    assert read_splits(tmp_path / "halves") == splits
    again = halves(release, tmp_path / "again", train=train, n=2, seed=3)
    assert load_data(tmp_path / "again" / again[0].test).ids == load_data(tmp_path / "halves" / splits[0].test).ids


def test_folds_against_the_original(sets, tmp_path):
    _, val, train = sets
    splits = folds(val, tmp_path / "folds", train=train, k=5)
    seen: Counter[bytes] = Counter()
    for one in splits:
        test, more = (load_data(tmp_path / "folds" / file) for file in (one.test, one.train))
        assert per_class(test) == {"cat": 4, "duck": 4, "owl": 4}
        # Recht et al. 2019, B.2.7: all other folds and the original test set are trained on
        assert contents(test) + contents(more) == contents(train) + contents(val)
        seen += contents(test)
    assert seen == contents(train)
    alone = folds(val, tmp_path / "alone", k=3)
    assert [one.n_test for one in alone] == [7, 7, 7]
    assert [one.n_train for one in alone] == [14, 14, 14]


def test_images_without_files_are_written(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(
        tmp_path / "some.npz", images=rng.integers(0, 255, (12, 8, 8, 3), dtype=np.uint8), labels=np.arange(12) % 3
    )
    data = load_data(tmp_path / "some.npz")
    one = halves(data, tmp_path / "halves", n=1)[0]
    test = load_data(tmp_path / "halves" / one.test)
    by_id = {name: data.image(at) for at, name in enumerate(data.ids)}
    assert all((test.image(at) == by_id[name]).all() for at, name in enumerate(test.ids))
    assert len(list((tmp_path / "halves" / "images" / "release").iterdir())) == 12


def test_what_models_get_right_of_held_out_images(sets, tmp_path):
    _, val, train = sets
    store, place = str(tmp_path / "runs"), tmp_path / "folds"
    splits = folds(val, place, train=train, k=2)
    models = [made_model(f"net-{at}", seed, training_data=f"fold-{at}-train") for at, seed in ((1, 5), (2, 10))]
    before = made_model("before", 7, training_data="elsewhere")
    whole = made_model("whole", 8, training_data="train, 60 images")
    tests = [load_data(place / one.test) for one in splits]
    for data in tests:
        odo.run([*models, before, whole], [odo.clean(data)], store=store)
    found = held_out_accuracies(store, place, baseline="before")
    assert [(one.split, one.model, one.trained_on_it) for one in found.rows] == [
        ("fold-1", "before", False),
        ("fold-1", "net-1", True),
        ("fold-2", "before", False),
        ("fold-2", "net-2", True),
    ]
    left_out = ("net-2 on fold-1", "whole on fold-1", "net-1 on fold-2", "whole on fold-2")
    assert found.left_out == left_out, "they were trained on these very images"

    def right(model, data):
        views = np.stack([data.views(at, [model.input.view])[0] for at in range(len(data))])
        names = np.array([model.space.classes[at] for at in model.logits(views).argmax(axis=1)])
        return names == np.array([data.space.classes[label] for label in data.labels])

    own = [right(model, data) for model, data in zip(models, tests, strict=True)]
    assert [one.accuracy.value for one in found.rows[1::2]] == [some.mean() for some in own]
    counts = PairedCounts.of(right(before, tests[0]), own[0])
    assert found.rows[1].change == paired_difference(counts)
    assert found.over_folds == accuracy_over_folds(np.concatenate(own), 2)
    assert found.missing == ()


def test_splits_say_what_was_cut(sets, tmp_path):
    release, val, train = sets
    assert {one.cut for one in folds(val, tmp_path / "a", train=train, k=2)} == {"train"}
    assert {one.cut for one in folds(val, tmp_path / "b", k=2)} == {"val"}
    assert {one.cut for one in halves(release, tmp_path / "c", train=train)} == {"release"}
    # splits that were written before they said so
    file = tmp_path / "c" / "splits.json"
    said = [{key: value for key, value in one.items() if key != "cut"} for one in json.loads(file.read_text())]
    file.write_text(json.dumps(said))
    assert {one.cut for one in read_splits(tmp_path / "c")} == {""}


def test_splits_that_nobody_was_asked_about(sets, tmp_path):
    release, _, _ = sets
    store, place = str(tmp_path / "runs"), tmp_path / "halves"
    splits = halves(release, place)
    # As a card says it of a part of the data.
    model = made_model("net", 5, training_data="half-1-train, 1/2 of the images")
    odo.run([model], [odo.clean(load_data(place / splits[0].test))], store=store)
    found = held_out_accuracies(store, place)
    assert [(one.split, one.trained_on_it, one.change) for one in found.rows] == [("half-1", True, None)]
    assert (found.missing, found.over_folds) == (("half-2",), None)


def test_what_can_not_be(sets, tmp_path):
    release, val, train = sets
    halves(release, tmp_path / "halves")
    with pytest.raises(UsageError, match="is there already and not empty"):
        halves(release, tmp_path / "halves")
    with pytest.raises(UsageError, match="--folds 30: at least 2, and at most as many as the smallest class has"):
        folds(val, tmp_path / "other", train=train, k=30)
    with pytest.raises(UsageError, match="--half 0: from 1 to 20 draws"):
        halves(release, tmp_path / "other", n=0)
    with pytest.raises(DataError, match="no splits there; make some with: oodometer testset splits"):
        read_splits(tmp_path)
    unlabelled = replace(release, labels=np.full(len(release), -1))
    with pytest.raises(DataError, match="has no label, so nothing can be learned from it"):
        halves(unlabelled, tmp_path / "other")
    renamed = replace(train, space=replace(train.space, classes=("a", "b", "c")))
    with pytest.raises(DataError, match="release and train have no class in common"):
        halves(release, tmp_path / "other", train=renamed)
