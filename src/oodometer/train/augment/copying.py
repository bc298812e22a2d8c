"""Copies of images that are made ahead of time: what a method of making them is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from oodometer.core.talk import Tell, unheard
from oodometer.train.augment.patches import Images
from oodometer.train.torch_threads import torch_threads


@dataclass(frozen=True)
class Unit:
    """Copies that are made together. What they look like depends on this and the seed alone, not on other units.

    Args:
        part: Which copy of each image, such as ``edsr``.
        number: Of the unit within its part.
        rows: The positions of the images.
    """

    part: str
    number: int
    rows: tuple[int, ...]


@dataclass(frozen=True)
class CopyRequest:
    """What copies are to be made of.

    Args:
        images: Of any size.
        keys: Of each image, for its draws.
        digest: Of the images and their keys, for what is kept.
        seed: Of every draw.
        networks: The folder where learned networks are kept; None: nowhere.
        styles: The images whose styles are taken; None: the images themselves.
        styles_digest: Of those images.
        style_network: A style network of the user's; None: one is learned.
        tell: Told what is waited for.
    """

    images: Images
    keys: Sequence[str]
    digest: str
    seed: int = 0
    networks: Path | None = None
    styles: Images | None = None
    styles_digest: str = ""
    style_network: Any = None
    tell: Tell = unheard


class Copying(Protocol):
    """A method that is ready to make copies of a request; its networks are learned."""

    @property
    def units(self) -> Sequence[Unit]:
        """All copies that there are to make."""
        ...

    def make(self, unit: Unit) -> list[np.ndarray]:
        """The copies of a unit, each as large as its image; called by several threads at once."""
        ...

    def draw(self, image: np.ndarray, key: str, seed: int) -> dict[str, np.ndarray]:
        """One copy of each part of any image, to look at."""
        ...


@dataclass(frozen=True)
class CopyMethod:
    """A way of making copies.

    Args:
        parts: What the copies of an image are called; so many there are.
        version: In the key of what is kept: to be raised when the same request would give other copies.
        prepare: From a request to a method that is ready.
    """

    parts: tuple[str, ...]
    version: int
    prepare: Callable[[CopyRequest], Copying]


@contextmanager
def on_one_thread_each(n_threads: int) -> Iterator[Any]:
    """A pool of threads in which torch computes on one each, so that its last bits are the same on any machine."""
    from concurrent.futures import ThreadPoolExecutor

    import torch

    with torch_threads(1):
        pool = ThreadPoolExecutor(n_threads, "oodometer", initializer=torch.set_num_threads, initargs=(1,))
        try:
            yield pool
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
