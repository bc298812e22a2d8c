"""CE, mCE and their like: one model under all corruptions of a family, on the images that all of them have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import OodometerError, StoreError
from oodometer.metrics.corruption_error import (
    COMMON,
    EXTRA,
    SEVERITIES,
    Normaliser,
    alexnet,
    corruption_errors,
    mean_error,
    relative_corruption_errors,
)
from oodometer.report.asked import Asked
from oodometer.report.estimates import shared_draws
from oodometer.report.joined import clusters_by, joined
from oodometer.report.named import cells_of
from oodometer.report.scores import Score, score_of
from oodometer.store.cells import Cell
from oodometer.store.store import Store

CORRUPTED = re.compile(r"(?P<family>[^/]+)/(?P<name>[^/]+)/(?P<severity>[1-5])")
OF_ALEXNET = re.compile(r"imagenet-c(-extra)?(:raw|:disk)?")
"""The families that AlexNet's published errors are about."""


@dataclass(frozen=True)
class Family:
    """The cells of one model under one family of corruptions.

    Args:
        data: What the images were made from: the digest of the data, or the name of a folder of ImageNet-C.
        names: The corruptions that have all five severities, those of the paper first and in its order.
        cells: By corruption and severity.
        clean: The same model on the same images as they are, where there is such a cell.
    """

    name: str
    data: str
    names: tuple[str, ...]
    cells: dict[tuple[str, int], Cell]
    clean: Cell | None

    def wanted(self, names: Sequence[str]) -> list[Cell]:
        """The cells of these corruptions, severity by severity, and then clean."""
        found = [self.cells[name, severity] for name in names for severity in SEVERITIES]
        return [*found, self.clean] if self.clean else found

    @property
    def data_name(self) -> str:
        """What the user calls the data."""
        (name, severity), cell = next(iter(self.cells.items()))
        return cell.data.removesuffix(f"/{name}/{severity}")


def families_of(cells: Sequence[Cell]) -> list[Family]:
    """The families of corruptions that a model was run on, per data set."""
    groups: dict[tuple[str, str], dict[tuple[str, int], Cell]] = {}
    clean = {str(cell.condition["data"]): cell for cell in cells if cell.condition_name == "clean"}
    for cell in cells:
        if match := CORRUPTED.fullmatch(cell.condition_name):
            group = groups.setdefault((match["family"], _data_of(cell)), {})
            group[match["name"], int(match["severity"])] = cell
    return [
        Family(family, data, _complete(group), group, clean.get(data))
        for (family, data), group in groups.items()
        if _complete(group)
    ]


def _complete(group: dict[tuple[str, int], Cell]) -> tuple[str, ...]:
    """The corruptions of which all severities are there."""
    order = {name: place for place, name in enumerate((*COMMON, *EXTRA))}
    names = {name for name, _ in group if all((name, severity) in group for severity in SEVERITIES)}
    return tuple(sorted(names, key=lambda name: (order.get(name, len(order)), name)))


def _data_of(cell: Cell) -> str:
    """The data that a corrupted cell was made from; in a folder of ImageNet-C every condition has its own."""
    part = cell.condition_name.partition("/")[2]
    return cell.data.removesuffix(f"/{part}") if cell.data.endswith(f"/{part}") else str(cell.condition["data"])


def corruption_scores(store: Store, cells: Sequence[Cell], asked: Asked) -> Iterator[Score]:
    """CE of every corruption and the means over the family, of one model."""
    families = families_of(cells)
    if not families:
        model = cells[0].model_name
        raise OodometerError(f"{model}: no corruption at all five severities; run for instance --on imagenet-c")
    for family in families:
        yield from _of_family(store, family, asked)


