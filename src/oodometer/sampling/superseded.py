"""Samples that are part of a later and larger one: they would only be read twice."""

from __future__ import annotations

from collections.abc import Sequence

from oodometer.analysis.sampled import sample_of
from oodometer.store.cells import Cell
from oodometer.store.index import look
from oodometer.store.remove import Removal, remove
from oodometer.store.store import Store


def remove_superseded(store: Store, cells: Sequence[Cell]) -> None:
    """Take away the smaller samples that these contain: of the same order and rule, or of all images."""
    index = look(store)
    smaller = tuple(one for one in index.cells if any(_contains(cell, one) for cell in cells))
    if smaller:
        remove(Removal(index, smaller, ()))


def _contains(larger: Cell, smaller: Cell) -> bool:
    sample, of = sample_of(smaller), sample_of(larger)
    if sample is None or smaller.n_images >= larger.n_images or _about(smaller) != _about(larger):
        return False
    if of is None:
        return larger.n_images == sample.of
    return (sample.of, sample.order, sample.seed, sample.rule) == (of.of, of.order, of.seed, of.rule)


def _about(cell: Cell) -> tuple[str, ...]:
    return cell.model.key, cell.condition_name, cell.data.name, cell.data.part
