"""The hardest images: counted by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binom

from oodometer.analysis.hardest import HardImage, hardest
from oodometer.analysis.named import hint_for
from oodometer.core.errors import UsageError
from oodometer.core.labels import LabelSpace
from oodometer.core.predictions import from_logits


def test_hardest_first_and_never_those_that_nobody_misses(filled, make_dataset):
    data = make_dataset(4, k=3, labels=[0, 1, 2, 0], space=LabelSpace("pets", ("cat", "dog", "eel")))
    # With rank 1 the answer is the first other class: dog for a cat, cat for a dog or an eel; with rank 2 likewise.
    for number, ranks in enumerate(([0, 1, 1, 1], [0, 1, 0, 1], [0, 1, 0, 0])):
        filled.add(data, ranks, model=f"m{number}", digest=f"{number}" * 32)
    found = hardest(filled.store)
    assert found.images == (
        HardImage(data.ids[1], "dog", 3, 3, "cat", 3),
        HardImage(data.ids[3], "cat", 2, 3, "dog", 2),
        HardImage(data.ids[2], "eel", 1, 3, "cat", 1),
    )
    assert (found.n, found.models) == (4, ("m0", "m1", "m2"))
    assert hardest(filled.store, top=1).images == found.images[:1]
    assert str(found).splitlines()[0] == "clean on val: 4 images that all 3 models saw"
    assert json.loads(json.dumps(found.as_json(), allow_nan=False))["images"][0]["missed_by"] == 3


def test_only_images_that_all_models_saw_count(filled, make_dataset):
    data = make_dataset(6, k=3)
    filled.add(data, [1] * 6, model="a")
    filled.add(data, [1, 1, 1], model="b", digest="b" * 32, positions=[0, 1, 2], finished=False)
    found = hardest(filled.store)
    assert (found.n, len(found.images)) == (3, 3)


def test_every_model_right(filled, make_dataset):
    filled.add(make_dataset(3, k=3), np.zeros(3, dtype=int))
    assert "every model is right on every image" in str(hardest(filled.store))


def test_an_unknown_condition(filled, make_dataset):
    filled.add(make_dataset(3, k=3), [0, 0, 0])
    with pytest.raises(UsageError, match=r"nothing was run on 'clen'; did you mean clean\?"):
        hardest(filled.store, on="clen")


def test_ties_are_told(filled, make_dataset):
    """Two models name two wrong classes once each; and of three images that both miss, one is shown."""
    data = make_dataset(4, k=3, labels=[0, 0, 0, 0], space=LabelSpace("pets", ("n02099601", "dog", "eel")))
    logits = np.array([[0.0, 2.0, 1.0]] * 3 + [[3.0, 2.0, 1.0]])
    positions = np.arange(4)
    filled.put(data, from_logits(logits, data.labels, positions), model="a")
    filled.put(data, from_logits(logits[:, [0, 2, 1]], data.labels, positions), model="b", digest="b" * 32)
    found = hardest(filled.store, top=1)
    assert found.images == (HardImage(data.ids[0], "golden retriever", 2, 2, "dog", 1, ("eel",)),)
    assert found.more_as_hard == 2
    lines = str(found).splitlines()
    assert "golden retriever" in lines[2]
    assert "n02099601" not in lines[2]
    assert lines[2].endswith("dog, eel (1 each)")
    assert lines[-2] == "2 more are missed by 2, as the last one shown"
    # Each model is wrong on 3 of 4: 4 · (3/4)² by chance
    assert lines[-1].startswith("missed by all 2: 3 images; 2.2 expected if the models erred independently")
    assert hardest(filled.store).more_as_hard == 0


def test_how_many_would_be_missed_by_chance(filled, make_dataset):
    data, rng = make_dataset(200, k=3), np.random.default_rng(0)
    right = rng.random((3, 200)) < [[0.9], [0.8], [0.7]]
    right[:, :20] = False
    for number, one in enumerate(right):
        filled.add(data, (~one).astype(int), model=f"m{number}", digest=f"{number}" * 32)
    found = hardest(filled.store, top=5)
    first = found.by_chance[0]
    wrong = 1 - right.mean(axis=1)
    assert (first.by, first.found) == (3, int((~right).all(axis=0).sum()))
    assert first.expected == pytest.approx(200 * wrong.prod())
    # reference: scipy
    assert first.p_value == pytest.approx(binom.sf(first.found - 1, 200, wrong.prod()))
    assert [one.by for one in found.by_chance] == [3, 2, 1]
    assert str(found).splitlines()[-1].startswith(f"missed by all 3: {first.found} images; ")
    assert json.loads(json.dumps(found.as_json()))["by_chance"][0]["expected"] == first.expected


def test_of_one_model_nothing_is_beside_chance(filled, make_dataset):
    filled.add(make_dataset(3, k=3), [1, 0, 0])
    found = hardest(filled.store)
    assert found.by_chance == ()
    assert found.beside_chance() == []


def test_who_names_a_family_is_told_to_name_one_of_its_conditions():
    names = ["imagenet-c/fog/1", "imagenet-c/fog/2", "clean"]
    assert hint_for("imagenet-c", names) == "; it is a family: name one condition, such as imagenet-c/fog/1"
    assert hint_for("clen", names) == "; did you mean clean?"
