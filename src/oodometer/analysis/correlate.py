"""Which synthetic shift predicts which natural one: correlations of effective robustness."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from oodometer.analysis.accuracy_pairs import Origin, Points, conditions_named, points_of_table
from oodometer.analysis.robustness import DEFAULT_OPTIONS as DEFAULT_LINE
from oodometer.analysis.robustness import RobustnessOptions, baseline_models, unused_patterns
from oodometer.analysis.robustness_text import axis, signed_bar
from oodometer.analysis.stored_pairs import names_in, points_of_store
from oodometer.analysis.text import columns
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.stats.correlation import pearson_bounds
from oodometer.stats.scales import Scale
from oodometer.stats.shift_correlation import ShiftCorrelation, Shifts, shift_correlation
from oodometer.store.store import Store, open_store
from oodometer.store.tables import Accuracy, read_tables


@dataclass(frozen=True)
class Against:
    """A shift y and its clean set x."""

    y: str
    x: str

    @classmethod
    def parse(cls, text: str, x: str) -> Against:
        """``SHIFT``, whose clean set is ``x``, or ``SHIFT~CLEAN``.

        >>> Against.parse("objectnet~val-on-objectnet", "val"), Against.parse("imagenet-c", "val")
        (Against(y='objectnet', x='val-on-objectnet'), Against(y='imagenet-c', x='val'))
        """
        y, tilde, own = text.partition("~")
        if not y or (tilde and not own):
            raise UsageError(f"{text!r}: expected SHIFT or SHIFT~CLEAN, for example objectnet~val-on-objectnet-classes")
        return cls(y, own or x)


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
        line: Which models the lines go through. ``baseline_above`` holds for all models, on the clean set of each
            shift; there is no knee.
    """

    each: bool = False
    over: tuple[str, ...] = ()
    line: RobustnessOptions = DEFAULT_LINE


DEFAULT_OPTIONS = CorrelateOptions()

Ask = Callable[[Against], Points]


def correlate(
    store: str | Store,
    synthetic: Sequence[Against],
    natural: Sequence[Against],
    *,
    origins: Mapping[str, Origin] | None = None,
    options: CorrelateOptions = DEFAULT_OPTIONS,
) -> Correlations:
    """The correlation of effective robustness on synthetic and on natural shifts, over the models of a store.

    Args:
        synthetic: Shifts: conditions, data sets, families or patterns.
        natural: The same.
        origins: Category and parent of models whose cards do not say.
    """
    opened = store if isinstance(store, Store) else open_store(str(store))
    known = sorted(names_in(opened.cells()) | {row.condition for row in read_tables(opened)})

    def ask(pair: Against) -> Points:
        return points_of_store(opened, [pair.x], pair.y, origins=origins or {}, level=options.line.resampling.level)

    wanted = [_each(pairs, known, str(opened)) if options.each else pairs for pairs in (synthetic, natural)]
    return _correlations(ask, wanted[0], wanted[1], options)


def correlate_table(
    rows: Sequence[Accuracy],
    synthetic: Sequence[Against],
    natural: Sequence[Against],
    *,
    origins: Mapping[str, Origin] | None = None,
    options: CorrelateOptions = DEFAULT_OPTIONS,
) -> Correlations:
    """The same from a table of accuracies."""
    known = list(dict.fromkeys(row.condition for row in rows))

    def ask(pair: Against) -> Points:
        return points_of_table(rows, [pair.x], pair.y, origins=origins or {}, level=options.line.resampling.level)

    wanted = [_each(pairs, known, "the table") if options.each else pairs for pairs in (synthetic, natural)]
    return _correlations(ask, wanted[0], wanted[1], options)


def _each(pairs: Sequence[Against], known: Sequence[str], where: str) -> list[Against]:
    """Every condition as a shift of its own."""
    return [Against(name, pair.x) for pair in pairs for name in conditions_named(pair.y, known, where)]


def _correlations(
    ask: Ask, synthetic: Sequence[Against], natural: Sequence[Against], options: CorrelateOptions
) -> Correlations:
    # A shift may stand on both sides; it is read once.
    read = {pair: ask(pair) for pair in dict.fromkeys([*synthetic, *natural])}
    rows, cols = ([read[pair] for pair in dict.fromkeys(pairs)] for pairs in (synthetic, natural))
    return correlate_points(rows, cols, options)


def correlate_points(
    synthetic: Sequence[Points], natural: Sequence[Points], options: CorrelateOptions = DEFAULT_OPTIONS
) -> Correlations:
    """The same from points that were read before, a shift each."""
    if not synthetic or not natural:
        raise UsageError("give at least one synthetic and one natural shift")
    line = options.line
    if line.knee is not None:
        raise UsageError("a correlation of ρ has no knee; 'oodometer robustness' has one, for a single shift")
    read = {id(points): points for points in (*synthetic, *natural)}
    in_line = {key: baseline_models(points, line) for key, points in read.items()}
    origins = {point.model: point.origin for points in read.values() for point in points.models}
    members = {
        point.model
        for key, points in read.items()
        for point, chosen in zip(points.models, in_line[key], strict=True)
        if chosen
    }
    found = shift_correlation(
        _shifts(synthetic, list(origins), line.baseline_above),
        _shifts(natural, list(origins), line.baseline_above),
        baseline=np.array([model in members for model in origins]),
        models=_correlated(list(origins.values()), options),
        scale=line.scale,
    )
    notes = [note for points in read.values() for note in points.notes]
    level = line.resampling.level
    return Correlations(
        pairs=tuple(one for at in range(len(natural)) for one in _best_first(found, at, level)),
        synthetic=tuple(_fitted(points, in_line[id(points)]) for points in synthetic),
        natural=tuple(_fitted(points, in_line[id(points)]) for points in natural),
        scale=line.scale,
        level=level,
        notes=tuple(dict.fromkeys([*notes, *unused_patterns(list(origins), line.leave_out)])),
    )


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


def _shifts(columns: Sequence[Points], models: Sequence[str], above: float) -> Shifts:
    """The accuracies of all models; NaN where one was not measured, or not good enough on the clean set."""
    x, y = (np.full((len(models), len(columns)), np.nan) for _ in range(2))
    row = {model: at for at, model in enumerate(models)}
    for column, points in enumerate(columns):
        for point in points.models:
            if point.x[0].value >= above:
                x[row[point.model], column], y[row[point.model], column] = point.x[0].value, point.y.value
    return Shifts(tuple(points.y for points in columns), x, y)


def _best_first(found: ShiftCorrelation, column: int, level: float) -> list[ShiftPair]:
    """All synthetic shifts with one natural shift, the highest r first and what is undefined last."""
    r, n = found.r[:, column], found.n[:, column]
    low, high = pearson_bounds(r, n, level=level)
    order = sorted(range(len(r)), key=lambda at: np.inf if np.isnan(r[at]) else -r[at])
    return [
        ShiftPair(
            found.synthetic[at],
            found.natural[column],
            _estimate(r[at], low[at], high[at], int(n[at]), level),
            int(n[at]),
        )
        for at in order
    ]


def _estimate(r: float, low: float, high: float, n: int, level: float) -> Estimate | None:
    if np.isnan(r):
        return None
    if np.isnan(low):
        return Estimate(float(r), None, None, n, f"none: fisher z has no interval at {r:g}")
    return Estimate(float(r), float(low), float(high), n, f"fisher z {100 * level:g}%")


def _shown(r: Estimate) -> str:
    known = r.low is not None and r.high is not None
    return f"{r.value:+.3f} [{r.low:+.3f}, {r.high:+.3f}]" if known else f"{r.value:+.3f}"
