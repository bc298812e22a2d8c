"""The looks of categories: told apart by their marks alone."""

from __future__ import annotations

from oodometer.report.palette import UNKNOWN, looks_of

TESTBED = (
    "standard", "robust_intervention", "more_data", "lp_adversarial", "low_accuracy", "random_features",
    "random_forest", "linear_pixels", "nearest_neighbour", UNKNOWN,
)  # fmt: skip


def test_the_categories_of_the_testbed_have_marks_of_their_own():
    looks = looks_of(TESTBED)
    assert set(looks) == set(TESTBED)
    assert (
        len({look.symbol for look in looks.values()}) == len({look.marker for look in looks.values()}) == len(TESTBED)
    )


def test_the_unknown_ones_stand_last():
    assert list(looks_of([UNKNOWN, "zebra", "standard"])) == ["standard", "zebra", UNKNOWN]
