"""Augmented copies of any images as files: class folders in, class folders out."""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from oodometer.copies.methods import method_named
from oodometer.copies.preview import check_picture, write_preview
from oodometer.core.dataset import Dataset, Progress, silent, unreadable
from oodometer.core.digests import digest_of
from oodometer.core.errors import DataError, StoreError, UsageError
from oodometer.core.extras import import_extra
from oodometer.core.model import n_cores
from oodometer.core.talk import Tell, unheard
from oodometer.data.kinds.folder import is_image
from oodometer.data.training_set import training_set
from oodometer.train.augment.copying import Copying, CopyMethod, CopyRequest, Unit, on_one_thread_each
from oodometer.train.style_sources import FolderImages, StyleSources, published_network
from oodometer.train.writing import write_whole

MARK = ".oodometer.json"
"""What the files were made from; hidden, so that the folder holds nothing but images."""
NETWORKS = ".networks"
"""Where learned networks are kept, in the same folder."""


@dataclass(frozen=True)
class AugmentOptions:
    """How images are augmented and written.

    Args:
        seed: Of every draw.
        threads: Images worked on at once; 0: one per core. The copies don't depend on it.
        rows, draws: Of the preview: how many images, and how many draws of each.
        style: What is brought for style transfers.
        force: Write over what is there.
    """

    seed: int = 0
    threads: int = 0
    rows: int = 6
    draws: int = 4
    style: StyleSources = field(default_factory=StyleSources)
    force: bool = False


DEFAULT = AugmentOptions()


@dataclass(frozen=True)
class Augmented:
    """Where augmented images are, how many of them this call wrote, and the sheet of them; prints as a line."""

    target: str | None
    n_written: int
    preview: str | None = None

    def __str__(self) -> str:
        drawn = "" if self.preview is None else f"preview in {self.preview}"
        if self.target is None:
            return drawn
        written = f"{self.n_written} images written to {self.target}"
        nothing = f"nothing new to do: everything is in {self.target} already"
        return "; ".join(one for one in (written if self.n_written else nothing, drawn) if one)

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"target": self.target, "n_written": self.n_written, "preview": self.preview}


@dataclass(frozen=True)
class WholeImages:
    """The images of a data set, read when they are asked for."""

    dataset: Dataset

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> np.ndarray:
        return self.dataset.image(index)


def augment(
    source: str | os.PathLike[str] | Dataset,
    target: str | os.PathLike[str] | None,
    *,
    method: str,
    preview: str | os.PathLike[str] | None = None,
    options: AugmentOptions = DEFAULT,
    progress: Progress = silent,
    tell: Tell = unheard,
) -> Augmented:
    """Write augmented copies as PNG: CLASS/FILE.png, or CLASS/FILE-PART.png where a method makes several.

    What is there already is left alone.

    Args:
        source: Images as of `training_set`.
        target: A folder; None: the preview alone.
        method: deepaugment, style, or any augmentation of batches.
        preview: A picture of originals beside several draws.
        progress: Told of how many copies it is known that they are written, and of how many in all.
        tell: Told what is waited for.
    """
    if target is None and preview is None:
        raise UsageError("say where the images go, or give --preview FILE")
    chosen = method_named(method)
    import_extra("torch", extra="train", what="networks that augment images")
    if preview is not None:
        check_picture(Path(preview), force=options.force)
    dataset = source if isinstance(source, Dataset) else training_set(os.fspath(source))
    if broken := dataset.scan().broken:
        raise DataError(f"{unreadable(dataset, broken)}; fix or remove them")
    folder = None if target is None else Path(target)
    is_done = folder is not None and _checked(folder, dataset, source, method, chosen, options)
    if is_done and preview is None:
        return Augmented(str(target), 0)
    copying = chosen.prepare(_request(dataset, folder, method, options, tell))
    n_written = 0 if folder is None else _write(copying, dataset, folder, chosen, options, progress)
    if preview is not None:
        write_preview(Path(preview), dataset, copying, options.seed, n_rows=options.rows, n_draws=options.draws)
    return Augmented(None if target is None else str(target), n_written, None if preview is None else str(preview))


