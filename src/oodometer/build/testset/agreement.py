"""How far annotators agree beyond what chance would give: Krippendorff's alpha and Fleiss' kappa.

Both are 1 where all answers about an image are always the same, and 0 where they agree as often as answers that were
dealt out at random. Both are undefined where all answers about all images are the same: nobody can agree by more than
chance then.

Images are what is drawn: the intervals are of a bootstrap over images. Controls are chosen to be plain, and raise both;
ask about the candidates alone (`about`).
"""

from __future__ import annotations

import numpy as np

from oodometer.build.testset.answers import Answers
from oodometer.core.errors import DataError
from oodometer.core.estimate import Estimate
from oodometer.stats.bootstrap import DEFAULT, MOST_UNDEFINED, Means, Resampling, bootstrap_means, draws_of_means


def krippendorff_alpha(answers: Answers, *, resampling: Resampling = DEFAULT) -> Estimate:
    """Krippendorff's alpha for nominal data; images may have any number of answers.

    One minus the observed over the expected disagreement of two answers (Krippendorff, Content Analysis, chapter 11).
    Images with fewer than two answers have no two to compare: they are left out, and are not in n.

    >>> says = np.array([1, 1, 1, 0, 0, 0, 0, 0, 1, 1], dtype=bool)
    >>> image, worker = np.repeat(np.arange(5), 2), np.tile([0, 1], 5)
    >>> alpha = krippendorff_alpha(Answers(image, worker, says, 5, 2, np.full(5, -1)))
    >>> round(alpha.value, 4)
    0.64
    """
    n_answers, n_selected = _counts(answers)
    # Of the m(m − 1) ordered pairs of an image's answers, k(m − k) have yes first and no second.
    disagreeing = n_selected * (n_answers - n_selected) / (n_answers - 1)
    n_images = len(n_answers)  # BCa's jackknife has one less, which moves its ends by less than a millionth

    def alpha(means: np.ndarray) -> np.ndarray:
        everything, yes, differ = (n_images * means).T
        no = everything - yes
        return _beyond_chance(differ * (everything - 1), yes * no)

    columns = np.column_stack([n_answers, n_selected, disagreeing]).astype(np.float64)
    return _with_interval("alpha", columns, alpha, resampling)


def fleiss_kappa(answers: Answers, *, resampling: Resampling = DEFAULT) -> Estimate:
    """Fleiss' kappa; every image with answers must have the same number of them.

    The agreement of two answers about one image beyond that of any two answers, over what there is to gain (Fleiss,
    Psychological Bulletin 76, 1971).

    >>> says = np.array([1, 1, 1, 0, 0, 0, 0, 0, 1, 1], dtype=bool)
    >>> image, worker = np.repeat(np.arange(5), 2), np.tile([0, 1], 5)
    >>> round(fleiss_kappa(Answers(image, worker, says, 5, 2, np.full(5, -1))).value, 4)
    0.6
    """
    n_answers, n_selected = _counts(answers)
    numbers = np.unique(answers.n_answers[answers.n_answers > 0])
    if len(numbers) > 1:
        raise DataError(
            f"images have {numbers[0]} to {numbers[-1]} answers: Fleiss' kappa needs as many for each; "
            "take Krippendorff's alpha"
        )
    differing = 2 * n_selected * (n_answers - n_selected) / (n_answers * (n_answers - 1))

    def kappa(means: np.ndarray) -> np.ndarray:
        yes, differ = means.T
        return _beyond_chance(differ, 2 * yes * (1 - yes))

    return _with_interval("kappa", np.column_stack([n_selected / n_answers, differing]), kappa, resampling)


def _counts(answers: Answers) -> tuple[np.ndarray, np.ndarray]:
    """Answers and those that are "yes", of each image with two answers or more."""
    n = answers.n_answers
    if not (n > 1).any():
        raise DataError("no image has two answers: there is nothing to agree on")
    return n[n > 1], answers.n_selected[n > 1]


def _beyond_chance(observed: np.ndarray, by_chance: np.ndarray) -> np.ndarray:
    """One minus observed over chance; NaN where there is no chance to disagree."""
    # Means of zeros and ones may miss 0 by rounding.
    chance = by_chance > 1e-12
    return np.asarray(1 - np.divide(observed, by_chance, out=np.full(len(observed), np.nan), where=chance))


def _with_interval(what: str, columns: np.ndarray, function: Means, resampling: Resampling) -> Estimate:
    value = float(function(columns.mean(axis=0)[None])[0])
    if np.isnan(value):
        raise DataError(f"all answers are the same: {what} is undefined")
    draws = function(draws_of_means(columns, resampling=resampling))
    if np.isnan(draws).mean() > MOST_UNDEFINED:
        return Estimate(value, None, None, len(columns), "none: too few images for a bootstrap")
    return bootstrap_means(columns, function, resampling=resampling, bounds=(-1.0, 1.0))
