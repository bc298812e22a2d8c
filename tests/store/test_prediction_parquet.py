"""Reading Parquet: by the thread that asks, so that nothing of it is still going on when a process ends."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

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
