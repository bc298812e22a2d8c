"""Images whose pixels are not used as the file has them: a border is cut off, or only one size is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from oodometer.core.dataset import ImageSource, Progress, Scan
from oodometer.core.errors import DataError
from oodometer.core.preprocessing import Geometry
from oodometer.data.resize import as_view
from oodometer.data.source import EncodedSource


@dataclass(frozen=True)
class WithoutBorder:
    """Images of which so many pixels are cut off on every side, before anything else is done to them."""

    inner: EncodedSource
    border: int

    def views(self, index: int, views: Sequence[Geometry | None]) -> list[np.ndarray]:
        """Image ``index`` without its border, decoded once, as each view wants it."""
        whole = self.inner.views(index, [None])[0]
        height, width = whole.shape[:2]
        if min(height, width) <= 2 * self.border:
            name = self.inner.images.name(index)
            raise DataError(f"{name}: {width}x{height} pixels are nothing but a border of {self.border}")
        return _seen(whole[self.border : height - self.border, self.border : width - self.border], views)

    def scan(self, indices: np.ndarray, progress: Progress) -> Scan:
        """What the files hold, border and all."""
        return self.inner.scan(indices, progress)


@dataclass(frozen=True)
class OfOneSize:
    """Images that must have exactly this many pixels: they are canonical and must not be resized and cropped again."""

    inner: EncodedSource
    width: int
    height: int

    def views(self, index: int, views: Sequence[Geometry | None]) -> list[np.ndarray]:
        """Image ``index``, decoded once, as each view wants it."""
        whole = self.inner.views(index, [None])[0]
        if whole.shape[:2] != (self.height, self.width):
            name, found = self.inner.images.name(index), f"{whole.shape[1]}x{whole.shape[0]}"
            raise DataError(f"{name}: {found} pixels instead of {self.width}x{self.height}, which all of its set have")
        return _seen(whole, views)

    def scan(self, indices: np.ndarray, progress: Progress) -> Scan:
        """What the files hold."""
        return self.inner.scan(indices, progress)


def _seen(pixels: np.ndarray, views: Sequence[Geometry | None]) -> list[np.ndarray]:
    image = Image.fromarray(pixels)
    return [np.ascontiguousarray(pixels) if view is None else as_view(image, view) for view in views]


def of_one_size(source: ImageSource, side: int) -> OfOneSize:
    """The same files, which must all be squares of this side."""
    assert isinstance(source, EncodedSource)
    return OfOneSize(source, side, side)
