"""A sheet of images in a file: of a data set, of both sides of a shift, or of one image under every shift."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oodometer.catalogue.sets import find_set
from oodometer.core.condition import Condition, Shift
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError, did_you_mean
from oodometer.core.talk import Tell, unheard
from oodometer.data import addresses
from oodometer.data.kinds.folder import is_image
from oodometer.data.load import load_data
from oodometer.data.noise import is_noise
from oodometer.data.released import Registration
from oodometer.data.root import DataRoot, root_at
from oodometer.sheets.of_classes import sheet_of_classes
from oodometer.sheets.of_image import image_alone, sheet_of_image
from oodometer.sheets.options import DEFAULT, SheetOptions
from oodometer.shifts.asked import Attributes, conditions_asked
from oodometer.shifts.ood_sets import ood_conditions
from oodometer.shifts.released import release_asked_for
from oodometer.shifts.resolve import check_names
from oodometer.shifts.sources import Sources
from oodometer.shifts.unfinished_files import nothing_unfinished, write_whole

OF_ONE_IMAGE = ("imagenet-c", "imagenet-c-extra")
"""The shifts of one image, where none are named."""


@dataclass(frozen=True)
class Sheet:
    """A sheet that was drawn; prints as a line.

    Args:
        path: The picture.
        rows: What its rows are called; of one image, nothing.
        columns: What its columns are called, or the shifts of one image.
        pixels: Width and height.
    """

    path: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    pixels: tuple[int, int]

    def __str__(self) -> str:
        width, height = self.pixels
        return f"{self.path}  {width}x{height} px"


def sheet(
    data: str | os.PathLike[str] | Dataset | None,
    path: str | os.PathLike[str],
    *,
    on: Sequence[str] = (),
    options: SheetOptions = DEFAULT,
    tell: Tell = unheard,
) -> Sheet:
    """Draw images with their names: a few of each class, clean beside shifted, or one image under every shift.

    Args:
        data: An image, a data set by its address, or a published one of the root by its name; None: the shifts bring
            their images, from the root.
        path: The picture; its ending says of which kind.
        on: Shifts as after ``--on``; of one image by default ImageNet-C.
        tell: Told what is left out, and what is waited for.
    """
    place = Path(path)
    _check_place(place, force=options.force)
    release = release_asked_for(os.fspath(data) if isinstance(data, str | os.PathLike) else None, on)
    check_names(on, release)
    is_file = isinstance(data, str | os.PathLike) and is_image(os.fspath(data))
    is_alone = is_file or bool(options.image)
    _check_alone(data, options, is_file=is_file)
    asked = _asked(data, on, options, tell=tell, alone=is_alone, release=release)
    rows: list[str] = []
    columns = [one.name for one in asked]
    if is_alone:
        drawn = sheet_of_image(asked, model=options.model, side=options.side)
    else:
        drawn, rows, columns = sheet_of_classes(asked, options)
    _write(place, drawn)
    return Sheet(str(place), tuple(rows), tuple(columns), (drawn.shape[1], drawn.shape[0]))


def _check_alone(data: object, options: SheetOptions, *, is_file: bool) -> None:
    """An error for options that are not about one image."""
    if options.image and (is_file or data is None):
        raise UsageError(
            f"--image {options.image}: names an image of a data set; give that, as in 'oodometer sheet val/'"
        )
    about = [flag for flag in options.of_classes if is_file or flag != "--data-kind"]
    if (is_file or options.image) and about:
        raise UsageError(f"{options.image or data}: is one image; leave out {', '.join(about)}")


def _asked(
    data: str | os.PathLike[str] | Dataset | None,
    on: Sequence[str],
    options: SheetOptions,
    *,
    tell: Tell,
    alone: bool,
    release: Registration | None,
) -> list[Condition | Shift]:
    """The conditions and shifts to draw."""
    if isinstance(data, str) and is_noise(data):
        if on:
            raise UsageError(f"{data}: is of no class and no side of a shift; leave out --on")
        return list(ood_conditions([data], seed=options.seed))
    if data is None and not on:
        raise UsageError("say what to draw: an image, a data set, or a shift with --on NAME")
    root = root_at(options.data_root, partial=options.partial)
    opened = _opened(data, options, root)
    if opened is not None and options.image:
        opened = _image_of(opened, options.image)
    sources = Sources(opened, root, seed=options.seed, release=release)
    return conditions_asked(on or (OF_ONE_IMAGE if alone else ()), sources, Attributes(), tell=tell)


def _opened(
    data: str | os.PathLike[str] | Dataset | None, options: SheetOptions, root: DataRoot | None
) -> Dataset | None:
    """The image or the data at an address, or the published set of that name in the root."""
    if data is None or isinstance(data, Dataset):
        return data
    address = os.fspath(data)
    if is_image(address):
        return image_alone(address)
    known = find_set(address)
    if root is not None and known is not None and not addresses.exists(address):
        return root.open(known.name)
    return load_data(address, kind=options.data_kind)


def _image_of(dataset: Dataset, image_id: str) -> Dataset:
    """The image of that id alone; under it, its draws are those of a run."""
    if image_id not in dataset.ids:
        raise UsageError(f"{dataset.name}: no image {image_id!r}{did_you_mean(image_id, dataset.ids)}")
    return dataset.take(np.array([dataset.ids.index(image_id)]), subset=image_id)


def _check_place(place: Path, *, force: bool) -> None:
    """Errors before anything is computed."""
    from PIL import Image

    if place.exists() and not force:
        raise DataError(f"{place}: is there already; choose another name, or --force")
    if place.suffix.lower() not in Image.registered_extensions():
        raise DataError(f"{place}: no kind of picture that is known by its name; use for example .png or .jpg")
    if not place.parent.is_dir():
        raise DataError(f"{place}: there is no folder {place.parent}; make it first")


def _write(place: Path, drawn: np.ndarray) -> None:
    from PIL import Image

    picture = io.BytesIO()
    try:
        Image.fromarray(drawn).save(picture, format=Image.registered_extensions()[place.suffix.lower()])
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{place}: no such picture can be made ({error}); use for example .png or .jpg") from error
    with nothing_unfinished(place.parent):
        write_whole(place.parent, place, lambda file: file.write(picture.getvalue()))
