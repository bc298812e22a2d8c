"""Where the images of a set lie, by their ids: a store knows what was answered, not where the files are."""

from __future__ import annotations

import os

from oodometer.core.errors import UsageError
from oodometer.data.load import kind_of, load_data
from oodometer.data.source import EncodedSource


def image_paths(address: str) -> dict[str, str]:
    """The path of each image by its id, below the folder of the data."""
    # In class folders or not: ids are the paths in both cases.
    is_folder = os.path.isdir(address) and kind_of(address) == "folder"
    data = load_data(address, kind="images" if is_folder else None)
    if not isinstance(data.source, EncodedSource) or not os.path.exists(address):
        raise UsageError(f"{address}: not a folder or table of image files, so there are no paths to give")
    folder = os.path.realpath(address if os.path.isdir(address) else os.path.dirname(os.path.abspath(address)))
    names = [data.source.images.name(int(row)) for row in data.rows]
    paths = [os.path.relpath(os.path.realpath(name), folder).replace(os.sep, "/") for name in names]
    return dict(zip(data.ids, paths, strict=True))
