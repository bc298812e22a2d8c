"""CE, mCE and their like: one model under all corruptions of a family, on the images that all of them have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from oodometer.analysis.common_images import clusters_by, right_on_common
from oodometer.analysis.controlled import control_cells
from oodometer.analysis.corrupted_cells import CorruptedCells, families_of, with_clean
from oodometer.analysis.corruption_numbers import Measured, Number, numbers_of
from oodometer.analysis.draws_apart import draws_apart, with_control
from oodometer.analysis.family_number import MCE, MEAN_ERROR, is_about_alexnet, number_of_family
from oodometer.analysis.intervals import SharedDraws, shared_draws
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.sampled import drawn_apart, stopped, sum_when_stopped
from oodometer.analysis.score_table import About, LeftOut, Score, about, or_left_out
from oodometer.core.condition import Family
from oodometer.core.errors import OodometerError, StoreError
from oodometer.core.estimate import Estimate
from oodometer.metrics.corruption_error import (
    SEVERITIES,
    Normaliser,
    alexnet,
)
from oodometer.store.cells import Cell
from oodometer.store.index import Index

NORMALISED = ("ce", "relative-ce", "mce", "relative-mce")
NO_ALEXNET = "AlexNet's published errors are about ImageNet-C with its 1,000 classes; name a model with --normaliser"
AS_IMPORTED = "frost as imported"
FROSTS = {
    "procedural": "frost from textures made by code, not from the published photographs",
    "published": "frost from the published photographs",
    "folder": "frost from textures of one's own",
}
"""By the first word of a source's name, see `oodometer.corruptions.frost`."""


