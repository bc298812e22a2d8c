"""Categories as figures show them: those that there are looks for, and the smallest others as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oodometer.figures.style import INK
from oodometer.report.palette import LOOKS, OTHERS, UNKNOWN, Look, looks_of
from oodometer.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 40
MANY = 120
"""Marks are large up to the first of these numbers of models, and small beyond the second."""

AREAS = {"*": 2.2, "X": 1.35, "P": 1.35, "^": 1.25, "v": 1.25, "D": 0.85}
"""Marks of the same size do not look of the same size."""

OTHER = "other"


@dataclass(frozen=True)
class Looks:
    """What the models of a figure look like.

    Args:
        shown: The name under which each category is shown.
        looks: The look of each name that is shown.
        counts: And how many models have it.
    """

    shown: dict[str, str]
    looks: dict[str, Look]
    counts: dict[str, int]

    def of(self, category: str) -> Look:
        """The look of a model's category."""
        return self.looks[self.shown[category]]

    def legend(self) -> tuple[list[Any], list[str]]:
        """A mark and a text for each."""
        labels = [
            f"{name or ('models' if len(self.looks) == 1 else UNKNOWN)} ({self.counts[name]})" for name in self.looks
        ]
        return [mark(look) for look in self.looks.values()], [label.replace("_", " ") for label in labels]


def looks_for(study: Study, shown: Iterable[tuple[str, str]]) -> Looks:
    """The looks of the models that are shown, given as (model, category); the same in all figures of a study."""
    every = Counter(model.origin.category for model in study.models)
    others = [name for name in every if name.replace("_", " ") not in LOOKS]
    few = set()
    if len(others) > len(OTHERS):
        ranked = sorted(others, key=lambda name: (-every[name], name))
        few = set(ranked[len(OTHERS) - 1 :])
    names = {name: OTHER if name in few else name for name in every}
    counts = Counter(names[category] for category in dict(shown).values())
    looks = {name: look for name, look in looks_of(names.values()).items() if counts[name]}
    return Looks(names, looks, dict(counts))


def mark(look: Look) -> Any:
    """A category's mark in a legend."""
    from matplotlib.lines import Line2D

    return Line2D(
        [],
        [],
        color=look.colour,
        marker=look.marker,
        linestyle="none",
        markersize=4.8 * AREAS.get(look.marker, 1.0) ** 0.5,
        markeredgecolor="white",
        markeredgewidth=0.3,
    )


def area_of(look: Look, n: int) -> float:
    """The area of a mark in square points: smaller where there are many models."""
    return AREAS.get(look.marker, 1.0) * size_of(n)


def size_of(n: int) -> float:
    """The area of a round mark among so many."""
    return 24.0 if n <= MOST else 15.0 if n <= MANY else 10.0


def ring(axes: Axes, places: Sequence[tuple[float, float]], *, n: int) -> None:
    """A ring around the marks that are named among ``n`` others."""
    if places:
        x, y = zip(*places, strict=True)
        axes.scatter(x, y, s=2.2 * size_of(n), facecolors="none", edgecolors=INK, linewidths=0.7, zorder=5, gid="ring")


def draw_marks(axes: Axes, x: Any, y: Any, look: Look, *, n: int) -> None:
    """The marks of one category, in the data's own units."""
    axes.scatter(
        x,
        y,
        s=area_of(look, n),
        marker=look.marker,
        color=look.colour,
        edgecolors="white",
        linewidths=0.35 if n <= MANY else 0.2,
        zorder=4,
        gid="models",
    )
