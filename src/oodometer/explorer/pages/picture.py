"""The picture of an image as a model saw it under a condition, drawn when it is asked for."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np

from oodometer.core.extras import import_extra
from oodometer.explorer import queries
from oodometer.explorer.catalogue import UnknownName
from oodometer.explorer.explorer import Explorer
from oodometer.store.cells import Cell

SMALL, LARGE = 128, 512
"""The longest side, in pixels."""


def picture(explorer: Explorer, *, data: str, id_: str, on: str, size: str = "small") -> bytes:
    """A PNG file. Under attack it is the image before it was attacked: an attack is made for one model."""
    catalogue = explorer.catalogue()
    of_data = catalogue.data_named(data)
    held = catalogue.condition(on)[0]
    # An image is asked for by the id that the store knows: a name that is no image of the data leads nowhere.
    known = held.data == of_data.digest and explorer.index.ask(queries.PLACE_OF, data=of_data.number, id=id_)
    if not known:
        raise UnknownName(f"no image {id_!r} of {data} under {on!r}")
    if explorer.picture is None:
        raise UnknownName("The images are not here: start 'oodometer serve' with --data and their address.")
    return explorer.drawn(held.cell.key, id_, LARGE if size == "large" else SMALL)


def draw(explorer: Explorer, cell: Cell, id_: str, longest: int) -> bytes:
    """The picture of an image of a cell, at most so large."""
    before = replace(cell, condition=replace(cell.condition, attack=None))
    pixels = explorer.picture(before, id_) if explorer.picture else None
    if pixels is None:
        raise UnknownName(f"{id_!r} is not among the images that are here")
    return png_of(pixels, longest)


def png_of(pixels: np.ndarray, longest: int) -> bytes:
    """Pixels (H, W, 3) as PNG, its longest side about as long as that."""
    images = import_extra("PIL.Image", extra="web", what="pictures")
    shown = images.fromarray(pixels)
    if max(shown.size) > longest:
        shown.thumbnail((longest, longest), images.Resampling.LANCZOS)
    elif (times := longest // max(shown.size)) > 1:  # each pixel as a square, as a model has it
        shown = shown.resize((shown.width * times, shown.height * times), images.Resampling.NEAREST)
    content = io.BytesIO()
    shown.save(content, "PNG", compress_level=1)
    return content.getvalue()
