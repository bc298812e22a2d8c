"""Dawid and Skene's model: against plain loops, closed forms and a general optimiser; coverage by simulation.

The fit was compared with crowd-kit 1.4.2 once, on four sets of 2,000 images with 10 answers each and 5 spammers of 30
workers: with a smoothing of 1e-8 no posterior differed by more than 4e-7 after 60 of its steps. (By default it stops
earlier, at times too early: the bound that it watches counts the prevalence once per answer.)
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize
from scipy.special import expit, logit
from scipy.stats import binomtest, chi2

from made_answers import from_table, tables, world
from oodometer.build.testset.dawid_skene import dawid_skene, prevalence_of, sensitivity_of, specificity_of
from oodometer.build.testset.simulated_annotators import draw_annotators, draw_clearness, simulated_answers
from oodometer.core.errors import OodometerError

quick = settings(deadline=None, derandomize=True, max_examples=40)


# The model in plain loops


def chances_of(row, sensitivity, specificity):
    """The chance of a row of answers where the image shows its class, and where it does not."""
    shows = other = 1.0
    for says, one, another in zip(row, sensitivity, specificity, strict=True):
        if says >= 0:
            shows *= one if says else 1 - one
            other *= 1 - another if says else another
    return shows, other


def plain_height(table, known, rates, smoothing=1.0):
    """The logarithm of the likelihood, smoothing included."""
    prevalence, sensitivity, specificity = rates
    height = sum(smoothing * math.log(rate * (1 - rate)) for rate in (*sensitivity, *specificity))
    for row, truth in zip(table, known, strict=True):
        shows, other = chances_of(row, sensitivity, specificity)
        if truth == -1:
            height += math.log(prevalence * shows + (1 - prevalence) * other)
        else:
            height += math.log(shows if truth else other)
    return height


def plain_rates(table, posterior, known, smoothing, share=None):
    """Prevalence, where no share is said, and the rates of all workers."""
    sensitivity, specificity = [], []
    for column in table.T:
        asked = [(says, p) for says, p in zip(column, posterior, strict=True) if says >= 0]
        shown, others = sum(p for _, p in asked), sum(1 - p for _, p in asked)
        hits, noes = sum(p for says, p in asked if says), sum(1 - p for says, p in asked if not says)
        sensitivity.append((hits + smoothing) / (shown + 2 * smoothing))
        specificity.append((noes + smoothing) / (others + 2 * smoothing))
    asked = [p for row, p, truth in zip(table, posterior, known, strict=True) if truth == -1 and max(row) >= 0]
    return sum(asked) / len(asked) if share is None else share, sensitivity, specificity


def plain_posterior(table, known, rates):
    posterior = []
    for row, truth in zip(table, known, strict=True):
        shows, other = chances_of(row, *rates[1:])
        both = rates[0] * shows + (1 - rates[0]) * other
        posterior.append(truth if truth >= 0 else rates[0] * shows / both)
    return posterior


def plain_em(table, known, start, n_steps, smoothing=1.0):
    """EM in so many steps from the rates that these posteriors give; and how high it was after each."""
    rates, heights = plain_rates(table, start, known, smoothing), []
    for _ in range(n_steps):
        heights.append(plain_height(table, known, rates, smoothing))
        rates = plain_rates(table, plain_posterior(table, known, rates), known, smoothing)
    return rates, plain_posterior(table, known, rates), heights


def votes(table, known):
    shares = [np.mean([says for says in row if says >= 0] or [0]) for row in table]
    return [share if truth == -1 else truth for share, truth in zip(shares, known, strict=True)]


def rates_of(fit):
    return fit.prevalence, fit.sensitivity.tolist(), fit.specificity.tolist()


# The fit


@quick
@given(tables(), st.sampled_from([0.1, 1.0, 3.0]))
def test_without_controls_it_is_the_plain_loop(table, smoothing):
    assume((table >= 0).any())
    known = [-1] * len(table)
    fit = dawid_skene(from_table(table), smoothing=smoothing)
    rates, posterior, heights = plain_em(table, known, votes(table, known), fit.n_steps, smoothing)
    asked, working = (table >= 0).any(axis=1), (table >= 0).any(axis=0)
    assert fit.prevalence == pytest.approx(rates[0], abs=1e-9)
    assert fit.sensitivity[working] == pytest.approx(np.array(rates[1])[working], abs=1e-9)
    assert fit.specificity[working] == pytest.approx(np.array(rates[2])[working], abs=1e-9)
    assert fit.posterior[asked] == pytest.approx(np.array(posterior)[asked], abs=1e-9)
    assert np.isnan(fit.posterior[~asked]).all()
    assert np.isnan([fit.sensitivity[~working], fit.specificity[~working]]).all()
    assert (np.diff(heights) > -1e-9).all()  # no step of EM goes down


@settings(deadline=None, derandomize=True, max_examples=15)
@given(tables(), st.data())
def test_with_controls_it_is_the_higher_of_two_plain_loops(table, data):
    known = data.draw(st.lists(st.integers(-1, 1), min_size=len(table), max_size=len(table)))
    candidate = np.array(known) == -1
    asked = (table >= 0).any(axis=1) & candidate
    assume(asked.any() and (table[~candidate] >= 0).any())
    fit = dawid_skene(from_table(table, np.array(known)))
    assume(fit.converged)
    voted = votes(table, known)
    # The second begins with the workers' rates on controls alone.
    _, *on_controls = plain_rates(np.where(candidate[:, None], -1, table), voted, [-1] * len(table), 1.0, share=0.5)
    second = plain_posterior(table, known, (plain_rates(table, voted, known, 1.0)[0], *on_controls))
    climbs = [plain_em(table, known, start, fit.n_steps + 300) for start in (voted, second)]
    heights = [plain_height(table, known, rates) for rates, _, _ in climbs]
    assert fit.log_likelihood == pytest.approx(max(heights), abs=1e-5)
    if abs(heights[0] - heights[1]) > 1e-4:  # else they may be mirrored hills of the same height
        posterior = climbs[int(np.argmax(heights))][1]
        assert fit.posterior[asked] == pytest.approx(np.array(posterior)[asked], abs=1e-3)


def test_the_likelihood_is_the_plain_one_and_no_optimiser_finds_a_better_one():
    made = small_world(seed=3)
    table, known = table_of(made.answers), made.answers.known.tolist()
    fit = dawid_skene(made.answers)
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(plain_height(table, known, rates_of(fit)), abs=1e-9)
    # reference: scipy.optimize.minimize from there, on all rates at once
    found = minimize(lambda x: -height_at(table, known, x), logits_of(fit), method="L-BFGS-B")
    assert -found.fun == pytest.approx(fit.log_likelihood, abs=1e-5)
    assert expit(found.x) == pytest.approx(expit(logits_of(fit)), abs=2e-3)


def small_world(seed, n_images=24):
    return world(
        np.array([0.9, 0.7, 0.85]), np.array([0.8, 0.9, 0.6]), n_images=n_images, n_per_image=2, n_controls=8, seed=seed
    )


def table_of(answers):
    table = np.full((answers.n_images, answers.n_workers), -1)
    table[answers.image, answers.worker] = answers.selected
    return table


def logits_of(fit):
    return logit(np.array([fit.prevalence, *fit.sensitivity, *fit.specificity]))


def height_at(table, known, logits, smoothing=1.0):
    chances = expit(logits).clip(1e-12, 1 - 1e-12).tolist()
    n = table.shape[1]
    return plain_height(table, known, (chances[0], chances[1 : n + 1], chances[n + 1 :]), smoothing)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_images_workers_and_answers_does_not_matter(seed):
    made = small_world(seed, 60)
    rng = np.random.default_rng(seed)
    table, known = table_of(made.answers), made.answers.known
    images, workers, rows = rng.permutation(60), rng.permutation(3), rng.permutation(len(made.answers))
    before, after = dawid_skene(made.answers), dawid_skene(from_table(table[images][:, workers], known[images]))
    assert after.posterior == pytest.approx(before.posterior[images], abs=1e-9)
    assert after.sensitivity == pytest.approx(before.sensitivity[workers], abs=1e-9)
    answers = made.answers
    shuffled = replace(answers, image=answers.image[rows], worker=answers.worker[rows], selected=answers.selected[rows])
    assert dawid_skene(shuffled).posterior == pytest.approx(before.posterior, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_yes_and_no_may_change_places(seed):
    answers = small_world(seed, 60).answers
    known = np.where(answers.known == -1, -1, 1 - answers.known)
    fit, turned = dawid_skene(answers), dawid_skene(replace(answers, selected=~answers.selected, known=known))
    assert turned.posterior == pytest.approx(1 - fit.posterior, abs=1e-6)
    assert turned.sensitivity == pytest.approx(fit.specificity, abs=1e-6)
    assert turned.specificity == pytest.approx(fit.sensitivity, abs=1e-6)
    assert turned.prevalence == pytest.approx(1 - fit.prevalence, abs=1e-6)


def test_the_same_answers_give_the_same_bytes():
    one, other = (dawid_skene(small_world(1).answers) for _ in range(2))
    assert one.posterior.tobytes() == other.posterior.tobytes()
    assert (one.n_steps, one.log_likelihood) == (other.n_steps, other.log_likelihood)


def test_perfect_annotators():
    shows = np.arange(40) < 28
    fit = dawid_skene(from_table(np.repeat(shows[:, None], 10, axis=1).astype(np.int64)))
    assert fit.converged
    assert fit.posterior == pytest.approx(shows.astype(float), abs=1e-9)
    assert fit.prevalence == pytest.approx(0.7, abs=1e-9)
    # closed form: one right and one wrong answer are added
    assert fit.sensitivity == pytest.approx(np.full(10, 29 / 30), abs=1e-9)
    assert fit.specificity == pytest.approx(np.full(10, 13 / 14), abs=1e-9)


def test_all_are_spammers():
    rates = np.linspace(0.1, 0.9, 12)
    made = world(rates, 1 - rates, n_images=600, n_per_image=6, n_controls=400, seed=0)
    fit = dawid_skene(made.answers)
    # About 100 controls of each kind behind each rate: the standard error of the sum is 0.07 at most.
    assert np.abs(fit.sensitivity + fit.specificity - 1).max() < 0.28
    assert np.abs(fit.sensitivity + fit.specificity - 1).mean() < 0.1


def test_controls_turn_around_a_majority_that_is_wrong():
    rates = np.array([0.1, 0.15, 0.2, 0.9, 0.95])
    made = world(rates, rates, n_images=400, n_per_image=5, n_controls=40, seed=2)
    assert (made.answers.n_selected[40:] > 2).mean() < 0.5  # the majority denies most of what is shown
    fit = dawid_skene(made.answers)
    assert ((fit.posterior > 0.5) == made.shows).mean() > 0.95
    assert fit.sensitivity == pytest.approx(rates, abs=0.1)
    # without controls nobody can know that
    blind = dawid_skene(replace(made.answers, known=np.full(400, -1)))
    assert ((blind.posterior > 0.5) == made.shows).mean() < 0.05


def test_controls_say_nothing_about_the_prevalence():
    shows = np.arange(100) < 30
    table = np.repeat(shows[:, None], 5, axis=1).astype(np.int64)
    known = np.where(np.arange(100) < 20, 1, -1)  # twenty that show it are known: ten of eighty are left
    assert dawid_skene(from_table(table, known)).prevalence == pytest.approx(10 / 80, abs=1e-6)


def test_dawid_and_skene_beat_the_majority():
    """2,000 images with 10 answers each, 5 spammers of 30 workers.

    How far both are right depends on the workers: ten sets each (seeds 0 to 9) gave 0.9986 and 0.9939 in the mean with
    rates of 0.85 to 0.95, as here, 0.9967 and 0.9889 with 0.8 to 0.95, 0.9882 and 0.9721 with 0.7 to 0.95. The
    model was ahead in all thirty.
    """
    rng = np.random.default_rng(0)
    sensitivity, specificity = rng.uniform(0.85, 0.95, (2, 30))
    sensitivity[:5] = rng.random(5)
    specificity[:5] = 1 - sensitivity[:5]
    made = world(sensitivity, specificity, n_images=2000, n_per_image=10, n_controls=0, seed=0)
    fit = dawid_skene(made.answers)
    majority = made.answers.n_selected >= 5
    right, by_vote = ((said == made.shows).mean() for said in (fit.posterior > 0.5, majority))
    assert fit.converged
    assert right >= 0.996
    assert right > by_vote + 0.002
    # About 400 images of each kind behind each rate.
    assert fit.sensitivity == pytest.approx(sensitivity, abs=0.08)


def test_they_also_do_where_some_images_are_hard_for_everybody():
    clearness = draw_clearness(1000)
    answers = simulated_answers(clearness, draw_annotators(30, n_spammers=5), n_per_image=10)
    fit = dawid_skene(answers)
    right, by_vote = ((said == (clearness > 0)).mean() for said in (fit.posterior > 0.5, answers.n_selected >= 5))
    # Four sets of 1,750 candidates and 250 controls gave 0.970 and 0.959 in the mean.
    assert right > by_vote
    assert right > 0.95


# What is no fit


def test_too_few_steps_are_said():
    answers = small_world(0).answers
    fit = dawid_skene(answers, most_steps=2)
    assert (fit.converged, fit.n_steps) == (False, 2)
    found = prevalence_of(answers, fit)
    assert (found.low, found.high, found.interval) == (None, None, "none: the fit has not converged")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: dawid_skene(from_table(np.array([[-1, -1], [1, 0]]), np.array([-1, 1]))),
            "no candidate has an answer: there is nothing to find out",
        ),
        (lambda: dawid_skene(one(), smoothing=0.0), "smoothing 0.0: must be above 0, for example 1"),
        (lambda: dawid_skene(one(), smoothing=math.nan), "smoothing nan: must be above 0, for example 1"),
        (lambda: dawid_skene(one(), most_steps=0), "0 steps of EM: it needs one or more"),
        (lambda: sensitivity_of(one(), dawid_skene(one()), 3), "no worker 3: numbers run from 0 to 2"),
        (
            lambda: specificity_of(one(), dawid_skene(one()), 2),
            "worker 2 has no answers: nothing is known of their rates",
        ),
        (
            lambda: prevalence_of(one(), dawid_skene(small_world(0).answers)),
            "the model was fitted to other answers: fit it to these first",
        ),
    ],
)
def test_what_cannot_be_fitted_is_an_error(make, message):
    with pytest.raises(OodometerError) as caught:
        make()
    assert str(caught.value) == message


def one():
    return from_table(np.array([[1, 0, -1], [1, 1, -1]]))


# Intervals


def binomial_interval(successes, n):
    """All shares whose likelihood ratio is not below the 95 % quantile of χ²: a closed form but for two roots."""

    def fall(share):
        def height(at):
            terms = ((successes, at), (n - successes, 1 - at))
            return sum(k * math.log(chance) for k, chance in terms if k)

        return 2 * (height(successes / n) - height(share)) - chi2.ppf(0.95, 1)

    low = 0.0 if successes == 0 else brentq(fall, 1e-9, successes / n)
    high = 1.0 if successes == n else brentq(fall, successes / n, 1 - 1e-9)
    return low, high


def on_controls(hits, n_positive, rejections, n_negative):
    """One worker on controls, and another on a candidate."""
    column = [1] * hits + [0] * (n_positive - hits) + [0] * rejections + [1] * (n_negative - rejections)
    table = np.full((len(column) + 1, 2), -1)
    table[:-1, 0], table[-1, 1] = column, 1
    return from_table(table, np.array([1] * n_positive + [0] * n_negative + [-1]))


@pytest.mark.parametrize(("hits", "rejections"), [(15, 9), (20, 1), (11, 0)])
def test_on_controls_alone_rates_have_the_interval_of_a_binomial_share(hits, rejections):
    answers = on_controls(hits, 20, rejections, 12)
    fit = dawid_skene(answers)
    for found, successes, n in (
        (sensitivity_of(answers, fit, 0), hits, 20),
        (specificity_of(answers, fit, 0), rejections, 12),
    ):
        # closed forms: one right and one wrong answer are added; the likelihood ratio of a binomial share
        assert found.value == pytest.approx((successes + 1) / (n + 2), abs=1e-9)
        assert (found.low, found.high) == pytest.approx(binomial_interval(successes, n), abs=1e-5)
        assert (found.n, found.interval) == (32, "profile likelihood 95%")


def test_who_is_always_right_on_controls():
    answers = on_controls(25, 25, 3, 3)
    found = sensitivity_of(answers, dawid_skene(answers), 0)
    # closed form: n log(rate) = −χ² / 2
    assert (found.low, found.high) == (pytest.approx(math.exp(-chi2.ppf(0.95, 1) / 50), abs=1e-5), 1.0)


def test_a_rate_that_nothing_tells_may_be_anything():
    answers = on_controls(5, 8, 0, 0)
    found = specificity_of(answers, dawid_skene(answers), 0)
    assert (found.value, found.low, found.high) == (0.5, 0.0, 1.0)


def test_the_prevalence_of_perfect_annotators_has_the_interval_of_a_binomial_share():
    shows = np.arange(40) < 28
    answers = from_table(np.repeat(shows[:, None], 10, axis=1).astype(np.int64))
    found = prevalence_of(answers, dawid_skene(answers))
    assert (found.low, found.high) == pytest.approx(binomial_interval(28, 40), abs=1e-5)
    assert found.n == 40


def test_all_candidates_show_the_class():
    table = np.ones((90, 8), dtype=np.int64)
    table[:30] = 0
    answers = from_table(table, np.repeat([0, 1, -1], 30))
    found = prevalence_of(answers, dawid_skene(answers))
    # closed form: n log(prevalence) = −χ² / 2
    assert found.value == pytest.approx(1, abs=1e-5)
    assert (found.low, found.high) == pytest.approx((math.exp(-chi2.ppf(0.95, 1) / 60), 1.0), abs=1e-3)


def test_without_controls_who_always_says_yes_tells_nothing():
    answers = from_table(np.ones((30, 8), dtype=np.int64))
    found = prevalence_of(answers, dawid_skene(answers))
    assert (found.low, found.high) == (0.0, 1.0)


def highest(height, start):
    options = {"maxiter": 4000, "ftol": 1e-12, "gtol": 1e-8}
    return -minimize(lambda x: -height(x), start, method="L-BFGS-B", options=options).fun


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("which", ["prevalence", "sensitivity", "specificity"])
def test_at_the_ends_the_profile_has_fallen_by_as_much_as_it_should(which, level):
    rates = np.array([0.9, 0.7, 0.85]), np.array([0.8, 0.9, 0.6])
    answers = world(*rates, n_images=60, n_per_image=3, n_controls=16, seed=1).answers
    table, known = table_of(answers), answers.known.tolist()
    fit = dawid_skene(answers)
    at, of = {
        "prevalence": (0, lambda: prevalence_of(answers, fit, level=level)),
        "sensitivity": (2, lambda: sensitivity_of(answers, fit, 1, level=level)),
        "specificity": (6, lambda: specificity_of(answers, fit, 2, level=level)),
    }[which]
    found = of()

    def height(logits):
        """The plain one without smoothing of the rate in question."""
        own = expit(logits[at])
        return height_at(table, known, logits) - (0 if at == 0 else math.log(own * (1 - own)))

    def profile(value):
        # reference: scipy.optimize.minimize on all other rates
        return highest(lambda rest: height(np.insert(rest, at, logit(value))), np.delete(logits_of(fit), at))

    top = highest(height, logits_of(fit))
    assert 0 < found.low < found.value < found.high < 1
    for end in (found.low, found.high):
        assert 2 * (top - profile(end)) == pytest.approx(chi2.ppf(level, 1), abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("n_controls", [0, 30])
def test_intervals_cover(n_controls):
    """By simulation: 150 images with 5 answers each; 300 sets gave 0.94 to 0.99 for each of these.

    The likelihood ratio covers a rate near 1 too often, with so few answers behind it: a worker has 60.
    """
    sensitivity = np.linspace(0.7, 0.97, 12)
    specificity = np.linspace(0.97, 0.7, 12)[np.arange(12) * 5 % 12]
    held, n_sets = np.zeros(4), 80
    for seed in range(n_sets):
        made = world(sensitivity, specificity, n_images=150, n_per_image=5, n_controls=n_controls, seed=1000 + seed)
        fit = dawid_skene(made.answers)
        found = [
            (prevalence_of(made.answers, fit), 0.6),
            (sensitivity_of(made.answers, fit, 0), sensitivity[0]),
            (sensitivity_of(made.answers, fit, 11), sensitivity[11]),
            (specificity_of(made.answers, fit, 5), specificity[5]),
        ]
        held += [one.low is not None and one.low <= truth <= one.high for one, truth in found]
    assert [binomtest(int(k), n_sets, 0.95, alternative="less").pvalue > 0.005 for k in held] == [True] * 4
