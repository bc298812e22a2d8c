"""Images of a project to be looked at by measures of likeness and by models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oodometer.build.testset.project.image_files import read_kept
from oodometer.core.preprocessing import Geometry
from oodometer.data.decode import decode, pixels_of
from oodometer.data.resize import as_view


@dataclass(frozen=True)
class KeptPictures:
    """Files of a project's folder, by position."""

    folder: Path
    files: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.files)

    def views(self, index: int, views: Sequence[Geometry | None]) -> list[np.ndarray]:
        """An image, decoded once, as each view wants it; None: the whole image."""
        image = decode(read_kept(self.folder, self.files[index]))
        return [pixels_of(image) if view is None else as_view(image, view) for view in views]