def corruption_scores(index: Index, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    """CE of every corruption and the means over the family, of one model."""
    families = families_of(index, cells)
    if not families:
        model = cells[0].model_name
        raise OodometerError(f"{model}: no corruption at all five severities; run for instance --on imagenet-c")
    for family in families:
        found = _of_family(index, family, cells, asked)
        yield from or_left_out(found, (*NORMALISED, MEAN_ERROR), f"{cells[0].model_name} on {family.name}")


def _of_family(index: Index, found: CorruptedCells, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    family = with_clean(index, found, cells)
    other, lacking = None, NO_ALEXNET
    if asked.options.normaliser:
        try:
            other = _other(index, asked.options.normaliser, family)
        except StoreError as error:
            lacking = str(error)
    names = tuple(name for name in family.names if other is None or name in other.names)
    mine = family.wanted(names)
    if drawn_apart(mine):
        yield from _of_samples(index, family, names, other, lacking, asked)
        return
    common = right_on_common(index, [*mine, *(other.wanted(names) if other else [])])
    clusters = clusters_by(index, mine[0], common, asked.how.by)
    draws = shared_draws(~np.stack(common.values, axis=1), asked.how, clusters)
    errors, clean = _errors(draws.means[:, : len(mine)], len(names))
    by = None if asked.options.normaliser else _alexnet(family, mine[0])
    if other and asked.options.normaliser:
        by = Normaliser(asked.options.normaliser, names, *_errors(draws.means[:, len(mine) :], len(names)))
    if by is None:
        yield LeftOut(NORMALISED, f"{family.name}: {lacking}")
    of_cells = about(index, mine, missing=common.left_out, data=family.data_name)
    frost = frost_said(family.cells["frost", SEVERITIES[0]]) if "frost" in names else ""
    other_frost = _other_frost(family, other, by.name) if frost and other and by else ""
    measured = Measured(family.name, names, errors, clean, by, other is None, frost, other_frost)
    for number in numbers_of(measured):
        if isinstance(number, LeftOut):
            yield number
        elif asked.wants(number.metric):
            yield from or_left_out(_scored(number, draws, of_cells), (number.metric,), number.condition)


def _of_samples(
    index: Index,
    family: CorruptedCells,
    names: Sequence[str],
    other: CorruptedCells | None,
    lacking: str,
    asked: Asked,
) -> Iterator[Score | LeftOut]:
    """The numbers of a family each of whose conditions has images of its own."""
    mine = family.wanted(names)
    others = other.wanted(names)[: len(mine)] if other else []
    control = asked.options.control
    if control:
        draws = with_control(index, mine, control_cells(index, control, mine), asked.how)
        own, theirs = draws.means, None
    else:
        beside = [*others, *[None] * (len(mine) - len(others))] if other else [None] * len(mine)
        draws = draws_apart(index, mine, beside, asked.how)
        own, theirs = np.split(draws.means, 2, axis=1)
    errors, clean = _errors(own, len(names))
    by = None if asked.options.normaliser else _alexnet(family, mine[0])
    if other and theirs is not None and asked.options.normaliser:
        by = Normaliser(asked.options.normaliser, tuple(names), *_errors(theirs, len(names)))
    if by is None:
        yield LeftOut(NORMALISED, f"{family.name}: {lacking}")
    of_cells = about(index, mine, missing=0, data=family.data_name)
    frost = frost_said(family.cells["frost", SEVERITIES[0]]) if "frost" in names else ""
    measured = Measured(family.name, tuple(names), errors, clean, by, other is None, frost)
    for number in numbers_of(measured):
        if isinstance(number, LeftOut):
            yield number
        elif asked.wants(number.metric):
            said = f"{number.convention}; images of each condition drawn apart"
            said += f", with the answers of {control} to all images" if control else ""
            anytime = None if control else _when_stopped(index, family, names, number, asked)
            if anytime is not None:
                yield of_cells.score(number.metric, anytime, said, condition=number.condition)
            else:
                found = _scored(replace(number, convention=said), draws, of_cells)
                yield from or_left_out(found, (number.metric,), number.condition)


def _when_stopped(
    index: Index, family: CorruptedCells, names: Sequence[str], number: Number, asked: Asked
) -> Estimate | None:
    """The number that sums up a family whose run was stopped when it was sure; None of others."""
    cells = [family.cells[name, severity] for name in names for severity in SEVERITIES]
    if number.metric not in (MCE, MEAN_ERROR) or stopped(cells[0]) is None:
        return None
    members = [Family(family.name, name, severity) for name in names for severity in SEVERITIES]
    weights = np.full(len(cells), 1 / len(cells))
    if number.metric == MCE:
        summed = number_of_family(members, cells[0].n_classes)
        if summed.metric != MCE or asked.options.normaliser:
            return None
        weights = summed.weights
    return sum_when_stopped(index, cells, weights, level=asked.how.level)


def _other_frost(family: CorruptedCells, other: CorruptedCells, normaliser: str) -> str:
    """What to say where the normaliser's ice is from elsewhere, so that its frost is another corruption; or nothing."""
    mine, others = ([one.cells["frost", severity] for severity in SEVERITIES] for one in (family, other))
    if [_textures(cell) for cell in mine] == [_textures(cell) for cell in others]:
        return ""
    theirs = frost_said(others[0])
    which = theirs if theirs != frost_said(mine[0]) else "frost from other textures of that sort"
    return f"not the same frost: {normaliser} was run with {which}"


def _textures(cell: Cell) -> object:
    """What tells whether two cells have the same ice; of answers computed elsewhere nobody knows."""
    transform = cell.condition.transform
    return None if transform is None else (transform.name, transform.parameters.get("textures"))


def frost_said(cell: Cell) -> str:
    """Where the ice of frost is from: AlexNet's published errors are about photographs, and textures are others."""
    transform = cell.condition.transform
    if transform is None:
        return AS_IMPORTED
    source = str(transform.parameters.get("textures", "")).partition("-")[0]
    return FROSTS.get(source, "frost as in the files")


def _scored(number: Number, draws: SharedDraws, of_cells: About) -> Iterator[Score]:
    # A model may lose less under a corruption than nothing at all: relative errors go below 0.
    estimate = draws.estimate(number.values, least=-np.inf if number.metric.startswith("relative") else 0.0)
    yield of_cells.score(number.metric, estimate, number.convention, condition=number.condition)


def _errors(means: np.ndarray, n_names: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Errors (1 + D, C, S), and those on clean images (1 + D,) where they are known."""
    n = n_names * len(SEVERITIES)
    return means[:, :n].reshape(-1, n_names, len(SEVERITIES)), means[:, n] if means.shape[1] > n else None


def _alexnet(family: CorruptedCells, cell: Cell) -> Normaliser | None:
    """AlexNet's errors, where they are about the same corruptions and classes."""
    return alexnet(family.names) if is_about_alexnet(family.name, cell.n_classes) else None


def _other(index: Index, name: str, family: CorruptedCells) -> CorruptedCells:
    """The normaliser under the same family, of the same data."""
    of_model = index.of_model(name)
    for one in families_of(index, of_model):
        if (one.name, one.data) == (family.name, family.data) and set(one.names) & set(family.names):
            return with_clean(index, one, of_model)
    raise StoreError(f"{index}: the normaliser {name} was not run on {family.name} of {family.data_name}")
