"""Contact sheets: one image under every corruption of a family, and under one of them at every severity.

They show the very pixels that a model was given, so each of them at its full size; the page makes them smaller.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from oodometer.document.section import Pictures
from oodometer.report.html.thumbnails import every_pixel, thumbnail
from oodometer.store.cells import Cell
from oodometer.study import Picture, Study
from oodometer.study.corruption_grid import CorruptionGrid, spaced
from oodometer.study.evidence import image_ids
from oodometer.study.pictures import as_shown

MOST_CHARACTERS = 1_500_000
"""Of all pictures together: sixteen photographs of 224 pixels take about a million."""
FOR_SMALL = 300_000
"""Of these kept for images that are shown small, when there is no more room for every pixel."""

Image = tuple[str, str, tuple[str, ...]]
Member = tuple[str, int]
"""A corruption and a severity."""
CLEAN = ("clean", 0)


def contact_sheets(study: Study, grids: Sequence[CorruptionGrid]) -> tuple[Pictures, ...]:
    """The sheets of the first family whose images are there; none where there are none."""
    if study.picture is None:
        return ()
    for grid in grids:
        cells = _cells(study, grid)
        strongest = {name: severity for name, severity in sorted(cells) if (name, severity) != CLEAN}
        if not strongest:
            continue
        first = cells[next(iter(strongest.items()))]
        ids = image_ids(study, first)
        maker = _Maker(study.picture, cells, str(ids[len(ids) // 2]))
        across = maker.images([(name, strongest[name]) for name in grid.corruptions if name in strongest])
        if len(across) > 1:
            along = maker.images(_ladder(grid, cells))
            said = f"{_as_shown(first)}, {maker.size}. {_full_size(maker)}"
            title = f"One image of {grid.data} under each corruption of {grid.family}, at the strongest severity run,"
            ladder = "The same image under one of them at each severity that was run."
            return (
                Pictures("corruptions-sheet", f"{title} {said}", across),
                *((Pictures("corruptions-severities", ladder, along),) if len(along) > 2 else ()),
            )
    return ()


def _as_shown(cell: Cell) -> str:
    return f"exactly as {cell.model_name} was shown it in the run"


def _full_size(maker: _Maker) -> str:
    few = f", but for {maker.n_small} of them, which are too large for this page" if maker.n_small else ""
    return f"An image that is clicked is shown pixel by pixel{few}."


def _ladder(grid: CorruptionGrid, cells: Mapping[Member, Cell]) -> list[Member]:
    """The severities of the corruption that was run at most of them, of equals of the first."""
    times = Counter(name for name, _ in cells if name != CLEAN[0])
    if not times or max(times.values()) < 2:
        return []
    name = max(grid.corruptions, key=lambda name: times[name])
    return sorted(member for member in cells if member[0] == name)


class _Maker:
    """One image in each cell, every pixel kept as long as there is room."""

    def __init__(self, picture: Picture, cells: Mapping[Member, Cell], image_id: str) -> None:
        self._picture, self._cells, self._image_id = picture, cells, image_id
        self._left = MOST_CHARACTERS
        self._made: dict[Member, Image] = {}
        self.n_small = 0
        self.size = ""

    def images(self, members: Sequence[Member]) -> tuple[Image, ...]:
        """The image as it is, and under each of these, as far as they can be had."""
        if not members:
            return ()
        wanted = [*([CLEAN] if CLEAN in self._cells else []), *members]
        return tuple(image for member in wanted if (image := self._image(member)) is not None)

    def _image(self, member: Member) -> Image | None:
        if member not in self._made:
            pixels = as_shown(self._picture, self._cells[member], self._image_id)
            if pixels is None:
                return None
            self.size = self.size or f"{pixels.shape[1]} by {pixels.shape[0]} pixels"
            address = every_pixel(pixels)
            if len(address) > self._left - FOR_SMALL:
                address = thumbnail(pixels)
                self.n_small += 1
            if len(address) > self._left:
                return None
            self._made[member] = (address, *_said(member))
        # An image that stands in both sheets is in the page twice.
        self._left -= len(self._made[member][0])
        return self._made[member] if self._left >= 0 else None


def _said(member: Member) -> tuple[str, tuple[str, ...]]:
    name, severity = member
    if member == CLEAN:
        return "The image as it is", ("clean",)
    return f"The image under {spaced(name)} at severity {severity}", (spaced(name), f"severity {severity}")


def _cells(study: Study, grid: CorruptionGrid) -> dict[Member, Cell]:
    """The cells of one model by corruption and severity, and on the clean images: of the model that has most."""
    places = {condition.record.key: condition.member for condition in study.conditions if condition.record}
    best: dict[Member, Cell] = {}
    for model in study.models:
        found: dict[Member, Cell] = {}
        for cell in model.cells:
            member = places.get(cell.condition.key)
            if member and member.name == grid.family and cell.data.digest[:8] in grid.contents:
                found.setdefault((member.corruption, member.severity), cell)
        best = found if len(found) > len(best) else best
    if best and (clean := _clean_cell(study, grid, next(iter(best.values())))):
        return {CLEAN: clean, **best}
    return best


def _clean_cell(study: Study, grid: CorruptionGrid, like: Cell) -> Cell | None:
    """The images as they are, of the same model; of the same data if there is such a cell."""
    every = [cell for model in study.models for cell in model.cells if cell.condition_name == grid.clean_name]
    known = [cell for cell in every if cell.model.key == like.model.key]
    same = [cell for cell in known if cell.data.digest == like.data.digest]
    return next(iter(same or known), None)
