"""The kinds of figures, each in a file of its own, and the road from a study to a figure."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oodometer.core.registry import Registry
from oodometer.figures.options import DEFAULT_OPTIONS, FigureOptions
from oodometer.figures.style import paper_style, settle, width_of
from oodometer.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Kind:
    """A kind of figure.

    Args:
        about: What it shows.
        after: The papers' figures that are drawn like this.
        needs: What must be in the store.
        draw: Draws it.
        lacking: Why it can't be drawn from what was measured; empty where it can. Of a study whose shifts need not be
            computed.
        needs_shift: Whether it is about shifts that must be named.
        about_lines: Whether it shows lines, so that a reader should know why there is none.
        alone: The conditions of a study that it shows by themselves, without what they are compared with.
    """

    about: str
    after: str
    needs: str
    draw: Callable[[Study, FigureOptions], Figure]
    lacking: Callable[[Study], str]
    needs_shift: bool = True
    about_lines: bool = False
    alone: Callable[[Study], Collection[str]] = lambda _: ()


HOME = "oodometer.figures"

figure_kinds: Registry[Kind] = Registry(
    "kind of figure",
    {
        "accuracy": f"{HOME}.accuracy:ACCURACY",
        "aupr": f"{HOME}.aupr:AUPR_KIND",
        "calibration": f"{HOME}.calibration:CALIBRATION",
        "ce": f"{HOME}.ce:CE",
        "consistency": f"{HOME}.consistency:CONSISTENCY",
        "correlation": f"{HOME}.correlation:CORRELATION",
        "effective": f"{HOME}.effective:EFFECTIVE",
        "errors": f"{HOME}.errors:ERRORS",
        "mce": f"{HOME}.mce:MCE",
        "quadrants": f"{HOME}.quadrants:QUADRANTS",
        "reliability": f"{HOME}.response:RELIABILITY",
        "response": f"{HOME}.response:RESPONSE",
        "scales": f"{HOME}.scales:SCALES",
        "scatter": f"{HOME}.scatter:SCATTER",
        "severity": f"{HOME}.severity:SEVERITY",
        "size": f"{HOME}.size:SIZE",
    },
    group="oodometer.figures",
)
"""By name; installed packages may add theirs."""


def draw(study: Study, kind: str, options: FigureOptions = DEFAULT_OPTIONS) -> Figure:
    """The figure of that kind; nothing is written.

    Args:
        study: What was measured, with the shifts that are to be shown.
        kind: A name of ``figure_kinds``.
        options: Which shifts and models, and the width.
    """
    found = figure_kinds.get(kind)
    width_of(options.columns)  # an error now, if there is no such width
    with paper_style():
        figure = found.draw(study, options)
        settle(figure)
        return figure
