"""Which models of a shift can be told apart: the p-values of all pairs, by the test that their answers allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from oodometer.analysis.family_apart import judged_on_each, p_values_apart
from oodometer.analysis.judged_pair import BETTING, UNPAIRED_Z, judged_when_stopped
from oodometer.analysis.points import Points
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import equivalent_n
from oodometer.stats.mean_over_sets import MeasuredSet, spread_of
from oodometer.stats.ties import Standing, adjusted_pairs, p_of_counts, p_of_differences, p_of_shares

BETS = f"bets ({BETTING.partition(', ')[2]})"
UNPAIRED = f"{UNPAIRED_Z} tests"
HOLM = "of all pairs, corrected after Holm"


@dataclass(frozen=True)
class Standings:
    """Models in order of their accuracy, the best first.

    Args:
        how: Which tests, in words; empty where no pair can be tested.
    """

    models: tuple[str, ...]
    standing: Standing
    how: str

    @property
    def ranks(self) -> dict[str, str]:
        """The ranks that each may have: ``1``, ``2–4`` where it is tied, ``?`` behind it: not all pairs are tested."""
        return {name: self._rank(place) for place, name in enumerate(self.models)}

    @property
    def n_untested(self) -> int:
        """How many pairs can't be tested."""
        return sum(len(self.standing.untested(place)) for place in range(len(self.models))) // 2

    def _rank(self, place: int) -> str:
        best, worst = self.standing.rank_of(place)
        ranks = str(best) if best == worst else f"{best}–{worst}"
        return f"{ranks}{'?' if self.standing.untested(place) else ''}"


def p_values_under(points: Points) -> tuple[np.ndarray, str]:
    """Of every pair of models under the shift, (M, M), NaN where they can't be tested; and which tests these are."""
    right = points.right_y
    if points.apart and points.stopped_y is None:
        return p_values_apart(points.apart), "paired z tests over images drawn apart"
    if points.apart:
        return _by_bets(points), BETS
    if right is None:
        level = 0.95  # of the intervals of a mAP, whose width tells how many images a share would need
        sizes = [points.n_behind(point.y, level) for point in points.models]
        return p_values_of([point.y for point in points.models], sizes), UNPAIRED
    if points.stopped_y is not None:
        return _by_bets(points), BETS
    if right.dtype == bool:
        return p_of_counts(right), "exact McNemar tests"
    accuracies = right.mean(axis=1)
    spread = spread_of([MeasuredSet(accuracies, np.full(len(right), float(right.shape[1])), right)])
    return p_of_differences(accuracies, spread.of_differences), "paired z tests over images"


def _by_bets(points: Points) -> np.ndarray:
    """Of every pair of models whose samples were stopped, (M, M)."""
    models = range(len(points.models))
    p_values = np.ones((len(models), len(models)))
    for a, b in combinations(models, 2):
        if points.apart:
            found = judged_on_each([(right[a], right[b]) for right in points.apart], points.stopped_y)
        else:
            assert points.right_y is not None
            assert points.stopped_y is not None
            first, second = points.right_y[[a, b]].astype(np.float64)
            found = judged_when_stopped(first, second, points.stopped_y)
        p_values[a, b] = p_values[b, a] = found.p_value
    return p_values


def p_values_of(accuracies: Sequence[Estimate], sizes: Sequence[int | None]) -> np.ndarray:
    """Of every pair of accuracies alone, (M, M), as if each were on other images: that errs to the safe side."""
    n = np.array([np.nan if size is None else size for size in sizes], dtype=np.float64)
    return p_of_shares(np.array([one.value for one in accuracies]), n)


def differences_under(points: Points) -> np.ndarray:
    """Of every pair of models the accuracy of the first minus that of the second, as they are tested, (M, M)."""
    if points.apart:
        # Stopped ones are tested step by step, each of one image of every condition.
        n = min(right.shape[1] for right in points.apart) if points.stopped_y is not None else None
        means = np.mean([right[:, :n].mean(axis=1) for right in points.apart], axis=0)
    elif points.right_y is not None:
        means = points.right_y.mean(axis=1)
    else:
        means = np.array([point.y.value for point in points.models])
    return _differences(means)


def _differences(means: np.ndarray) -> np.ndarray:
    return np.asarray(means[:, None] - means[None, :])


def standings_of(values: Mapping[str, Estimate], points: Points | None, *, level: float) -> Standings:
    """How models stand to each other by accuracy.

    Args:
        values: The accuracy of each model; models that are not among the points are known by it alone.
        points: Where it is known which images models are right on, under the shift.
    """
    names = sorted(values, key=lambda name: (-values[name].value, name))
    # A mAP is no share of its images.
    by_map = points is not None and points.measure == "map"
    sizes = [equivalent_n(values[name], level) if by_map else values[name].n for name in names]
    p_values, how = p_values_of([values[name] for name in names], sizes), [UNPAIRED]
    differences = _differences(np.array([values[name].value for name in names]))
    place = {name: at for at, name in enumerate(names)}
    inside = [] if points is None else [at for at, point in enumerate(points.models) if point.model in place]
    if points is not None and len(inside) > 1:
        known, test = p_values_under(points)
        there = [place[points.models[at].model] for at in inside]
        p_values[np.ix_(there, there)] = known[np.ix_(inside, inside)]
        differences[np.ix_(there, there)] = differences_under(points)[np.ix_(inside, inside)]
        how = [test] if len(inside) == len(names) else [test, *how]
    standing = Standing.of(adjusted_pairs(p_values), range(len(names)), level, differences=differences)
    tested = standing.tested.sum() > len(names)
    return Standings(tuple(names), standing, f"{' and '.join(dict.fromkeys(how))} {HOLM}" if tested else "")
