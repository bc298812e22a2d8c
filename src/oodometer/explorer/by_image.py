"""The answers of all cells by image, in a file: what every model says about one image is read in a moment.

A block holds the answers of some cells about the images of one data set, image after image:

    image 0: cell a, cell b, ...   image 1: cell a, cell b, ...   ...

So a block is written at once, and an answer to "who says what about this image" is a short piece of each block.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

ANSWER = np.dtype([("prediction", "<i4"), ("rank", "<i4"), ("confidence", "<f4")])
ABSENT = -2
"""In place of a rank: the cell has no row of the image."""
MOST_CELLS = 32
"""In one block: 32 cells of 50,000 images are 19 MB, and about twice that is needed to make one."""


class Said(NamedTuple):
    """What a cell answers to an image; a rank of -1 where the image has no label, no confidence where nobody knows."""

    cell: int
    prediction: int
    rank: int
    confidence: float | None


@dataclass(frozen=True, eq=False)
class Block:
    """Answers of these cells about images from place ``first`` on, (N, K) of `ANSWER`."""

    cells: tuple[int, ...]
    first: int
    answers: np.ndarray


@dataclass(frozen=True, eq=False)
class _Written:
    """A block in the file."""

    cells: tuple[int, ...]
    first: int
    n: int
    offset: int

    @property
    def size(self) -> int:
        """In bytes."""
        return self.n * len(self.cells) * ANSWER.itemsize


def no_answers(n_images: int, n_cells: int) -> np.ndarray:
    """A block in which no cell has a row yet, (N, K)."""
    answers = np.zeros((n_images, n_cells), dtype=ANSWER)
    answers["rank"] = ABSENT
    return answers


class ByImage:
    """The answers of cells by image; several threads may ask while another adds."""

    def __init__(self, place: Path) -> None:
        self._file = place.open("w+b")
        self._lock = threading.Lock()
        self._blocks: list[_Written] = []
        self._gone: set[int] = set()
        self._free: dict[int, list[int]] = {}
        self._end = 0

    def close(self) -> None:
        """Forget everything."""
        self._file.close()

    def change(self, new: Sequence[Block], gone: Collection[int]) -> None:
        """Put blocks in the place of cells that are no more: no reader sees the one without the other."""
        written = [self._write(block) for block in new]
        with self._lock:
            self._gone |= set(gone)
            self._blocks += written
            left = [block for block in self._blocks if not self._gone.issuperset(block.cells)]
            for block in set(self._blocks) - set(left):
                self._free.setdefault(block.size, []).append(block.offset)
            self._blocks = left
            self._gone &= {cell for block in left for cell in block.cells}

    def _write(self, block: Block) -> _Written:
        content = np.ascontiguousarray(block.answers)
        with self._lock:
            spots = self._free.get(content.nbytes)
            offset = spots.pop() if spots else self._end
            self._end = max(self._end, offset + content.nbytes)
            self._file.seek(offset)
            self._file.write(content.data)
            self._file.flush()
        return _Written(block.cells, block.first, len(block.answers), offset)

    def about(self, place: int) -> list[Said]:
        """Every answer to the image at that place."""
        found: list[Said] = []
        with self._lock:
            for block in self._blocks:
                if block.first <= place < block.first + block.n:
                    width = len(block.cells) * ANSWER.itemsize
                    row = self._read(block.offset + (place - block.first) * width, len(block.cells))
                    found += self._said(block, row)
        return found

    def _said(self, block: _Written, row: np.ndarray) -> list[Said]:
        every = zip(block.cells, row.tolist(), strict=True)
        return [
            Said(cell, prediction, rank, None if math.isnan(confidence) else confidence)
            for cell, (prediction, rank, confidence) in every
            if rank != ABSENT and cell not in self._gone
        ]

    def ranks(self, cell: int) -> tuple[int, np.ndarray]:
        """The place of the first image of a cell's data, and its ranks, (N,)."""
        with self._lock:
            block = next(block for block in self._blocks if cell in block.cells)
            answers = self._read(block.offset, block.n * len(block.cells))
        return block.first, answers.reshape(block.n, -1)["rank"][:, block.cells.index(cell)]

    def _read(self, offset: int, n: int) -> np.ndarray:
        self._file.seek(offset)
        return np.frombuffer(self._file.read(n * ANSWER.itemsize), dtype=ANSWER)
