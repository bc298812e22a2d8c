"""What users write as a label (numbers, WordNet ids, names) to indices into a label space; and ids of images."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace, numbered
from oodometer.core.limits import MAX_CLASSES
from oodometer.data.imagenet import imagenet, imagenet_index

BETWEEN = "|"
"""Between the labels of an image that has several."""


MOST_DIGITS = 400
"""Of a number; what is longer is a name, since Python refuses to read numbers of thousands of digits."""


def is_number(text: str) -> bool:
    """Whether it is a whole number from 0 on.

    >>> is_number("007"), is_number("-1"), is_number("²")
    (True, False, False)
    """
    return len(text) <= MOST_DIGITS and text.isascii() and text.isdigit()


def space_of(names: Iterable[str], *, name: str) -> tuple[LabelSpace, dict[str, int]]:
    """The label space that these class names belong to, and the index of each name.

    Numbers are indices, WordNet ids of ImageNet-1k are its classes (even if only some occur), and any other names
    are classes in alphabetical order.

    >>> space_of(["10", "9"], name="digits")[1]
    {'10': 10, '9': 9}
    >>> space_of(["n01443537"], name="fish")[1]
    {'n01443537': 1}
    >>> space_of(["dog", "cat"], name="pets")
    (LabelSpace(name='pets', classes=('cat', 'dog')), {'cat': 0, 'dog': 1})
    """
    distinct = sorted(set(names))
    if all(is_number(one) for one in distinct):
        numbers = {one: int(one) for one in distinct}
        largest = max(numbers.values(), default=-1)
        if largest >= MAX_CLASSES:
            raise DataError(f"{name}: class number {largest} is too large; name the classes by words instead")
        return numbered(largest + 1), numbers
    if all(one in imagenet_index() for one in distinct):
        return imagenet(), {one: imagenet_index()[one] for one in distinct}
    return LabelSpace(name, tuple(distinct)), {one: index for index, one in enumerate(distinct)}


def parse_labels(values: Sequence[Any], *, name: str, rows: str = "row") -> tuple[np.ndarray, LabelSpace]:
    """Labels as they were written, one per image, as indices (N,) int64 and their space; None is no label.

    >>> parse_labels(["2", "0"], name="digits")[0].tolist(), parse_labels([None, None], name="new")[0].tolist()
    ([2, 0], [-1, -1])
    >>> parse_labels([0, -3], name="digits")
    Traceback (most recent call last):
    oodometer.core.errors.DataError: digits: row 2 has the label -3; labels are whole numbers from 0 on, or class names
    """
    texts = [_text(value, f"{name}: {rows} {place}") for place, value in enumerate(values, start=1)]
    if all(text is None for text in texts):
        return np.full(len(texts), -1, dtype=np.int64), numbered(0)
    if None in texts:
        missing = texts.index(None) + 1
        raise DataError(f"{name}: {rows} {missing} has no label; give every image a label, or none at all")
    space, index = space_of((text for text in texts if text is not None), name=name)
    return np.array([index[text] for text in texts if text is not None], dtype=np.int64), space


def parse_label_sets(values: Sequence[Any], *, name: str) -> tuple[np.ndarray, tuple[tuple[int, ...], ...], LabelSpace]:
    """Several labels per image, as ``3|7|9`` or as a list: the first of each, (N,) int64, the others, and their space.

    >>> first, others, space = parse_label_sets(["skirt|vest", "vest"], name="clothes")
    >>> first.tolist(), others, space.classes
    ([0, 1], ((1,), ()), ('skirt', 'vest'))
    """
    sets = [_distinct(value, f"{name}: row {place}") for place, value in enumerate(values, start=1)]
    space, index = space_of((one for some in sets for one in some), name=name)
    first = np.array([index[some[0]] for some in sets], dtype=np.int64)
    return first, tuple(tuple(index[one] for one in some[1:]) for some in sets), space


def _distinct(value: Any, where: str) -> list[str]:
    parts = value.split(BETWEEN) if isinstance(value, str) else value
    listed = parts if isinstance(parts, (list, tuple, np.ndarray)) else [parts]
    texts = [_text(one, where) for one in listed]
    if not texts or None in texts:
        raise DataError(f"{where} has {'an empty label' if len(texts) > 1 else 'no labels'}; write them as 3{BETWEEN}7")
    # 07 and 7 are the same number, and so the same label.
    plain = [str(int(text)) if is_number(text) else text for text in texts if text is not None]
    return list(dict.fromkeys(plain))


def _text(value: Any, where: str) -> str | None:
    if value is None or value == "":
        return None
    text = value.strip() if isinstance(value, str) else str(value)
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not (whole or isinstance(value, str)) or (text.startswith("-") and is_number(text[1:])):
        raise DataError(f"{where} has the label {text}; labels are whole numbers from 0 on, or class names")
    return text or None


def ids_of_paths(paths: Sequence[str]) -> tuple[str, ...]:
    """Stable ids: paths without their extension; those that differ in nothing else keep it.

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
