"""Numbers about cells, and the table that they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from oodometer.core.estimate import Estimate
from oodometer.report.text import columns, interval_bar
from oodometer.store.cells import Cell
from oodometer.store.store import Store


@dataclass(frozen=True)
class Score:
    """One number about one cell, or about several cells of one model.

    Args:
        weights: The first letters of the weights' digest; empty for an imported number.
        condition: What the model was asked about; a family such as ``imagenet-c`` where the number sums it up.
        data: The name of the data set, and the first letters of its digest in ``content``.
        metric: The name of the number, and in ``convention`` the definition that it follows.
        missing: Images of the condition that have no row: broken ones, or those of an unfinished run.
        state: ``complete``, ``unfinished``, or ``imported`` from a table.
        cell: The key of the cell in the store; empty for an imported number and for one about several cells.
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
    convention: str = ""

    def as_json(self) -> dict[str, Any]:
        """The score as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Scores:
    """All scores of a store; prints as a table.

    Args:
        left_out: What was asked for and is undefined here, in words: only where all metrics were asked for at once.
    """

    rows: tuple[Score, ...]
    left_out: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.table()

    def only(self, wanted: Callable[[Score], bool]) -> Scores:
        """The scores that are wanted."""
        return Scores(tuple(row for row in self.rows if wanted(row)), self.left_out)

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

    def conventions(self) -> dict[str, str]:
        """Metric to the definition that it follows."""
        return {row.metric: row.convention for row in self.rows if row.convention}

    def as_json(self) -> list[dict[str, Any]]:
        """The scores as plain values."""
        return [row.as_json() for row in self.rows]


def score_of(store: Store, cells: Iterable[Cell], metric: str, estimate: Estimate, **more: Any) -> Score:
    """A number about one cell or several of one model; ``more`` are fields of `Score` that the cells do not give."""
    about = list(cells)
    first = about[0]
    given = {
        "condition": first.condition_name,
        "data": first.data,
        "missing": 0,
        "cell": first.key if len(about) == 1 else "",
        **more,
    }
    return Score(
        model=first.model_name,
        weights=str(first.model["digest"])[:8],
        content=str(first.condition["data"])[:8],
        metric=metric,
        estimate=estimate,
        state="complete" if all(store.is_sealed(cell) for cell in about) else "unfinished",
        **given,
    )


def _remark(row: Score) -> str:
    if row.state == "complete" and row.missing:
        return f"({row.missing} broken images left out)" if row.cell else f"({row.missing} images left out)"
    if row.state == "unfinished":
        return f"(unfinished: {row.missing} images to go)" if row.cell else "(unfinished)"
    return "(imported)" if row.state == "imported" else ""


def _told_apart(things: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """What to call each (name, digest): the name, and the digest too where others have the same name."""
    names = [name for name, _ in things]
    return {(name, digest): f"{name}@{digest}" if digest and names.count(name) > 1 else name for name, digest in things}
