"""The score of every cell of a store, each number with its interval and n."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from oodometer.core.errors import StoreError
from oodometer.core.estimate import Estimate
from oodometer.report.text import columns, interval_bar
from oodometer.stats.intervals import DEFAULT_INTERVAL, share_of
from oodometer.store.queries import Counts, counts
from oodometer.store.store import Store, open_store
from oodometer.store.tables import Accuracy, read_tables


@dataclass(frozen=True)
class Score:
    """One number about one cell.

    Args:
        weights: The first letters of the weights' digest; empty for an imported number.
        data: The name of the data set, and the first letters of its digest in ``content``.
        missing: Images of the condition that have no row: broken ones, or those of an unfinished run.
        state: ``complete``, ``unfinished``, or ``imported`` from a table.
        cell: The key of the cell in the store; empty for an imported number.
    """

    model: str
    weights: str
    condition: str
    data: str
    content: str
    metric: str
    estimate: Estimate
    missing: int
    state: str
    cell: str

    def as_json(self) -> dict[str, Any]:
        """The score as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Scores:
    """All scores of a store; prints as a table."""

    rows: tuple[Score, ...]

    def __str__(self) -> str:
        return self.table()

    def only(self, wanted: Callable[[Score], bool]) -> Scores:
        """The scores that are wanted."""
        return Scores(tuple(row for row in self.rows if wanted(row)))

    def table(self, *, plot: bool = False) -> str:
        """The scores as text, a line each; ``plot`` draws each interval on the scale from 0 to 1."""
        models = _told_apart({(row.model, row.weights) for row in self.rows})
        data = _told_apart({(row.data, row.content) for row in self.rows})
        several_data = len({name for name in data.values() if name}) > 1
        lines = []
        for row in self.rows:
            where = [row.condition, data[row.data, row.content]] if several_data else [row.condition]
            drawn = [interval_bar(row.estimate)] if plot else []
            lines.append([models[row.model, row.weights], *where, row.metric, *drawn, str(row.estimate), _remark(row)])
        return columns(lines)

    def as_json(self) -> list[dict[str, Any]]:
        """The scores as plain values."""
        return [row.as_json() for row in self.rows]


def score(store: str | Store, *, interval: str = DEFAULT_INTERVAL, level: float = 0.95) -> Scores:
    """Top-1 and top-5 accuracy of every cell, measured or imported.

    Args:
        interval: ``clopper-pearson`` or ``wilson``.
        level: Of the interval.
    """
    opened = store if isinstance(store, Store) else open_store(str(store))
    counted = counts(opened)
    rows = [one for found in counted for one in _measured(opened, found, interval, level)]
    rows += [_imported(found, interval, level) for found in read_tables(opened)]
    if not rows and counted:
        raise StoreError(f"{opened}: none of its images has a label, so there is no accuracy")
    if not rows:
        raise StoreError(f"{opened}: no predictions in it yet; 'oodometer run' or 'oodometer import' makes some")
    return Scores(tuple(rows))


def _measured(store: Store, found: Counts, interval: str, level: float) -> list[Score]:
    if found.n == 0:
        return []
    cell = found.cell
    known = cell.n_classes if cell.known_classes is None else cell.known_classes
    hits = {"top-1": found.top1}
    # With five classes or fewer every answer is among the top five: no measurement.
    if known >= 5 and cell.n_classes > 5:
        hits["top-5"] = found.top5
    missing = cell.n_images - found.n_rows
    return [
        Score(
            model=cell.model_name,
            weights=str(cell.model["digest"])[:8],
            condition=cell.condition_name,
            data=cell.data,
            content=str(cell.condition["data"])[:8],
            metric=metric,
            estimate=share_of(right, found.n, interval=interval, level=level),
            missing=missing,
            state="complete" if store.is_sealed(cell) else "unfinished",
            cell=cell.key,
        )
        for metric, right in hits.items()
    ]


def _imported(found: Accuracy, interval: str, level: float) -> Score:
    if found.n is None:
        estimate = Estimate(found.accuracy, None, None, None, "none: n is not known")
    else:
        # The table gives a rounded share; the nearest count is the one it came from, or as close as can be known.
        near = share_of(round(found.accuracy * found.n), found.n, interval=interval, level=level)
        estimate = Estimate(found.accuracy, near.low, near.high, found.n, near.interval)
    return Score(found.model, "", found.condition, "", "", "top-1", estimate, missing=0, state="imported", cell="")


def _remark(row: Score) -> str:
    if row.state == "complete" and row.missing:
        return f"({row.missing} broken images left out)"
    if row.state == "unfinished":
        return f"(unfinished: {row.missing} images to go)"
    return "(imported)" if row.state == "imported" else ""


def _told_apart(things: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """What to call each (name, digest): the name, and the digest too where others have the same name."""
    names = [name for name, _ in things]
    return {(name, digest): f"{name}@{digest}" if digest and names.count(name) > 1 else name for name, digest in things}