def _of_family(store: Store, family: Family, asked: Asked) -> Iterator[Score]:
    other = _other(store, asked.options.normaliser, family) if asked.options.normaliser else None
    names = [name for name in family.names if other is None or name in other.names]
    mine = family.wanted(names)
    common = joined(store, [*mine, *(other.wanted(names) if other else [])], lambda rows: rows.rank > 0)
    draws = shared_draws(np.stack(common.values, axis=1), asked.how, clusters_by(store, mine[0], common, asked.how.by))
    errors, clean = _errors(draws.means[:, : len(mine)], len(names))
    by = _alexnet(family, names)
    if other and asked.options.normaliser:
        by = Normaliser(asked.options.normaliser, tuple(names), *_errors(draws.means[:, len(mine) :], len(names)))
    found = Measured(family.name, tuple(names), errors, clean, by)
    for number in (*_means(found), *_per_corruption(found)):
        if asked.wants(number.metric):
            yield score_of(
                store,
                mine,
                number.metric,
                draws.estimate(number.values),
                condition=number.condition,
                data=family.data_name,
                missing=common.left_out,
                convention=number.convention,
            )


def _errors(means: np.ndarray, n_names: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Errors (1 + D, C, S), and those on clean images (1 + D,) where they are known."""
    n = n_names * len(SEVERITIES)
    return means[:, :n].reshape(-1, n_names, len(SEVERITIES)), means[:, n] if means.shape[1] > n else None


def _alexnet(family: Family, names: Sequence[str]) -> Normaliser | None:
    return alexnet(names) if OF_ALEXNET.fullmatch(family.name) else None


def _other(store: Store, name: str, family: Family) -> Family:
    """The normaliser under the same family, of the same data."""
    of_model = cells_of(name, store.cells(), store)
    for one in families_of(of_model):
        if (one.name, one.data) == (family.name, family.data):
            return one
    raise StoreError(f"{store}: the normaliser {name} was not run on {family.name} of {family.data_name}")


@dataclass(frozen=True)
class Measured:
    """The errors of one model under a family, for all draws at once."""

    family: str
    names: tuple[str, ...]
    errors: np.ndarray
    clean: np.ndarray | None
    by: Normaliser | None


@dataclass(frozen=True)
class Number:
    """A metric of all draws, (1 + D,)."""

    metric: str
    condition: str
    values: np.ndarray
    convention: str


def _per_corruption(found: Measured) -> Iterator[Number]:
    """CE and relative CE of each corruption."""
    if found.by is None:
        return
    ce = corruption_errors(found.errors, found.by)
    over = f"divided by that of {found.by.name}"
    for place, name in enumerate(found.names):
        yield Number("ce", f"{found.family}/{name}", ce[:, place], f"error summed over 5 severities, {over}")
    if found.clean is None or found.by.clean is None:
        return
    relative = relative_corruption_errors(found.errors, found.clean, found.by)
    convention = f"error above the clean one summed over 5 severities, {over}"
    for place, name in enumerate(found.names):
        yield Number("relative-ce", f"{found.family}/{name}", relative[:, place], convention)


def _means(found: Measured) -> Iterator[Number]:
    """The means over the corruptions; the four extra ones never enter those of ImageNet-C."""
    places = [place for place, name in enumerate(found.names) if name not in EXTRA] or list(range(len(found.names)))
    names = tuple(found.names[place] for place in places)
    over = f"over {len(names)} corruptions x 5 severities"
    errors = found.errors[:, places]
    yield Number("mean-corruption-error", found.family, mean_error(errors), f"mean error {over}, not normalised")
    if found.by is None or (found.by.name == "AlexNet" and names != COMMON):
        return
    of_ce = {number.condition: number.values for number in _per_corruption(found) if number.metric == "ce"}
    of_relative = {n.condition: n.values for n in _per_corruption(found) if n.metric == "relative-ce"}
    for metric, parts in (("mce", of_ce), ("relative-mce", of_relative)):
        if parts:
            values = np.mean([parts[f"{found.family}/{name}"] for name in names], axis=0)
            what = "CE" if metric == "mce" else "relative CE"
            yield Number(metric, found.family, values, f"mean of {what} {over}, by {found.by.name}")
