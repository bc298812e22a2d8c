"""A model behind a defence: a model of its own, wherever it runs."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import oodometer as odo
from colour_model import colour_model
from oodometer.core.errors import UsageError
from oodometer.core.labels import numbered
from oodometer.core.model import Card, Compute, Input, Model
from oodometer.core.preprocessing import Geometry
from oodometer.models.defences.clahe import equalised
from oodometer.models.defences.registry import defences
from oodometer.models.defended import defended, with_defences
from oodometer.store.index import index_at


def colours(images: np.ndarray) -> np.ndarray:
    """The mean of each channel as logits."""
    return images.mean(axis=(1, 2)).astype(np.float32)


class Opened:
    """Gives `colours`; it can be pickled."""

    def __call__(self, compute: Compute):
        return colours


@pytest.fixture
def bare() -> Model:
    card = Card("standard", None, ("augmix",), "mine", 12)
    return Model("mine", "callable", "a" * 32, Input(Geometry(16, 16)), numbered(3), Opened(), card)


@pytest.fixture
def images() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (4, 16, 16, 3), dtype=np.uint8)


@pytest.mark.parametrize("name", ["clahe", "nlm", "ten-crop"])
def test_every_defence_keeps_what_a_model_promises(bare, images, name):
    model = defended(bare, name)
    assert (model.name, model.input, model.space) == (f"mine+{name}", bare.input, bare.space)
    assert model.card == Card("robust intervention", "mine", ("augmix", name), "mine", 12)
    assert model.differentiable is None
    logits = model.logits(images)
    assert logits.shape == (4, 3)
    assert (logits == model.logits(images)).all()
    assert model.logits(images[2:]) == pytest.approx(logits[2:])  # whatever else is in the batch
    assert not np.allclose(logits, bare.logits(images))


def test_names_and_digests_tell_models_apart(bare):
    digests = {defended(bare, name).digest for name in defences.names()} | {bare.digest}
    assert len(digests) == 1 + len(defences.names())
    assert defended(bare, "clahe").digest == defended(bare, "clahe").digest


def test_the_pixels_are_changed_before_the_model_sees_them(bare, images):
    assert (defended(bare, "clahe").logits(images) == colours(np.stack([equalised(one) for one in images]))).all()


def test_it_can_be_sent_to_another_process(bare, images):
    sent = pickle.loads(pickle.dumps(defended(bare, "clahe")))
    assert (sent.logits(images) == defended(bare, "clahe").logits(images)).all()


def test_a_category_that_is_not_standard_stays(bare):
    other = replace(bare, card=Card("more data"))
    assert defended(other, "clahe").card.category == "more data"


def test_several_defences_and_none(bare):
    assert [model.name for model in with_defences([bare], ["none", "clahe", "clahe"])] == ["mine", "mine+clahe"]
    assert with_defences([bare], []) == [bare]
    crops = with_defences([bare], ["each-crop", "crop-3", "ten-crop"])
    assert [model.name for model in crops] == [*(f"mine+crop-{at}" for at in range(1, 11)), "mine+ten-crop"]
    with pytest.raises(UsageError, match="no defence named 'clahee'; did you mean clahe"):
        with_defences([bare], ["clahee"])
    answers = odo.StoredAnswers.__new__(odo.StoredAnswers)
    object.__setattr__(answers, "name", "theirs")
    with pytest.raises(UsageError, match="theirs: of files of predictions only the answers are known"):
        with_defences([answers], ["clahe"])


def test_the_ten_crops_by_themselves_are_those_whose_mean_is_stored(bare, images):
    def probabilities(model: Model) -> np.ndarray:
        exps = np.exp(model.logits(images).astype(float))
        return exps / exps.sum(axis=1, keepdims=True)

    each = [probabilities(model) for model in with_defences([bare], ["each-crop"])]
    assert np.mean(each, axis=0) == pytest.approx(probabilities(defended(bare, "ten-crop")), abs=1e-6)


def test_a_run_with_and_without_is_a_pair(photos, tmp_path):
    """On the same photographs, clean and corrupted; the store knows what was made from what."""
    store = str(tmp_path / "runs")
    models = with_defences([replace(colour_model(), card=Card("standard"))], ["none", "clahe", "ten-crop"])
    done = odo.run(models, odo.load_shifts("imagenet-c/fog/3", data=str(photos)), store=store)
    index = index_at(done.store)
    cards = {name: model.entries[0].cell.model.card for name, model in index.models.items()}
    assert set(cards) == {"colours", "colours+clahe", "colours+ten-crop"}
    assert (cards["colours+clahe"].parent, cards["colours+clahe"].interventions) == ("colours", ("clahe",))
    top1 = [score for score in odo.score(store).rows if score.metric == "top-1"]
    accuracies = {(score.model, score.condition): score.estimate.value for score in top1}
    assert accuracies["colours", "clean"] == 1.0
    assert accuracies["colours+ten-crop", "clean"] == 1.0  # every crop of one colour has that colour
    assert len(accuracies) == 6
    assert len(odo.compare(store, "colours", "colours+clahe")) == 2
