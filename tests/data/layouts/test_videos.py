"""How many anchors the video sets have: the accuracies that were published are shares of that number."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from oodometer.catalogue.sets import set_entries
from shared_data import shared

VID, YTBB = (set_entries()[name] for name in ("imagenet-vid-robust", "ytbb-robust"))


@pytest.mark.parametrize("known", [VID, YTBB], ids=lambda known: known.name)
@pytest.mark.parametrize("k", [0, 10])
def test_the_accuracies_of_the_testbed_are_shares_of_so_many_anchors(known, k):
    with shared("testbed", "robustness_top1s.csv").open(newline="") as file:
        said = [row[f"{known.name}_pm{k}"] for row in csv.DictReader(file)]
    percents = np.array([float(one) for one in said if one])
    percents = percents[np.isfinite(percents)]
    assert len(percents) > 300

    def fits(n: int) -> bool:
        right = percents / 100 * n
        return bool((np.abs(right - np.rint(right)) < 1e-4).all())

    # The smallest number that fits; 2,530, which the testbed's paper gives for YTBB-Robust, does not.
    assert next(n for n in range(100, 3000) if fits(n)) == known.n_images
    assert not fits(2_530)


def test_both_together_are_the_published_sets():
    # Shankar et al. 2019, abstract: 3,139 sets of perceptually similar images in the two
    assert VID.n_images + YTBB.n_images == 3_139
