"""Robustness as text: the baseline, every model beside it, and its parent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from oodometer.analysis.text import columns
from oodometer.core.estimate import Estimate

if TYPE_CHECKING:
    from oodometer.analysis.robustness import ModelRobustness, Order, Robustness
    from oodometer.analysis.robustness_line import Fitted, Piece

BAR = 19
"""Letters of a drawn interval: an odd number, so that 0 is the one in the middle."""


def table_of(found: Robustness, *, plot: bool) -> str:
    """The whole report, the model with the highest ρ first."""
    models = sorted(found.models, key=lambda one: -one.rho.value)
    blocks = [_head(found), _beside_the_line(models, len(found.x), plot)]
    if any(one.tau is not None for one in models):
        blocks.append(_beside_the_parent(models))
    return "\n\n".join(blocks)


def _head(found: Robustness) -> str:
    """What was fitted to what, and how well."""
    fitted = found.fitted
    sets = ", ".join(f"{name} ({sign})" for name, sign in zip(found.x, _signs(len(found.x)), strict=True))
    by = ", mAP" if found.measure == "map" else ""
    several = f", mean of {len(found.conditions)} conditions" if len(found.conditions) > 1 else ""
    lost = f", {fitted.left_out} more at exactly 0 % or 100 % left out" if fitted.left_out else ""
    lines = [
        f"{found.y} (y{by}{several}) against {sets}",
        f"{fitted.kind} on the {fitted.scale} scale through {fitted.n} models{lost}",
        *_fit(fitted),
    ]
    if found.scales:
        best = ", ".join(f"{name} {100 * error:.2f}" for name, error in found.scales)
        lines.append(f"  left out one at a time, models are off the line by (points): {best}")
    return "\n".join([*lines, *_order(found.order, len(found.models))])


def _signs(n: int) -> list[str]:
    """What the clean sets are called in the table."""
    return ["x"] if n == 1 else [f"x{place + 1}" for place in range(n)]


def _fit(fitted: Fitted) -> list[str]:
    if fitted.knee is None:
        return _piece(fitted.pieces[0])
    lines = [f"  R²         {fitted.r2:.4f} of both together"]
    for where, piece in zip(("x up to", "x above"), fitted.pieces, strict=True):
        lines += [f"  {where} {fitted.knee:.4f}: {piece.n} models", *(f"  {line}" for line in _piece(piece))]
    return lines


def _piece(piece: Piece) -> list[str]:
    signs = [""] if len(piece.slopes) == 1 else [f" {sign}" for sign in _signs(len(piece.slopes))]
    slopes = [f"  {f'slope{sign}':9}  {slope:+.4f}" for sign, slope in zip(signs, piece.slopes, strict=True)]
    return [*slopes, f"  intercept  {piece.intercept:+.4f}", f"  R²         {piece.r2:.4f}"]


def _order(order: Order, n: int) -> list[str]:
    """Correlations of x and y, and how many models change places."""
    known = (("Pearson", order.pearson), ("Spearman", order.spearman), ("Kendall", order.kendall))
    said = ", ".join(f"{name} {one:.3f}" for name, one in known if one is not None)
    swaps = f"  {order.swapped_pairs} of {order.pairs} pairs of models swap order"
    return [f"  x and y of {n} models: {said}", swaps] if said else [swaps]


def _beside_the_line(models: Sequence[ModelRobustness], n_x: int, plot: bool) -> str:
    reach = _reach(one.rho for one in models)
    header = ["model", "category", *_signs(n_x), "y", "ρ", *([axis(reach)] if plot else []), "rank"]
    rows = [
        [
            one.model,
            (one.category or "?") + ("*" if one.in_baseline else ""),
            *(f"{x.value:.4f}" for x in one.x),
            f"{one.y.value:.4f}",
            f"{one.rho:+.4f}",
            *([signed_bar(one.rho, reach=reach)] if plot else []),
            f"{one.rank_x} → {one.rank_y}",
        ]
        for one in models
    ]
    return columns([header, *rows])


def _beside_the_parent(models: Sequence[ModelRobustness]) -> str:
    rows = [
        [one.model, str(one.parent), f"{one.y.value:.4f}", f"{one.tau:+.4f}"] for one in models if one.tau is not None
    ]
    return columns([["model", "made from", "y", "τ"], *rows])


def _reach(estimates: Iterable[Estimate]) -> float:
    """A round number that no bound is beyond: 1, 2 or 5 times a power of ten."""
    bounds = [abs(end) for one in estimates for end in (one.low, one.high, one.value) if end is not None]
    most = max(*bounds, 0.01)
    power = 10.0 ** np.floor(np.log10(most))
    return float(next(power * step for step in (1, 2, 5, 10) if power * step >= most * (1 - 1e-9)))


def axis(reach: float) -> str:
    """The ends of the scale, above the bars."""
    low, high = f"{-reach:g}", f"{reach:+g}"
    half = BAR // 2
    return f"{low:{half}}0{high:>{half}}"


def signed_bar(estimate: Estimate, *, reach: float, width: int = BAR) -> str:
    """The interval drawn on the scale from -reach to reach, with a line at 0.

    >>> signed_bar(Estimate(0.02, 0.01, 0.04, None, "line only 95%"), reach=0.05)
    '·········│·├─●───┤·'
    """
    places = ["·"] * width
    places[width // 2] = "│"

    def place(value: float) -> int:
        return min(max(int((value / reach + 1) / 2 * width), 0), width - 1)

    if estimate.low is not None and estimate.high is not None:
        low, high = place(estimate.low), place(estimate.high)
        for at in range(low, high + 1):
            places[at] = "┼" if at == width // 2 else "─"
        places[low], places[high] = "├", "┤"
    places[place(estimate.value)] = "●"
    return "".join(places)
