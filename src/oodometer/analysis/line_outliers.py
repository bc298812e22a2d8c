"""Models of a line that lie far from it: they pull it, and one of them may be broken."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

FEWEST = 11
"""Models of a line, below which their spread is too little known to say which of them is odd."""
FAR = 5.0
"""Standard deviations, from the median distance of the models: by chance one normal value in two million."""
LEAST = 0.05
"""Of accuracy: where all models lie within a hair of the line, none is odd for lying two away."""
MOST_NAMED = 5
TO_SD = 1.4826
"""The standard deviation of a normal distribution in its median absolute deviations."""


def outlier_notes(names: Sequence[str], rho: np.ndarray) -> list[str]:
    """A line that names the models of a line that are far from it; none where none is.

    Args:
        names: Of the models that the line goes through.
        rho: What each has beyond the line, (M,).

    >>> outlier_notes(list("abcdefghijkl"), np.append(np.linspace(-0.01, 0.01, 11), -0.4))
    ['far from the line that it is part of: l (-0.4000); is it broken, or of another category? --leave-out draws the \
line without it']
    """
    if len(names) < FEWEST:
        return []
    distance = np.abs(rho - np.median(rho))
    far = np.flatnonzero(distance > max(FAR * TO_SD * float(np.median(distance)), LEAST))
    if not len(far):
        return []
    worst = far[np.argsort(-distance[far], kind="stable")]
    named = ", ".join(f"{names[at]} ({rho[at]:+.4f})" for at in worst[:MOST_NAMED])
    more = f" and {len(worst) - MOST_NAMED} more" if len(worst) > MOST_NAMED else ""
    it, are, them = ("it is", "is it", "it") if len(worst) == 1 else ("they are", "are they", "them")
    return [
        f"far from the line that {it} part of: {named}{more}; {are} broken, or of another category? --leave-out draws "
        f"the line without {them}"
    ]
