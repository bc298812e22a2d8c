"""Which synthetic shift predicts which natural one: correlations of effective robustness."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from oodometer.analysis.accuracy_pairs import pairs_of
from oodometer.analysis.asked_shifts import asked_shift
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.line_rules import DEFAULT_OPTIONS as DEFAULT_LINE
from oodometer.analysis.line_rules import RobustnessOptions, Rules, baseline_models, rules_for, unused_patterns
from oodometer.analysis.measured_shifts import MeasuredShift, members_apart
from oodometer.analysis.origins import Origin
from oodometer.analysis.people import models_alone
from oodometer.analysis.points import Points
from oodometer.analysis.rho_over_images import rho_draws, rho_values
from oodometer.analysis.robustness_text import axis, signed_bar
from oodometer.analysis.table_pairs import points_of_table
from oodometer.analysis.text import columns
from oodometer.core.errors import OodometerError, UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.stats.correlation import FEWEST_MODELS, over_models_alone, pearson
from oodometer.stats.correlation_over_images import OverImages
from oodometer.stats.noisy_correlation import pearson_of_noisy
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
    index = models_alone(index_at(store))
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
    over = correlated_models([origins[model] for model in models], options)
    chosen = [model for model, is_over in zip(models, over, strict=True) if is_over]
    rho = {key: rho_of(one, in_line[key], chosen) for key, one in every.items()}
    line = options.line
    level = line.resampling.level
    notes = _told_once(list(every.values()))
    return Correlations(
        pairs=tuple(
            pair
            for one in natural
            for pair in _best_first(
                [_pair(other.points.y, one.points.y, rho[id(other)], rho[id(one)], level) for other in synthetic]
            )
        ),
        synthetic=tuple(_fitted(one, in_line[id(one)]) for one in synthetic),
        natural=tuple(_fitted(one, in_line[id(one)]) for one in natural),
        scale=line.scale,
        level=level,
        notes=tuple(dict.fromkeys([*notes, *unused_patterns(models, line.leave_out)])),
    )


@dataclass(frozen=True)
class Rho:
    """ρ of M models on a shift, (M,), and in resamples of its images, (D, M); NaN where a model was not measured."""

    values: np.ndarray
    draws: np.ndarray | None


def rho_of(ruled: Ruled, in_line: np.ndarray, models: Sequence[str]) -> Rho:
    """ρ of these models, as `robustness` tells it."""
    try:
        values = rho_values(ruled.points, in_line, ruled.rules.options)
    except OodometerError as error:
        raise OodometerError(f"{ruled.points.y}: {error}") from error
    draws = rho_draws(ruled.points, in_line, ruled.rules.options)
    places = {point.model: place for place, point in enumerate(ruled.points.models)}
    at = np.array([places.get(model, -1) for model in models], dtype=np.int64)
    measured = np.where(at < 0, np.nan, values[at])
    return Rho(measured, None if draws is None else np.where(at < 0, np.nan, draws[:, at]))


def correlation_of_pair(first: Ruled, second: Ruled, models: Sequence[str], level: float) -> Estimate | None:
    """R of ρ on two shifts over these models, as `correlate` tells it."""
    names = sorted(models)
    a, b = (rho_of(one, baseline_models(one.points, one.rules.options), names) for one in (first, second))
    return _pair(first.points.y, second.points.y, a, b, level).r


def correlated_models(origins: Sequence[Origin], options: CorrelateOptions) -> np.ndarray:
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


def _fitted(ruled: Ruled, in_line: np.ndarray) -> FittedShift:
    points = ruled.points
    inside = np.array([all(0 < each.value < 1 for each in (*point.x, point.y)) for point in points.models], dtype=bool)
    # Of 0 % or 100 % there is no logit or probit, and the line goes without.
    fitted = in_line if ruled.rules.options.scale == "linear" else in_line & inside
    return FittedShift(points.y, points.x[0], points.conditions, int(fitted.sum()))


def _told_once(ruled: Sequence[Ruled]) -> list[str]:
    """The notes about all shifts; what is said of many in the same words is said of the first and the number of others.

    A family's hundred conditions leave out the same models.
    """
    shift = "\0"
    said: dict[str, list[str]] = {}
    for each in ruled:
        for note in (*each.points.notes, *each.rules.notes):
            said.setdefault(note.replace(each.points.y, shift), []).append(each.points.y)
    return [
        note.replace(shift, names[0] if len(names) == 1 else f"{names[0]} (as on {len(names) - 1} more)")
        for note, names in said.items()
    ]


def _best_first(pairs: Sequence[ShiftPair]) -> list[ShiftPair]:
    """The highest r first, and what is undefined last."""
    return sorted(pairs, key=lambda pair: np.inf if pair.r is None else -pair.r.value)


def _pair(synthetic: str, natural: str, a: Rho, b: Rho, level: float) -> ShiftPair:
    """The correlation over the models that have both; over their images too, where they are known of both shifts."""
    # Of the models that count alone, so that the last digit does not depend on which others are asked about.
    both = ~np.isnan(a.values) & ~np.isnan(b.values)
    x, y, n = a.values[both], b.values[both], int(both.sum())
    if n < FEWEST_MODELS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return ShiftPair(synthetic, natural, None, n)
    draws = _defined(a, b, both)
    if draws is None:
        return ShiftPair(synthetic, natural, over_models_alone(pearson(x, y, level=level)), n)
    return ShiftPair(synthetic, natural, pearson_of_noisy(OverImages(x, y, *draws), level=level), n)


def _defined(a: Rho, b: Rho, models: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The resamples in which both shifts have a line, (D, n) each; None where the images of one are not known."""
    if a.draws is None or b.draws is None:
        return None
    x, y = a.draws[:, models], b.draws[:, models]
    usable = np.isfinite(x).all(axis=1) & np.isfinite(y).all(axis=1)
    return (x[usable], y[usable]) if 2 * usable.sum() >= len(usable) else None


def _shown(r: Estimate) -> str:
    known = r.low is not None and r.high is not None
    return f"{r.value:+.3f} [{r.low:+.3f}, {r.high:+.3f}]" if known else f"{r.value:+.3f}"
