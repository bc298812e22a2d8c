"""A data set written again under corruptions, in the published layouts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from oodometer.core.dataset import Progress, silent, unreadable
from oodometer.core.errors import DataError, UsageError
from oodometer.core.model import n_cores
from oodometer.core.preprocessing import Geometry
from oodometer.core.talk import Tell, unheard
from oodometer.corruptions.jit import tell_if_compiling
from oodometer.data.load import kind_of, load_data
from oodometer.shifts.corrupted_files import (
    Job,
    check_target,
    parse_names,
    parse_severities,
    without,
    write_array,
    write_image,
    write_labels,
    write_mark,
)
from oodometer.shifts.unfinished_files import nothing_unfinished

T = TypeVar("T")
SIZE = 224


@dataclass(frozen=True)
class CorruptOptions:
    """How images are corrupted and written.

    Args:
        size: Of the centre crop, in pixels; None: 224. Images of an array keep their size.
        seed: Of every random draw.
        threads: Images worked on at once; 0: one per core.
        skip_broken: Leave out images that can't be read; a later call tries them again.
        force: Write over what is there.
    """

    size: int | None = None
    seed: int = 0
    threads: int = 0
    skip_broken: bool = False
    force: bool = False

    @property
    def view(self) -> Geometry:
        """How an image becomes the one that is corrupted: as 224 px are cut from 256."""
        side = self.size or SIZE
        return Geometry(side, side, resize=round(side * 256 / SIZE))


DEFAULT = CorruptOptions()


@dataclass(frozen=True)
class CorruptedFiles:
    """Where corrupted images are, and how many of them this call wrote."""

    target: str
    n_written: int

    def __str__(self) -> str:
        if not self.n_written:
            return f"nothing new to do: everything is in {self.target} already"
        return f"{self.n_written} images written to {self.target}"

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"target": self.target, "n_written": self.n_written}


def corrupt_files(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    corruptions: str = "common",
    severities: str = "1-5",
    options: CorruptOptions = DEFAULT,
    progress: Progress = silent,
    tell: Tell = unheard,
) -> CorruptedFiles:
    """Write corrupted images: CORRUPTION/SEVERITY/CLASS/FILE.JPEG for folders, CORRUPTION.npy for arrays.

    What is there already is left alone.

    Args:
        source: Data as of `load_data`.
        target: A folder.
        corruptions: common, extra, bar, all, or names with commas.
        severities: As 1-5 or 1,3,5.
        progress: Told of how many images it is known that they are written, and of how many in all.
        tell: Told what is waited for.
    """
    address = os.fspath(source)
    if not re.search(r"://|[{*?]", address) and not Path(address).exists():
        raise DataError(f"{address}: no such file or folder")
    is_array = kind_of(address) == "arrays"
    if is_array and options.size is not None:
        raise UsageError(f"{address}: images of an array keep their size; leave out --size")
    job = Job(
        dataset=load_data(address),
        target=Path(target),
        names=tuple(parse_names(corruptions)),
        severities=tuple(parse_severities(severities)),
        view=None if is_array else options.view,
        seed=options.seed,
    )
    check_target(job, address, force=options.force)
    job = _readable(job, options, tell)
    with nothing_unfinished(job.target):
        write_mark(job, force=options.force)
        tell_if_compiling(tell)
        written = (_write_arrays if is_array else _write_files)(job, options, progress)
    return CorruptedFiles(str(target), written)


def _readable(job: Job, options: CorruptOptions, tell: Tell) -> Job:
    """The job on the images that can be read; an error where there are others that are not to be left out."""
    broken = job.dataset.scan().broken
    if broken:
        line = unreadable(job.dataset, broken)
        if len(broken) == len(job.dataset) or not options.skip_broken:
            raise DataError(f"{line}; fix or remove them, or leave them out with --skip-broken")
        tell(f"warning: {line}; left out")
    return without(job, broken)


def _write_files(job: Job, options: CorruptOptions, progress: Progress) -> int:
    """Write the files of all images."""
    per_image = len(job.names) * len(job.severities)
    counts = _done(partial(write_image, job, force=options.force), range(len(job.dataset)), options.threads)
    return _counted(counts, per_image, per_image * len(job.dataset), progress)


def _write_arrays(job: Job, options: CorruptOptions, progress: Progress) -> int:
    """Write the arrays of all corruptions."""
    images = [job.dataset.image(index) for index in range(len(job.dataset))]
    write_labels(job, force=options.force)
    per_name = len(images) * len(job.severities)
    counts = _done(partial(write_array, job, images, force=options.force), job.names, options.threads)
    return _counted(counts, per_name, per_name * len(job.names), progress)


def _counted(counts: Iterable[int], per_item: int, total: int, progress: Progress) -> int:
    """The number of images that were written; the progress is about all that were looked at."""
    written = 0
    progress(0, total)
    for done, count in enumerate(counts, start=1):
        written += count
        progress(done * per_item, total)
    return written


def _done(work: Callable[[T], int], items: Iterable[T], threads: int) -> Iterator[int]:
    """The results of work in threads; after an error or Ctrl-C nothing further is begun."""
    pool = ThreadPoolExecutor(threads or n_cores(), thread_name_prefix="oodometer")
    try:
        yield from pool.map(work, items)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
