"""Accuracy with and without near-duplicates, from what models really answered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import oodometer as odo
from colour_model import colour_model
from oodometer.build.testset.stored_contamination import contaminations, read_duplicates
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, StoreError
from oodometer.data.load import load_data
from oodometer.stats.contamination import contamination


@pytest.fixture
def store(photos: Path, tmp_path: Path) -> tuple[str, Dataset]:
    """One model that is always right, and one that takes every picture of an odd number for a blue one."""
    right = colour_model()
    data = load_data(photos)

    def answers(images: np.ndarray) -> np.ndarray:
        logits = right.logits(images).copy()
        logits[images.mean(axis=(1, 2, 3)) > 120] += np.array([1000, 0, 0, 0])  # what is light is called blue
        return logits

    wrong = replace(right, name="dazzled", digest="b" * 32, open=lambda _: answers)
    odo.run([right, wrong], [odo.clean(data)], store=str(tmp_path / "runs"))
    return str(tmp_path / "runs"), data


def test_each_model_of_a_store(store):
    address, data = store
    having = data.ids[::5]
    found = contaminations(address, data, having)
    assert (found.n_images, found.n_duplicates) == (40, 8)
    assert [one.model for one in found.models] == ["colours", "dazzled"]
    has = np.isin(data.ids, having)
    # by hand: the first is always right; the other on blue pictures, and on whatever is dark
    assert found.models[0].found == contamination(np.ones(40, bool), has)
    light = np.array([data.views(at, [colour_model().input.view])[0].mean() > 120 for at in range(40)])
    assert 0 < light.sum() < 40
    right = ~light | (data.labels == 0)
    assert found.models[1].found == contamination(right, has)
    assert contaminations(address, data.ids, having) == found


def test_images_that_the_data_lack_are_told(store):
    address, data = store
    found = contaminations(address, data, [data.ids[0], "elsewhere.jpg"])
    assert (found.n_duplicates, found.unknown) == (1, ("elsewhere.jpg",))
    with pytest.raises(DataError, match="none of the 1 images with a duplicate is in the data"):
        contaminations(address, data, ["elsewhere.jpg"])
    with pytest.raises(StoreError, match="no model was asked about these images"):
        contaminations(address, ["elsewhere.jpg", "nowhere.jpg"], ["elsewhere.jpg"])


def test_a_model_of_which_nothing_can_be_said(store):
    address, data = store
    odo.run([replace(colour_model("few"), digest="c" * 32)], [odo.clean(data.take(np.arange(20)))], store=address)
    found = contaminations(address, data, data.ids[30:])
    assert [one.model for one in found.models] == ["colours", "dazzled"]
    assert found.left_out == {"few": "none of the 20 images has a duplicate: there is nothing to compare with"}


def test_other_data_with_images_of_the_same_names(store, photos):
    """Which of them is meant, their contents tell."""
    address, data = store
    for file in photos.glob("*/1.png"):
        (photos / file.parent.name / "3.png").write_bytes(file.read_bytes())
    other = load_data(photos, name="changed")
    odo.run([colour_model("third", "d" * 32)], [odo.clean(other)], store=address)
    assert [one.model for one in contaminations(address, other, data.ids[:4]).models] == ["third"]
    assert [one.model for one in contaminations(address, data, data.ids[:4]).models] == ["colours", "dazzled"]


def test_the_table_of_pairs(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text("first,second,verdict\na,x,duplicate\nb,y,different\na,z,duplicate\nc,z,\n")
    assert read_duplicates(str(file)) == ["a"]
    file.write_text("id\na\nb\n")
    assert read_duplicates(str(file)) == ["a", "b"]
    file.write_text("picture\na\n")
    with pytest.raises(DataError, match="no pairs with a column key, image, first or id"):
        read_duplicates(str(file))
    file.write_text("id,verdict\na,\n")
    with pytest.raises(DataError, match="of 1 pairs none has the verdict 'duplicate'"):
        read_duplicates(str(file))
