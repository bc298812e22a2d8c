"""CE, mCE and their like: one model under all corruptions of a family, on the images that all of them have."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from oodometer.analysis.common_images import clusters_by, right_on_common
from oodometer.analysis.controlled import control_cells
from oodometer.analysis.draws_apart import draws_apart, with_control
from oodometer.analysis.families import family_in
from oodometer.analysis.family_number import MCE, MEAN_ERROR, is_about_alexnet, number_of_family
from oodometer.analysis.intervals import SharedDraws, shared_draws
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.sampled import drawn_apart, sample_of, stopped, sum_when_stopped
from oodometer.analysis.score_table import About, LeftOut, Score, about, or_left_out
from oodometer.core.condition import Family
from oodometer.core.dataset import title_of
from oodometer.core.errors import OodometerError, StoreError
from oodometer.core.estimate import Estimate
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
from oodometer.store.cells import Cell
from oodometer.store.index import Index

CLEAN = "clean"
NORMALISED = ("ce", "relative-ce", "mce", "relative-mce")
NO_ALEXNET = "AlexNet's published errors are about ImageNet-C with its 1,000 classes; name a model with --normaliser"
AS_IMPORTED = "frost as imported"
FROSTS = {
    "procedural": "frost from textures made by code, not from the published photographs",
    "published": "frost from the published photographs",
    "folder": "frost from textures of one's own",
}
"""By the first word of a source's name, see `oodometer.corruptions.frost`."""


@dataclass(frozen=True)
class CorruptedCells:
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
        data = next(iter(self.cells.values())).data
        return title_of(data.name, "", data.subset)


def families_of(index: Index, cells: Sequence[Cell]) -> list[CorruptedCells]:
    """The families of corruptions that a model was run on, per data set; sequences of frames are none."""
    groups: dict[tuple[str, str], dict[tuple[str, int], Cell]] = {}
    clean = {cell.data.digest: cell for cell in cells if cell.condition_name == CLEAN}
    for cell in cells:
        member = family_in(index, cell.condition)
        if member is not None and member.severity in SEVERITIES:
            group = groups.setdefault((member.name, cell.data.source), {})
            place = member.corruption, member.severity
            if place in group:
                raise StoreError(
                    f"{cell.condition_name} was run twice on {cell.data}, with other seeds, textures or constants; "
                    "keep each in a store of its own"
                )
            group[place] = cell
    return [
        CorruptedCells(family, data, _complete(group), group, clean.get(data))
        for (family, data), group in groups.items()
        if _complete(group)
    ]


def _complete(group: dict[tuple[str, int], Cell]) -> tuple[str, ...]:
    """The corruptions of which all severities are there."""
    order = {name: place for place, name in enumerate((*COMMON, *EXTRA))}
    names = {name for name, _ in group if all((name, severity) in group for severity in SEVERITIES)}
    return tuple(sorted(names, key=lambda name: (order.get(name, len(order)), name)))


