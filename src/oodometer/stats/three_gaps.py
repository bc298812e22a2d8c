"""The three gaps of Recht et al. 2019, section 2: what an accuracy drop is made of, and what data bound of it.

Clean accuracy minus shifted accuracy is the sum of

    adaptivity       accuracy on the clean images − on all images of their distribution: the model was chosen by them
    distribution     accuracy on the distribution of the clean images − on that of the shifted ones
    generalisation   accuracy on the distribution of the shifted images − on the shifted images: which ones were drawn

The last is chance alone, since nobody chose a model by the shifted images: an interval bounds it. The first two are
only known as a sum. What many models say of adaptivity is how it could have grown from one to another of them; a
part that all have alike leaves no trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from oodometer.core.estimate import Estimate
from oodometer.stats.contamination import accuracy_over_others

Returns = Literal["growing", "diminishing", "not told"]
"""What a point of clean accuracy is worth under the shift: more than a point, less than one, or either."""


@dataclass(frozen=True)
class GapBounds:
    """What is known of the parts of one drop.

    Args:
        generalisation: 0, with the least and the most that chance in the shifted images can be at this level.
        adaptivity_and_distribution: What is left of the drop, which is a property of the clean set and of the shifted
            images' distribution.
        adaptivity_by_chance: 0, with what adaptivity would be of a model that nobody chose by the clean images; None
            where the clean accuracy has no interval.
    """

    generalisation: Estimate
    adaptivity_and_distribution: Estimate
    adaptivity_by_chance: Estimate | None


@dataclass(frozen=True)
class Adaptivity:
    """What a line through models says of adaptivity that grows with clean accuracy.

    Args:
        least, most: The clean accuracies between which the line is looked at.
        slope: Points under the shift for each point of clean accuracy between them.
        returns: Whether this is more or less than one point, if the interval tells.
        could_have_grown: By how much adaptivity could differ between a model of either accuracy, if the distribution
            gap were the same for both: (1 − slope) times the difference. Below 0 it is no adaptivity: the gap shrinks.
    """

    least: float
    most: float
    slope: Estimate
    returns: Returns
    could_have_grown: Estimate


def gap_bounds(clean: Estimate, shifted: Estimate) -> GapBounds:
    """What the accuracies on both sides say of the parts of the drop.

    >>> from oodometer.stats.intervals import share_of
    >>> found = gap_bounds(share_of(38_000, 50_000), share_of(6_300, 10_000))
    >>> print(found.generalisation)
    0.0000 [-0.0095, 0.0095]  n=10000
    >>> print(found.adaptivity_and_distribution)
    0.1300 [0.1205, 0.1395]  n=10000
    >>> print(found.adaptivity_by_chance)
    0.0000 [-0.0037, 0.0038]  n=50000
    """
    drop = clean.value - shifted.value
    if shifted.low is None or shifted.high is None:
        none = Estimate(0.0, None, None, shifted.n, shifted.interval)
        rest = Estimate(drop, None, None, shifted.n, shifted.interval)
    else:
        none = Estimate(0.0, shifted.low - shifted.value, shifted.high - shifted.value, shifted.n, shifted.interval)
        rest = Estimate(drop, clean.value - shifted.high, clean.value - shifted.low, shifted.n, shifted.interval)
    by_chance = None
    if clean.low is not None and clean.high is not None:
        by_chance = Estimate(0.0, clean.value - clean.high, clean.value - clean.low, clean.n, clean.interval)
    return GapBounds(none, rest, by_chance)


def adaptivity_of(slope: Estimate, least: float, most: float) -> Adaptivity:
    """What the slope of a line between two clean accuracies says of adaptivity.

    >>> found = adaptivity_of(Estimate(1.1, 1.05, 1.15, 60, ""), 0.55, 0.85)
    >>> found.returns, f"{found.could_have_grown:.3f}"
    ('growing', '-0.030 [-0.045, -0.015]')
    """
    span = most - least
    if slope.low is None or slope.high is None:
        grown = Estimate((1 - slope.value) * span, None, None, slope.n, slope.interval)
        return Adaptivity(least, most, slope, "not told", grown)
    returns: Returns = "growing" if slope.low > 1 else "diminishing" if slope.high < 1 else "not told"
    ends = (1 - slope.high) * span, (1 - slope.low) * span
    grown = Estimate((1 - slope.value) * span, *ends, slope.n, slope.interval)
    return Adaptivity(least, most, slope, returns, grown)


def most_by_duplicates(accuracy: float, share: float) -> float:
    """What near-duplicates add to an accuracy at most: if the model is right on every one of them.

    Args:
        share: Of the images that have a duplicate in the training data.

    >>> round(most_by_duplicates(0.93, 0.08), 4)  # Recht et al. 2019, appendix B.2.2: 0.6 %
    0.0061
    """
    return accuracy - accuracy_over_others(accuracy, share, 1.0)
