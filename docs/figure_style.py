"""The look of the figures of the documentation: one accent colour, grey, labels beside what they name.

It needs matplotlib, which the product does not.
"""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

FOLDER = Path(__file__).parent / "statistics"
ACCENT, GREY, LIGHT, INK = "#c2410c", "#8a8a8a", "#d9d9d9", "#222222"

mpl.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "oodometer",
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica"],
        "font.size": 10,
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": GREY,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "xtick.color": GREY,
        "ytick.color": GREY,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "figure.facecolor": "white",
        "figure.figsize": (6.4, 4.0),
        "figure.constrained_layout.use": True,
        "lines.linewidth": 1.8,
    }
)


def panel() -> tuple[Figure, Axes]:
    """A figure of the usual size with one set of axes."""
    return plt.subplots()


def panels(n: int, **options: object) -> tuple[Figure, list[Axes]]:
    """A figure of the usual size with n sets of axes side by side."""
    figure, axes = plt.subplots(1, n, **options)
    return figure, list(axes)


def save(figure: Figure, name: str) -> None:
    """Write docs/statistics/NAME.svg, the same bytes at every run.

    With the variable FIGURES_AS_PNG set to a folder, a PNG of the same goes there, to look at.
    """
    figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
    if folder := os.environ.get("FIGURES_AS_PNG"):
        figure.savefig(Path(folder) / f"{name}.png", dpi=110)
    plt.close(figure)
