"""Confusions and changes of classes as the script that draws them gets them, with the pictures behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from oodometer.analysis.confusion import Confused
from oodometer.core.estimate import Estimate
from oodometer.report.html.thumbnails import thumbnail
from oodometer.study import Picture
from oodometer.study.class_views import ClassView, ClassViews

FEW_CLASSES = 20
"""So many are shown as a whole matrix."""
MOST_PAIRS = 60
"""Confusions of one model on one set, where there are more classes."""
WITH_IMAGES = 12
"""Confusions of one model on one set that know images behind them."""
IMAGES_OF_EACH = 3
MOST_PICTURES = 400_000
"""Characters of all pictures together."""
DIGITS = 5


def class_data(picture: Picture | None, found: ClassViews) -> dict[str, Any]:
    """The views as plain values: names once, then numbers that point at them.

    ``views[model][subject]`` is null or ``{n, answers, right, pairs, changes}``. A pair is ``[truth, answer, count,
    [share, low, high, n], images]``, a change ``[class, clean, shifted, change]``, an image ``[id, condition,
    address]``.
    """
    names = _Names()
    images = _Images(picture)
    for rank in range(WITH_IMAGES):  # the first of every view before the second of any, while there is room
        for view in found.views.values():
            if rank < len(view.confusion.confusions):
                images.add(view, view.confusion.confusions[rank])
    views = [
        [_view(found.views.get((model, subject)), names, images) for subject in found.subjects]
        for model in found.models
    ]
    return {
        "models": list(found.models),
        "subjects": list(found.subjects),
        "names": names.known,
        "images": images.known,
        "views": views,
    }


def _view(view: ClassView | None, names: _Names, images: _Images) -> dict[str, Any] | None:
    if view is None:
        return None
    confusion, changes = view.confusion, view.changes
    return {
        "n": confusion.n,
        "answers": confusion.n_answers,
        "right": confusion.n_right,
        "conditions": len(confusion.conditions),
        "confused": confusion.n_confused,
        "whole": len(confusion.classes) <= FEW_CLASSES,
        "classes": [names.place(name) for name in confusion.classes] if len(confusion.classes) <= FEW_CLASSES else [],
        "pairs": [
            [
                names.place(cell.truth),
                names.place(cell.answer),
                cell.count,
                _numbers(cell.share),
                images.of(view, cell),
            ]
            for cell in _shown(view)
        ],
        "changes": None
        if changes is None
        else [
            [names.place(row.name), _numbers(row.standard), _numbers(row.shifted), _numbers(row.change)]
            for row in changes.rows
        ],
        "n_changes": 0 if changes is None else changes.n_tests,
        "paired": changes is not None and changes.paired,
    }


def _shown(view: ClassView) -> Iterator[Confused]:
    """All cells of a small matrix; of a large one what is confused most, and what is right of these classes."""
    confusion = view.confusion
    if len(confusion.classes) <= FEW_CLASSES:
        yield from confusion.cells
        return
    most = confusion.confusions[:MOST_PAIRS]
    of = {cell.truth for cell in most}
    yield from (cell for cell in confusion.cells if cell.is_right and cell.truth in of)
    yield from most


def _numbers(estimate: Estimate) -> list[float | int | None]:
    ends = (estimate.value, estimate.low, estimate.high)
    return [*(None if end is None else round(end, DIGITS) for end in ends), estimate.n]


class _Names:
    """The names of classes, each once."""

    def __init__(self) -> None:
        self.known: list[str] = []
        self._places: dict[str, int] = {}

    def place(self, name: str) -> int:
        """Where a name is among the known ones."""
        if name not in self._places:
            self._places[name] = len(self.known)
            self.known.append(name)
        return self._places[name]


class _Images:
    """The images behind confusions, each once, with their pictures as long as there is room."""

    def __init__(self, picture: Picture | None) -> None:
        self.known: list[tuple[str, str, str]] = []
        self._picture = picture
        self._left = MOST_PICTURES
        self._places: dict[tuple[str, str], int] = {}
        self._of: dict[tuple[str, str, str, str], list[int]] = {}

    def add(self, view: ClassView, cell: Confused) -> None:
        """Note the first images of a confusion."""
        behind = zip(cell.images, cell.seen_in, strict=True)
        self._of[_key(view, cell)] = [self._place(view, *image) for image in list(behind)[:IMAGES_OF_EACH]]

    def of(self, view: ClassView, cell: Confused) -> Sequence[int]:
        """The places of the images of a confusion; none where none were noted."""
        return self._of.get(_key(view, cell), [])

    def _place(self, view: ClassView, image_id: str, condition: str) -> int:
        if (image_id, condition) not in self._places:
            self._places[image_id, condition] = len(self.known)
            self.known.append((image_id, condition, self._address(view, image_id, condition)))
        return self._places[image_id, condition]

    def _address(self, view: ClassView, image_id: str, condition: str) -> str:
        if self._picture is None or self._left <= 0:
            return ""
        pixels = self._picture(view.cells[condition], image_id)
        address = "" if pixels is None else thumbnail(pixels)
        if len(address) > self._left:
            return ""
        self._left -= len(address)
        return address


def _key(view: ClassView, cell: Confused) -> tuple[str, str, str, str]:
    return view.confusion.model, view.confusion.on, cell.truth, cell.answer
