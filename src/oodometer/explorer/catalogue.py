"""What is in a store, by names that are each one's own: models, conditions, data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from oodometer.core.errors import OodometerError, did_you_mean
from oodometer.store.cells import Cell
from oodometer.store.index import Index


class UnknownName(OodometerError):  # noqa: N818 - it is what the reader of a page has done, not a fault
    """A name in an address that nothing here has."""


@dataclass(frozen=True, eq=False)  # the same only as itself: so it can be a key
class Held:
    """One cell as the explorer has it.

    Args:
        number, asked: By which the tables of the index know it and its condition.
        model, condition: Names that are their own in the store.
        data: The digest of its images.
        files: The Parquet files of its rows.
        n_rows, n, top1, top5: All rows; the labelled ones; those of them that are right, and right among five.
    """

    number: int
    asked: int
    cell: Cell
    model: str
    condition: str
    data: str
    files: tuple[str, ...]
    n_rows: int
    n: int
    top1: int
    top5: int
    sealed: bool


@dataclass(frozen=True)
class Data:
    """A data set.

    Args:
        number: By which the tables of the index know it.
        name: Its own in the store.
        first: The place of its first image among all images of the index.
        classes: Their names, each its own.
        has_columns: Whether something travels along with each image.
    """

    digest: str
    number: int
    name: str
    first: int
    n: int
    classes: tuple[str, ...]
    has_columns: bool


@dataclass(frozen=True, eq=False)
class Catalogue:
    """All cells that have rows, at one state of the store.

    Args:
        version: Another one after every change.
        problems: What could not be read, a line each.
    """

    index: Index
    version: int
    held: tuple[Held, ...]
    data: dict[str, Data]
    problems: tuple[str, ...] = ()
    by_model: dict[str, list[Held]] = field(default_factory=dict)
    by_condition: dict[str, list[Held]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for one in self.held:
            self.by_model.setdefault(one.model, []).append(one)
            self.by_condition.setdefault(one.condition, []).append(one)

    def model(self, name: str) -> list[Held]:
        """The cells of a model."""
        return _known(self.by_model, name, "model")

    def condition(self, name: str) -> list[Held]:
        """The cells on a condition."""
        return _known(self.by_condition, name, "condition")

    def cell(self, model: str, condition: str) -> Held:
        """One model on one condition."""
        on = {one.model: one for one in self.condition(condition)}
        self.model(model)
        if model not in on:
            raise UnknownName(f"{model} was not run on {condition}")
        return on[model]

    def data_named(self, name: str) -> Data:
        """A data set by its name or digest."""
        found = next((one for one in self.data.values() if name in (one.name, one.digest)), None)
        if found is None:
            raise UnknownName(
                f"no data set {name!r} here{did_you_mean(name, [one.name for one in self.data.values()])}"
            )
        return found

    def of_data(self, digest: str) -> list[Held]:
        """The cells about these images."""
        return [one for one in self.held if one.data == digest]

    def cell_of_key(self, key: str) -> Held:
        """The cell of that key."""
        found = next((one for one in self.held if one.cell.key == key), None)
        if found is None:
            raise UnknownName(f"no cell {key!r} here")
        return found


def _known(groups: dict[str, list[Held]], name: str, what: str) -> list[Held]:
    if name not in groups:
        raise UnknownName(f"no {what} named {name!r} has predictions here{did_you_mean(name, groups)}")
    return groups[name]


def names_of_data(names: dict[str, str]) -> dict[str, str]:
    """Digest to a name that is its own."""
    every = list(names.values())
    return {digest: name if every.count(name) == 1 else f"{name}@{digest[:8]}" for digest, name in names.items()}


def own_classes(classes: Sequence[str]) -> tuple[str, ...]:
    """The names of classes, with the number where several have the same.

    >>> own_classes(["crane", "dog", "crane"])
    ('crane#0', 'dog', 'crane#2')
    """
    times: dict[str, int] = {}
    for one in classes:
        times[one] = times.get(one, 0) + 1
    return tuple(one if times[one] == 1 else f"{one}#{place}" for place, one in enumerate(classes))
