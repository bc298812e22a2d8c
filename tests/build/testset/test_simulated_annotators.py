"""Simulated annotators: their closed form, and that an answer depends on nothing but what it is for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, kstest, norm

from oodometer.build.testset.simulated_annotators import (
    SIGMA,
    THRESHOLD_SPREAD,
    Annotators,
    asked_about,
    draw_annotators,
    draw_clearness,
    says_yes,
    selection_probability,
    simulated_answers,
)
from oodometer.core.errors import OodometerError


def workers(sigma, threshold, spam=np.nan):
    return Annotators(*np.broadcast_arrays(np.atleast_1d(sigma), np.atleast_1d(threshold), np.atleast_1d(spam)))


@pytest.mark.parametrize(("clearness", "sigma", "threshold"), [(0.5, 1.0, 0.0), (-0.3, 0.5, 0.2), (1.0, 2.0, -1.0)])
def test_how_often_a_worker_says_yes(clearness, sigma, threshold):
    worker = workers(sigma, threshold)
    # closed form: d + sigma N > t with probability Φ((d − t) / sigma)
    chance = norm.cdf((clearness - threshold) / sigma)
    assert selection_probability(np.array([clearness]), worker) == pytest.approx(np.array([[chance]]), abs=1e-12)
    yes = sum(says_yes(clearness, worker, (image, 0)) for image in range(3000))
    assert binomtest(yes, 3000, chance).pvalue > 0.001


def test_a_spammer_does_not_look():
    spammer = workers(1.0, 0.0, 0.3)
    said = [[says_yes(clearness, spammer, (image, 0)) for image in range(3000)] for clearness in (-9.0, 9.0)]
    assert said[0] == said[1]
    assert binomtest(sum(said[0]), 3000, 0.3).pvalue > 0.001
    assert selection_probability(np.array([-9.0, 9.0]), spammer).tolist() == [[0.3], [0.3]]


def test_without_noise_the_threshold_decides():
    worker = workers(0.0, 0.5)
    assert selection_probability(np.array([0.4, 0.5, 0.6]), worker).tolist() == [[0.0], [0.0], [1.0]]
    assert [says_yes(clearness, worker, (0, 0)) for clearness in (0.4, 0.5, 0.6)] == [False, False, True]


def by_pair(answers):
    pairs = zip(answers.image.tolist(), answers.worker.tolist(), strict=True)
    return dict(zip(pairs, answers.selected.tolist(), strict=True))


def test_an_answer_does_not_depend_on_which_others_are_drawn():
    clearness, annotators = draw_clearness(40, seed=3), draw_annotators(12, n_spammers=2, seed=3)
    everything = by_pair(simulated_answers(clearness, annotators, n_per_image=12, seed=3))
    assert len(everything) == 40 * 12
    for some in (
        simulated_answers(clearness, annotators, n_per_image=5, seed=3),
        simulated_answers(clearness[:7], annotators, n_per_image=12, seed=3),
    ):
        assert by_pair(some).items() <= everything.items()
    pairs = [(39, 11), (0, 3), (17, 0)]
    alone = [says_yes(float(clearness[image]), annotators, (image, worker), seed=3) for image, worker in pairs]
    assert alone == [everything[pair] for pair in pairs]
    other = by_pair(simulated_answers(clearness, annotators, n_per_image=12, seed=4))
    assert other != everything


def test_images_and_workers_stay_the_same_where_there_are_more_of_them():
    assert draw_clearness(5).tolist() == draw_clearness(50)[:5].tolist()
    few, many = draw_annotators(4), draw_annotators(9, n_spammers=3)
    assert (few.sigma.tolist(), few.threshold.tolist()) == (many.sigma[:4].tolist(), many.threshold[:4].tolist())
    assert many.is_spammer.tolist() == [False] * 6 + [True] * 3


def test_what_is_drawn_is_distributed_as_it_should_be():
    clearness = draw_clearness(2000, prevalence=0.3, plainness=2.0)
    assert binomtest(int((clearness > 0).sum()), 2000, 0.3).pvalue > 0.001

    def below(size):  # closed form: of |N(2, 1)|
        return norm.cdf(size - 2) - norm.cdf(-size - 2)

    assert kstest(np.abs(clearness), below).pvalue > 0.001
    annotators = draw_annotators(1000)
    assert kstest(annotators.sigma, "uniform", args=(SIGMA[0], SIGMA[1] - SIGMA[0])).pvalue > 0.001
    assert kstest(annotators.threshold, "norm", args=(0, THRESHOLD_SPREAD)).pvalue > 0.001


def test_each_image_is_shown_to_as_many_workers_all_of_whom_get_work():
    answers = simulated_answers(draw_clearness(600), draw_annotators(20), n_per_image=5)
    assert set(answers.n_answers.tolist()) == {5}
    # 150 each in the mean; a worker has a quarter of the images
    n = np.bincount(answers.worker)
    assert [binomtest(int(one), 600, 0.25).pvalue > 0.0001 for one in n] == [True] * 20
    assert len(set(asked_about(0, 20, 20).tolist())) == 20


def test_answers_are_as_frequent_as_the_closed_form_says():
    clearness, annotators = draw_clearness(300, seed=1), draw_annotators(10, n_spammers=2, seed=1)
    answers = simulated_answers(clearness, annotators, n_per_image=10, seed=1)
    chance = selection_probability(clearness, annotators)
    said = np.zeros(chance.shape)
    said[answers.image, answers.worker] = answers.selected
    # The sum of independent answers, by its mean and variance
    for axis in (None, 0):
        z = (said - chance).sum(axis=axis) / np.sqrt((chance * (1 - chance)).sum(axis=axis))
        assert np.abs(z).max() < 4


def test_controls_say_what_they_show():
    clearness = draw_clearness(30)
    control = np.arange(30) < 10
    answers = simulated_answers(clearness, draw_annotators(5), n_per_image=2, is_control=control)
    assert answers.known.tolist() == [int(clearness[at] > 0) if at < 10 else -1 for at in range(30)]
    assert simulated_answers(clearness, draw_annotators(5), n_per_image=2).is_candidate.all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: draw_clearness(3, prevalence=1.5), "prevalence 1.5: must lie in [0, 1]"),
        (
            lambda: draw_annotators(3, n_spammers=4),
            "4 spammers of 3 workers: there can't be more of them, or fewer than 0",
        ),
        (
            lambda: simulated_answers(np.zeros(2), draw_annotators(3), n_per_image=4),
            "4 answers per image of 3 workers: each answers once",
        ),
        (lambda: workers(-1.0, 0.0), "sigma is the size of a noise: it must be 0 or more"),
        (
            lambda: workers(1.0, 0.0, 1.2),
            "spam_rate is a share: it must lie in [0, 1], or be NaN for who is no spammer",
        ),
        (
            lambda: Annotators(np.ones(2), np.zeros(3), np.zeros(3)),
            "sigma, threshold and spam_rate: expected one number each for every worker",
        ),
    ],
)
def test_what_cannot_be_simulated_is_an_error(make, message):
    with pytest.raises(OodometerError) as caught:
        make()
    assert str(caught.value) == message
