"""Who fails on the same images: stores whose answers are known, with people in them and beside them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from oodometer.analysis.compare import compare
from oodometer.analysis.consistency import consistency
from oodometer.core.errors import DataError, StoreError, UsageError
from oodometer.core.labels import LabelSpace
from oodometer.core.model import Card

PETS = LabelSpace("pets", ("n02123045", "dog", "sea_lion"))
CALLED = ("tabby", "dog", "sea lion")


@pytest.fixture
def asked(filled, make_dataset):
    """Three models and 300 images; which of them each is right on."""
    data = make_dataset(300, space=PETS, k=3)
    rng = np.random.default_rng(0)
    hard = rng.normal(size=300)
    right = rng.normal(size=(3, 300)) + hard < np.array([[0.5], [1.0], [1.5]])
    for number, one in enumerate(right):
        filled.add(data, (~one).astype(int), model=f"m{number}", digest=f"{number}" * 32)
    return filled, data, right


def test_every_pair_is_scikit_learns(asked):
    filled, _, right = asked
    found = consistency(filled.store)
    assert [rater.name for rater in found.raters] == ["m0", "m1", "m2"]
    assert [rater.accuracy.value for rater in found.raters] == right.mean(axis=1).tolist()
    for pair in found.pairs:
        a, b = (right[int(name[1])] for name in (pair.a, pair.b))
        assert pair.kappa.value == pytest.approx(cohen_kappa_score(a, b))  # scikit-learn
        assert (pair.n, pair.among) == (300, "models")
        assert pair.kappa.low < pair.kappa.value < pair.kappa.high
        (compared,) = compare(filled.store, pair.a, pair.b)
        assert compared.error_consistency.value == pytest.approx(pair.kappa.value)
        assert compared.error_consistency.low == pytest.approx(pair.kappa.low, abs=0.02)
    values = [pair.kappa.value for pair in found.pairs]
    assert values == sorted(values, reverse=True)
    assert found.means["models"].value == pytest.approx(np.mean(values))
    assert list(found.means) == ["models"]
    matrix = found.matrix()
    assert matrix[0, 1] == matrix[1, 0] == pytest.approx(cohen_kappa_score(right[0], right[1]))
    assert json.loads(json.dumps(found.as_json(), allow_nan=False))["pairs"][0]["kappa"]["value"] == values[0]


def test_people_of_a_table(asked):
    filled, data, right = asked
    rng = np.random.default_rng(1)
    truth = [CALLED[label] for label in data.labels]
    ann = {one: truth[at] if rng.random() < 0.9 else "-" for at, one in enumerate(data.ids[:100])}
    ben = {one: truth[at].upper() if at % 7 else "dog" for at, one in enumerate(data.ids[:150])} | {"elsewhere": "dog"}
    found = consistency(filled.store, people={"Ann": ann, "Ben": ben})
    assert [(rater.name, rater.is_person) for rater in found.raters[3:]] == [("Ann", True), ("Ben", True)]
    assert found.notes == ("Ben: 1 of 151 answers are about other images, left out",)
    is_right = np.array([ann[one] == truth[at] for at, one in enumerate(data.ids[:100])])
    ben_right = np.array([ben[one].lower() == truth[at] for at, one in enumerate(data.ids[:150])])
    pairs = {(pair.a, pair.b): pair for pair in found.pairs}
    assert len(pairs) == 10
    assert (pairs["m1", "Ann"].n, pairs["m1", "Ann"].among) == (100, "a model and a person")
    assert pairs["m1", "Ann"].kappa.value == pytest.approx(cohen_kappa_score(right[1, :100], is_right))
    assert (pairs["Ann", "Ben"].n, pairs["Ann", "Ben"].among) == (100, "people")
    assert pairs["Ann", "Ben"].kappa.value == pytest.approx(cohen_kappa_score(is_right, ben_right[:100]))
    assert set(found.means) == {"models", "a model and a person", "people"}
    assert "3 models and 2 people" in str(found)


def test_classes_may_be_called_by_id_or_number(asked):
    filled, data, _ = asked
    by_id = {one: PETS.classes[data.labels[at]] for at, one in enumerate(data.ids)}
    by_number = {one: str(data.labels[at]) for at, one in enumerate(data.ids)}
    found = consistency(filled.store, people={"A": by_id, "B": by_number})
    assert [rater.accuracy.value for rater in found.raters[3:]] == [1.0, 1.0]
    undefined = next(pair for pair in found.pairs if {pair.a, pair.b} == {"A", "B"})
    assert undefined.kappa is None
    assert "undefined" in str(found)
    assert np.isnan(found.matrix()[3, 4])


def test_people_of_the_store_take_no_images_from_the_models(asked, make_dataset):
    filled, _, right = asked
    seen = np.random.default_rng(2).random(50) < 0.8
    some = make_dataset(50, space=PETS, k=3, subset="first 50")
    filled.add(some, (~seen).astype(int), model="Cleo", digest="c" * 32, card=Card("human"))
    found = consistency(filled.store)
    assert found.n == 300
    pair = next(pair for pair in found.pairs if (pair.a, pair.b) == ("m2", "Cleo"))
    assert pair.n == 50
    assert pair.kappa.value == pytest.approx(cohen_kappa_score(right[2, :50], seen))


def test_what_cannot_be_told(asked, make_dataset):
    filled, data, _ = asked
    with pytest.raises(UsageError, match=r"no model was run on 'clen'; did you mean clean\?"):
        consistency(filled.store, on="clen")
    with pytest.raises(DataError, match="Ann: none of 1 answers is about an image that all models saw"):
        consistency(filled.store, people={"Ann": {"x": "dog"}})
    with pytest.raises(DataError, match=r"'dogg' is no class of these data \(- is none of them\); did you mean dog"):
        consistency(filled.store, people={"Ann": {data.ids[0]: "dogg"}})
    with pytest.raises(StoreError, match="two models or people are called 'm0'"):
        consistency(filled.store, people={"m0": {data.ids[0]: "dog"}})
    filled.add(data, [0] * 300, model="alone", condition="fog/3")
    with pytest.raises(StoreError, match="alone alone: error consistency is of two"):
        consistency(filled.store, on="fog/3")
    found = consistency(filled.store, on="fog/3", people={"Ann": dict.fromkeys(data.ids[:5], "dog")})
    assert len(found.pairs) == 1


def test_many_raters_are_cut_in_the_middle(filled, make_dataset):
    data, rng = make_dataset(60), np.random.default_rng(3)
    for number in range(14):
        filled.add(data, (rng.random(60) < 0.5).astype(int), model=f"m{number}", digest=f"{number:032x}")
    found = consistency(filled.store)
    text = found.text(6)
    assert "85 more" in text
    assert text.count("\n") < 20  # no map of fourteen
    assert "κ  accuracy" not in text
