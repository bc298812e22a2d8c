"""Pairs: each once, the closest first."""

from __future__ import annotations

import numpy as np

from oodometer.build.testset.pairs import NO_PAIRS, Pairs, joined, smaller_first


def pairs(*rows: tuple[int, int, float, bool]) -> Pairs:
    first, second, distance, mirrored = zip(*rows, strict=True)
    return Pairs(np.array(first), np.array(second), np.array(distance), np.array(mirrored))


def test_the_smallest_distance_stays_and_unmirrored_where_it_is_as_small():
    one, other = pairs((3, 4, 2.0, False), (0, 1, 1.0, True)), pairs((0, 1, 1.0, False), (3, 4, 0.5, True))
    found = joined([one, NO_PAIRS, other])
    assert found.positions() == [(3, 4), (0, 1)]
    assert found.distance.tolist() == [0.5, 1.0]
    assert found.mirrored.tolist() == [True, False]


def test_those_as_close_come_in_the_order_of_their_positions():
    found = joined([pairs((5, 9, 1.0, False), (2, 3, 1.0, False), (2, 1, 1.0, False))])
    assert found.positions() == [(2, 1), (2, 3), (5, 9)]
    assert smaller_first(found).positions() == [(1, 2), (2, 3), (5, 9)]


def test_none_are_none():
    assert len(joined([])) == 0
    assert joined([NO_PAIRS]).positions() == []
