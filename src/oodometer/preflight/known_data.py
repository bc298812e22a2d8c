"""A published set that is given as plain data: it has a mask of its own, or no classes at all."""

from __future__ import annotations

from collections.abc import Iterator

from oodometer.catalogue.names import ShiftEntry, find_shift
from oodometer.core.dataset import Dataset
from oodometer.data.identify import claim_by_name
from oodometer.data.layouts.known_set import known_sets
from oodometer.preflight.finding import Finding


def about_data(dataset: Dataset, address: str | None, n_outputs: int) -> Iterator[Finding]:
    """Whether the data are a set that is not asked about among all of a model's classes.

    Args:
        address: Where the data lie, whose name may tell; None where they are not of an address.
        n_outputs: How many classes the models answer.
    """
    entry = _entry(dataset, address)
    if entry is None or entry.clean == "clean":
        return
    known = known_sets.get(entry.sets[-1])
    if known.n_classes is not None and known.n_classes == n_outputs:
        return  # a model of these classes alone
    how = f"give --data-root with {known.places[0]} and imagenet in it, and --on {entry.name}"
    if entry.measure == "none":
        said = f"this is {known.title}, whose images are of none of the classes: it has no accuracy"
    else:
        said = f"this is {known.title}, which is answered over its {known.n_classes} classes, not over {n_outputs:,}"
    yield Finding("data", said, how)


def has_no_classes(dataset: Dataset, address: str | None) -> bool:
    """Whether the data are a set whose images are of none of the classes."""
    entry = _entry(dataset, address)
    return entry is not None and entry.measure == "none"


def _entry(dataset: Dataset, address: str | None) -> ShiftEntry | None:
    """The shift that the data are the shifted side of."""
    name = _by_name(address) or _by_classes(dataset)
    entry = find_shift(name) if name else None
    return entry if entry is not None and name in entry.sets else None


def _by_name(address: str | None) -> str | None:
    claim = claim_by_name(address) if address else None
    return claim.known.name if claim and claim.known else None


def _by_classes(dataset: Dataset) -> str | None:
    """The set that has exactly these classes, where that is one."""
    own = frozenset(dataset.space.classes[label] for label in set(dataset.labels.tolist()) if label >= 0)
    every = [known_sets.get(name) for name in known_sets.names()]
    as_many = [known for known in every if known.classes is not None and known.n_classes == len(own)]
    fitting = [known.name for known in as_many if known.classes is not None and known.classes() == own]
    return fitting[0] if len(fitting) == 1 else None
