"""The looks of categories: told apart by their marks alone, and seen on light and on dark paper."""

from __future__ import annotations

import pytest

from oodometer.report.palette import LOOKS, NOBODY_SAYS, OTHERS, UNKNOWN, looks_of

TESTBED = (
    "standard", "robust_intervention", "more_data", "lp_adversarial", "low_accuracy", "random_features",
    "random_forest", "linear_pixels", "nearest_neighbour", UNKNOWN,
)  # fmt: skip
ALL = (*LOOKS.values(), *OTHERS, NOBODY_SAYS)


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_the_categories_of_the_testbed_have_marks_of_their_own():
    looks = looks_of(TESTBED)
    assert set(looks) == set(TESTBED)
    assert (
        len({look.symbol for look in looks.values()}) == len({look.marker for look in looks.values()}) == len(TESTBED)
    )


def test_the_unknown_ones_stand_last():
    assert list(looks_of([UNKNOWN, "zebra", "standard"])) == ["standard", "zebra", UNKNOWN]


@pytest.mark.parametrize("look", ALL, ids=lambda look: look.symbol)
def test_marks_are_seen_on_light_and_dark(look):
    # WCAG 2.2, 1.4.11: graphics need 3 to 1
    assert contrast(look.colour, "#fcfbf8") >= 3
    assert contrast(look.dark, "#1a1d22") >= 3
