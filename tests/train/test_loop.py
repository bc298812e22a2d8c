"""The loop against plain arithmetic: gradients, momentum, schedule, order."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from oodometer.core.errors import ModelError, UsageError
from oodometer.core.model import Input
from oodometer.core.preprocessing import Geometry
from oodometer.train.loop import Work, loss_for, make_optimizer, orders, predictions, train_epochs
from oodometer.train.networks.registry import build_network
from oodometer.train.pixels import Pixels, digest_of_pixels
from oodometer.train.recipe import Recipe
from oodometer.train.schedule import cosine, drops_of, rate_at

SIDE = 12


def pixels(n: int, seed: int = 0) -> Pixels:
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    images = rng.integers(0, 60, size=(n, SIDE, SIDE, 3)) + 60 * labels[:, None, None, None]
    return Pixels(images.astype(np.uint8), labels, tuple(str(one) for one in range(n)))


def work_of(recipe: Recipe, n: int = 50) -> Work:
    network = build_network(recipe.net, n_classes=3, size=(SIDE, SIDE), seed=recipe.seed)
    given = Input(Geometry(SIDE, SIDE), mean=(0.4, 0.5, 0.6), std=(0.2, 0.25, 0.3))
    return Work(network, pixels(n), pixels(20, seed=1), given, recipe)


# reference: the closed form at the beginning, the middle and a third of the way; torch's own scheduler in between
def test_the_cosine_schedule():
    assert cosine(0, 90, first=0.2) == 0.2
    assert cosine(45, 90, first=0.2) == pytest.approx(0.1, abs=1e-15)
    assert cosine(30, 90, first=0.2) == pytest.approx(0.15, abs=1e-15)
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=90)
    for step in range(90):
        assert cosine(step, 90, first=0.2) == pytest.approx(optimizer.param_groups[0]["lr"], abs=1e-12)
        optimizer.step()
        scheduler.step()


# reference: torch's own schedulers, one after the other
@pytest.mark.parametrize("schedule", ["cosine", "steps:3,4"])
def test_warm_up_then_the_schedule(schedule):
    lr, per_epoch, warm = 0.2, 5, 10
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=lr)
    growing = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=1 / warm, total_iters=warm - 1)
    then = (
        torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)
        if schedule == "cosine"
        else torch.optim.lr_scheduler.MultiStepLR(optimizer, [5, 10], gamma=0.1)
    )
    expected = []
    for step in range(30):
        expected.append(optimizer.param_groups[0]["lr"] if step else lr / warm)
        optimizer.step()
        if step + 1 < warm:
            growing.step()
        elif step + 1 == warm:
            optimizer.param_groups[0]["lr"] = lr
        else:
            then.step()
    rates = [rate_at(step, per_epoch, schedule=schedule, epochs=6, warm_up=2, first=lr) for step in range(30)]
    assert rates == pytest.approx(expected, abs=1e-9)


# reference: Hendrycks et al. (2021), section 5.1: a rate of 0.1 that drops by 0.1 at epochs 30, 60 and 80
def test_steps_down():
    said = {"schedule": "steps:30,60,80", "epochs": 90, "warm_up": 5, "first": 0.1}
    rates = [rate_at(10 * epoch, 10, **said) for epoch in (5, 29, 30, 59, 60, 79, 80, 89)]
    assert rates == pytest.approx([0.1, 0.1, 0.01, 0.01, 0.001, 0.001, 0.0001, 0.0001])
    assert rate_at(0, 10, **said) == pytest.approx(0.1 / 50)
    for wrong in ("step:30", "steps:", "steps:30,x", "steps:60,30", "steps:0", "linear"):
        with pytest.raises(UsageError, match=f"--schedule {wrong}: cosine, or the epochs after which the rate drops"):
            drops_of(wrong)


# reference: multinomial regression by hand in float64: softmax minus one-hot, momentum after Sutskever et al. 2013
def test_two_epochs_of_a_linear_classifier_by_hand():
    recipe = Recipe(net="linear", epochs=2, lr=0.05, batch=16, augment=(), size=SIDE, weight_decay=0.01)
    work = work_of(recipe)
    told = []
    train_epochs(work, make_optimizer(work.network, recipe), first=0, after=told.append)

    images = (work.training.images / 255 - np.array(work.given.mean)) / np.array(work.given.std)
    x = images.transpose(0, 3, 1, 2).reshape(50, -1)
    x = np.concatenate([x, np.ones((50, 1))], axis=1)  # the last column is the bias
    w, v = np.zeros((3, x.shape[1])), np.zeros((3, x.shape[1]))
    step, losses = 0, []
    for epoch in range(2):
        for rows in orders(50, recipe, epoch):
            rate = 0.05 * (1 + math.cos(math.pi * step / 8)) / 2
            logits = x[rows] @ w.T
            p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
            hot = np.eye(3)[work.training.labels[rows]]
            losses.extend(-np.log((p * hot).sum(axis=1)))
            gradient = (p - hot).T @ x[rows] / len(rows) + 0.01 * w
            v = 0.9 * v + gradient
            w = w - rate * (gradient + 0.9 * v)
            step += 1
    layer = work.network[1]
    ours = torch.cat([layer.weight, layer.bias[:, None]], dim=1).detach().numpy()
    np.testing.assert_allclose(ours, w, atol=1e-5)
    assert told[0].loss == pytest.approx(np.mean(losses[:50]), abs=1e-5)
    assert told[1].loss == pytest.approx(np.mean(losses[50:]), abs=1e-5)
    assert [(one.number, one.n_epochs) for one in told] == [(1, 2), (2, 2)]
    assert told[1].iid_accuracy == np.mean(predictions(work, work.iid.images) == work.iid.labels)


def test_every_image_once_an_epoch_in_batches_of_nearly_equal_size():
    recipe = Recipe(batch=16)
    first, second = orders(50, recipe, 0), orders(50, recipe, 1)
    assert sorted(np.concatenate(first).tolist()) == list(range(50))
    assert sorted(len(one) for one in first) == [12, 12, 13, 13]
    assert np.concatenate(first).tolist() != np.concatenate(second).tolist()
    assert np.array_equal(np.concatenate(orders(50, recipe, 1)), np.concatenate(second))


def test_a_network_learns():
    recipe = Recipe(net="resnet8x0.5", epochs=4, lr=0.1, batch=16, size=SIDE)
    work, told = work_of(recipe, n=96), []
    train_epochs(work, make_optimizer(work.network, recipe), first=0, after=told.append)
    assert told[-1].loss < told[0].loss
    assert told[-1].iid_accuracy == 1.0  # the three classes differ in brightness


# reference: what torch says each convolution gave, in training and afterwards
def test_mixed_precision_is_for_learning_and_for_convolutions_alone():
    recipe = Recipe(net="resnet8x0.5", epochs=1, lr=1e-9, batch=16, size=SIDE, precision="mixed")
    work, given, told = work_of(recipe, n=48), set(), []
    work.network[0].register_forward_hook(
        lambda module, _, features: given.add((features.dtype, work.network.training))
    )
    train_epochs(work, make_optimizer(work.network, recipe), first=0, after=told.append)
    assert given == {(torch.bfloat16, True), (torch.float32, False)}
    assert {one.dtype for one in work.network.parameters()} == {torch.float32}
    exact, exactly = work_of(replace(recipe, precision="float32"), n=48), []
    train_epochs(exact, make_optimizer(exact.network, exact.recipe), first=0, after=exactly.append)
    # bfloat16 has eight bits: with weights that hardly move, the mean loss is off by less than one of 2**8
    assert told[0].loss == pytest.approx(exactly[0].loss, rel=2**-8)
    assert told[0].loss != exactly[0].loss


def test_a_training_that_bursts_says_so():
    recipe = Recipe(net="resnet8x0.25", epochs=2, lr=1e30, batch=16, size=SIDE)
    work = work_of(recipe)
    with pytest.raises(ModelError, match="the loss is not finite in epoch 1; train with a smaller --lr"):
        train_epochs(work, make_optimizer(work.network, recipe), first=0, after=lambda epoch: None)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"epochs": 0}, "0 epochs: there must be at least 1"),
        ({"batch": 1}, "a batch of 1: there must be at least 2 images in it, to normalise over"),
        ({"precision": "half"}, "--precision half: there are float32 and mixed"),
        ({"lr": 0.0}, "a learning rate of 0: it must be above 0"),
        ({"augment": ("mirorr",)}, "no augmentation named 'mirorr'; did you mean mirror?"),
        ({"net": "resnt20"}, "no network named 'resnt20'; did you mean resnet20?"),
        ({"objective": "consistent"}, "no objective named 'consistent'; did you mean consistency?"),
        ({"adversarial": "pdg"}, "no adversary named 'pdg'; did you mean pgd?"),
        (
            {"objective": "consistency"},
            "--objective consistency: it compares augmented copies of an image; name an augmentation of batches "
            "besides mirror and crop: --augment mirror,crop,augmix",
        ),
        (
            {"objective": "stability", "adversarial": "fgsm"},
            "--adversarial fgsm: it goes with the plain objective, not stability",
        ),
        (
            {"eps": 8},
            "--eps 8: it belongs to --adversarial NAME or --objective stability; name that too, or leave it out",
        ),
        (
            {"adversarial": "fgsm", "weight": 2},
            "--objective-weight 2: it belongs to --objective consistency or stability; name that too, or leave it out",
        ),
        ({"adversarial": "fgsm", "eps": 0}, "--eps 0: it must be above 0"),
        ({"epochs": 5, "warm_up": 5}, "--warm-up 5: from 0 to fewer than the 5 epochs of the training"),
    ],
)
def test_recipes_that_mean_nothing(said, message):
    with pytest.raises(UsageError) as caught:
        Recipe(**said)
    assert str(caught.value) == message


# reference: what the recipes of the zoo's first models described; their keys are digests of it
def test_what_came_later_does_not_change_the_keys_of_the_first_models():
    first = {"net", "epochs", "lr", "batch", "augment", "seed", "size", "momentum", "weight_decay"}
    assert set(Recipe().describe()) == first
    later = Recipe(objective="consistency", augment=("augmix",), schedule="steps:3", warm_up=1, precision="mixed")
    later = later.describe()
    assert {name: later[name] for name in later if name not in first} == {
        "objective": "consistency",
        "weight": 12.0,
        "schedule": "steps:3",
        "warm_up": 1,
        "precision": "mixed",
    }
    assert Recipe(adversarial="fast", eps=4) == Recipe(adversarial="fast")
    assert repr(Recipe(adversarial="fast", eps=4).eps) == "4.0", "one number has one key"


# reference: the definition, -log sigmoid of the right sign, in numpy
def test_the_loss_of_several_labels_is_that_of_every_class_alone():
    rng = np.random.default_rng(0)
    logits, labels, others = rng.normal(size=(5, 3)), np.array([0, 1, 2, 0, 1]), ((1,), (), (0, 1), (), (2,))
    training = Pixels(np.zeros((5, 2, 2, 3), np.uint8), labels, tuple("abcde"), others)
    rows = np.array([4, 0, 2])
    wanted = np.array([[0, 1, 1], [1, 1, 0], [1, 1, 1]])
    assert np.array_equal(training.take(rows).targets(3), wanted)
    loss, n_right = loss_for(training)(torch.from_numpy(logits[rows]).float(), rows)
    signed = np.where(wanted == 1, -logits[rows], logits[rows])
    assert float(loss) == pytest.approx(np.log1p(np.exp(signed)).mean(), rel=1e-6)
    assert n_right == sum(wanted[place, answer] for place, answer in enumerate(logits[rows].argmax(axis=1)))


def test_other_labels_are_another_training():
    images, ids = np.zeros((2, 2, 2, 3), np.uint8), ("a", "b")
    several = [Pixels(images, np.array([0, 1]), ids, others) for others in (None, ((), ()), ((1,), ()))]
    assert len({digest_of_pixels(one) for one in several}) == 3
