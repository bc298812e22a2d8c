"""What one panel of a scatter shows."""

from __future__ import annotations

from dataclasses import dataclass, field

from oodometer.analysis.points import Point
from oodometer.figures.hypothetical import Place
from oodometer.figures.people import People
from oodometer.figures.top_models import Top
from oodometer.stats.scales import Scale
from oodometer.study import StudyShift


@dataclass(frozen=True)
class Panel:
    """What one panel shows.

    Args:
        points: The models that are shown; the line may go through others too.
        scale: Of both axes; the line is straight on its own.
        title: Over the panel; empty where it is the only one.
        side: Inches of width.
        people: What people reach under the shift.
        top: The models that are framed.
        hypothetical: A model that nobody has.
    """

    shift: StudyShift
    points: tuple[Point, ...]
    scale: Scale
    title: str
    side: float
    people: People = field(default_factory=dict)
    top: Top = field(default_factory=Top)
    hypothetical: Place | None = None