def _request(dataset: Dataset, folder: Path | None, method: str, options: AugmentOptions, tell: Tell) -> CopyRequest:
    brought = options.style if method == "style" else StyleSources()
    styles = None if brought.images is None else FolderImages.of(brought.images)
    return CopyRequest(
        WholeImages(dataset),
        dataset.ids,
        dataset.digest,
        options.seed,
        None if folder is None else folder / NETWORKS,
        styles=styles,
        styles_digest="" if styles is None else styles.digest,
        style_network=None if brought.weights is None else published_network(brought.weights),
        tell=tell,
    )


def file_of(dataset: Dataset, row: int, part: str, parts: tuple[str, ...]) -> str:
    """CLASS/FILE.png: the image's id, with its class in front where the id has no folder, and the part behind."""
    name = dataset.ids[row]
    stem = os.path.splitext(name)[0] if is_image(name) else name
    label = int(dataset.labels[row])
    inside = stem if "/" in stem or label < 0 else f"{dataset.space.classes[label]}/{stem}"
    return f"{inside}-{part}.png" if len(parts) > 1 else f"{inside}.png"


def _checked(
    folder: Path, dataset: Dataset, source: object, method: str, chosen: CopyMethod, options: AugmentOptions
) -> bool:
    """Whether all is there; errors before anything is computed: names that clash, files of others."""
    is_folder = isinstance(source, str | os.PathLike) and Path(source).is_dir()
    if is_folder and folder.resolve().is_relative_to(Path(str(source)).resolve()):
        raise UsageError(f"{folder}: lies inside the source {source}; choose a folder outside it")
    files = [file_of(dataset, row, part, chosen.parts) for part in chosen.parts for row in range(len(dataset))]
    name, count = Counter(files).most_common(1)[0]
    if count > 1:
        raise DataError(f"{count} images of {dataset.name} would be written as {name}; rename all but one")
    if upwards := [one for one in files if ".." in one.split("/") or one.startswith("/")]:
        raise DataError(f"{dataset.name}: {upwards[0]} would lie outside the folder; give that image another id")
    about = {"method": method, "version": chosen.version, "data": dataset.digest, "seed": options.seed}
    key = digest_of({**about, "style": options.style.describe() if method == "style" else {}})
    _mark(folder, key, force=options.force)
    return not options.force and all((folder / one).is_file() for one in files)


def _mark(folder: Path, key: str, *, force: bool) -> None:
    """Say what the folder holds; an error where it holds something else."""
    mark = folder / MARK
    try:
        known = json.loads(mark.read_text(encoding="utf-8")).get("key")
    except (OSError, ValueError, AttributeError):
        known = None
    if known == key:
        return
    if folder.exists() and any(folder.iterdir()) and not force:
        what = "is not empty" if known is None else "holds copies of other images, or by another method or seed"
        raise StoreError(f"{folder}: {what}; use another folder, or --force")
    write_whole(mark, json.dumps({"key": key}).encode())


def _write(
    copying: Copying, dataset: Dataset, folder: Path, method: CopyMethod, options: AugmentOptions, progress: Progress
) -> int:
    """Write what is missing; how many files that made."""
    total = sum(len(unit.rows) for unit in copying.units)

    def write(unit: Unit) -> tuple[int, int]:
        paths = [folder / file_of(dataset, row, unit.part, method.parts) for row in unit.rows]
        missing = [place for place, path in enumerate(paths) if options.force or not path.is_file()]
        made = copying.make(unit) if missing else []
        for place in missing:
            write_whole(paths[place], _png(made[place]))
        return len(unit.rows), len(missing)

    progress(0, total)
    n_done = n_written = 0
    with on_one_thread_each(options.threads or n_cores()) as pool:
        for n_images, n_new in pool.map(write, copying.units):
            n_done, n_written = n_done + n_images, n_written + n_new
            progress(n_done, total)
    return n_written


def _png(image: np.ndarray) -> bytes:
    from PIL import Image

    content = io.BytesIO()
    Image.fromarray(image).save(content, "PNG")
    return content.getvalue()
