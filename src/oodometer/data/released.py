"""What a released test set says of itself in its ``testset.toml``: how it is called, and what it is compared with."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError
from oodometer.data import addresses
from oodometer.data.layouts.known_set import known_sets
from oodometer.data.load import load_data
from oodometer.data.root import DataRoot

FILE = "testset.toml"
MOST_BYTES = 100_000


@dataclass(frozen=True)
class Registration:
    """What a release says of itself.

    Args:
        name: How it is called.
        original: What it is compared with: an address, also relative to the release, or the name of a published set;
            empty where it says none.
        address: Where the release is.
    """

    name: str
    original: str
    address: str

    @property
    def file(self) -> str:
        """Where it says so."""
        return addresses.join(self.address, FILE)

    @property
    def place(self) -> str:
        """The address of the original; empty where none is there."""
        if not self.original:
            return ""
        places = (addresses.join(self.address, self.original), self.original)
        return next((one for one in places if addresses.exists(one)), "")


def registration_in(address: str) -> Registration | None:
    """What the release at an address says of itself; None where there is no release."""
    file = addresses.join(address, FILE) if addresses.is_folder(address) else ""
    if not file or not addresses.exists(file):
        return None
    if addresses.size_of(file) > MOST_BYTES:
        raise DataError(f"{file}: too long for what it should say")
    try:
        said = tomllib.loads(addresses.read_bytes(file).decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"{file}: not readable as TOML ({error})") from error
    name, original = said.get("name"), said.get("original", "")
    if not isinstance(name, str) or not name or "/" in name or not isinstance(original, str):
        raise DataError(f'{file}: expected name = "...", without a /, and original = "..."')
    return Registration(name, original, address)


def is_published(name: str) -> bool:
    """Whether a published set is called so."""
    return name in known_sets.names()


def original_of(found: Registration, root: DataRoot | None = None) -> Dataset:
    """The original of a release: the published set of that name below a root, or else what is at that address."""
    if not found.original:
        raise UsageError(f'{found.file}: says no original; add original = "ADDRESS" to compare with it')
    if root is not None and is_published(found.original):
        return root.open(found.original)
    if found.place:
        return load_data(found.place)
    if is_published(found.original):
        raise UsageError(
            f"{found.original}: say where your data sets are, with --data-root FOLDER or OODOMETER_DATA; "
            f"{found.name} is compared with it"
        )
    raise DataError(f"{found.name}: its original is not at {found.original}; write where it is into {found.file}")
