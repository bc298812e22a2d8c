"""Corrupted data sets on disk, in the layouts in which ImageNet-C and CIFAR-10-C are published."""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, StoreError, UsageError
from oodometer.core.preprocessing import Geometry
from oodometer.corruptions.corrupt import corrupt
from oodometer.corruptions.digital import PUBLISHED_QUALITY, jpeg_file
from oodometer.corruptions.registry import BAR, COMMON, EXTRA, corruptions
from oodometer.shifts.unfinished_files import is_clear, write_whole

GROUPS = {"common": COMMON, "extra": EXTRA, "bar": BAR}
MIXED = "mixed"
"""In the mark of a folder in which a job was forced over another's files."""
LEFT_OUT = "left_out"
"""In the mark: the ids of the images that could not be read."""
MARK = ".oodometer.json"
"""What the files were made from; hidden, so that the folder holds nothing but the published layout."""


def parse_names(text: str) -> list[str]:
    """``common``, ``extra``, ``bar``, ``all``, or names with commas between them, each once.

    >>> parse_names("fog,snow")
    ['fog', 'snow']
    """
    found: list[str] = []
    for word in text.split(","):
        group = [*COMMON, *EXTRA, *BAR] if word == "all" else list(GROUPS.get(word, [word]))
        found += [corruptions.get(name).name for name in group]
    return list(dict.fromkeys(found))


def parse_severities(text: str) -> list[int]:
    """``3``, ``1-5`` or ``1,3,5``.

    >>> parse_severities("1-3"), parse_severities("5,1")
    ([1, 2, 3], [1, 5])
    """
    found: set[int] = set()
    for word in text.split(","):
        first, _, last = word.partition("-")
        if not first.isdigit() or not (last or first).isdigit():
            raise UsageError(f"severities {text!r}: expected for example 1-5 or 1,3,5")
        found.update(range(int(first), int(last or first) + 1))
    if not found or not found <= {1, 2, 3, 4, 5}:
        raise UsageError(f"severities {text!r}: must lie between 1 and 5")
    return sorted(found)


@dataclass(frozen=True)
class Job:
    """What is to be written: which corruptions of which data, where, and from which draws.

    Args:
        view: The centre crop; None for arrays, whose images keep their size.
        left_out: The ids of images that are not in the data because they can't be read.
    """

    dataset: Dataset
    target: Path
    names: tuple[str, ...]
    severities: tuple[int, ...]
    view: Geometry | None
    seed: int = 0
    left_out: tuple[str, ...] = ()

    def paths(self, position: int) -> dict[tuple[str, int], str]:
        """The published place of one image under each corruption: CORRUPTION/SEVERITY/CLASS/FILE.JPEG."""
        stem = file_stem(self.dataset, position)
        return {
            (name, severity): f"{self.target}/{name}/{severity}/{stem}.JPEG"
            for name in self.names
            for severity in self.severities
        }


