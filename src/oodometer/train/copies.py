"""Copies of the training images: made ahead of time in chunks, kept beside the model, and found there again."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from oodometer.core.digests import digest_of
from oodometer.core.model import n_cores
from oodometer.core.preprocessing import Geometry
from oodometer.core.talk import Tell, unheard
from oodometer.train.augment.copying import Copying, CopyRequest, Unit, on_one_thread_each
from oodometer.train.augment.registry import copy_methods
from oodometer.train.pixels import Pixels, check_memory, digest_of_pixels
from oodometer.train.style_sources import FolderImages, StyleSources, published_network
from oodometer.train.writing import write_whole

FOLDER = "copies"
"""Beside the model, shared by all models whose training images are the same."""
PER_CHUNK = 512
"""Images of a file, so that a kill loses little."""


@dataclass(frozen=True)
class CopyOptions:
    """How copies are made.

    Args:
        folder: Where they are kept.
        threads: Chunks made at once; 0: one per core. The copies don't depend on it.
        per_chunk: Images of a file, more or less. The copies don't depend on it.
    """

    folder: Path
    seed: int = 0
    threads: int = 0
    per_chunk: int = PER_CHUNK
    style: StyleSources = field(default_factory=StyleSources)


def versions_of(names: Sequence[str], style: StyleSources) -> dict[str, object]:
    """What the copies of these methods depend on besides the images and the seed, for the key of a training."""
    told: dict[str, object] = {name: copy_methods.get(name).version for name in names}
    brought = style.describe() if "style" in names else {}
    return {**told, "brought": brought} if brought else told


def with_copies(pixels: Pixels, names: Sequence[str], options: CopyOptions, tell: Tell = unheard) -> Pixels:
    """The images, and after them the copies of each method, part by part, each with the labels of its image."""
    parts = [(name, part) for name in names for part in copy_methods.get(name).parts]
    if not parts:
        return pixels
    height, width = pixels.images.shape[1:3]
    n_all = len(pixels) * (1 + len(parts))
    check_memory(n_all, Geometry(height, width), f"{len(pixels)} images with their copies")
    images = np.empty((n_all, height, width, 3), dtype=np.uint8)
    images[: len(pixels)] = pixels.images
    start = len(pixels)
    for name in names:
        n_made = len(pixels) * len(copy_methods.get(name).parts)
        _fill(images[start : start + n_made], pixels, name, options, tell)
        start += n_made
    ids = [*pixels.ids, *(f"{one}#{part}" for _, part in parts for one in pixels.ids)]
    others = None if pixels.other_labels is None else pixels.other_labels * (1 + len(parts))
    return Pixels(images, np.tile(pixels.labels, 1 + len(parts)), tuple(ids), others)


def _fill(target: np.ndarray, pixels: Pixels, name: str, options: CopyOptions, tell: Tell) -> None:
    """Put the copies of a method into their places; what is in a file is read, the rest is made."""
    method = copy_methods.get(name)
    request = _request(pixels, name, options, tell)
    key = digest_of(
        {
            "images": request.digest,
            "seed": options.seed,
            "size": list(pixels.images.shape[1:3]),
            "copies": versions_of([name], options.style),
        }
    )
    copying = method.prepare(request)
    chunks = list(chunks_of(copying.units, options.per_chunk))
    folder = options.folder / f"{name}-{key[:16]}"

    def fill(units: list[Unit]) -> None:
        first, last = units[0], units[-1]  # what a file holds depends on its name alone
        file = folder / f"{first.part}-{first.number}-to-{last.part}-{last.number}.npy"
        made = _kept_chunk(file, copying, units, pixels)
        start = 0
        for unit in units:
            place = method.parts.index(unit.part) * len(pixels)
            target[place + np.array(unit.rows)] = made[start : start + len(unit.rows)]
            start += len(unit.rows)

    _run(fill, chunks, options.threads, lambda done: tell(f"{name}: {done} of {len(chunks)} chunks"))


def _request(pixels: Pixels, name: str, options: CopyOptions, tell: Tell) -> CopyRequest:
    brought = options.style if name == "style" else StyleSources()
    styles = None if brought.images is None else FolderImages.of(brought.images)
    return CopyRequest(
        pixels.images,
        pixels.ids,
        digest_of_pixels(pixels),
        options.seed,
        options.folder,
        styles=styles,
        styles_digest="" if styles is None else styles.digest,
        style_network=None if brought.weights is None else published_network(brought.weights),
        tell=tell,
    )


def chunks_of(units: Sequence[Unit], per_chunk: int) -> Iterator[list[Unit]]:
    """Units together in their order, until they have so many images."""
    chunk: list[Unit] = []
    for unit in units:
        chunk.append(unit)
        if sum(len(one.rows) for one in chunk) >= per_chunk:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _kept_chunk(path: Path, copying: Copying, units: Sequence[Unit], pixels: Pixels) -> np.ndarray:
    """The copies of some units, from their file where it is whole."""
    shape = (sum(len(unit.rows) for unit in units), *pixels.images.shape[1:])
    try:
        made = np.load(path, allow_pickle=False)
        if (made.shape, made.dtype) == (shape, np.uint8):
            return np.asarray(made)
    except (OSError, ValueError, EOFError):
        pass  # it is not there, or damaged: it is made anew
    made = np.stack([image for unit in units for image in copying.make(unit)])
    content = io.BytesIO()
    np.save(content, made)
    write_whole(path, content.getvalue())
    return made


def _run(
    fill: Callable[[list[Unit]], None], chunks: list[list[Unit]], threads: int, tell: Callable[[int], None]
) -> None:
    with on_one_thread_each(threads or n_cores()) as pool:
        for done, _ in enumerate(pool.map(fill, chunks), start=1):
            if done == len(chunks) or done % max(1, len(chunks) // 10) == 0:
                tell(done)
