"""What near-duplicates did to the accuracy of every model of a store, on any data set."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from oodometer.build.testset.stored_answers import rows_about
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, StoreError, did_you_mean
from oodometer.data import addresses
from oodometer.stats.contamination import Contamination, contamination
from oodometer.store.index import Source, index_at

ID_COLUMNS = ("key", "image", "first", "id")
"""Of a table of pairs: where the image of the test set stands, the first of these that is there."""
DUPLICATE = "duplicate"
CONVENTION = (
    "accuracies with exact intervals; what duplicates add by Newcombe's method 10, given which images have one "
    "(Recht et al. 2019, appendix B.2.2)"
)


@dataclass(frozen=True)
class ModelContamination:
    """What duplicates did to one model's accuracy.

    Args:
        model: Its name in the store.
        data: What it was asked about.
        found: The accuracies with and without, and their difference.
    """

    model: str
    data: str
    found: Contamination


@dataclass(frozen=True)
class StoredContamination:
    """What duplicates did to the accuracies of a store.

    Args:
        n_images: Of the data.
        n_duplicates: Those of them that have a duplicate.
        models: By name.
        left_out: Models of which nothing can be said, with the reason.
        unknown: Ids of duplicates that the data have not.
    """

    n_images: int
    n_duplicates: int
    models: tuple[ModelContamination, ...]
    left_out: dict[str, str] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {"convention": CONVENTION, **asdict(self)}


def contaminations(
    source: Source, data: Dataset | Sequence[str], duplicates: Collection[str], *, level: float = 0.95
) -> StoredContamination:
    """Accuracy with and without the images that have a near-duplicate, of each model that was asked about the data.

    Args:
        data: Or the ids of its images.
        duplicates: The ids of the images that have one, for example in the training data.
    """
    index = index_at(source)
    ids = data.ids if isinstance(data, Dataset) else tuple(data)
    having = set(duplicates) & set(ids)
    if not having:
        hint = did_you_mean(min(duplicates), ids) if duplicates and len(ids) < 10_000 else ""
        raise DataError(
            f"none of the {len(set(duplicates))} images with a duplicate is in the data{hint}; do ids agree?"
        )
    rows = rows_about(index, ids, data=data if isinstance(data, Dataset) else None)
    if not rows:
        raise StoreError(f"{index}: no model was asked about these images; run one on them first: oodometer run --data")
    has = np.array([one in having for one in ids])
    found: list[ModelContamination] = []
    left_out: dict[str, str] = {}
    for one in rows:
        known = one.rows.rank >= 0
        try:
            result = contamination(one.right[known], has[one.at[known]], level=level)
            found.append(ModelContamination(one.model, one.cell.data.title, result))
        except DataError as error:
            left_out[one.model] = str(error)
    unknown = tuple(sorted(set(duplicates) - having))
    return StoredContamination(len(ids), len(having), tuple(found), left_out, unknown)


def read_duplicates(address: str) -> list[str]:
    """The images of a table of pairs, each once: those that its column verdict, where it has one, calls duplicates."""
    try:
        text = addresses.read_bytes(address).decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{address}: not a readable CSV file in UTF-8 ({error})") from error
    column = next((name for name in ID_COLUMNS if rows and name in rows[0]), None)
    if column is None:
        raise DataError(f"{address}: no pairs with a column {', '.join(ID_COLUMNS[:-1])} or {ID_COLUMNS[-1]}")
    judged = [row for row in rows if row.get("verdict", DUPLICATE) == DUPLICATE]
    if not judged:
        raise DataError(f"{address}: of {len(rows)} pairs none has the verdict {DUPLICATE!r}; look at them first")
    return list(dict.fromkeys((row[column] or "").strip() for row in judged))
