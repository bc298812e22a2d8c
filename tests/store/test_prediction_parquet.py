"""Reading Parquet: by the thread that asks, so that nothing of it is still going on when a process ends."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest

from oodometer.core.predictions import Predictions
from oodometer.store.prediction_parquet import FLOATS, INTEGERS, from_parquet, table_of, to_parquet

READS = """
import io, os
import pyarrow as pa
import pyarrow.parquet as pq
from oodometer.store.prediction_parquet import table_of

table, buffer = pa.table({"id": ["a", "b"], "label": [1, 2]}), io.BytesIO()
pq.write_table(table, buffer)
n_threads = len(os.listdir("/proc/self/task"))
assert table_of(buffer.getvalue()).equals(table)
assert len(os.listdir("/proc/self/task")) == n_threads, "others may still hold the bytes"
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
def test_reading_leaves_no_threads_behind():
    """A thread of Arrow's that lets go of Python's bytes while Python ends aborts the process (exit code 134)."""
    found = subprocess.run([sys.executable, "-c", READS], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")


def test_rows_come_back_to_the_bit_from_smaller_files():
    rng, n = np.random.default_rng(0), 5000
    confidence = rng.random(n, dtype=np.float32)
    confidence[:3] = np.nan, np.inf, -0.0
    values = {name: rng.permutation(confidence) for name in FLOATS}
    whole = {name: rng.integers(-1, 1000, n).astype(np.int32) for name in INTEGERS}
    whole["image"] = np.sort(rng.choice(10 * n, n, replace=False)).astype(np.int32)
    rows = Predictions(**values, **whole, top5=rng.integers(1000, size=(n, 5)).astype(np.int32))
    content = to_parquet(rows)
    back = from_parquet(content, None)
    for name in (*FLOATS, *INTEGERS, "top5"):
        assert getattr(back, name).tobytes() == getattr(rows, name).tobytes(), name
    plain = io.BytesIO()
    pq.write_table(table_of(content), plain, compression="zstd", compression_level=1)  # as pyarrow would by itself
    assert len(content) < len(plain.getvalue())


def test_duckdb_reads_the_same(tmp_path):
    rng, n = np.random.default_rng(1), 1000
    values = {name: rng.random(n, dtype=np.float32) for name in FLOATS}
    whole = {name: np.arange(n, dtype=np.int32) for name in INTEGERS}
    (tmp_path / "rows.parquet").write_bytes(to_parquet(Predictions(**values, **whole, top5=np.zeros((n, 5), np.int32))))
    read = duckdb.sql(f"SELECT * FROM '{tmp_path}/rows.parquet' ORDER BY image").fetchnumpy()
    for name in (*FLOATS, *INTEGERS):
        np.testing.assert_array_equal(read[name], {**values, **whole}[name])
