"""What is learned from a batch, against its definition in numpy and scipy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon
from scipy.special import log_softmax, softmax
from scipy.stats import entropy

from oodometer.core.model import Input
from oodometer.core.preprocessing import Geometry
from oodometer.train.augment.registry import Moment, augmentations, augmented
from oodometer.train.lesson import Lesson
from oodometer.train.loop import Work, lesson_of, loss_for, make_optimizer, train_epochs
from oodometer.train.networks.registry import build_network
from oodometer.train.objectives.consistency import jensen_shannon
from oodometer.train.objectives.registry import objectives
from oodometer.train.objectives.stability import cross_entropy
from oodometer.train.pixels import Pixels
from oodometer.train.recipe import Recipe

SIDE, N = 12, 24
RNG = np.random.default_rng(0)
LABELS = np.arange(N) % 3
IMAGES = (RNG.integers(0, 60, size=(N, SIDE, SIDE, 3)) + 60 * LABELS[:, None, None, None]).astype(np.uint8)
GIVEN = Input(Geometry(SIDE, SIDE), mean=(0.4, 0.5, 0.6), std=(0.2, 0.25, 0.3))
A, B, C = RNG.normal(0, 3, size=(3, 7, 5))


def lesson(recipe: Recipe) -> Lesson:
    network = build_network(recipe.net, n_classes=3, size=(SIDE, SIDE))
    if recipe.net == "linear":
        with torch.no_grad():
            network[1].weight.normal_(0, 0.05, generator=torch.Generator().manual_seed(0))
    training = Pixels(IMAGES, LABELS, tuple(str(one) for one in range(N)))
    return lesson_of(
        Work(network, training, training, GIVEN, recipe), np.arange(N), Moment(0, 4, 0), loss_for(training)
    )


# reference: the mean of scipy's Kullback-Leibler divergences from the mean answer; of two, the square of its distance
def test_jensen_shannon():
    p, q, r = (softmax(one, axis=1) for one in (A, B, C))
    mean = (p + q + r) / 3
    expected = np.mean([entropy(one, mean, axis=1).mean() for one in (p, q, r)])
    several = [torch.from_numpy(one) for one in (A, B, C)]
    assert float(jensen_shannon(several)) == pytest.approx(expected, rel=1e-6)
    assert float(jensen_shannon(several[:2])) == pytest.approx(np.mean(jensenshannon(p, q, axis=1) ** 2), rel=1e-6)
    assert float(jensen_shannon([several[0]] * 3)) == pytest.approx(0, abs=1e-12)


def test_sure_answers_that_disagree_stay_finite():
    sure = [100 * torch.eye(3)[[index]] for index in range(3)]
    for one in sure:
        one.requires_grad_()
    divergence = jensen_shannon(sure)
    divergence.backward()
    assert float(divergence.detach()) == pytest.approx(np.log(3), rel=1e-5)  # the most that three answers can disagree
    assert all(torch.isfinite(one.grad).all() for one in sure)


# reference: the definition in scipy
def test_cross_entropy_from_clean_to_noisy():
    expected = -(softmax(A, axis=1) * log_softmax(B, axis=1)).sum(axis=1).mean()
    assert float(cross_entropy(torch.from_numpy(A), torch.from_numpy(B))) == pytest.approx(expected, rel=1e-9)


# reference: the parts, each computed on its own; a linear classifier answers each image alone
def test_consistency_compares_the_plain_image_with_two_copies():
    recipe = Recipe(net="linear", augment=("mirror", "augmix", "crop"), size=SIDE, objective="consistency")
    batch = lesson(recipe)
    plain = augmented(IMAGES, ("mirror", "crop"), batch.moment)
    copies = [augmented(plain, ("augmix",), replace(batch.moment, copy=copy)) for copy in range(2)]
    assert not np.array_equal(*copies)
    logits = [batch.ask(one) for one in (plain, *copies)]
    loss, n_right = objectives.get("consistency").of(batch)
    own, own_right = batch.judge(logits[0])
    assert float(loss.detach()) == pytest.approx(float((own + 12 * jensen_shannon(logits)).detach()), rel=1e-5)
    assert n_right == own_right
    half, _ = objectives.get("consistency").of(lesson(replace(recipe, weight=6)))
    assert float(half.detach()) == pytest.approx(float((own + 6 * jensen_shannon(logits)).detach()), rel=1e-5)


def test_the_first_copy_is_what_the_plain_objective_sees():
    names = ("mirror", "crop", "augmix")
    batch = lesson(Recipe(net="linear", augment=names, size=SIDE))
    assert np.array_equal(batch.plain_and_copies(1)[1], batch.augmented())


def test_stability_adds_little_where_noise_changes_nothing():
    recipe = Recipe(net="linear", augment=(), size=SIDE, objective="stability")
    assert (recipe.weight, recipe.eps) == (0.05, 12.75)
    batch = lesson(recipe)
    logits = batch.ask(IMAGES)
    own, own_right = batch.judge(logits)
    # With hardly any noise the term is the entropy of the answer, by the definition.
    quiet = lesson(replace(recipe, eps=1e-3, weight=2.0))
    loss, n_right = objectives.get("stability").of(quiet)
    entropies = entropy(softmax(logits.detach().double().numpy(), axis=1), axis=1)
    assert float(loss.detach()) == pytest.approx(float(own.detach()) + 2 * entropies.mean(), rel=1e-4)
    assert n_right == own_right
    louder, _ = objectives.get("stability").of(lesson(replace(recipe, eps=200, weight=2.0)))
    assert float(louder.detach()) > float(loss.detach())


@pytest.mark.parametrize("name", objectives.names())
def test_a_network_learns_by_each(name):
    recipe = Recipe(
        net="resnet8x0.5", epochs=4, lr=0.05, batch=8, size=SIDE, objective=name, augment=("mirror", "augmix")
    )
    batch, told = lesson(recipe), []
    training = Pixels(IMAGES, LABELS, tuple(str(one) for one in range(N)))
    work = Work(batch.network, training, training, GIVEN, recipe)
    train_epochs(work, make_optimizer(work.network, recipe), first=0, after=told.append)
    assert told[-1].loss < told[0].loss
    assert told[-1].iid_accuracy > 0.9  # the three classes differ in brightness


def test_every_copy_has_draws_of_its_own():
    names = [name for name in augmentations.names() if name not in ("mirror", "crop", "crop-black")]
    batch = lesson(Recipe(net="linear", augment=tuple(names), size=SIDE))
    first, second = batch.plain_and_copies(2)[1:]
    assert not np.array_equal(first, second)
    assert np.array_equal(first, batch.plain_and_copies(1)[1])


METHODS = [
    {"augment": ("mirror", "augmix"), "objective": "consistency"},
    {"objective": "stability"},
    {"adversarial": "fgsm"},
    {"adversarial": "zero-step"},
]


@pytest.mark.parametrize("said", METHODS, ids=lambda said: said.get("objective", said.get("adversarial")))
@pytest.mark.parametrize("net", ["shake-shake8-2x4d", "msdnet2-2"])
def test_methods_go_with_networks_that_draw_or_answer_on_the_way(net, said):
    training = Pixels(IMAGES, LABELS, tuple(str(one) for one in range(N)))
    recipe = Recipe(net=net, epochs=1, batch=8, size=SIDE, lr=0.01, **said)
    weights = []
    for torch_seed in (0, 1):
        torch.manual_seed(torch_seed)  # what torch draws elsewhere must not matter
        work = Work(build_network(net, n_classes=3, size=(SIDE, SIDE)), training, training, GIVEN, recipe)
        train_epochs(work, make_optimizer(work.network, recipe), first=0, after=lambda epoch: None)
        weights.append(torch.cat([one.detach().flatten() for one in work.network.parameters()]))
    assert torch.isfinite(weights[0]).all()
    assert torch.equal(*weights)


# by hand: the cross-entropy of every classifier for the images, which come first; copies count in the term beside it
@pytest.mark.parametrize("said", METHODS[:2], ids=["consistency", "stability"])
def test_classifiers_on_the_way_learn_the_labels_of_the_images_alone(said):
    batch = lesson(Recipe(net="msdnet2-2", size=SIDE, **said))
    batch.network.train()
    answers = []
    batch.network.register_forward_hook(lambda module, given, answer: answers.append([*module.side_logits, answer]))
    loss, _ = objectives.get(said["objective"]).of(batch)
    ((side, last),) = answers
    labels = torch.from_numpy(LABELS)
    term = (jensen_shannon if said["objective"] == "consistency" else lambda two: cross_entropy(*two))(last.split(N))
    expected = sum(torch.nn.functional.cross_entropy(one[:N], labels) for one in (side, last))
    assert len(side) == len(last) > N
    torch.testing.assert_close(loss, expected + batch.recipe.weight * term)


def test_an_adversary_climbs_the_loss_of_the_answer_alone():
    batch = lesson(Recipe(net="msdnet2-2", size=SIDE, adversarial="fgsm"))
    batch.network.train()
    batch.ask(IMAGES)
    assert len(batch.network.side_logits) == 1, "left over from a step that was learned from"
    batch.network.eval()
    pixels = batch.pixels(IMAGES).requires_grad_()
    loss = torch.nn.functional.cross_entropy(batch.ask_pixels(pixels).double(), torch.from_numpy(LABELS))
    (expected,) = torch.autograd.grad(loss, pixels)
    assert batch.network.side_logits == []
    torch.testing.assert_close(batch._gradients(pixels), expected)
