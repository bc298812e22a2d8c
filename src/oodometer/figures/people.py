"""What people reach, as imported: a dashed line beside the models, with its interval as a band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from oodometer.core.estimate import Estimate
from oodometer.figures.percent_axes import Span
from oodometer.figures.style import INK, note
from oodometer.study import Study, StudyShift

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DASHES = (0, (6, 2))
SAID = "people, as imported"

People = Mapping[str, Estimate]
"""Name to accuracy."""


def people_under(study: Study, shift: StudyShift) -> People:
    """What people reach under a shift; nobody where it is a family, or judged by anything but top-1."""
    if len(shift.shifted) != 1 or shift.points.measure != "top-1":
        return {}
    return study.condition(shift.shifted[0]).people


def people_on_clean(study: Study, shift: StudyShift) -> People:
    """What people reach on the clean set of a shift."""
    return study.condition(shift.standard).people if shift.standard and shift.points.measure == "top-1" else {}


def draw_people(axes: Axes, people: People, along: Literal["x", "y"], span: Span | None = None) -> None:
    """A line for each at its accuracy on the axis ``along``, within the span where the axis has no place for all."""
    figure = axes.get_figure(root=True)
    line, band = (axes.axhline, axes.axhspan) if along == "y" else (axes.axvline, axes.axvspan)
    for name, accuracy in people.items():
        note(figure, f"{name}, people as imported: {_told(accuracy)}")
        value, low, high = (_placed(end, span) for end in (accuracy.value, accuracy.low, accuracy.high))
        line(value, color=INK, linestyle=DASHES, linewidth=0.9, zorder=1.5, gid="people")
        if accuracy.low is not None and accuracy.high is not None:
            band(low, high, color=INK, alpha=0.08, linewidth=0, zorder=0.5, gid="people interval")


def _told(accuracy: Estimate) -> str:
    """An accuracy in words.

    >>> _told(Estimate(0.95, 0.831, 0.994, 40, "any")), _told(Estimate(0.95, None, None, None, "none"))
    ('95.0 % [83.1, 99.4] on 40 images', '95.0 %, on how many images is not known')
    """
    value = f"{100 * accuracy.value:.1f} %"
    if accuracy.low is None or accuracy.high is None:
        return f"{value}, on how many images is not known"
    return f"{value} [{100 * accuracy.low:.1f}, {100 * accuracy.high:.1f}] on {accuracy.n} images"


def _placed(share: float | None, span: Span | None) -> float:
    percent = 100 * (share or 0.0)
    return float(span.clip(np.array(percent))) if span else percent


def people_legend(panels: Sequence[People]) -> tuple[list[Any], list[str]]:
    """What the dashed lines are; nothing where there are none."""
    from matplotlib.lines import Line2D

    names = list(dict.fromkeys(name for people in panels for name in people))
    if not names:
        return [], []
    told = f"{SAID}: {names[0]}" if len(names) == 1 else f"{SAID} ({len(names)})"
    return [Line2D([], [], color=INK, linestyle=DASHES, linewidth=0.9)], [told]
