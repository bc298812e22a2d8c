"""Predictions as Parquet and back."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from oodometer.core.predictions import Predictions

INTEGERS = ("image", "label", "prediction", "rank")
FLOATS = ("confidence", "margin", "energy", "max_logit", "entropy", "label_log_probability", "sum_squares")

ENCODINGS = {"image": "DELTA_BINARY_PACKED", **dict.fromkeys(FLOATS, "BYTE_STREAM_SPLIT")}
"""Of columns of which hardly two values are the same; with dictionaries files are 1.8 times as large."""


def to_parquet(rows: Predictions) -> bytes:
    """The summary rows, without logits."""
    import pyarrow as pa

    columns: dict[str, Any] = {name: pa.array(getattr(rows, name)) for name in (*INTEGERS, *FLOATS)}
    columns["top5"] = _matrix(rows.top5)
    return written(pa.table(columns), encodings=ENCODINGS)


def logits_to_parquet(images: np.ndarray, logits: np.ndarray) -> bytes:
    """The logits of each image, as float16."""
    import pyarrow as pa

    return written(pa.table({"image": pa.array(images), "logits": _matrix(logits)}))


def from_parquet(content: bytes, logits: bytes | None) -> Predictions:
    """What `to_parquet` and `logits_to_parquet` wrote."""
    table = table_of(content)
    values: dict[str, Any] = {name: values_of(table[name]) for name in (*INTEGERS, *FLOATS)}
    values["top5"] = _rows_of(table["top5"])
    return Predictions(**values, logits=None if logits is None else _rows_of(table_of(logits)["logits"]))


def ranks_of(content: bytes) -> np.ndarray:
    """The ranks of the true classes alone, (N,)."""
    return columns_from(content, ["rank"])["rank"]


def columns_from(content: bytes, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Some of the columns that are no matrices, (N,) each."""
    import pyarrow as pa

    return _columns(pa.BufferReader(content), names)


def columns_at(place: str, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The same of a file on this machine, of which no more is read than they need."""
    return _columns(place, names)


def _columns(source: Any, names: Sequence[str]) -> dict[str, np.ndarray]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(source, pre_buffer=False) as file:
        table = file.read(columns=list(names), use_threads=False)
        return {name: values_of(table[name]) for name in names}


def logits_from_parquet(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """The images and their logits."""
    table = table_of(content)
    return values_of(table["image"]), _rows_of(table["logits"])


def values_of(column: Any) -> np.ndarray:
    """The values of a column, (N,); texts as objects.

    Not by ``to_numpy``, which imports pandas wherever that is installed: half a second for every command.
    """
    import pyarrow as pa

    if pa.types.is_string(column.type):
        return np.array(column.to_pylist(), dtype=object)
    if column.null_count or not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return np.asarray(column.to_numpy())
    chunks = [np.from_dlpack(chunk) for chunk in column.chunks]
    return chunks[0] if len(chunks) == 1 else np.concatenate([np.empty(0, column.type.to_pandas_dtype()), *chunks])


def _matrix(values: np.ndarray) -> Any:
    import pyarrow as pa

    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(values).reshape(-1)), values.shape[1])


def _rows_of(column: Any) -> np.ndarray:
    import pyarrow as pa

    flat = column.combine_chunks()
    return values_of(pa.chunked_array([flat.flatten()])).reshape(-1, flat.type.list_size)


def written(table: Any, *, encodings: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a table as a Parquet file; where encodings are given, other columns have dictionaries."""
    import pyarrow.parquet as pq

    dictionaries = True if encodings is None else [name for name in table.column_names if name not in encodings]
    buffer = io.BytesIO()
    pq.write_table(
        table, buffer, compression="zstd", compression_level=1, use_dictionary=dictionaries, column_encoding=encodings
    )
    return buffer.getvalue()


def table_of(content: bytes) -> Any:
    """The table in the bytes of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # By this thread alone: one of Arrow's may let go of the bytes only when Python is ending, which aborts the process.
    return pq.ParquetFile(pa.BufferReader(content), pre_buffer=False).read(use_threads=False)
