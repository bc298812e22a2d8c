from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

import oodometer as odo
from oodometer.core.dataset import ImageSource, Progress, Scan
from oodometer.store.index import look


@dataclass(frozen=True)
class Counting:
    """A source that counts how often each image is decoded, and remembers the threads that asked."""

    inner: ImageSource
    decoded: list[int] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)

    def views(self, index: int, views: Sequence[odo.Geometry | None]) -> list[np.ndarray]:
        self.decoded.append(index)
        self.threads.add(threading.get_ident())
        return self.inner.views(index, views)

    def scan(self, indices: np.ndarray, progress: Progress) -> Scan:
        return self.inner.scan(indices, progress)


@pytest.fixture
def counted() -> Callable[[odo.Dataset], tuple[odo.Dataset, Counting]]:
    def count(dataset: odo.Dataset) -> tuple[odo.Dataset, Counting]:
        source = Counting(dataset.source)
        return replace(dataset, source=source), source

    return count


def rows_of(store: odo.Store) -> dict[tuple[str, str], Any]:
    """All predictions of a store, by model and condition."""
    return {(cell.model_name, cell.condition_name): store.read(cell) for cell in look(store).cells}


@pytest.fixture
def read_all() -> Callable[[odo.Store], dict[tuple[str, str], Any]]:
    return rows_of
