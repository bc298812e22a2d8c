"""Predictions as Parquet and back."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from oodometer.core.predictions import Predictions

INTEGERS = ("image", "label", "prediction", "rank")
FLOATS = ("confidence", "margin", "energy", "max_logit", "entropy", "label_log_probability", "sum_squares")


def to_parquet(rows: Predictions) -> bytes:
    """The summary rows, without logits."""
    import pyarrow as pa

    columns: dict[str, Any] = {name: pa.array(getattr(rows, name)) for name in (*INTEGERS, *FLOATS)}
    columns["top5"] = _matrix(rows.top5)
    return written(pa.table(columns))


def logits_to_parquet(images: np.ndarray, logits: np.ndarray) -> bytes:
    """The logits of each image, as float16."""
    import pyarrow as pa

    return written(pa.table({"image": pa.array(images), "logits": _matrix(logits)}))


def from_parquet(content: bytes, logits: bytes | None) -> Predictions:
    """What `to_parquet` and `logits_to_parquet` wrote."""
    table = table_of(content)
    values: dict[str, Any] = {name: table[name].to_numpy() for name in (*INTEGERS, *FLOATS)}
    values["top5"] = _rows_of(table["top5"])
    return Predictions(**values, logits=None if logits is None else _rows_of(table_of(logits)["logits"]))


def ranks_of(content: bytes) -> np.ndarray:
    """The ranks of the true classes alone, (N,)."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(content), pre_buffer=False)
    return np.asarray(file.read(columns=["rank"], use_threads=False)["rank"].to_numpy())


def logits_from_parquet(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """The images and their logits."""
    table = table_of(content)
    return table["image"].to_numpy(), _rows_of(table["logits"])


def _matrix(values: np.ndarray) -> Any:
    import pyarrow as pa

    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(values).reshape(-1)), values.shape[1])


def _rows_of(column: Any) -> np.ndarray:
    flat = column.combine_chunks()
    width = flat.type.list_size
    return np.asarray(flat.flatten().to_numpy(zero_copy_only=False).reshape(-1, width))


def written(table: Any) -> bytes:
    """The bytes of a table as a Parquet file."""
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd", compression_level=1)
    return buffer.getvalue()


def table_of(content: bytes) -> Any:
    """The table in the bytes of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # By this thread alone: one of Arrow's may let go of the bytes only when Python is ending, which aborts the process.
    return pq.ParquetFile(pa.BufferReader(content), pre_buffer=False).read(use_threads=False)
