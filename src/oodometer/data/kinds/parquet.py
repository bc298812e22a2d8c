"""Parquet files with encoded images in a column."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.reading import reading
from oodometer.data import addresses
from oodometer.data.columns import column_of
from oodometer.data.labels import ids_of_positions, parse_labels
from oodometer.data.source import EncodedSource

_USUAL_NAMES = ("image", "img", "jpg", "jpeg", "png", "webp", "bytes")
_KEPT_GROUPS = 4


def open_parquet(address: str, *, name: str) -> Dataset:
    """The images of a Parquet file, a folder of them or a pattern; columns ``label`` and ``id`` where there are any."""
    files = parquet_files(address)
    column = image_column(files[0])
    if column is None:
        raise DataError(
            f"{files[0]}: no column with encoded images (binary, or a struct with a field bytes); "
            f"its columns are {', '.join(_schema(files[0]).names)}"
        )
    groups = [group for file in files for group in _row_groups(file)]
    n = sum(group.n for group in groups)
    known = read_columns(files, without=column)
    labels, space = parse_labels(known.pop("label", [None] * n), name=name)
    ids = known.pop("id", None)
    return Dataset(
        name=name,
        ids=ids_of_positions(n) if ids is None else tuple(str(one) for one in ids),
        labels=labels,
        space=space,
        source=EncodedSource(ParquetImages(column, tuple(groups))),
        rows=np.arange(n),
        columns={key: column_of(values) for key, values in known.items()},
    )


def has_images(address: str) -> bool:
    """Whether the Parquet files have a column of encoded images, or at least no column ``path``."""
    first = parquet_files(address)[0]
    return "path" not in _schema(first).names or image_column(first) is not None


def parquet_files(address: str) -> list[str]:
    """The Parquet files that an address means, at least one."""
    if not addresses.is_folder(address):
        files = addresses.expand(address)
    else:
        inside = [file.path for file in addresses.list_files(address) if file.path.lower().endswith(".parquet")]
        files = [addresses.join(address, path) for path in inside]
    if not files:
        raise DataError(f"{address}: no Parquet files there; check the path")
    return files


def image_column(file: str) -> str | None:
    """The path of the column with the encoded bytes: one of the usual names, or the only one of such a type."""
    found = {one.name: path for one in _schema(file) if (path := _bytes_path(one)) is not None}
    for usual in _USUAL_NAMES:
        if usual in found:
            return found[usual]
    if len(found) > 1:
        raise DataError(f"{file}: which column has the images, {' or '.join(found)}? Name it image")
    return next(iter(found.values()), None)


def read_columns(files: list[str], *, without: str | None = None, nested: str | None = None) -> dict[str, list[Any]]:
    """All columns of plain values but one, as lists; of the others only the one that is ``nested``."""
    import pyarrow as pa

    schema = _schema(files[0])
    left_out = without.partition(".")[0] if without else None
    others = {one.name for one in schema if _is_nested_or_binary(one.type)} - {nested}
    wanted = [one.name for one in schema if one.name != left_out and one.name not in others]
    with reading(files[0], "Parquet file"):
        table = pa.concat_tables([_read_table(file, wanted) for file in files], promote_options="permissive")
        return {name: table.column(name).to_pylist() for name in wanted}


@dataclass(frozen=True)
class RowGroup:
    """Rows of a Parquet file that are read together."""

    file: str
    version: str | None
    number: int
    first_row: int
    n: int


@dataclass(frozen=True)
class ParquetImages:
    """Encoded images in a column; the few row groups read last are kept in memory."""

    column: str
    groups: tuple[RowGroup, ...]
    _kept: GroupCache = field(default_factory=lambda: GroupCache(), compare=False)
    _starts: np.ndarray = field(init=False, compare=False)

    def __post_init__(self) -> None:
        starts = np.cumsum([0, *(group.n for group in self.groups)])
        object.__setattr__(self, "_starts", starts)

    def read(self, index: int) -> bytes:
        """The bytes in the row."""
        place, row = self._locate(index)
        content = self._kept.get(self.groups[place], self.column)[row].as_py()
        if content is None:
            raise DataError(f"{self.name(index)}: no image in this row")
        return bytes(content)

    def name(self, index: int) -> str:
        """The file and the row in it."""
        place, row = self._locate(index)
        return f"{self.groups[place].file} row {self.groups[place].first_row + row}"

    def version(self, index: int) -> str | None:
        """The version of the file."""
        return self.groups[self._locate(index)[0]].version

    def _locate(self, index: int) -> tuple[int, int]:
        place = int(np.searchsorted(self._starts, index, side="right")) - 1
        return place, index - int(self._starts[place])


class GroupCache:
    """The row groups read last; each is read once even if many threads want it. A pickled copy begins empty."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: OrderedDict[RowGroup, tuple[threading.Lock, list[Any]]] = OrderedDict()

    def __reduce__(self) -> tuple[type[GroupCache], tuple[()]]:
        return GroupCache, ()

    def get(self, group: RowGroup, column: str) -> Any:
        """The images of a row group."""
        with self._lock:
            lock, content = self._groups.setdefault(group, (threading.Lock(), []))
            self._groups.move_to_end(group)
            while len(self._groups) > _KEPT_GROUPS:
                self._groups.popitem(last=False)
        with lock:
            if not content:
                content.append(_read_group(group, column))
            return content[0]


def _read_group(group: RowGroup, column: str) -> Any:
    with addresses.open_binary(group.file) as file, reading(group.file, "Parquet file"):
        table = _open(group.file, file).read_row_group(group.number, columns=[column])
    values = table.column(0)
    if "." in column:
        import pyarrow.compute as pc

        values = pc.struct_field(values, column.partition(".")[2])
    return values


def _row_groups(file: str) -> list[RowGroup]:
    version = addresses.version_of(file)
    with addresses.open_binary(file) as opened, reading(file, "Parquet file"):
        metadata = _open(file, opened).metadata
        sizes = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    starts = np.cumsum([0, *sizes]).tolist()
    return [RowGroup(file, version, number, starts[number], size) for number, size in enumerate(sizes)]


def _read_table(file: str, columns: list[str]) -> Any:
    with addresses.open_binary(file) as opened, reading(file, "Parquet file"):
        parquet = _open(file, opened)
        missing = [column for column in columns if column not in parquet.schema_arrow.names]
        if missing:
            raise DataError(f"{file}: no column {missing[0]!r}, which the first file has; give all files the same")
        return parquet.read(columns=columns)


def _schema(file: str) -> Any:
    with addresses.open_binary(file) as opened, reading(file, "Parquet file"):
        return _open(file, opened).schema_arrow


def _open(name: str, file: Any) -> Any:
    import pyarrow.parquet as pq

    with reading(name, "Parquet file"):
        return pq.ParquetFile(file)


def _bytes_path(column: Any) -> str | None:
    """Where the encoded bytes are, if the column is of a type that may hold images."""
    import pyarrow as pa

    if _is_binary(column.type):
        return str(column.name)
    if pa.types.is_struct(column.type):
        place = column.type.get_field_index("bytes")
        if place >= 0 and _is_binary(column.type.field(place).type):
            return f"{column.name}.bytes"
    return None


def _is_binary(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _is_nested_or_binary(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_nested(kind)) or _is_binary(kind)
