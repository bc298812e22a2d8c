"""How many classes published data have, by name."""

from __future__ import annotations

from oodometer.catalogue.names import find_shift
from oodometer.catalogue.sets import find_set
from oodometer.catalogue.shifts import CLEAN

AMBIGUOUS = ("cifar-100", "imagenet-vid-robust", "ytbb-robust")
"""Sets whose files may number one of two things: classes, or the groups of them that are judged."""


def known_classes(data: str, condition: str) -> int | None:
    """The number of classes of the data of that name, or of the published shift that the condition is.

    None where nobody knows, and where files may number the classes of the set or those of the clean set: the 200 of
    ImageNet-A, -O and -R, or ImageNet's 1,000.

    >>> known_classes("imagenet", "clean"), known_classes("imported", "imagenet-c:disk/fog/3")
    (1000, 1000)
    >>> known_classes("imported", "imagenetv2-matched-frequency"), known_classes("imported", "imagenet-a")
    (1000, None)
    """
    return _of_set(data) or _of_set(condition) or _of_shift(condition)


def _of_set(name: str) -> int | None:
    entry = find_set(name)
    if entry is None or entry.name in AMBIGUOUS:
        return None
    clean = find_set(entry.clean) if entry.clean else entry
    n_clean = clean.n_classes if clean else None
    return n_clean if entry.n_classes in (None, n_clean) else None


def _of_shift(name: str) -> int | None:
    """Of a shift whose clean images are those of a set: clean images as such may be any."""
    entry = find_shift(name)
    if entry is None or entry.name == CLEAN:
        return None
    sizes = {_of_set(one) for one in entry.sets}
    return sizes.pop() if len(sizes) == 1 else None
