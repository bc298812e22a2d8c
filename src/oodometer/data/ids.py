"""Stable image ids, which do not depend on where or how the images are kept."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Sequence


def ids_of_paths(paths: Sequence[str]) -> tuple[str, ...]:
    """Paths without their extension; those that differ in nothing else keep it.

    >>> ids_of_paths(["0/a.png", "0/b.jpg", "0/b.png"])
    ('0/a', '0/b.jpg', '0/b.png')
    """
    stems = [posixpath.splitext(path)[0] for path in paths]
    times = Counter(stems)
    return tuple(stem if times[stem] == 1 else path for stem, path in zip(stems, paths, strict=True))


def ids_of_positions(n: int) -> tuple[str, ...]:
    """Positions, padded so that they sort as numbers.

    >>> ids_of_positions(11)[1:3]
    ('01', '02')
    """
    width = len(str(n - 1))
    return tuple(str(position).zfill(width) for position in range(n))
