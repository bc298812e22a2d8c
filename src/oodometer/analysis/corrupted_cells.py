"""The cells of one model under all corruptions of a family, and the clean ones beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from oodometer.analysis.families import family_in
from oodometer.analysis.sampled import sample_of
from oodometer.core.dataset import title_of
from oodometer.core.errors import StoreError
from oodometer.metrics.corruption_error import COMMON, EXTRA, SEVERITIES
from oodometer.store.cells import Cell
from oodometer.store.index import Index

CLEAN = "clean"


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
            group[place] = _one_of_both(group[place], cell) if place in group else cell
    return [
        CorruptedCells(family, data, _complete(group), group, clean.get(data))
        for (family, data), group in groups.items()
        if _complete(group)
    ]


def _one_of_both(one: Cell, other: Cell) -> Cell:
    """Of two samples, or of a sample and all images, the one that says more."""
    if one.n_images != other.n_images and (sample_of(one) or sample_of(other)):
        return max(one, other, key=lambda cell: cell.n_images)
    raise StoreError(
        f"{other.condition_name} was run twice on {other.data}, with other seeds, textures or constants; "
        "keep each in a store of its own"
    )


def _complete(group: dict[tuple[str, int], Cell]) -> tuple[str, ...]:
    """The corruptions of which all severities are there."""
    order = {name: place for place, name in enumerate((*COMMON, *EXTRA))}
    names = {name for name, _ in group if all((name, severity) in group for severity in SEVERITIES)}
    return tuple(sorted(names, key=lambda name: (order.get(name, len(order)), name)))


def with_clean(index: Index, family: CorruptedCells, cells: Sequence[Cell]) -> CorruptedCells:
    """The family with its clean images, found by their ids where the corrupted ones are files of their own."""
    if family.clean is not None:
        return family
    some = next(iter(family.cells.values()))
    if sample_of(some) is not None:
        about = CLEAN, some.data.name, some.classes
        alike = [cell for cell in cells if (cell.condition_name, cell.data.name, cell.classes) == about]
        # Of a sample and all images, the sample that was drawn with the family.
        return replace(family, clean=min(alike, key=lambda cell: sample_of(cell) is None, default=None))
    wanted = set(index.images(some).ids.tolist())
    for cell in cells:
        fits = cell.condition_name == CLEAN and cell.classes == some.classes and index.entry(cell).n
        if fits and wanted <= set(index.images(cell).ids.tolist()):
            return replace(family, clean=cell)
    return family
