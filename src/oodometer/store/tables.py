"""Accuracies from somebody's table: kept beside the predictions, never mixed up with them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from oodometer.core.digests import digest_of
from oodometer.core.errors import DataError
from oodometer.core.reading import check_regular, check_texts, reading
from oodometer.store.checked import listed, of_stem, put
from oodometer.store.prediction_parquet import table_of, written
from oodometer.store.store import Store

FOLDER = "tables"
MOST_DIGITS = 15
"""Of a number of images: far below what a whole number of 64 bits can hold."""


@dataclass(frozen=True)
class Accuracy:
    """One cell of a table: a share between 0 and 1, and n where it is known."""

    model: str
    condition: str
    accuracy: float
    n: int | None
    source: str


def parse_table(
    text: str, *, source: str, n: int | None = None, sizes: Mapping[str, int] | None = None
) -> list[Accuracy]:
    r"""The accuracies of a CSV table, long (``model,condition,accuracy[,n]``) or wide (``model`` and a column each).

    Empty cells are not measured and left out. A table with any value above 1 is in percent.

    Args:
        source: Where the table comes from, kept with every number.
        n: The number of images where the table does not say.
        sizes: The same per condition.

    >>> parse_table("model,val\nnet,76.1\n", source="t.csv", n=50000)
    [Accuracy(model='net', condition='val', accuracy=0.761, n=50000, source='t.csv')]
    """
    reader = csv.DictReader(io.StringIO(text))
    header = [name.strip() for name in reader.fieldnames or []]
    reader.fieldnames = header
    twice = [name for name in header if name and header.count(name) > 1]
    if twice:
        raise DataError(f"{source}: two columns are named {twice[0]!r}")
    if "model" not in header:
        raise DataError(f"{source}: no column 'model'; expected model,condition,accuracy,n or model and a column each")
    cells = _cells(reader, source)
    read = [(at, model, where, _number(value, source, at), size) for at, model, where, value, size in cells]
    if not read:
        raise DataError(f"{source}: no accuracies in it")
    unit = 100.0 if any(value > 1 for *_, value, _ in read) else 1.0
    known = dict(sizes or {})
    found: dict[tuple[str, str], Accuracy] = {}
    for at, model, where, value, size in read:
        if not model or not where:
            raise DataError(f"{source}, line {at}: {value:g} belongs to no {'condition' if model else 'model'}")
        if not 0 <= value <= unit:
            raise DataError(f"{source}, line {at}: {value:g} is not an accuracy")
        if (model, where) in found:
            raise DataError(f"{source}, line {at}: a second accuracy of {model} on {where}")
        count = _count(size, source, at) if size else known.get(where, n)
        if count is not None and count < 1:
            raise DataError(f"{source}: {count} images on {where}; give the number of images, or nothing")
        found[model, where] = Accuracy(model, where, round(value / unit, 12), count, source)
    return list(found.values())


def read_table_file(path: str, *, n: int | None = None, sizes: Mapping[str, int] | None = None) -> list[Accuracy]:
    """The accuracies of a CSV file; see `parse_table`."""
    with reading(path, "table"):
        check_regular(path)
        check_texts((Path(path).name,), "the table")
        text = Path(path).read_text(encoding="utf-8-sig")
        return parse_table(text, source=Path(path).name, n=n, sizes=sizes)


def write_table(store: Store, rows: Iterable[Accuracy]) -> None:
    """Keep a table; a table of the same name about the same models and conditions takes the place of the old one."""
    import pyarrow as pa

    records = [asdict(row) for row in rows]
    types = {"model": "string", "condition": "string", "accuracy": "float64", "n": "int64", "source": "string"}
    schema = pa.schema([(name, pa.type_for_alias(alias)) for name, alias in types.items()])
    about = sorted((row["source"], row["model"], row["condition"]) for row in records)
    stem = digest_of({"about": about})
    before = of_stem(listed(store.files, FOLDER), stem)
    name = put(store.files, FOLDER, stem, "parquet", written(pa.Table.from_pylist(records, schema=schema)))
    for old in before:
        if old != name:
            store.files.remove(old.path)


def read_table(content: bytes) -> list[Accuracy]:
    """The accuracies of a file that `write_table` wrote."""
    return [Accuracy(**row) for row in table_of(content).to_pylist()]


def _cells(reader: csv.DictReader[str], source: str) -> Iterator[tuple[int, str, str, str, str | None]]:
    """Line, model, condition, accuracy and n as they are written."""
    split = _long if {"condition", "accuracy"} <= set(reader.fieldnames or ()) else _wide
    for row in reader:
        if any(row.pop(None, None) or ()):
            raise DataError(f"{source}, line {reader.line_num}: more cells than the header has columns")
        for cell in split(row):
            yield reader.line_num, *cell


def _long(row: Mapping[str, str | None]) -> Iterator[tuple[str, str, str, str | None]]:
    if value := (row["accuracy"] or "").strip():
        yield row["model"] or "", row["condition"] or "", value, (row.get("n") or "").strip()


def _wide(row: Mapping[str, str | None]) -> Iterator[tuple[str, str, str, str | None]]:
    for name, value in row.items():
        if name != "model" and value and (text := value.strip()):
            yield row["model"] or "", name, text, None


def _number(text: str, source: str, line: int) -> float:
    try:
        return float(text)
    except ValueError:
        raise DataError(f"{source}, line {line}: {text!r} is not a number") from None


def _count(text: str, source: str, line: int) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > MOST_DIGITS or int(text) == 0:
        raise DataError(f"{source}, line {line}: n {text!r} is not a number of images")
    return int(text)


def read_sizes(path: str) -> dict[str, int]:
    """Condition to its number of images, from a CSV table."""
    with reading(path, "table of sizes", todo="expected the columns condition,n with whole numbers"):
        check_regular(path)
        with open(path, newline="", encoding="utf-8-sig") as lines:
            return {row["condition"]: int(row["n"]) for row in csv.DictReader(lines)}
