"""AUGRC: the silent failures of a model that may decline to answer, averaged over how much it answers.

The generalized risk at a coverage is the share of all images that are answered, and wrongly: not among the answered, as
in the risk-coverage curve, whose first points rest on a handful of images.
"""

from __future__ import annotations

import numpy as np

from oodometer.metrics.metric import Metric
from oodometer.metrics.reliability import checked_answers


def area_under_generalized_risk(confidence: np.ndarray, right: np.ndarray) -> float:
    """AUGRC: the area under generalized risk by coverage, by trapezoids (Traub et al. 2024).

    It is how often, of two images drawn at random, the surer one is wrong; of two as sure as each other, or of one
    image drawn twice, half of it counts. So with the accuracy a and the AUROC of telling right from wrong it is
    (1 − AUROC) a (1 − a) + (1 − a)² / 2.

    >>> round(area_under_generalized_risk(np.array([0.9, 0.5, 0.7]), np.array([False, True, True])), 6)  # 2.5 / 9
    0.277778
    """
    return influences_on_generalized_risk(confidence, right)[0]


def influences_on_generalized_risk(confidence: np.ndarray, right: np.ndarray) -> tuple[float, np.ndarray]:
    """AUGRC, and by how much it moves with the weight of each image, (N,), in their order.

    An image moves it where it is the surer and wrong one of a pair, and where it is the other. The mean of the
    influences is 0, their variance over N that of AUGRC (the infinitesimal jackknife: Efron 1982).

    >>> area, influences = influences_on_generalized_risk(np.array([0.9, 0.5, 0.7]), np.array([False, True, True]))
    >>> round(area, 6), influences.round(4).tolist()
    (0.277778, [0.4444, -0.2222, -0.2222])
    """
    confidence, right = checked_answers(confidence, right)
    n = len(confidence)
    _, step, sizes = np.unique(confidence, return_inverse=True, return_counts=True)
    wrong = np.bincount(step, weights=~right, minlength=len(sizes))
    less_sure = (np.cumsum(sizes) - sizes / 2)[step]
    surer_and_wrong = (wrong.sum() - np.cumsum(wrong) + wrong / 2)[step]
    as_surer = less_sure * ~right
    area = float(as_surer.sum()) / n**2
    return area, np.asarray((as_surer + surer_and_wrong) / n - 2 * area)


augrc = Metric(
    "augrc",
    "area under the share of all images that are answered wrongly, by the share answered",
    ("confidence", "rank"),
    lambda confidence, rank: area_under_generalized_risk(confidence, rank == 0),
    bounds=(0.0, 0.5),
)