def file_stem(dataset: Dataset, position: int) -> str:
    """CLASS/FILE: the image's id, with its class in front where the id has no folder."""
    stem = os.path.splitext(dataset.ids[position])
    name = stem[0] if stem[1].lower() in (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif") else "".join(stem)
    label = int(dataset.labels[position])
    return name if "/" in name or label < 0 else f"{dataset.space.classes[label]}/{name}"


def check_target(job: Job, source: str, *, force: bool) -> None:
    """Errors before anything is read or written: a target inside the source, name clashes, files of others."""
    target = job.target.resolve()
    if "://" not in source and Path(source).is_dir() and target.is_relative_to(Path(source).resolve()):
        raise UsageError(f"{job.target}: lies inside the source {source}; choose a folder outside it")
    stems = Counter(file_stem(job.dataset, position) for position in range(len(job.dataset)))
    stem, count = stems.most_common(1)[0]
    if count > 1:
        raise DataError(f"{count} images of {job.dataset.name} would be written as {stem}.JPEG; rename all but one")
    upwards = [one for one in job.dataset.ids if ".." in one.split("/")]
    if upwards:
        raise DataError(
            f"image {upwards[0]!r} of {job.dataset.name} would be written outside the layout; give it an id"
        )
    if job.target.exists() and not job.target.is_dir():
        raise StoreError(f"{job.target}: is a file; give a folder")
    mark = job.target / MARK
    if not mark.exists() and not is_clear(job.target) and not force:
        raise StoreError(f"{job.target}: is not empty; use a new folder, or --force")


def without(job: Job, broken: Collection[int]) -> Job:
    """The job without the images at these positions."""
    if not broken:
        return job
    kept = np.array([position for position in range(len(job.dataset)) if position not in broken])
    return replace(job, dataset=job.dataset.take(kept), left_out=tuple(job.dataset.ids[one] for one in sorted(broken)))


def _described(job: Job) -> dict[str, object]:
    """What the files of a job depend on, besides the names under which they are written."""
    about: dict[str, object] = {"data": job.dataset.digest, "seed": job.seed, "view": job.view and job.view.describe()}
    if job.view is None:
        # An array holds its severities one after the other, and is whole or not there; folders may grow by severity.
        about["severities"] = list(job.severities)
    if "frost" in job.names:
        from oodometer.corruptions.frost import frost_source

        about["frost"] = frost_source()
    return about


def write_mark(job: Job, *, force: bool) -> None:
    """Say what the folder holds; an error where it holds something else."""
    mark, about = job.target / MARK, _described(job)
    known = _about(mark) if mark.is_file() else {}
    same = isinstance(known, dict) and _continues(job, known, about)
    if not same and not force:
        raise StoreError(
            f"{mark.parent}: holds corruptions of other data, size, severities, seed or frost textures; use another "
            "folder, or --force"
        )
    # What was there before and is not written over stays: from then on the folder can be told from no job's.
    now = {**known, **about} if same and isinstance(known, dict) else {**about, MIXED: True}
    now[LEFT_OUT] = list(job.left_out)
    write_whole(mark.parent, mark, partial(_write, json.dumps(now).encode()))


def _continues(job: Job, known: dict[str, object], about: dict[str, object]) -> bool:
    """Whether a job belongs to what a folder holds: it may add images that could not be read before."""
    if MIXED in known:
        return False
    missing = known.get(LEFT_OUT)
    others = {one: what for one, what in about.items() if one != "data"}
    if job.view is not None and missing and isinstance(missing, list) and about["data"] != known.get("data"):
        before = np.flatnonzero(~np.isin(job.dataset.ids, missing))
        about = {**others, "data": job.dataset.take(before).digest if len(before) else ""}
    return all(known.get(one, what) == what for one, what in about.items())


def _about(mark: Path) -> object:
    """What a mark says; nothing that any job would say where it is damaged."""
    with contextlib.suppress(ValueError, OSError):
        return json.loads(mark.read_text(encoding="utf-8"))
    return None


def write_image(job: Job, position: int, *, force: bool = False) -> int:
    """Write what is missing of one image, decoded once; how many files that made."""
    todo = {what: path for what, path in job.paths(position).items() if force or not os.path.exists(path)}
    if not todo:
        return 0
    image = job.dataset.views(position, [job.view])[0]
    for (name, severity), path in todo.items():
        made = corrupt(image, name, severity, key=job.dataset.ids[position], seed=job.seed)
        write_whole(job.target, path, partial(_write, jpeg_file(made, PUBLISHED_QUALITY).getvalue()))
    return len(todo)


def write_array(job: Job, images: Sequence[np.ndarray], name: str, *, force: bool = False) -> int:
    """Write CORRUPTION.npy, the severities one after the other, uint8; how many images that made."""
    target = job.target / f"{name}.npy"
    if target.exists() and not force:
        return 0
    made = [
        corrupt(image, name, severity, key=image_id, seed=job.seed)
        for severity in job.severities
        for image, image_id in zip(images, job.dataset.ids, strict=True)
    ]
    write_whole(job.target, target, partial(_save, np.stack(made)))
    return len(made)


def write_labels(job: Job, *, force: bool = False) -> None:
    """Write labels.npy: the labels once per severity, as CIFAR-10-C has them."""
    if (job.target / "labels.npy").exists() and not force:
        return
    labels = np.tile(job.dataset.labels, len(job.severities))
    write_whole(job.target, job.target / "labels.npy", partial(_save, labels))


def _write(content: bytes, file: BinaryIO) -> None:
    file.write(content)


def _save(array: np.ndarray, file: BinaryIO) -> None:
    np.save(file, array)
