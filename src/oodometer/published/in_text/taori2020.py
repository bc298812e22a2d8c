"""What the text of Taori et al. 2020 states besides its fits: sizes, chance, and the pace on ImageNet-A."""

from __future__ import annotations

import numpy as np

from oodometer.catalogue.sets import find_set
from oodometer.published.checks import Check
from oodometer.published.in_text.numbers import text_check
from oodometer.published.taori2020 import PAPER, VAL, baselines
from oodometer.published.testbed_table import Grid

ON_A, CLEAN = "imagenet-a", "val-on-imagenet-a-classes"
KNEE = "resnet50"
"""The network whose mistakes ImageNet-A was made of."""
MOST_IMAGES = 5_000
"""Up to which size a set of videos is looked for."""


def checks_from(grid: Grid) -> list[Check]:
    """The numbers of the text that the table gives."""
    at_knee = 100 * float(grid.accuracy(VAL)[grid.rows((KNEE,))[0]])
    videos = {"ImageNet-Vid-Robust": "imagenet-vid-robust_pm0", "YTBB-Robust": "ytbb-robust_pm0"}
    return [
        text_check(PAPER, "test conditions of the testbed", len(grid.accuracies), reason="columns of the table"),
        text_check(PAPER, "accuracy of ResNet-50", at_knee, reason="the testbed"),
        *(_size_check(name, grid.accuracy(setting)) for name, setting in videos.items()),
        _pace_check(grid),
        _chance_check(grid),
    ]


def size_from_shares(accuracy: np.ndarray) -> float:
    """The smallest number of images of which all these accuracies are whole shares; NaN where no size fits.

    >>> size_from_shares(np.array([1 / 3, 0.5, np.nan]))
    6.0
    """
    shares = accuracy[~np.isnan(accuracy)]
    for n in range(1, MOST_IMAGES + 1):
        right = shares * n
        # The table has seven digits; a share of another size is off by far more in some row.
        if (np.abs(right - np.round(right)) < 1e-3).all():
            return float(n)
    return float("nan")


def _size_check(name: str, accuracy: np.ndarray) -> Check:
    ours = size_from_shares(accuracy)
    known = "known: the accuracies of the table are shares of fewer" if name == "YTBB-Robust" else ""
    reason = "the least of which all accuracies are whole shares"
    return text_check(PAPER, f"images of {name}", ours, reason=reason, known=known)


def pace(grid: Grid, clean: str, models: np.ndarray) -> tuple[float, int]:
    """By how much accuracy on ImageNet-A grows with clean accuracy above ResNet-50, and over how many models."""
    x, y = grid.accuracy(clean), grid.accuracy(ON_A)
    chosen = models & (x > x[grid.rows((KNEE,))[0]]) & ~np.isnan(y)
    return float(np.polyfit(x[chosen], y[chosen], 1)[0]), int(chosen.sum())


def _pace_check(grid: Grid) -> Check:
    """On the axis of the paper's figure: clean images of the same classes."""
    standard, everyone = baselines(grid).paper, np.ones(len(grid.models), dtype=bool)
    (ours, n), (on_all_images, _), (of_all, n_all) = (
        pace(grid, *of) for of in ((CLEAN, standard), (VAL, standard), (CLEAN, everyone))
    )
    known = (
        f"known: {ours:.1f} over the {n} standard models ({on_all_images:.1f} for each point on all clean images); "
        f"with all {n_all} models above ResNet-50 it is {of_all:.1f}"
    )
    what = "points on ImageNet-A for each point on the clean images of its classes, above ResNet-50"
    return text_check(PAPER, what, ours, reason="the slope of a straight line", known=known)


def _chance_check(grid: Grid) -> Check:
    entry = find_set(ON_A)
    assert entry is not None  # it is in the catalogue
    assert entry.n_classes is not None
    x, y = grid.accuracy(CLEAN), grid.accuracy(ON_A)
    below = baselines(grid).paper & (x < x[grid.rows((KNEE,))[0]])
    mean = 100 * float(np.nanmean(y[below]))
    reason = f"{entry.n_classes} classes; the standard models below ResNet-50 have {mean:.1f} on average"
    return text_check(PAPER, "chance accuracy on ImageNet-A", 100 / entry.n_classes, reason=reason)
