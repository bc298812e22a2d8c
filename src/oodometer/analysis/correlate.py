"""Which synthetic shift predicts which natural one: correlations of effective robustness."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from oodometer.analysis.accuracy_pairs import Origin, Points, pairs_of, points_of_table
from oodometer.analysis.asked_shifts import asked_shift
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.line_rules import DEFAULT_OPTIONS as DEFAULT_LINE
from oodometer.analysis.line_rules import RobustnessOptions, Rules, baseline_models, rules_for, unused_patterns
from oodometer.analysis.measured_shifts import MeasuredShift, members_apart
from oodometer.analysis.robustness import rho_values
from oodometer.analysis.robustness_text import axis, signed_bar
from oodometer.analysis.text import columns
from oodometer.core.errors import OodometerError, UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.stats.correlation import pearson_bounds, pearson_matrix
from oodometer.stats.scales import Scale
from oodometer.store.index import Index, Source, index_at, index_of_table
from oodometer.store.tables import Accuracy


@dataclass(frozen=True)
class FittedShift:
    """A shift, and how many models its line goes through.

    Args:
        shift: Its name, and in ``conditions`` what it is the mean of; one, where it is no family.
        x: Its clean set.
        baseline: The number of models in the line.
    """

    shift: str
    x: str
    conditions: tuple[str, ...]
    baseline: int

    def __str__(self) -> str:
        mean = f", the mean of {len(self.conditions)} conditions" if len(self.conditions) > 1 else ""
        return f"{self.shift} against {self.x}{mean}: {self.baseline} models in the line"


@dataclass(frozen=True)
class ShiftPair:
    """How effective robustness on a synthetic shift goes with that on a natural one.

    Args:
        r: Pearson's correlation of ρ over the models that were measured on both and that no line goes through; None
            where it is undefined: fewer than four models, or no variation.
        n: The number of these models.
    """

    synthetic: str
    natural: str
    r: Estimate | None
    n: int


@dataclass(frozen=True)
class Correlations:
    """Every synthetic shift with every natural one; prints as a table.

    Args:
        pairs: By natural shift, the best predictor first.
        synthetic, natural: The shifts.
        notes: What was left out, and why.
    """

    pairs: tuple[ShiftPair, ...]
    synthetic: tuple[FittedShift, ...]
    natural: tuple[FittedShift, ...]
    scale: Scale
    level: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return self.table()

    def table(self, *, plot: bool = False) -> str:
        """A line for each pair; ``plot`` draws the intervals from -1 to 1."""
        rows = [
            [
                one.natural,
                one.synthetic,
                "undefined" if one.r is None else _shown(one.r),
                *(["" if one.r is None else signed_bar(one.r, reach=1.0)] if plot else []),
                f"n={one.n}",
            ]
            for one in self.pairs
        ]
        return columns([["natural", "synthetic", "r of ρ", *([axis(1.0)] if plot else []), ""], *rows])

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class CorrelateOptions:
    """What is correlated.

    Args:
        each: Whether the conditions of a family or pattern are shifts of their own, rather than averaged.
        over: Categories of the models that are correlated; none: all that are known, but that of the line (or all
            models, where the lines go through all).
        line: How the line of each shift is drawn, as of `robustness`: the ρ are the same.
    """

    each: bool = False
    over: tuple[str, ...] = ()
    line: RobustnessOptions = DEFAULT_LINE


DEFAULT_OPTIONS = CorrelateOptions()


@dataclass(frozen=True)
class Ruled:
    """The models on both sides of a shift, and how its line is drawn."""

    points: Points
    rules: Rules


def correlate(
    store: Source,
    synthetic: Sequence[str],
    natural: Sequence[str],
    *,
    x: str = "",
    origins: Mapping[str, Origin] | None = None,
    options: CorrelateOptions = DEFAULT_OPTIONS,
) -> Correlations:
    """The correlation of effective robustness on synthetic and on natural shifts, over the models of a store.

    Args:
        synthetic: Shifts: conditions, data sets, families or patterns; with ``SHIFT~CLEAN`` a clean side of its own.
        natural: The same.
        x: The clean side of shifts that do not say it; by default each shift's other side.
        origins: Category and parent of models whose cards do not say.
    """
    index = index_at(store)
    level = options.line.resampling.level

    def read(shift: MeasuredShift) -> Points:
        return pairs_of(index, shift, origins=origins or {}, how=IntervalOptions(level=level))

    found = _correlations(index, read, synthetic, natural, x, options)
    return replace(found, notes=(*index.problems, *found.notes))


def correlate_table(
    rows: Sequence[Accuracy],
    synthetic: Sequence[str],
    natural: Sequence[str],
    *,
    x: str = "",
    origins: Mapping[str, Origin] | None = None,
    options: CorrelateOptions = DEFAULT_OPTIONS,
) -> Correlations:
    """The same from a table of accuracies."""
    level = options.line.resampling.level

    def read(shift: MeasuredShift) -> Points:
        return points_of_table(rows, shift, origins=origins or {}, level=level)

    return _correlations(index_of_table(rows), read, synthetic, natural, x, options)


def _correlations(
    index: Index,
    read: Callable[[MeasuredShift], Points],
    synthetic: Sequence[str],
    natural: Sequence[str],
    x: str,
    options: CorrelateOptions,
) -> Correlations:
    ruled: dict[str, list[Ruled]] = {}
    # A shift may stand on both sides; it is read once.
    for text in dict.fromkeys([*synthetic, *natural]):
        shift = asked_shift(index, text, (x,) if x and "~" not in text else ())
        parts = members_apart(shift) if options.each else [shift]
        pairs = [(part, read(part)) for part in parts]
        ruled[text] = [Ruled(points, rules_for(points, part, options.line)) for part, points in pairs]
    rows, columns = ([one for text in dict.fromkeys(some) for one in ruled[text]] for some in (synthetic, natural))
    return correlate_points(rows, columns, options)


def correlate_points(
    synthetic: Sequence[Ruled], natural: Sequence[Ruled], options: CorrelateOptions = DEFAULT_OPTIONS
) -> Correlations:
    """The same from points that were read before, a shift each."""
    if not synthetic or not natural:
        raise UsageError("give at least one synthetic and one natural shift")
    every = {id(one): one for one in (*synthetic, *natural)}
    in_line = {key: baseline_models(one.points, one.rules.options) for key, one in every.items()}
    origins = {point.model: point.origin for one in every.values() for point in one.points.models}
    models = sorted(origins)  # a sum has the same last digit in whatever order shifts are asked for
    over = _correlated([origins[model] for model in models], options)
    rows, columns = (
        np.stack([_rho(one, in_line[id(one)], models) for one in some], axis=1)[over] for some in (synthetic, natural)
    )
    r, n = pearson_matrix(rows, columns)
    line = options.line
    level = line.resampling.level
    notes = [note for one in every.values() for note in (*one.points.notes, *one.rules.notes)]
    names = [one.points.y for one in synthetic]
    return Correlations(
        pairs=tuple(
            pair
            for at, one in enumerate(natural)
            for pair in _best_first(names, one.points.y, r[:, at], n[:, at], level)
        ),
        synthetic=tuple(_fitted(one.points, in_line[id(one)]) for one in synthetic),
        natural=tuple(_fitted(one.points, in_line[id(one)]) for one in natural),
        scale=line.scale,
        level=level,
        notes=tuple(dict.fromkeys([*notes, *unused_patterns(models, line.leave_out)])),
    )


def _rho(ruled: Ruled, in_line: np.ndarray, models: Sequence[str]) -> np.ndarray:
    """ρ of every model, (M,), as `robustness` tells it; NaN where it was not measured."""
    try:
        values = rho_values(ruled.points, in_line, ruled.rules.options)
    except OodometerError as error:
        raise OodometerError(f"{ruled.points.y}: {error}") from error
    of_model = {point.model: value for point, value in zip(ruled.points.models, values.tolist(), strict=True)}
    return np.array([of_model.get(model, np.nan) for model in models])


def _correlated(origins: Sequence[Origin], options: CorrelateOptions) -> np.ndarray:
    """Which models are correlated, (M,) bool."""
    known = {origin.category for origin in origins if origin.category}
    for category in options.over:
        if category not in known:
            raise UsageError(f"no model of category {category!r}{did_you_mean(category, known)}")
    if not options.over and not options.line.baseline:
        return np.ones(len(origins), dtype=bool)
    over = options.over or known - {options.line.baseline}
    if not over:
        raise UsageError(
            f"all models are of category {options.line.baseline!r}, and those of the line are not correlated; "
            "give --categories CSV, or draw the line through all models with --baseline all"
        )
    return np.array([origin.category in over for origin in origins])


def _fitted(points: Points, in_line: np.ndarray) -> FittedShift:
    return FittedShift(points.y, points.x[0], points.conditions, int(in_line.sum()))


def _best_first(synthetic: Sequence[str], natural: str, r: np.ndarray, n: np.ndarray, level: float) -> list[ShiftPair]:
    """All synthetic shifts with one natural shift, the highest r first and what is undefined last."""
    low, high = pearson_bounds(r, n, level=level)
    order = sorted(range(len(r)), key=lambda at: np.inf if np.isnan(r[at]) else -r[at])
    return [
        ShiftPair(synthetic[at], natural, _estimate(r[at], low[at], high[at], int(n[at]), level), int(n[at]))
        for at in order
    ]


def _estimate(r: float, low: float, high: float, n: int, level: float) -> Estimate | None:
    if np.isnan(r):
        return None
    if np.isnan(low):
        return Estimate(float(r), None, None, n, f"none: fisher z has no interval at {r:g}")
    return Estimate(float(r), float(low), float(high), n, f"fisher z over models alone {100 * level:g}%")


def _shown(r: Estimate) -> str:
    known = r.low is not None and r.high is not None
    return f"{r.value:+.3f} [{r.low:+.3f}, {r.high:+.3f}]" if known else f"{r.value:+.3f}"
