"""A training by its options: what is said, what a card tells, and what is usual."""

from __future__ import annotations

from pathlib import Path

import pytest

import oodometer as odo

CARD = """\
name = "before"
category = "robust intervention"
parent = "plain"
classes = ["a", "b"]

[input]
size = [24, 24]

[notes]
architecture = "resnet8"
epochs = "7"
learning_rate = "0.05"
threads = "2"
augment = "mirror, erase"
hold_out = "style=outline, subtypes"
weights = "float16"
"""


@pytest.fixture
def data(make_dataset) -> odo.Dataset:
    return make_dataset(8, k=2)


@pytest.fixture
def card(tmp_path) -> Path:
    (tmp_path / "before.toml").write_text(CARD)
    return tmp_path / "before.toml"


def test_what_nobody_says_is_as_usual(data):
    job = odo.training_job(data, odo.TrainingOptions(net="resnet20"))
    assert job.recipe == odo.Recipe()
    assert (job.out, job.hold_outs, job.half, job.init) == (Path("resnet20.onnx"), (), False, None)
    assert (job.compute.device, job.compute.threads) == ("cpu", 0)
    assert job.card == odo.Card("standard", training_data=data.name)


def test_what_is_said_is_done(data, tmp_path):
    options = odo.TrainingOptions(net="resnet20", width=2, seed=3, augment="none", hold_outs=["a=b, c=d", "e=f"])
    job = odo.training_job(data, options, out=tmp_path / "mine.onnx", force=True)
    assert (job.recipe.net, job.recipe.seed, job.recipe.augment) == ("resnet20x2", 3, ())
    assert (job.hold_outs, job.out, job.force) == (("a=b", "c=d", "e=f"), tmp_path / "mine.onnx", True)
    assert job.card.training_data == f"{data.name} without a=b, c=d, e=f"


@pytest.mark.parametrize(
    ("options", "category", "interventions"),
    [
        (odo.TrainingOptions(net="resnet20", augment="mirror"), "standard", ()),
        (odo.TrainingOptions(net="resnet20", augment="mirror,erase"), "robust intervention", ("erase",)),
        (odo.TrainingOptions(net="resnet20", init="first.pt"), "more data", ()),
        (odo.TrainingOptions(net="resnet20", init="first.pt", category="standard"), "standard", ()),
    ],
)
def test_the_category_follows_from_what_is_done_unless_it_is_said(data, options, category, interventions):
    job = odo.training_job(data, options)
    assert (job.card.category, job.card.interventions) == (category, interventions)


def test_a_card_says_what_the_options_do_not(data, card):
    job = odo.training_job(data, odo.TrainingOptions(lr=0.2), like=card)
    assert (job.recipe.net, job.recipe.epochs, job.recipe.lr, job.recipe.size) == ("resnet8", 7, 0.2, 24)
    assert (job.recipe.augment, job.hold_outs) == (("mirror", "erase"), ("style=outline", "subtypes"))
    assert (job.half, job.compute.threads, job.card.parent) == (True, 2, "plain")
    assert odo.training_job(data, odo.TrainingOptions(half=False), like=card).half is False


def test_errors_are_one_line(data, card):
    with pytest.raises(odo.UsageError, match="which network"):
        odo.training_job(data, odo.TrainingOptions())
    card.write_text(CARD + 'init = "first"\n')
    with pytest.raises(odo.UsageError, match="it began with the weights of first"):
        odo.training_job(data, odo.TrainingOptions(), like=card)
