"""Effective and relative robustness of every model: what it has beyond its clean accuracy."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from oodometer.core.errors import OodometerError, UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.report.points import Origin, Points, points_of_store, points_of_table
from oodometer.report.text import columns
from oodometer.stats.bootstrap import DEFAULT as DEFAULT_RESAMPLING
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.effective_robustness import (
    Baseline,
    accuracy_drop,
    rho_from_counts,
    rho_from_images,
    tau_from_counts,
)
from oodometer.stats.intervals import mean_of
from oodometer.stats.lines import (
    Line,
    LineDraws,
    ScaleFit,
    band,
    bootstrap_lines,
    compare_scales,
    fit_line,
    intercept_of,
    slope_of,
)
from oodometer.stats.paired import PairedCounts, paired_difference
from oodometer.stats.ranks import rank_change, ranks
from oodometer.stats.refitted import Fit, rho_from_fits
from oodometer.stats.scales import Scale
from oodometer.stats.several_clean_sets import Plane, fit_plane
from oodometer.stats.two_piece import TwoPiece, fit_two_piece
from oodometer.store.store import Store, open_store
from oodometer.store.tables import Accuracy

STANDARD = "standard"
BAND_PLACES = 41
"""Clean accuracies at which the band is given."""


@dataclass(frozen=True)
class RobustnessOptions:
    """How the baseline is drawn.

    Args:
        scale: On which the line is straight: ``linear``, ``logit`` or ``probit``.
        baseline: The category of the models that the line goes through; empty: all of them.
        baseline_above: The least clean accuracy of these models, a share.
        leave_out: Patterns (``*aws*``) of models that the line does not go through.
        knee: A model, or a clean accuracy: two lines, one on each side of it, as for ImageNet-A.
        resampling: Of images and models.
    """

    scale: Scale = "logit"
    baseline: str = STANDARD
    baseline_above: float = 0.0
    leave_out: tuple[str, ...] = ()
    knee: str | float | None = None
    resampling: Resampling = DEFAULT_RESAMPLING


DEFAULT_OPTIONS = RobustnessOptions()


@dataclass(frozen=True)
class ModelRobustness:
    """One model beside the line.

    Args:
        category: ``standard``, or what was done to it; empty where nobody says.
        in_baseline: Whether the line goes through it; its ρ is then closer to 0 than it would be otherwise.
        x: Accuracy on each clean set.
        y: Accuracy under the shift.
        drop: x minus y, on the first clean set.
        rho: Effective robustness: y minus what the line expects at x.
        tau: Relative robustness: y minus that of the parent; None where no parent is known or measured.
        parent: The model that it was made from.
        rank_x, rank_y: Among all these models, 1 for the best.
        rank_change: Places won under the shift.
    """

    model: str
    category: str
    in_baseline: bool
    x: tuple[Estimate, ...]
    y: Estimate
    drop: Estimate
    rho: Estimate
    tau: Estimate | None
    parent: str | None
    rank_x: int
    rank_y: int
    rank_change: int


@dataclass(frozen=True)
class Fitted:
    """The baseline.

    Args:
        kind: ``line``, ``two lines`` with a knee, or ``plane`` over several clean sets.
        slope, intercept: Of a line, on its scale, with intervals over models.
        r2: The share of the variance, on the scale, that it explains.
        n: How many models it goes through.
        left_out: How many more are at exactly 0 % or 100 % and have no place on the scale.
        details: All numbers of the fit.
    """

    kind: str
    scale: Scale
    r2: float
    n: int
    left_out: int
    slope: Estimate | None
    intercept: Estimate | None
    details: dict[str, Any]


@dataclass(frozen=True)
class Robustness:
    """All models under one shift, and the line that says what to expect; prints as a table.

    Args:
        x: The clean sets; usually one.
        y: The shift.
        band: Clean accuracy, and between which accuracies the line lies there: (x, low, high).
        scales: Leave-one-out error of a line on each scale, in accuracy, best first.
        notes: What was left out, and why.
    """

    x: tuple[str, ...]
    y: str
    fitted: Fitted
    models: tuple[ModelRobustness, ...]
    band: tuple[tuple[float, float, float], ...]
    scales: tuple[tuple[str, float], ...]
    notes: tuple[str, ...]
    level: float

    def __str__(self) -> str:
        fitted = self.fitted
        lines = [f"{self.y} against {', '.join(self.x)}: {fitted.kind} on the {fitted.scale} scale, {fitted.n} models"]
        if fitted.slope and fitted.intercept:
            lines += [f"  slope      {_signed(fitted.slope)}", f"  intercept  {_signed(fitted.intercept)}"]
        lines.append(f"  R²         {fitted.r2:.4f}")
        if self.scales:
            best = ", ".join(f"{name} {100 * error:.2f}" for name, error in self.scales)
            lines.append(f"  left out one at a time, the line errs by (points): {best}")
        return "\n".join([*lines, "", columns(self._rows())])

    def _rows(self) -> list[list[str]]:
        header = ["model", "category", *self.x, self.y, "ρ", "τ", "rank"]
        rows = [
            [
                one.model,
                (one.category or "?") + ("*" if one.in_baseline else ""),
                *(_short(x) for x in one.x),
                _short(one.y),
                _short(one.rho, sign=True),
                "" if one.tau is None else f"{_short(one.tau, sign=True)} on {one.parent}",
                f"{one.rank_x} → {one.rank_y}",
            ]
            for one in sorted(self.models, key=lambda one: -one.rho.value)
        ]
        return [header, *rows]

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


def robustness(
    store: str | Store,
    shift: str,
    *,
    x: Sequence[str] = ("clean",),
    origins: Mapping[str, Origin] | None = None,
    options: RobustnessOptions = DEFAULT_OPTIONS,
) -> Robustness:
    """Effective and relative robustness of every model of a store under a shift.

    Args:
        shift: A condition, or a family such as ``imagenet-c``, whose conditions are averaged.
        x: The clean set, over the same classes; several make a plane of the line.
        origins: Category and parent of models whose cards do not say.
    """
    opened = store if isinstance(store, Store) else open_store(str(store))
    points = points_of_store(opened, x, shift, origins=origins or {}, resampling=options.resampling)
    return robustness_of(points, options)


def robustness_of_table(
    rows: Sequence[Accuracy],
    shift: str,
    *,
    x: Sequence[str],
    origins: Mapping[str, Origin] | None = None,
    options: RobustnessOptions = DEFAULT_OPTIONS,
) -> Robustness:
    """The same from a table of accuracies."""
    level = options.resampling.level
    return robustness_of(points_of_table(rows, x, shift, origins=origins or {}, level=level), options)


def robustness_of(points: Points, options: RobustnessOptions) -> Robustness:
    """Draw the baseline and set every model beside it."""
    if not points.models:
        raise OodometerError(f"no model was measured on both {', '.join(points.x)} and {points.y}")
    x = np.array([[one.value for one in point.x] for point in points.models])
    y = np.array([point.y.value for point in points.models])
    baseline = _baseline(points, x[:, 0], options)
    fit = _fit_of(points, options)
    found = fit(x[baseline], y[baseline])
    rho = _rho(points, x, y, baseline, fit, options)
    scales: tuple[ScaleFit, ...] = ()
    if isinstance(found, Line) and int(baseline.sum()) > 3:
        scales = compare_scales(x[baseline, 0], y[baseline])
    change = rank_change(x[:, 0], y)
    models = tuple(
        ModelRobustness(
            model=point.model,
            category=point.origin.category,
            in_baseline=bool(baseline[at]),
            x=point.x,
            y=point.y,
            drop=_drop(points, at, options.resampling.level),
            rho=rho[at],
            tau=_tau(points, at, options.resampling.level),
            parent=point.origin.parent,
            rank_x=int(rank_x),
            rank_y=int(rank_y),
            rank_change=int(change[at]),
        )
        for at, (point, rank_x, rank_y) in enumerate(zip(points.models, ranks(x[:, 0]), ranks(y), strict=True))
    )
    return Robustness(
        points.x,
        points.y,
        _fitted(found, x[baseline], y[baseline], options),
        models,
        _band(found, x, x[baseline], y[baseline], options),
        tuple((one.line.scale, one.rmse) for one in scales),
        points.notes,
        options.resampling.level,
    )


def _baseline(points: Points, x: np.ndarray, options: RobustnessOptions) -> np.ndarray:
    """Which models the line goes through, (M,) bool."""
    categories = {point.origin.category for point in points.models}
    if options.baseline and options.baseline not in categories:
        known = sorted(one for one in categories if one)
        raise UsageError(
            f"no model of category {options.baseline!r} among those measured on {points.y}"
            f"{did_you_mean(options.baseline, known) if known else ': no categories are known; give --categories CSV'}"
        )

    def chosen(model: str, category: str, clean: float) -> bool:
        left_out = any(fnmatch.fnmatchcase(model, pattern) for pattern in options.leave_out)
        return category == (options.baseline or category) and clean >= options.baseline_above and not left_out

    return np.array(
        [chosen(point.model, point.origin.category, clean) for point, clean in zip(points.models, x, strict=True)]
    )


def _fit_of(points: Points, options: RobustnessOptions) -> Fit:
    """How the baseline is fitted."""
    if len(points.x) > 1:
        if options.knee is not None:
            raise UsageError("a knee needs one clean set; give --x once")
        return lambda x, y: fit_plane(x, y, scale=options.scale)
    if options.knee is None:
        return lambda x, y: fit_line(x.reshape(-1), y, scale=options.scale)
    knee = _knee(points, options.knee)
    return lambda x, y: fit_two_piece(x.reshape(-1), y, knee, scale=options.scale)


def _knee(points: Points, knee: str | float) -> float:
    """The clean accuracy at which the baseline bends: a number, or that of a model."""
    if isinstance(knee, float):
        return knee
    places = {point.model: point.x[0].value for point in points.models}
    if knee not in places:
        raise UsageError(
            f"--knee {knee}: no such model{did_you_mean(knee, places)}; or give a clean accuracy like 0.76"
        )
    return places[knee]


def _rho(
    points: Points, x: np.ndarray, y: np.ndarray, baseline: np.ndarray, fit: Fit, options: RobustnessOptions
) -> tuple[Estimate, ...]:
    sizes = [(*(one.n for one in point.x), point.y.n) for point in points.models]
    if len(points.x) > 1 or options.knee is not None:
        shape = x if len(points.x) > 1 else x[:, 0]
        return rho_from_fits(shape, y, sizes, baseline, fit, resampling=options.resampling)
    if points.right_x is not None and points.right_y is not None:
        return rho_from_images(
            points.right_x,
            points.right_y,
            baseline,
            same_images=points.same_images,
            scale=options.scale,
            resampling=options.resampling,
        )
    n_x, n_y = zip(*sizes, strict=True)
    return rho_from_counts(x[:, 0], y, n_x, n_y, baseline, scale=options.scale, resampling=options.resampling)


def _drop(points: Points, at: int, level: float) -> Estimate:
    """Clean accuracy minus accuracy under the shift; paired where both are the same photographs."""
    if points.same_images and points.right_x is not None and points.right_y is not None:
        return _difference(points.right_x[at], points.right_y[at], level)
    point = points.models[at]
    return accuracy_drop(point.x[0].value, point.y.value, point.x[0].n, point.y.n, level=level)


def _tau(points: Points, at: int, level: float) -> Estimate | None:
    """The model minus its parent under the shift, where the parent is among the models."""
    point = points.models[at]
    parents = [place for place, other in enumerate(points.models) if other.model == point.origin.parent]
    if not parents:
        return None
    if points.right_y is not None:
        return _difference(points.right_y[at], points.right_y[parents[0]], level)
    other = points.models[parents[0]].y
    return tau_from_counts(point.y.value, other.value, point.y.n, other.n, level=level)


def _difference(a: np.ndarray, b: np.ndarray, level: float) -> Estimate:
    """The mean of a minus the mean of b over the same images."""
    if a.dtype != bool or b.dtype != bool:
        return mean_of(a.astype(np.float64) - b, level=level)
    counts = PairedCounts(int((a & b).sum()), int((b & ~a).sum()), int((a & ~b).sum()), int((~a & ~b).sum()))
    return paired_difference(counts, level=level)


def _fitted(found: Baseline, x: np.ndarray, y: np.ndarray, options: RobustnessOptions) -> Fitted:
    """The fit in words and numbers."""
    assert isinstance(found, Line | TwoPiece | Plane)
    slope = intercept = None
    if isinstance(found, Line):
        draws = _line_draws(x, y, options)
        level = options.resampling.level
        slope, intercept = slope_of(found, draws, level=level), intercept_of(found, draws, level=level)
    kind = {Line: "line", TwoPiece: "two lines", Plane: "plane"}[type(found)]
    return Fitted(kind, options.scale, found.r2, found.n, found.left_out, slope, intercept, asdict(found))


def _line_draws(x: np.ndarray, y: np.ndarray, options: RobustnessOptions) -> LineDraws:
    resampling = options.resampling
    return bootstrap_lines(x[:, 0], y, scale=options.scale, draws=resampling.draws, seed=resampling.seed)


def _band(
    found: Baseline, every_x: np.ndarray, x: np.ndarray, y: np.ndarray, options: RobustnessOptions
) -> tuple[tuple[float, float, float], ...]:
    """Where the line may lie, over the range of the models; for a plain line alone."""
    if not isinstance(found, Line):
        return ()
    places = np.linspace(every_x[:, 0].min(), every_x[:, 0].max(), BAND_PLACES)
    low, high = band(_line_draws(x, y, options), places, level=options.resampling.level)
    return tuple(zip(places.tolist(), low.tolist(), high.tolist(), strict=True))


def _signed(estimate: Estimate) -> str:
    return f"{estimate.value:+.4f} [{estimate.low:+.4f}, {estimate.high:+.4f}]"


def _short(estimate: Estimate, *, sign: bool = False) -> str:
    """A value with its interval, without n."""
    form = "+.4f" if sign else ".4f"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:{form}}"
    return f"{estimate.value:{form}} [{estimate.low:{form}}, {estimate.high:{form}}]"
