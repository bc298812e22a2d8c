"""The images behind predictions: found again on disk, and corrupted again as a run showed them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from oodometer.analysis.line_rules import DEFAULT_OPTIONS, RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.core.digests import digest_of
from oodometer.core.errors import DataError, OodometerError, UsageError
from oodometer.core.records import TransformRecord
from oodometer.store.images import contents_of
from oodometer.store.index import Source
from oodometer.study.build import study_of
from oodometer.study.study import Picture, Study

if TYPE_CHECKING:
    import numpy as np

    from oodometer.core.condition import Transform
    from oodometer.core.dataset import Dataset
    from oodometer.data.root import DataRoot
    from oodometer.store.cells import Cell
    from oodometer.store.index import Index

TABLES_KEPT = 16
"""Data sets of the store whose ids are kept in memory, those asked for last."""

CALLED = (("val", "imagenet"), ("icons-", "icons-50"))
"""How a run names parts of published sets that are called otherwise."""


class Known(NamedTuple):
    """What a store knows about an image: the digest of its content, and its place in what it was read from."""

    content: bytes
    row: int


def album_of(addresses: Sequence[str], index: Index) -> Picture:
    """What models were shown, from data on disk: (cell, image id) -> uint8 (H, W, 3), or None.

    Images are those of the given data and no others, whatever is asked for. One belongs to a cell if it has that id (or
    its place) in the data and the very content that the store remembers. What a condition does to its images is done
    again, pixel by pixel as in the run. Images under attack are None: an attack is made for one model, and needs it.

    Args:
        addresses: Data as of `load_data`, opened now, and their images read when they are asked for; or a root of
            published sets, each of which is opened when an image of it is asked for.

    Raises:
        UsageError: Data that have no image in common with the store.
    """
    sets = dict.fromkeys(name for data in {cell.data.title for cell in index.cells} for name in _published(data))
    roots = {address: root for address in addresses if (root := _root_at(address, list(sets)))}
    opened = {address: _opened(address) for address in addresses if address not in roots}
    album = Album(index, list(opened.values()), list(roots.values()))
    for address, dataset in opened.items():
        if not album.is_of_store(dataset):
            raise UsageError(f"{address}: none of its images was shown to a model in {index}; give the data of the run")
    return album


def _opened(address: str) -> Dataset:
    """The data; of a folder without class folders the images, which may have been asked about without labels."""
    from oodometer.data.load import kind_of, load_data

    try:
        return load_data(address)
    except DataError:
        if os.path.isdir(address) and kind_of(address) == "folder":
            return load_data(address, kind="images")
        raise


def study_with_pictures(
    store: Source,
    data: Sequence[str] = (),
    *,
    origins: Mapping[str, Origin] | None = None,
    options: RobustnessOptions = DEFAULT_OPTIONS,
) -> Study:
    """All that a store knows, with its images where the addresses of data lead to them."""
    study = study_of(store, origins=origins, options=options)
    return replace(study, picture=album_of(data, study.index)) if data else study


def as_shown(picture: Picture, cell: Cell, image_id: str) -> np.ndarray | None:
    """The very pixels that the cell's model was given as an image: cut and scaled as it wants them; (H, W, 3) uint8."""
    pixels, seen = picture(cell, image_id), cell.model.input
    if pixels is None or seen is None:
        return pixels
    from PIL import Image

    from oodometer.data.resize import as_view, plain_resize

    if cell.condition.transform is None:
        return as_view(Image.fromarray(pixels), seen.view)
    is_its_size = pixels.shape[:2] == (seen.view.height, seen.view.width)
    return pixels if is_its_size else plain_resize(pixels, seen.view)


def _root_at(address: str, sets: Sequence[str]) -> DataRoot | None:
    """The root at an address, if it has one of these published sets."""
    from oodometer.data import addresses
    from oodometer.data.root import DataRoot

    if not sets or not addresses.is_folder(address):
        return None
    root = DataRoot(addresses.absolute(address), partial=True)
    return root if any(root.has(name) for name in sets) else None


