"""What the tests of the store share: data in memory, cells, rows, and stores on disk and in memory."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from made_cells import made_cell
from oodometer.core.dataset import Dataset
from oodometer.core.predictions import Predictions, from_logits, with_logits
from oodometer.store.cells import Cell
from oodometer.store.store import Store, open_store


def cell_of(
    dataset: Dataset,
    *,
    model: str = "net",
    digest: str = "a" * 32,
    condition: str = "clean",
    precision: str = "float32",
) -> Cell:
    return made_cell(dataset, model=model, digest=digest, condition=condition, precision=precision)


def rows_of(
    dataset: Dataset,
    *,
    seed: int = 0,
    start: int = 0,
    stop: int | None = None,
    broken: Sequence[int] = (),
    logits=False,
) -> Predictions:
    """Random answers; those of one seed are the same however they are cut into parts."""
    k = len(dataset.space)
    values = np.random.default_rng(seed).normal(0, 2, (len(dataset), k)).astype(np.float32)
    stop = len(dataset) if stop is None else stop
    positions = np.array([one for one in range(start, stop) if one not in broken], dtype=np.int64)
    rows = from_logits(values[positions], dataset.labels[positions], positions)
    return with_logits(rows, values[positions]) if logits else rows


@pytest.fixture
def make_dataset(make_dataset: Callable[..., Dataset]) -> Callable[..., Dataset]:
    return partial(make_dataset, k=7)


@pytest.fixture
def make_cell() -> Callable[..., Cell]:
    return cell_of


@pytest.fixture
def make_rows() -> Callable[..., Predictions]:
    return rows_of


@pytest.fixture(params=["local", "memory"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An address for a new store: a folder, and a place in fsspec's memory that is cleaned up."""
    if request.param == "local":
        yield str(tmp_path / "runs")
        return
    import fsspec

    name = f"test-{uuid.uuid4().hex}"
    yield f"memory://{name}/runs"
    memory = fsspec.filesystem("memory")
    if memory.exists(f"/{name}"):
        memory.rm(f"/{name}", recursive=True)


@pytest.fixture
def store(address: str) -> Store:
    return open_store(address, create=True)


@pytest.fixture
def local_store(tmp_path: Path) -> Store:
    return open_store(str(tmp_path / "runs"), create=True)
