"""The candidates of a project as data that models can be asked about: a table of their files, under their own ids."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oodometer.build.testset.project.image_files import IMAGES
from oodometer.build.testset.project.pool import CANDIDATE, pool_images
from oodometer.build.testset.project.project import Project
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError
from oodometer.data import addresses
from oodometer.data.load import load_data

FILE = "pool.csv"


@dataclass(frozen=True)
class PoolData:
    """A written table.

    Args:
        file: Where it is.
        n: How many candidates it lists.
    """

    file: Path
    n: int

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {"file": str(self.file), "images": self.n}

    def __str__(self) -> str:
        return f"{self.file}: {self.n} candidates"


def pool_file(project: Project) -> Path:
    """Where the table of a project lies unless somebody says otherwise."""
    return project.folder / FILE


def original_data(project: Project) -> Dataset | None:
    """The original set as the data that it came from; None where that is gone, or is none."""
    there = bool(project.original) and (addresses.is_pattern(project.original) or addresses.exists(project.original))
    return load_data(project.original) if there else None


def write_pool(project: Project, file: str | Path | None = None) -> PoolData:
    """Write the table of all candidates, which is data for ``oodometer run``: path, id and label.

    The same table for the same candidates, in whatever order they came; its paths lead from the table to the files.

    Args:
        file: By default ``pool.csv`` in the project's folder.
    """
    images = pool_images(project, role=CANDIDATE)
    if not images:
        raise DataError(f"{project.folder}: no candidates yet; add some with: oodometer testset add")
    place = pool_file(project) if file is None else Path(file)
    if place.suffix.lower() != ".csv":
        raise UsageError(f"{place}: the table is a CSV file; let its name end so")
    way = os.path.relpath(project.folder / IMAGES, place.absolute().parent).replace(os.sep, "/")
    rows = [(f"{way}/{one.file}", one.key, one.class_name) for one in images]
    _write(place, [("path", "id", "label"), *rows])
    return PoolData(place, len(images))


def _write(place: Path, rows: list[tuple[str, ...]]) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    aside = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        aside.write_text(out.getvalue(), "utf-8")
        aside.replace(place)
    except OSError as error:
        raise UsageError(f"{place}: can't be written ({error.strerror})") from error
