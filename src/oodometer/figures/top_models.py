"""The models of the highest effective robustness, framed; and whether they can be told from the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oodometer.analysis.points import named
from oodometer.analysis.robustness import ModelRobustness
from oodometer.figures.category_styles import size_of
from oodometer.figures.selection import line_of
from oodometer.figures.style import INK
from oodometer.study import StudyShift

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Top:
    """The models of the highest ρ as measured.

    Args:
        models: The highest first.
        rivals: Others whose interval of ρ overlaps one of theirs, or that have none: they may be as high.
    """

    models: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()


def highest(shift: StudyShift, shown: Collection[str], n: int) -> Top:
    """The ``n`` of the models that are shown."""
    ranked = sorted(
        (model for model in line_of(shift).models if model.model in shown), key=lambda model: -model.rho.value
    )
    top, rest = ranked[:n], ranked[n:]
    return Top(
        tuple(model.model for model in top),
        tuple(model.model for model in rest if not all(_is_above(other, model) for other in top)),
    )


def _is_above(model: ModelRobustness, other: ModelRobustness) -> bool:
    """Whether the intervals are apart; one without a number of images is of the line only, and tells nothing here."""
    low, high = model.rho.low, other.rho.high
    known = model.rho.n is not None and other.rho.n is not None
    return known and low is not None and high is not None and low > high


def draw_frames(axes: Axes, places: Sequence[tuple[float, float]], *, n: int) -> None:
    """A square around each of the marks among ``n`` others, as in the paper."""
    if places:
        x, y = zip(*places, strict=True)
        axes.scatter(x, y, s=3 * size_of(n), **FRAME, zorder=5, gid="top")


FRAME: dict[str, Any] = {"marker": "s", "facecolors": "none", "edgecolors": INK, "linewidths": 0.8}


def top_legend(tops: Sequence[Top]) -> tuple[list[Any], list[str]]:
    """The square, and what it says: no rank where intervals overlap."""
    from matplotlib.lines import Line2D

    if not any(top.models for top in tops):
        return [], []
    frame = Line2D(
        [], [], marker="s", linestyle="none", markersize=6, markerfacecolor="none", markeredgecolor=INK,
        markeredgewidth=0.8,
    )  # fmt: skip
    n = f"{max(len(top.models) for top in tops)}{' each' if len(tops) > 1 else ''}"
    return [frame], [f"high ρ, not ranked ({n})" if any(top.rivals for top in tops) else f"highest ρ ({n})"]


def about_rivals(shift: str, top: Top) -> str:
    """A line about what can't be told; empty where all can."""
    if not top.rivals:
        return ""
    return (
        f"{shift}: which models have the highest ρ can't be told: the intervals of {named(top.rivals)} overlap those "
        "of the marked ones"
    )
