"""Numbers about cells, and the table that they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from oodometer.analysis.sampled import if_fixed, stopped
from oodometer.analysis.text import columns, interval_bar
from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.store.cells import Cell
from oodometer.store.index import Index


@dataclass(frozen=True)
class Score:
    """One number about one cell, or about several cells of one model.

    Args:
        weights: The first letters of the weights' digest; empty for what was imported.
        condition: What the model was asked about; a family such as ``imagenet-c`` where the number sums it up.
        data: The name of the data set, and the first letters of its digest in ``content``.
        metric: The name of the number, and in ``convention`` the definition that it follows.
        missing: Images of the condition that have no row: broken ones, or those of an unfinished run.
        state: ``complete``, ``unfinished``, or ``imported`` from a table.
        cell: The key of the cell in the store; empty for an imported number and for one about several cells.
        rank: The ranks that the model may have by this accuracy (``2-3``, behind it ``?`` where not all pairs can be
            tested), where that was asked for.
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
    rank: str = ""

    def as_json(self) -> dict[str, Any]:
        """The score as plain values."""
        told = {name: value for name, value in vars(self).items() if name != "rank" or value}
        return {**told, "estimate": dict(vars(self.estimate))}


@dataclass(frozen=True)
class LeftOut:
    """Metrics that are undefined somewhere, and why."""

    metrics: tuple[str, ...]
    why: str


def or_left_out(
    found: Iterable[Score | LeftOut], metrics: tuple[str, ...], where: str = ""
) -> Iterator[Score | LeftOut]:
    """What is found, and the reason where that ends in an error; not one about what the user asks for."""
    try:
        yield from found
    except UsageError:
        raise
    except OodometerError as why:
        yield LeftOut(metrics, f"{where}: {why}" if where else str(why))


@dataclass(frozen=True)
class Scores:
    """All scores of a store; prints as a table.

    Args:
        left_out: What was asked for and is undefined for some model or condition, in words.
        warnings: What a reader of the numbers should know, a line each: signs of gradient masking.
        ranks: By which tests models have ranks, in words; empty where they have none.
    """

    rows: tuple[Score, ...]
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    ranks: str = ""

    def __str__(self) -> str:
        return self.table()

    def only(self, wanted: Callable[[Score], bool]) -> Scores:
        """The scores that are wanted."""
        return replace(self, rows=tuple(row for row in self.rows if wanted(row)))

    def table(self, *, plot: bool = False) -> str:
        """The scores as text, a line each; ``plot`` draws each interval on the scale from 0 to 1."""
        models = _told_apart({(row.model, row.weights) for row in self.rows})
        data = _told_apart({(row.data, row.content) for row in self.rows})
        several_data = len({name for name in data.values() if name}) > 1
        ranked = any(row.rank for row in self.rows)
        lines = []
        for row in self.rows:
            where = [row.condition, data[row.data, row.content]] if several_data else [row.condition]
            drawn = [_bar(row.estimate)] if plot else []
            rank = [f"rank {row.rank}" if row.rank else ""] if ranked else []
            name = models[row.model, row.weights]
            lines.append([name, *where, row.metric, *drawn, str(row.estimate), *rank, _remark(row)])
        return columns(lines)

    def conventions(self) -> dict[str, tuple[str, ...]]:
        """Metric to the definitions that it follows, which may differ by model or family; ``NAME[...]`` as ``NAME``."""
        found: dict[str, dict[str, None]] = {}
        for row in self.rows:
            if row.convention:
                found.setdefault(row.metric.partition("[")[0], {})[row.convention] = None
        return {metric: tuple(said) for metric, said in found.items()}

    def as_json(self) -> list[dict[str, Any]]:
        """The scores as plain values."""
        return [row.as_json() for row in self.rows]


@dataclass(frozen=True)
class About:
    """What all numbers about the same cells have in common; the fields are those of `Score`.

    Args:
        stopped: Whether how many images there are depends on what was seen.
    """

    model: str
    weights: str
    condition: str
    data: str
    content: str
    missing: int
    state: str
    cell: str
    stopped: bool = False

    def score(self, metric: str, estimate: Estimate, convention: str, *, condition: str | None = None) -> Score:
        """One of these numbers; ``condition`` where it sums up several."""
        common = {name: value for name, value in vars(self).items() if name != "stopped"}
        common["condition"] = condition or self.condition
        known = if_fixed(estimate, was_stopped=self.stopped)
        return Score(metric=metric, estimate=known, convention=convention, **common)


def about(index: Index, cells: Sequence[Cell], *, missing: int, data: str | None = None) -> About:
    """What numbers about one cell, or about several of one model, have in common; ``data`` names those of several."""
    first = cells[0]
    return About(
        model=first.model_name,
        weights=first.model.weights[:8],
        condition=first.condition_name,
        data=first.data.title if data is None else data,
        content=first.data.digest[:8],
        missing=missing,
        state="complete" if all(index.is_complete(cell) for cell in cells) else "unfinished",
        cell=first.key if len(cells) == 1 else "",
        stopped=any(stopped(cell) is not None for cell in cells),
    )


def _remark(row: Score) -> str:
    if row.state == "complete" and row.missing:
        return f"({row.missing} broken images left out)" if row.cell else f"({row.missing} images left out)"
    if row.state == "unfinished":
        return f"(unfinished: {row.missing} images to go)" if row.cell else "(unfinished)"
    return "(imported)" if row.state == "imported" else ""


def _bar(estimate: Estimate) -> str:
    """The interval drawn; nothing for a number that has no place on the scale from 0 to 1."""
    ends = [end for end in (estimate.value, estimate.low, estimate.high) if end is not None]
    return interval_bar(estimate) if min(ends) >= 0 and max(ends) <= 1 else ""


def _told_apart(things: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """What to call each (name, digest): the name, and the digest too where others have the same name."""
    names = [name for name, _ in things]
    return {(name, digest): f"{name}@{digest}" if digest and names.count(name) > 1 else name for name, digest in things}
