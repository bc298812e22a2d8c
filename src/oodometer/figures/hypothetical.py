"""A hypothetical model in a scatter: what effective robustness would look like, as an arrow up from the line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oodometer.analysis.robustness import Robustness
from oodometer.analysis.robustness_line import expected_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GREEN = "#00795a"
"""As in the paper; dark enough for grey print."""

Place = tuple[float, float]
"""Accuracy on the clean set and under the shift, shares."""


def draw_hypothetical(axes: Axes, place: Place, line: Robustness | None) -> None:
    """A hollow star, and where there is a line an arrow from it."""
    x, y = 100 * place[0], 100 * place[1]
    if line is not None:
        axes.annotate(
            "", xy=(x, y), xytext=(x, 100 * expected_at(line.fitted, place[0])), zorder=4.5, gid="rho",
            arrowprops={"arrowstyle": "-|>", "color": GREEN, "linewidth": 0.9, "shrinkA": 0, "shrinkB": 3.5,
                        "mutation_scale": 6},
        )  # fmt: skip
    axes.scatter(x, y, **_star(60), zorder=5, gid="hypothetical")


def said_of(place: Place, line: Robustness | None) -> str:
    """What stands beside it: its effective robustness, in points."""
    if line is None:
        return "hypothetical"
    rho = 100 * (place[1] - expected_at(line.fitted, place[0]))
    return f"hypothetical: ρ {rho:+.1f} points".replace("-", "−")


def hypothetical_legend() -> tuple[list[Any], list[str]]:
    """The star, and what it is."""
    from matplotlib.lines import Line2D

    star = Line2D(
        [], [], marker="*", linestyle="none", markersize=6.5, markerfacecolor="white", markeredgecolor=GREEN,
        markeredgewidth=0.9,
    )  # fmt: skip
    return [star], ["hypothetical"]


def _star(area: float) -> dict[str, Any]:
    return {"marker": "*", "s": area, "facecolors": "white", "edgecolors": GREEN, "linewidths": 0.9}