class Album:
    """The images of some data sets, as the conditions of a store showed them."""

    def __init__(self, index: Index, datasets: Sequence[Dataset], roots: Sequence[DataRoot] = ()) -> None:
        self.datasets = tuple(datasets)
        self._index = index
        self._roots = tuple(roots)
        self._places: dict[int, dict[str, int]] = {}
        self._known = lru_cache(TABLES_KEPT)(self._read_known)
        self._transforms: dict[str, Transform | None] = {}

    def __call__(self, cell: Cell, image_id: str) -> np.ndarray | None:
        """What the models of the cell's condition were shown as that image, before it was cut and scaled for one."""
        if cell.condition.attack is not None:
            return None
        described = cell.condition.transform
        transform = self._transform(described) if described is not None else None
        known = self._known(cell.data.digest).get(image_id)
        if known is None or (described is not None and transform is None):
            return None
        for dataset in self._candidates(cell):
            place = self._find(dataset, image_id, known)
            if place is not None:
                return _shown(dataset, place, image_id, _at_own_size(transform, cell))
        return None

    def is_of_store(self, dataset: Dataset) -> bool:
        """Whether some image of the data was shown to a model."""
        digests = dict.fromkeys(cell.data.digest for cell in self._index.cells)
        return any(self._have_common(dataset, self._known(digest)) for digest in digests)

    def _have_common(self, dataset: Dataset, known: dict[str, Known]) -> bool:
        places = self._places_in(dataset)
        # A few are enough: of images under the same id, some may have changed, but hardly all.
        shared = [one for one in known if one in places][:20] or list(known)[:1]
        return any(self._find(dataset, one, known[one]) is not None for one in shared)

    def _find(self, dataset: Dataset, image_id: str, known: Known) -> int | None:
        """Where the image is in the data, if its content is the same."""
        from oodometer.core.dataset import silent

        for place in self._likely(dataset, image_id, known.row):
            if dataset.source.scan(dataset.rows[[place]], silent).contents[0] == known.content:
                return place
        return None

    def _likely(self, dataset: Dataset, image_id: str, row: int) -> Iterator[int]:
        """Where it may be: under its id, or, as parts of data may have ids of their own, in its row."""
        places = self._places_in(dataset)
        if image_id in places:
            yield places[image_id]
        yield from (dataset.rows == row).nonzero()[0].tolist()

    def _places_in(self, dataset: Dataset) -> dict[str, int]:
        if id(dataset) not in self._places:
            self._places[id(dataset)] = {one: place for place, one in enumerate(dataset.ids)}
        return self._places[id(dataset)]

    def _candidates(self, cell: Cell) -> Iterator[Dataset]:
        yield from self.datasets
        for root in self._roots:
            yield from (root.open(name) for name in _published(cell.data.title) if root.has(name))

    def _transform(self, described: TransformRecord) -> Transform | None:
        from oodometer.shifts.rebuild import transform_from

        key = digest_of(asdict(described))
        if key not in self._transforms:
            self._transforms[key] = transform_from(described)
        return self._transforms[key]

    def _read_known(self, digest: str) -> dict[str, Known]:
        """What the store knows about the images of the data of that digest, by id."""
        ids, contents, rows = contents_of(self._index.store, digest)
        return {one: Known(content, row) for one, content, row in zip(ids, contents, rows, strict=True)}


def _published(data: str) -> list[str]:
    """The published sets of which data of a run that are called so may be a part, the likeliest first."""
    from oodometer.data.layouts.known_set import known_sets

    names = sorted((name for name in known_sets.names() if data.startswith(name)), key=len, reverse=True)
    return [*names, *(name for start, name in CALLED if data.startswith(start))]


def _at_own_size(transform: Transform | None, cell: Cell) -> Transform | None:
    """The transform on the pixels of the cell's model, where it is made on those of each model."""
    seen = cell.model.input
    return transform if transform is None or transform.view or seen is None else replace(transform, view=seen.view)


def _shown(dataset: Dataset, place: int, image_id: str, transform: Transform | None) -> np.ndarray | None:
    try:
        if transform is None or transform.view is None:
            return dataset.image(place)
        return transform.apply(dataset.views(place, [transform.view])[0], image_id)
    except OodometerError:  # a broken image, or one that is gone since; a severity that there is not
        return None
