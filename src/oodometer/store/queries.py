"""Questions about single images, answered by DuckDB from the Parquet files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from oodometer.core.errors import StoreError
from oodometer.core.labels import NUMBERS
from oodometer.store.cells import Cell
from oodometer.store.index import Index
from oodometer.store.store import Store


@dataclass(frozen=True)
class Pairs:
    """Two cells joined on the image ids.

    Args:
        both, only_a, only_b, neither: Of the common labelled images, which model was right.
        same_answer: Of the common images, on how many both gave the same class; None where the two models number
            their classes differently, or where the worst image of a group stands for it: each model has its own.
        n_a, n_b: Labelled images of each cell.
        other_content: An id under which the two cells saw different images.
        other_label: An id that has different labels.
    """

    both: int
    only_a: int
    only_b: int
    neither: int
    same_answer: int | None
    n_a: int
    n_b: int
    other_content: str | None
    other_label: str | None

    @property
    def n(self) -> int:
        """The number of common labelled images."""
        return self.both + self.only_a + self.only_b + self.neither


def paired(index: Index, a: Cell, b: Cell) -> Pairs:
    """The images that both cells saw, and who was right on them."""
    for cell in (a, b):
        if not index.row_files(cell):
            raise StoreError(f"{index}: no predictions of {cell.model_name} on {cell.condition_name} yet; run it again")
    store, spaces = index.store, [index.images(cell).space for cell in (a, b)]
    row = query(
        store,
        """
        WITH a AS (
            SELECT id, content, rows.label AS label, $classes_a[images.label + 1] AS class, rank = 0 AS good,
                prediction
            FROM read_parquet($rows_a, hive_partitioning = false) AS rows
            JOIN read_parquet($images_a, hive_partitioning = false) AS images ON rows.image = images.image
            WHERE rank >= 0),
        b AS (
            SELECT id, content, rows.label AS label, $classes_b[images.label + 1] AS class, rank = 0 AS good,
                prediction
            FROM read_parquet($rows_b, hive_partitioning = false) AS rows
            JOIN read_parquet($images_b, hive_partitioning = false) AS images ON rows.image = images.image
            WHERE rank >= 0)
        SELECT count(*) FILTER (a.good AND b.good), count(*) FILTER (a.good AND NOT b.good),
            count(*) FILTER (NOT a.good AND b.good), count(*) FILTER (NOT a.good AND NOT b.good),
            CASE WHEN NOT $grouped AND ($same_numbers OR bool_and(a.label = b.label))
                THEN count(*) FILTER (a.prediction = b.prediction) END,
            (SELECT count(*) FROM a), (SELECT count(*) FROM b),
            -- An empty digest: answers computed elsewhere, of images that were never seen here.
            min(a.id) FILTER (a.content <> b.content AND octet_length(a.content) > 0 AND octet_length(b.content) > 0),
            -- Models may order the same classes differently: by name, or by index where one side has only numbers.
            min(a.id) FILTER (CASE WHEN $by_name THEN a.class <> b.class ELSE a.label <> b.label AND NOT $several END)
        FROM a JOIN b ON a.id = b.id
        """,
        rows_a=literal(index.row_files(a)),
        rows_b=literal(index.row_files(b)),
        images_a=literal([store.images_file(a.data.digest)]),
        images_b=literal([store.images_file(b.data.digest)]),
        classes_a=list(spaces[0].classes),
        classes_b=list(spaces[1].classes),
        grouped=a.n_units is not None or b.n_units is not None,
        # Where an image has several labels, a row has the one that its model ranks highest: that tells nothing here.
        several=a.answers is not None or b.answers is not None,
        same_numbers=a.answers is not None and a.answers == b.answers,
        by_name=(spaces[0].name == NUMBERS) == (spaces[1].name == NUMBERS),
    )[0]
    return Pairs(*row)


def literal(files: list[str]) -> list[str]:
    """The addresses as patterns that match nothing else.

    >>> literal(["runs[1]/a.parquet"])
    ['runs[[]1]/a.parquet']
    """
    return [re.sub(r"([*?[])", r"[\1]", file) for file in files]


def query(store: Store, sql: str, **values: Any) -> list[tuple[Any, ...]]:
    """The rows of a query over the store's files."""
    import duckdb

    with duckdb.connect() as connection:
        if not store.files.is_local:
            connection.register_filesystem(store.files.filesystem())
        try:
            return connection.execute(sql, values).fetchall()
        except duckdb.Error as error:
            raise StoreError(f"{store}: a file in it can't be read ({str(error).splitlines()[0]})") from error
