"""Agreement of annotators: against plain loops, statsmodels, a published example and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from scipy.stats import binomtest
from statsmodels.stats.inter_rater import fleiss_kappa as kappa_of_statsmodels

from made_answers import from_table, tables
from oodometer.build.testset.agreement import fleiss_kappa, krippendorff_alpha
from oodometer.build.testset.answers import about
from oodometer.core.errors import OodometerError
from oodometer.stats.bootstrap import Resampling, bootstrap

quick = settings(deadline=None, derandomize=True, max_examples=80)
FEW = Resampling(draws=100)


def plain_alpha(table):
    """By the matrix of coincidences (Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C)."""
    matrix = np.zeros((2, 2))
    for row in table:
        said = [says for says in row if says >= 0]
        for at, one in enumerate(said):
            for other in said[:at] + said[at + 1 :]:
                matrix[one, other] += 1 / (len(said) - 1)
    n, totals = matrix.sum(), matrix.sum(axis=0)
    if 0 in totals:
        return None
    observed, expected = matrix[0, 1] + matrix[1, 0], 2 * totals[0] * totals[1] / (n - 1)
    return 1 - observed / expected


def differing(table):
    """Whether there are two different answers about images with two answers or more."""
    return plain_alpha(table) is not None


@quick
@given(tables())
def test_alpha_against_the_plain_loop(table):
    assume(differing(table))
    found = krippendorff_alpha(from_table(table), resampling=FEW)
    assert found.value == pytest.approx(plain_alpha(table), abs=1e-12)
    assert found.n == ((table >= 0).sum(axis=1) > 1).sum()


def test_alpha_of_krippendorffs_own_example():
    # Krippendorff 2011, section A: two observers, ten articles, alpha = 0.095
    meg, owen = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    found = krippendorff_alpha(from_table(np.array([meg, owen]).T))
    assert round(found.value, 3) == 0.095


@quick
@given(tables(least=0))
def test_kappa_against_statsmodels(table):
    assume(0 < table.sum() < table.size)
    yes = table.sum(axis=1)
    # reference: statsmodels.stats.inter_rater.fleiss_kappa
    reference = kappa_of_statsmodels(np.column_stack([table.shape[1] - yes, yes]))
    assert fleiss_kappa(from_table(table), resampling=FEW).value == pytest.approx(reference, abs=1e-12)


@quick
@given(tables(least=0))
def test_alpha_is_kappa_with_a_correction_for_few_answers(table):
    assume(0 < table.sum() < table.size)
    kappa = fleiss_kappa(from_table(table), resampling=FEW).value
    # closed form: both compare the same pairs, alpha draws its pairs by chance without replacement
    assert krippendorff_alpha(from_table(table), resampling=FEW).value == pytest.approx(
        kappa + (1 - kappa) / table.size, abs=1e-12
    )


@quick
@given(tables())
def test_the_order_of_images_and_workers_and_the_name_of_the_answers_do_not_matter(table):
    assume(differing(table))
    rng = np.random.default_rng(0)
    changed = table[rng.permutation(len(table))][:, rng.permutation(table.shape[1])]
    changed = np.where(changed >= 0, 1 - changed, -1)
    before, after = (krippendorff_alpha(from_table(one), resampling=FEW) for one in (table, changed))
    assert after.value == pytest.approx(before.value, abs=1e-12)


@pytest.mark.parametrize("of", [krippendorff_alpha, fleiss_kappa])
def test_all_agree_and_all_differ(of):
    agreeing = np.repeat(np.arange(30)[:, None] % 2, 4, axis=1)
    found = of(from_table(agreeing))
    assert (found.value, found.low, found.interval) == (1.0, None, "none: all bootstrap draws are equal")
    differing = np.tile([0, 1], (30, 1))
    # closed forms: every pair of answers differs, of the 60 by chance 30/59 (alpha) or half (kappa)
    expected = 1 - 59 / 30 if of is krippendorff_alpha else -1.0
    assert of(from_table(differing)).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_the_interval_is_that_of_the_bootstrap_over_images(method):
    rng = np.random.default_rng(4)
    table = (rng.random((50, 6)) < rng.random((50, 1))).astype(np.int64)
    gaps = np.where(rng.random((50, 6)) < 0.3, -1, table)
    resampling = Resampling(draws=150, method=method, seed=7)
    found = krippendorff_alpha(from_table(gaps), resampling=resampling)
    # reference: the plain loop on each of the same resamples
    reference = bootstrap([gaps], plain_alpha, resampling=resampling)
    # (BCa counts the answers of an image left out into the pairs that chance gives: one in some hundred of the square.)
    assert (found.low, found.high) == pytest.approx((reference.low, reference.high), abs=1e-6)
    assert (found.interval, found.n) == (reference.interval, 50)
    assert found.low < found.value < found.high

    def statsmodels(rows):
        yes = rows.sum(axis=1)
        return kappa_of_statsmodels(np.column_stack([6 - yes, yes]))

    found = fleiss_kappa(from_table(table), resampling=resampling)
    reference = bootstrap([table], statsmodels, resampling=resampling)
    assert (found.low, found.high) == pytest.approx((reference.low, reference.high), abs=1e-9)


def test_few_images_have_no_interval():
    found = krippendorff_alpha(from_table(np.array([[1, 1], [0, 0], [1, 1]])))
    assert (found.value, found.low, found.interval) == (1.0, None, "none: too few images for a bootstrap")


def test_controls_can_be_left_out():
    table = np.array([[1, 0], [0, 0], [1, 1], [1, 1], [0, 0]])
    answers = from_table(table, np.array([-1, -1, -1, 1, 0]))
    alone = krippendorff_alpha(about(answers, answers.is_candidate), resampling=FEW)
    assert alone.n == 3
    assert alone.value == pytest.approx(plain_alpha(table[:3]), abs=1e-12)


@pytest.mark.parametrize(
    ("of", "table", "message"),
    [
        (krippendorff_alpha, [[1, -1], [-1, 0]], "no image has two answers: there is nothing to agree on"),
        (fleiss_kappa, [[1, -1], [-1, 0]], "no image has two answers: there is nothing to agree on"),
        (krippendorff_alpha, [[1, 1], [1, 1]], "all answers are the same: alpha is undefined"),
        (fleiss_kappa, [[0, 0], [0, 0]], "all answers are the same: kappa is undefined"),
        (
            fleiss_kappa,
            [[1, 0, 1], [1, -1, -1]],
            "images have 1 to 3 answers: Fleiss' kappa needs as many for each; take Krippendorff's alpha",
        ),
    ],
)
def test_what_is_undefined_is_an_error(of, table, message):
    with pytest.raises(OodometerError) as caught:
        of(from_table(np.array(table)))
    assert str(caught.value) == message


@pytest.mark.slow
@pytest.mark.parametrize("of", [krippendorff_alpha, fleiss_kappa])
def test_intervals_cover(of):
    """By simulation: 400 sets of 100 images with 5 answers each, whose probability of "yes" is uniform.

    Closed form of the truth: two answers about one image differ with probability E 2p(1 − p) = 1/3, any two with 1/2:
    both are 1 − 2/3. Percentile intervals of 100 images cover a little less than they say: 2,000 sets gave 0.939 and
    0.937.
    """
    rng = np.random.default_rng(8)
    held = 0
    for seed in range(400):
        table = (rng.random((100, 5)) < rng.random((100, 1))).astype(np.int64)
        found = of(from_table(table), resampling=Resampling(draws=300, seed=seed))
        held += found.low <= 1 / 3 <= found.high
    assert binomtest(held, 400, 0.93, alternative="less").pvalue > 0.001
