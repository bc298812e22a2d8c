"""Where below a root a published set lies, and what lies there when it is not unpacked."""

from __future__ import annotations

from oodometer.catalogue.tables import key_of
from oodometer.core.errors import DataError
from oodometer.data import addresses
from oodometer.data.layouts.known_set import KnownSet

ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip", ".7z")


def place_below(root: str, known: KnownSet) -> str | None:
    """The first of a set's places that exists below a root and holds something; None where none does.

    Where no place exists as it is written, capitals, ``-`` and ``_`` in its first part may differ:
    ``Imagenet_A`` is found as ``imagenet-a``.
    """
    exact = [addresses.join(root, place) for place in known.places]
    for address in exact:
        if addresses.exists(address) and not _is_hollow(address):
            return address
    for address in _spelled_otherwise(root, known):
        if address not in exact and addresses.exists(address) and not _is_hollow(address):
            return address
    return None


def not_unpacked(root: str, known: KnownSet) -> str:
    """What lies below a root instead of the set: an archive, or an empty folder; empty where there is neither."""
    for address in (*(addresses.join(root, place) for place in known.places), *_spelled_otherwise(root, known)):
        if addresses.is_folder(address) and _is_hollow(address):
            inside = addresses.list_names(address)
            if inside:
                return f"{inside[0]} lies in {address} but is not unpacked"
            return f"{address} is an empty folder"
    wanted = {key_of(known.name), *(key_of(place.partition("/")[0]) for place in known.places)}
    for name in _names_in(root):
        stem = without_archive_ending(name)
        if stem != name and key_of(stem) in wanted:
            return f"{name} lies in {root} but is not unpacked"
    return ""


def without_archive_ending(name: str) -> str:
    """The name that an archive probably unpacks to; other names stay as they are.

    >>> without_archive_ending("imagenet-r.tar.gz"), without_archive_ending("imagenetv2-threshold0.7")
    ('imagenet-r', 'imagenetv2-threshold0.7')
    """
    for ending in ARCHIVES:
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return name


def _spelled_otherwise(root: str, known: KnownSet) -> list[str]:
    """The set's places, with the first part as it is spelled below the root."""
    names = _names_in(root)
    found = []
    for place in known.places:
        first, _, rest = place.partition("/")
        alike = [name for name in names if name != first and key_of(name) == key_of(first)]
        found += [addresses.join(root, f"{name}/{rest}" if rest else name) for name in alike]
    return found


def _names_in(folder: str) -> list[str]:
    """What lies in a folder; nothing where it can't be listed, because whoever opens the set will say that."""
    try:
        return addresses.list_names(folder) if addresses.is_folder(folder) else []
    except DataError:
        return []


def _is_hollow(address: str) -> bool:
    """Whether it is a folder that holds nothing but archives, or nothing at all."""
    if not addresses.is_folder(address):
        return False
    try:
        names = addresses.list_names(address)
    except DataError:
        return False
    return all(without_archive_ending(name) != name for name in names)
