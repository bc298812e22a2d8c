"""The images that the smallest share of models gets right (Recht et al. 2019, appendix B.2.4)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oodometer.build.testset.study.image_sets import ImageSet
from oodometer.build.testset.study.rights import Rights
from oodometer.core.errors import UsageError


@dataclass(frozen=True)
class HardImage:
    """An image.

    Args:
        id: By which the store knows it.
        class_name: What it shows.
        right: How many models get it right; ``models`` of how many that were asked.
    """

    id: str
    class_name: str
    right: int
    models: int


def hardest_images(images: ImageSet, rights: Rights, n: int) -> list[HardImage]:
    """The ``n`` hardest, the hardest first; of images that are equally hard the first by id."""
    every = np.stack(list(rights.right.values()))
    hits, models = (every == 1).sum(axis=0), (every >= 0).sum(axis=0)
    asked = np.flatnonzero(models > 0)
    share = hits[asked] / models[asked]
    order = sorted(range(len(asked)), key=lambda at: (share[at], images.ids[asked[at]]))
    return [
        HardImage(images.ids[row], images.classes[row], int(hits[row]), int(models[row]))
        for row in asked[order[:n]].tolist()
    ]


def write_shares(sets: Sequence[tuple[ImageSet, Rights]], file: str | Path) -> int:
    """Write of each image the share of models that get it right, as ``oodometer testset quiz`` reads it; how many."""
    rows: list[Mapping[str, str]] = []
    for images, rights in sets:
        shares = rights.share_right()
        rows += [
            {"id": one, "share": f"{share:.6g}"}
            for one, share in zip(images.ids, shares, strict=True)
            if share == share
        ]
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, ["id", "share"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    try:
        Path(file).write_text(out.getvalue(), "utf-8")
    except OSError as error:
        raise UsageError(f"{file}: can't be written ({error.strerror})") from error
    return len(rows)