def corruption_scores(index: Index, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    """CE of every corruption and the means over the family, of one model."""
    families = families_of(index, cells)
    if not families:
        model = cells[0].model_name
        raise OodometerError(f"{model}: no corruption at all five severities; run for instance --on imagenet-c")
    for family in families:
        found = _of_family(index, family, cells, asked)
        yield from or_left_out(found, (*NORMALISED, MEAN_ERROR), f"{cells[0].model_name} on {family.name}")


def _with_clean(index: Index, family: CorruptedCells, cells: Sequence[Cell]) -> CorruptedCells:
    """The family with its clean images, found by their ids where the corrupted ones are files of their own."""
    if family.clean is not None:
        return family
    some = next(iter(family.cells.values()))
    if sample_of(some) is not None:
        alike = [cell for cell in cells if cell.condition_name == CLEAN and cell.data.name == some.data.name]
        return replace(family, clean=next((cell for cell in alike if cell.classes == some.classes), None))
    wanted = set(index.images(some).ids.tolist())
    for cell in cells:
        fits = cell.condition_name == CLEAN and cell.classes == some.classes and index.entry(cell).n
        if fits and wanted <= set(index.images(cell).ids.tolist()):
            return replace(family, clean=cell)
    return family


def _of_family(index: Index, found: CorruptedCells, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    family = _with_clean(index, found, cells)
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
    for number in _numbers(measured):
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
    for number in _numbers(measured):
        if isinstance(number, LeftOut):
            yield number
        elif asked.wants(number.metric):
            said = f"{number.convention}; with the answers of {control} to all images" if control else number.convention
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
            return _with_clean(index, one, of_model)
    raise StoreError(f"{index}: the normaliser {name} was not run on {family.name} of {family.data_name}")


@dataclass(frozen=True)
class Measured:
    """The errors of one model under a family, for all draws at once.

    Args:
        by: What to divide by, if there is anything.
        published: Whether these are AlexNet's published errors, and not those of a model of the store.
        frost: Where its ice is from; empty where frost is none of the corruptions.
        other_frost: What to say where that of the normaliser is from elsewhere.
    """

    family: str
    names: tuple[str, ...]
    errors: np.ndarray
    clean: np.ndarray | None
    by: Normaliser | None
    published: bool
    frost: str = ""
    other_frost: str = ""

    @property
    def places(self) -> list[int]:
        """The corruptions that means are over: without the four extra ones, unless there are no others."""
        return [at for at, name in enumerate(self.names) if name not in EXTRA] or list(range(len(self.names)))


@dataclass(frozen=True)
class Number:
    """A metric of all draws, (1 + D,)."""

    metric: str
    condition: str
    values: np.ndarray
    convention: str


@dataclass(frozen=True)
class Ratio:
    """A way to divide errors by those of a normaliser: for each corruption, and in the mean."""

    each: str
    mean: str
    name: str
    what: str
    of: Callable[[np.ndarray, np.ndarray | None, Normaliser], np.ndarray]
    """Errors (D, C, S), clean errors (D,) and the normaliser -> (D, C)."""


CE = Ratio("ce", "mce", "CE", "error", lambda errors, _, by: corruption_errors(errors, by))
RELATIVE_CE = Ratio(
    "relative-ce",
    "relative-mce",
    "relative CE",
    "error above the clean one",
    lambda errors, clean, by: relative_corruption_errors(errors, 0.0 if clean is None else clean, by),
)


def _numbers(found: Measured) -> Iterator[Number | LeftOut]:
    """The means over the corruptions, and each corruption by itself."""
    over = f"over {len(found.places)} corruptions x {len(SEVERITIES)} severities"
    plain = mean_error(found.errors[:, found.places])
    yield Number(MEAN_ERROR, found.family, plain, f"mean error {over}, not normalised")
    if found.by is None:
        return
    yield from _normalised(found, found.by, CE)
    if found.clean is None or found.by.clean is None:
        lacking = "no predictions of the same images as they are" + (
            "" if found.clean is None else f" by {found.by.name}"
        )
        yield LeftOut((RELATIVE_CE.each, RELATIVE_CE.mean), f"{found.family}: {lacking}; run --on clean")
        return
    yield from _normalised(found, found.by, RELATIVE_CE)


def _normalised(found: Measured, by: Normaliser, ratio: Ratio) -> Iterator[Number | LeftOut]:
    each = _ratios(found, by, ratio)
    undefined = {place: _why(found, by, ratio, place) for place in np.flatnonzero(np.isnan(each[0])).tolist()}
    lacking = [name for name in COMMON if name not in found.names] if found.published else []
    if set(found.names) <= set(EXTRA):
        yield LeftOut((ratio.mean,), f"{found.family}: the extra corruptions never enter it")
    elif lacking:
        said = f"{len(lacking)} of the {len(COMMON)} corruptions that it is the mean of are missing"
        yield LeftOut((ratio.mean,), f"{found.family}: {said}: {', '.join(lacking)}")
    elif undefined:
        yield LeftOut((ratio.mean,), f"{found.family}: {next(iter(undefined.values()))}")
    else:
        over = f"mean of {ratio.name} over {len(found.places)} corruptions x {len(SEVERITIES)} severities, by {by.name}"
        said = "; ".join(filter(None, (over, found.frost, found.other_frost)))
        yield Number(ratio.mean, found.family, each[:, found.places].mean(axis=1), said)
    said = f"{ratio.what} summed over {len(SEVERITIES)} severities, divided by that of {by.name}"
    for place, name in enumerate(found.names):
        if place in undefined:
            yield LeftOut((ratio.each,), f"{found.family}: {undefined[place]}")
        else:
            convention = f"{said}; {found.other_frost}" if name == "frost" and found.other_frost else said
            yield Number(ratio.each, f"{found.family}/{name}", each[:, place], convention)


def _ratios(found: Measured, by: Normaliser, ratio: Ratio) -> np.ndarray:
    """The ratio of every draw and corruption, (1 + D, C); NaN where the normaliser has nothing to divide by."""
    with contextlib.suppress(OodometerError):
        return ratio.of(found.errors, found.clean, by)
    # Undefined somewhere: draw by draw, so that the others stay.
    each = np.full(found.errors.shape[:2], np.nan)
    for draw, place in np.ndindex(*each.shape):
        with contextlib.suppress(OodometerError):
            each[draw, place] = ratio.of(*_draw(found, by, draw, place))[0, 0]
    return each


def _why(found: Measured, by: Normaliser, ratio: Ratio, place: int) -> str:
    """Why there is no such number of all images."""
    try:
        ratio.of(*_draw(found, by, 0, place))
    except OodometerError as why:
        return str(why)
    return ""


def _draw(found: Measured, by: Normaliser, draw: int, place: int) -> tuple[np.ndarray, np.ndarray | None, Normaliser]:
    """What a ratio wants of one draw and one corruption."""
    row, at = slice(draw, draw + 1), slice(place, place + 1)
    clean = None if found.clean is None else found.clean[row]
    errors = np.broadcast_to(by.errors, found.errors.shape)[row, at]
    by_clean = by.clean[row] if isinstance(by.clean, np.ndarray) else by.clean
    return found.errors[row, at], clean, Normaliser(by.name, found.names[at], errors, by_clean)
