"""ImageNet-C on disk: CORRUPTION/SEVERITY/CLASS/FILE, maybe with a folder for each group of corruptions around it."""

from __future__ import annotations

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.data import addresses
from oodometer.data.kinds.folder import list_images
from oodometer.data.labels import ids_of_paths, space_of
from oodometer.data.source import EncodedSource, ImageFiles

SEVERITIES = frozenset("12345")
_AROUND = 2
"""How many folders may lie around those of the corruptions: of a group (``weather``), and of the whole."""


def parts_below(address: str, *, around: int = _AROUND) -> frozenset[tuple[str, str]]:
    """The corruptions and severities that there are folders of; nothing further down is looked at."""
    found: set[tuple[str, str]] = set()
    for name in addresses.list_folders(address):
        inside = addresses.join(address, name)
        severities = SEVERITIES.intersection(addresses.list_folders(inside))
        found |= {(name, one) for one in severities}
        if not severities and around:
            found |= parts_below(inside, around=around - 1)
    return frozenset(found)


def open_imagenet_c(address: str, *, name: str) -> Dataset:
    """All corrupted images with their columns corruption and severity; ids are CORRUPTION/SEVERITY/CLASS/FILE."""
    files = list_images(address)
    parts = [file.path.split("/")[-4:] for file in files]
    for file, part in zip(files, parts, strict=True):
        if len(part) < 4 or part[1] not in SEVERITIES:
            raise DataError(f"{address}: {file.path} is not at CORRUPTION/SEVERITY/CLASS/FILE, as in ImageNet-C")
    if not files:
        raise DataError(f"{address}: no images in it; expected CORRUPTION/SEVERITY/CLASS/FILE")
    space, index = space_of({part[2] for part in parts}, name=name)
    order = sorted(range(len(files)), key=lambda at: (parts[at][0], parts[at][1], index[parts[at][2]], parts[at][3]))
    files, parts = [files[at] for at in order], [parts[at] for at in order]
    return Dataset(
        name=name,
        ids=ids_of_paths(["/".join(part) for part in parts]),
        labels=np.array([index[part[2]] for part in parts], dtype=np.int64),
        space=space,
        source=EncodedSource(ImageFiles.below(address, files)),
        rows=np.arange(len(files)),
        columns={
            "corruption": np.array([part[0] for part in parts]),
            "severity": np.array([int(part[1]) for part in parts]),
        },
    )
