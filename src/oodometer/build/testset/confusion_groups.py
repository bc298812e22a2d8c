"""Groups of classes that models take for each other on ordinary images: to mix them up is no egregious error.

ImageNet-A's classes were chosen by people such that errors among them are egregious (Hendrycks et al. 2021, section 3);
where nobody has a table of near classes, this is a start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from oodometer.build.testset.duplicate_groups import groups_of
from oodometer.core.errors import UsageError


def confusion_groups(answered: Iterable[tuple[Sequence[str], Sequence[str]]], *, at_least: float) -> dict[str, str]:
    """By class the name of its group, the first of its classes; a class that is near to none is not there.

    Two classes are near where any model takes this share of the images of the one for the other; what is near to a near
    one is of the same group.

    Args:
        answered: Of each model, the true class of each image, and the one that it names.

    >>> confusion_groups([(["cat", "cat", "lynx", "candle"], ["cat", "lynx", "lynx", "candle"])], at_least=0.5)
    {'cat': 'cat', 'lynx': 'cat'}
    """
    if not 0 < at_least <= 1:
        raise UsageError(f"--groups {at_least:g}: a share above 0, at most 1")
    near = {pair for truth, answers in answered for pair in _near(truth, answers, at_least)}
    return {name: group[0] for group in groups_of(sorted(near)) for name in group}


def _near(truth: Sequence[str], answers: Sequence[str], at_least: float) -> list[tuple[str, str]]:
    n = Counter(truth)
    times = Counter(zip(truth, answers, strict=True))
    return [(a, b) for (a, b), count in times.items() if a != b and b in n and count >= at_least * n[a]]
