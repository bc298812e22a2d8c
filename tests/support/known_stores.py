"""What the tests of the reports share: stores whose numbers are known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from made_cells import made_cell
from oodometer.core.dataset import Dataset
from oodometer.core.predictions import Predictions, from_logits
from oodometer.store.cells import Cell
from oodometer.store.store import Store, open_store


def logits_with(ranks: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """Logits in which the true class of each image stands at the given rank, (N,) -> (N, K)."""
    logits = np.empty((len(ranks), k))
    for row, (rank, label) in enumerate(zip(ranks, labels, strict=True)):
        order = [one for one in range(k) if one != label]
        if label >= 0:
            order.insert(rank, label)
        logits[row, order] = -np.arange(k)
    return logits


@dataclass(frozen=True)
class Filled:
    """A store that is filled with answers of known ranks."""

    store: Store

    def add(
        self,
        data: Dataset,
        ranks: Sequence[int] | np.ndarray,
        *,
        positions: Sequence[int] | np.ndarray | None = None,
        **about: Any,
    ) -> Cell:
        """One cell; ``ranks`` are those of the positions, by default of all images; ``about`` as of `put`."""
        positions = np.arange(len(data)) if positions is None else np.asarray(positions)
        labels = data.labels[positions]
        logits = logits_with(np.asarray(ranks), labels, len(data.space))
        return self.put(data, from_logits(logits, labels, positions), **about)

    def put(
        self,
        data: Dataset,
        rows: Predictions,
        *,
        model: str = "mine",
        digest: str = "a" * 32,
        condition: str = "clean",
        finished: bool = True,
        known_classes: int | None = None,
        **more: Any,
    ) -> Cell:
        """One cell with these rows; ``more``: n_classes, precision, input, label_map, transform."""
        cell = made_cell(data, model=model, digest=digest, condition=condition, known_classes=known_classes, **more)
        self.store.add_cell(cell, data)
        self.store.write_part(cell.key, 0, len(data) if finished else int(rows.image.max()) + 1, rows)
        self.store.seal(cell, keep_logits=rows.logits is not None)
        return cell


@pytest.fixture
def make_dataset(make_dataset: Callable[..., Dataset]) -> Callable[..., Dataset]:
    return partial(make_dataset, k=10)


@pytest.fixture
def filled(tmp_path: Path) -> Filled:
    return Filled(open_store(str(tmp_path / "runs"), create=True))


@pytest.fixture
def right() -> Callable[[int, int], np.ndarray]:
    """``right(741, 1000)``: ranks of which the first 741 are 0 and the rest 1."""
    return lambda hits, n: (np.arange(n) >= hits).astype(np.int64)
