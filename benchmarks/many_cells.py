"""A store of 43,452 cells, as many as 204 models on 213 settings: how long it takes to list and to score it.

    python benchmarks/many_cells.py [--models 204] [--settings 213] [--folder FOLDER]

The folder is kept when it is named, so that a second call need not make the predictions again.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import oodometer as odo
from oodometer.core.dataset import Progress, Scan
from oodometer.core.labels import numbered
from oodometer.core.predictions import from_logits
from oodometer.engine.plan import cell_for
from oodometer.store.index import look

N_IMAGES, N_CLASSES = 50, 10
PROMISED = {"ls": 2.0, "score": 10.0}
"""Seconds, at most, in a new process."""
COUNT = "SELECT cell, count(*), count_if(rank = 0), count_if(rank BETWEEN 0 AND 4) FROM read_parquet(?) GROUP BY cell"


class NoImages:
    """Images that nobody looks at."""

    def views(self, index: int, views: Sequence[odo.Geometry | None]) -> list[np.ndarray]:
        """Never asked for."""
        raise NotImplementedError

    def scan(self, indices: np.ndarray, progress: Progress) -> Scan:  # noqa: ARG002
        """A digest for each position."""
        return Scan(tuple(int(index).to_bytes(16, "little") for index in indices), {})


def dataset() -> odo.Dataset:
    """The ids and labels of a few images."""
    labels = np.arange(N_IMAGES) % N_CLASSES
    ids = tuple(f"{index:08d}" for index in range(N_IMAGES))
    return odo.Dataset("val", ids, labels, numbered(N_CLASSES), NoImages(), np.arange(N_IMAGES))


def rows_of(number: int, labels: np.ndarray) -> odo.Predictions:
    """The answers of a cell; no two cells are alike."""
    logits = np.random.default_rng(number).normal(0, 1, (N_IMAGES, N_CLASSES)).astype(np.float32)
    logits[np.arange(N_IMAGES), labels] += 1
    return from_logits(logits, labels, np.arange(N_IMAGES))


def _unused(compute: odo.Compute) -> object:
    raise NotImplementedError


def make_store(folder: str, n_models: int, n_settings: int) -> None:
    """Fill the store; the one function that knows how a store is written. What is there already is kept."""
    store, data = odo.open_store(folder, create=True), dataset()
    known = look(store)
    conditions = [odo.Condition(f"setting-{number:03d}", data) for number in range(n_settings)]

    def fill(model_number: int) -> None:
        digest = f"{model_number:032x}"
        model = odo.Model(f"model-{model_number:03d}", "callable", digest, odo.Input(), data.space, open=_unused)
        cells = [cell_for(model, condition, precision="float32") for condition in conditions]
        missing = [(number, cell) for number, cell in enumerate(cells) if not known.is_complete(cell)]
        store.add_cells((cell, data) for _, cell in missing)
        for number, cell in missing:
            store.write_part(cell.key, 0, N_IMAGES, rows_of(model_number * n_settings + number, data.labels))
            store.seal(cell, keep_logits=False)

    with ThreadPoolExecutor() as threads:
        list(threads.map(fill, range(n_models)))


def make_peer(path: str, n_cells: int) -> None:
    """The same answers as one Parquet file, with the number of the cell: as little as counting needs."""
    labels = dataset().labels
    ranks = np.concatenate([rows_of(number, labels).rank for number in range(n_cells)])
    cells = np.repeat(np.arange(n_cells, dtype=np.int32), N_IMAGES)
    pq.write_table(pa.table({"cell": cells, "rank": ranks}), path, compression="zstd")


def walk(folder: str) -> int:
    """Look at every file of a folder, and do nothing with it; how many there are."""
    count = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                count += walk(entry.path)
            else:
                entry.stat()
                count += 1
    return count


def counted_by_duckdb(path: str) -> int:
    """The accuracies from the one file; how many cells it has."""
    with duckdb.connect() as connection:
        return len(connection.execute(COUNT, [path]).fetchall())


def oodometer(verb: str, folder: str) -> None:
    """A command in a new process, its JSON thrown away."""
    command = [sys.executable, "-m", "oodometer", verb, folder, "--json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def seconds_of(work: Callable[[], object], rounds: int = 3) -> tuple[float, float]:
    """The time of the first round, which may have to make a cache, and the median of all."""
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return times[0], statistics.median(times)


def measure(folder: str, peer: str, n_cells: int) -> dict[str, float]:
    """Time the commands and their peers in turn, and print the ratios."""
    n_files = walk(folder)
    assert counted_by_duckdb(peer) == n_cells
    _, walking = seconds_of(partial(walk, folder))
    _, counting = seconds_of(partial(counted_by_duckdb, peer))
    _, starting = seconds_of(partial(oodometer, "ls", "models"))
    print(f"peer: a walk over {n_files:,} files with os.scandir and stat: {walking:.2f} s")
    print(f"peer: DuckDB, the counts from one Parquet file of {n_cells * N_IMAGES:,} rows: {counting:.2f} s")
    print(f"peer: a bare start, 'oodometer ls models': {starting:.2f} s")
    measured = {}
    for verb, promised in PROMISED.items():
        first, spent = seconds_of(partial(oodometer, verb, folder))
        measured |= {verb: spent, f"{verb}, first": first}
        ratios = f"{spent / walking:.1f} x the walk, {spent / counting:.1f} x DuckDB, {spent / starting:.1f} x a start"
        print(f"oodometer {verb}: {spent:.2f} s, the first time {first:.2f} s (promised: at most {promised:.0f} s)")
        print(f"  {ratios}")
    return measured


def main() -> None:
    """Make, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=204)
    parser.add_argument("--settings", type=int, default=213)
    parser.add_argument("--folder")
    given = parser.parse_args()
    n_cells = given.models * given.settings
    with tempfile.TemporaryDirectory() as scratch:
        folder, peer = given.folder or f"{scratch}/runs", f"{scratch}/peer.parquet"
        begun = time.perf_counter()
        make_store(folder, given.models, given.settings)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        spent = time.perf_counter() - begun
        print(f"{n_cells:,} cells of {N_IMAGES} images, {size / 1e6:.0f} MB, made in {spent:.0f} s")
        make_peer(peer, n_cells)
        print(json.dumps({"cells": n_cells, **measure(folder, peer, n_cells)}))


if __name__ == "__main__":
    main()
