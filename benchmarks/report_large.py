"""The report of a store of 400 models on 50,000 images, clean and under 10 shifts, against DuckDB on the bare files.

    python benchmarks/report_large.py [--models 400] [--images 50000] [--shifts 10] [--folder FOLDER]

The predictions are made up, and written as a run writes them: 220 million of them are 8 GB. The folder is kept when it
is named, so that a second call need not make them again.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import numpy as np

import oodometer as odo
from oodometer.core.condition import Transform
from oodometer.core.dataset import Progress, Scan
from oodometer.core.labels import numbered
from oodometer.core.model import Card
from oodometer.core.predictions import Predictions
from oodometer.core.records import record_of_shift
from oodometer.engine.plan import cell_for
from oodometer.store.index import look

N_CLASSES = 1_000
PROMISED_SECONDS, PROMISED_MB = 60, 8_000
COUNT = """
SELECT filename, count(*), count_if(rank = 0), avg(confidence)
FROM read_parquet(?, filename = true, hive_partitioning = false) GROUP BY filename
"""


class NoImages:
    """Images that nobody looks at; those of another set have other contents."""

    def __init__(self, number: int) -> None:
        self.number = number

    def views(self, index: int, views: Sequence[odo.Geometry | None]) -> list[np.ndarray]:
        """Never asked for."""
        raise NotImplementedError

    def scan(self, indices: np.ndarray, progress: Progress) -> Scan:  # noqa: ARG002
        """A digest for each position."""
        digests = (bytes([self.number]) + int(index).to_bytes(15, "little") for index in indices)
        return Scan(tuple(digests), {})


def dataset(number: int, n_images: int) -> odo.Dataset:
    """The ids and labels of a set; number 0 is the clean one."""
    labels = np.arange(n_images) % N_CLASSES
    name = "val" if number == 0 else f"set-{number}"
    ids = tuple(f"n{label:08d}/{name}_{index:08d}" for index, label in enumerate(labels))
    return odo.Dataset(name, ids, labels, numbered(N_CLASSES), NoImages(number), np.arange(n_images))


def shifts_over(n_images: int, n_shifts: int) -> list[odo.Shift]:
    """Shifts of one clean set: every second one to other images, the others to changed pixels."""
    data = dataset(0, n_images)
    clean = odo.clean(data)
    found = []
    for number in range(1, n_shifts + 1):
        if number % 2:
            name = f"set-{number}"
            found.append(odo.Shift(name, "dataset", clean, odo.Condition(name, dataset(number, n_images))))
        else:
            change = Transform(f"change-{number}", {"severity": number}, _unused)
            found.append(odo.Shift(change.name, "style", clean, odo.Condition(change.name, data, transform=change)))
    return found


def _unused(*_: object) -> np.ndarray:
    raise NotImplementedError


def model_of(number: int) -> odo.Model:
    """Three in four are standard, the others made from the one before."""
    other = number % 4 == 3
    card = Card("robust intervention" if other else "standard", f"model-{number - 1:03d}" if other else None)
    name, space = f"model-{number:03d}", numbered(N_CLASSES)
    return odo.Model(name, "callable", f"{number + 1:032x}", odo.Input(), space, open=_unused, card=card)


def rows_of(ease: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> Predictions:
    """Answers to images of this ease, (N,): how far a model is above what each needs; no two calls give the same."""
    n = len(ease)
    far = ease + rng.normal(0, 0.7, n)
    right = far > 0
    rank = np.where(right, 0, 1 + rng.geometric(0.2, n).clip(max=N_CLASSES - 2)).astype(np.int32)
    prediction = np.where(right, labels, (labels + rng.integers(1, N_CLASSES, n)) % N_CLASSES).astype(np.int32)
    top5 = (prediction[:, None] + np.array([0, 3, 7, 11, 13])) % N_CLASSES
    sure = 1 / (1 + np.exp(-1.2 * np.abs(far) - rng.normal(0, 0.4, n)))
    loud = rng.normal(12, 3, n)
    return Predictions(
        image=np.arange(n, dtype=np.int32),
        label=labels.astype(np.int32),
        prediction=prediction,
        rank=rank,
        top5=top5.astype(np.int32),
        confidence=sure.astype(np.float32),
        margin=(sure * rng.uniform(0.5, 1, n)).astype(np.float32),
        energy=(loud - np.log(sure)).astype(np.float32),
        max_logit=loud.astype(np.float32),
        entropy=(-np.log(sure) * rng.uniform(1, 2, n)).astype(np.float32),
        label_log_probability=np.where(right, np.log(sure), np.log(1 - sure) - 2).astype(np.float32),
        sum_squares=(sure**2 + (1 - sure) ** 2 / 10).astype(np.float32),
    )


def make_store(folder: str, n_models: int, n_images: int, n_shifts: int) -> None:
    """Fill the store; what is there already is kept."""
    store = odo.open_store(folder, create=True)
    shifts = shifts_over(n_images, n_shifts)
    for shift in shifts:
        store.add_shift(record_of_shift(shift))
    known = look(store)
    conditions = [shifts[0].standard, *(shift.shifted for shift in shifts)]
    rng = np.random.default_rng(0)
    needs = {condition.dataset.name: rng.normal(0, 1, n_images) for condition in conditions}
    harder = [0.0, *rng.uniform(0.2, 1.2, n_shifts)]

    def fill(number: int) -> None:
        model, own = model_of(number), np.random.default_rng(number + 1)
        skill = own.uniform(0.2, 1.4)
        for condition, loss in zip(conditions, harder, strict=True):
            cell = cell_for(model, condition, precision="float32")
            ease = skill - loss + own.normal(0, 0.05) - needs[condition.dataset.name]
            if known.is_complete(cell):
                continue
            rows = rows_of(ease, condition.dataset.labels, own)
            store.add_cell(cell, condition.dataset)
            store.write_part(cell.key, 0, n_images, rows)
            store.seal(cell, keep_logits=False)

    with ThreadPoolExecutor() as threads:
        list(threads.map(fill, range(n_models)))


def counted_by_duckdb(folder: str) -> float:
    """Seconds that DuckDB takes for accuracy and mean confidence of every cell, from the files as they are."""
    files = [str(file) for file in Path(folder).glob("cells/*/rows*.parquet")]
    begun = time.perf_counter()
    with duckdb.connect() as connection:
        assert len(connection.execute(COUNT, [files]).fetchall()) == len(files)
    return time.perf_counter() - begun


def oodometer(*words: str) -> tuple[float, float]:
    """Seconds and peak megabytes of a command in a new process."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-m", "oodometer", *words], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> None:
    """Make, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=400)
    parser.add_argument("--images", type=int, default=50_000)
    parser.add_argument("--shifts", type=int, default=10)
    parser.add_argument("--folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or f"{scratch}/runs"
        begun = time.perf_counter()
        make_store(folder, given.models, given.images, given.shifts)
        n_cells = given.models * (given.shifts + 1)
        print(f"{n_cells:,} cells, {n_cells * given.images:,} predictions, made in {time.perf_counter() - begun:.0f} s")
        counting = counted_by_duckdb(folder)
        print(f"peer: DuckDB, accuracy and mean confidence of every cell from the bare files: {counting:.1f} s")
        page = f"{scratch}/report.html"
        spent, peak = oodometer("report", folder, "-o", page)
        promised = f"(promised: at most {PROMISED_SECONDS} s and {PROMISED_MB:,} MB)"
        print(f"the report: {spent:.1f} s, {peak:,.0f} MB of memory   {promised}")
        print(f"  {spent / counting:.1f} x DuckDB; the page is of {Path(page).stat().st_size / 1e6:.1f} MB")
        print(json.dumps({"cells": n_cells, "seconds": spent, "megabytes": peak, "peer": counting}))


if __name__ == "__main__":
    main()
