"""Close pairs between any two data sets, or inside one, and tables of pairs as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from oodometer.build.testset.likeness import DEFAULT_METRICS, USUAL_REACH, Reach, close_between, close_inside
from oodometer.core.dataset import Dataset, Progress, silent
from oodometer.core.errors import DataError, UsageError
from oodometer.data import addresses

COLUMNS = ("pair", "first", "second", "against", "metric", "distance", "mirrored", "verdict")


@dataclass(frozen=True)
class PairRow:
    """Two images by one metric.

    Args:
        pair: Its number in a project; empty elsewhere.
        first: The id of the image that may be a duplicate.
        second: The id of the other image, in the set ``against``.
        verdict: What a person said; empty: nobody has looked.
    """

    pair: str
    first: str
    second: str
    against: str
    metric: str
    distance: float
    mirrored: bool
    verdict: str = ""


def close_pairs_of(
    data: Dataset,
    against: Sequence[tuple[str, Dataset]] = (),
    *,
    metrics: Sequence[str] = DEFAULT_METRICS,
    reach: Reach = USUAL_REACH,
    progress: Progress = silent,
) -> tuple[list[PairRow], dict[str, str]]:
    """The close pairs of a data set with others, by their names, or where there are none inside it; what can't be read.

    A pair that several metrics find close is a row for each.
    """
    rows: list[PairRow] = []
    unreadable: dict[str, str] = {}
    for name, other in against or [("", data)]:
        inside = not name
        found = (
            close_inside(data, metrics, reach, progress=progress)
            if inside
            else close_between(data, other, metrics, reach, progress=progress)
        )
        unreadable |= {other.ids[at]: why for at, why in found.unreadable.items()}
        for metric, pairs in found.pairs.items():
            columns = pairs.positions(), pairs.distance.tolist(), pairs.mirrored.tolist()
            rows += (
                PairRow("", data.ids[first], other.ids[second], name, metric, distance, mirrored)
                for (first, second), distance, mirrored in zip(*columns, strict=True)
            )
    return rows, unreadable


def write_pair_table(rows: Iterable[PairRow], path: str | Path) -> int:
    """Write a CSV file with one row for each; how many there are."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    n = 0
    for row in rows:
        values = list(astuple(row))
        values[5], values[6] = f"{row.distance:.6f}", "yes" if row.mirrored else ""
        writer.writerow(values)
        n += 1
    try:
        Path(path).write_text(out.getvalue(), encoding="utf-8", newline="")
    except OSError as error:
        raise UsageError(f"{path}: can't be written ({error.strerror})") from error
    return n


def read_verdicts(address: str) -> dict[int, str]:
    """What a person wrote into the column verdict of a project's table, by the number of the pair; empty ones left out.

    Rows of one pair by several metrics need only one verdict; two that differ are an error.
    """
    try:
        rows = list(csv.DictReader(io.StringIO(addresses.read_bytes(address).decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{address}: not a readable CSV file in UTF-8 ({error})") from error
    if not rows or not {"pair", "verdict"} <= set(rows[0]):
        raise DataError(f"{address}: expected the columns pair and verdict, as --pairs writes them")
    said: dict[int, str] = {}
    for line, row in enumerate(rows, start=2):
        verdict, number = (row["verdict"] or "").strip().lower(), (row["pair"] or "").strip()
        if not verdict:
            continue
        if not number.isdigit():
            raise DataError(f"{address}, line {line}: {number!r} is no number of a pair")
        if said.setdefault(int(number), verdict) != verdict:
            raise DataError(f"{address}, line {line}: pair {number} is {said[int(number)]} and {verdict}")
    return said
