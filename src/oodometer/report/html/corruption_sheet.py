"""A contact sheet: one image under every corruption of a family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oodometer.document.section import Pictures
from oodometer.report.html.thumbnails import thumbnail
from oodometer.store.cells import Cell
from oodometer.study import Picture, Study, StudyModel
from oodometer.study.corruption_grid import CorruptionGrid, spaced
from oodometer.study.evidence import image_ids

SHOWN_AT = (5, 4, 3, 2, 1)
"""The severity of the pictures: the first of these that was measured."""

MOST_CHARACTERS = 200_000
"""Of all pictures together."""

Image = tuple[str, str, tuple[str, ...]]
CLEAN = "clean"


def contact_sheet(study: Study, grids: Sequence[CorruptionGrid]) -> Pictures | None:
    """One image under each corruption of the first family whose images are there; None where there are none."""
    if study.picture is None:
        return None
    for grid in grids:
        cells = _cells(study, grid)
        severity = next((one for one in SHOWN_AT if any(at == one for _, at in cells)), 0)
        shown = {name: cells[name, severity] for name in grid.corruptions if (name, severity) in cells}
        if not shown:
            continue
        first = next(iter(shown.values()))
        ids = image_ids(study, first)
        clean = _clean_cell(study.models, grid, first)
        found = list(_images(study.picture, {**({CLEAN: clean} if clean else {}), **shown}, str(ids[len(ids) // 2])))
        if any(lines != (CLEAN,) for _, _, lines in found):
            caption = f"One image of {grid.data} under the corruptions of {grid.family} at severity {severity}."
            return Pictures("corruptions-sheet", caption, tuple(found))
    return None


def _images(picture: Picture, cells: dict[str, Cell], image_id: str) -> Iterator[Image]:
    """The image in each cell, as far as they can be had and are not too large together."""
    size = 0
    for name, cell in cells.items():
        pixels = picture(cell, image_id)
        address = "" if pixels is None else thumbnail(pixels)
        size += len(address)
        if size > MOST_CHARACTERS:
            return
        if address:
            shows = "The image as it is" if name == CLEAN else f"The image under {spaced(name)}"
            yield address, shows, (spaced(name),)


def _cells(study: Study, grid: CorruptionGrid) -> dict[tuple[str, int], Cell]:
    """A cell of any model for each corruption and severity of the grid."""
    places = {one.record.key: one.member for one in study.conditions if one.record}
    found: dict[tuple[str, int], Cell] = {}
    for cell in (cell for model in study.models for cell in model.cells):
        member = places.get(cell.condition.key)
        if member and member.name == grid.family and cell.data.digest[:8] in grid.contents:
            found.setdefault((member.corruption, member.severity), cell)
    return found


def _clean_cell(models: Sequence[StudyModel], grid: CorruptionGrid, like: Cell) -> Cell | None:
    """The images as they are, of any model: of the same data if there is such a cell."""
    known = [cell for model in models for cell in model.cells if cell.condition_name == grid.clean_name]
    same = [cell for cell in known if cell.data.digest == like.data.digest]
    return next(iter(same or known), None)
