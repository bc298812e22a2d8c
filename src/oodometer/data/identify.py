"""Which published set a folder claims to be: by what the user says, by its name, or by what lies in it."""

from __future__ import annotations

from dataclasses import dataclass

from oodometer.catalogue.sets import find_set
from oodometer.catalogue.tables import key_of
from oodometer.core.errors import DataError, UsageError, did_you_mean
from oodometer.data import addresses
from oodometer.data.find_sets import not_unpacked, place_below, without_archive_ending
from oodometer.data.layouts.known_set import KnownSet, known_sets
from oodometer.data.load import data_kinds


@dataclass(frozen=True)
class Claim:
    """What is to be checked.

    Args:
        place: Where the images lie.
        known: The set that it claims to be; None: any data.
        kind: The kind of data to open, where no set is known.
        root: The folder below which the set was found, where its clean set may lie too.
    """

    place: str
    known: KnownSet | None = None
    kind: str | None = None
    root: str | None = None


def claim_of(address: str, as_: str | None = None) -> Claim:
    """What the data at an address claim to be.

    Args:
        as_: The name of a published set or a kind of data (``folder``); by default the address tells.
    """
    if not addresses.is_pattern(address) and not addresses.exists(address):
        raise DataError(f"{address}: no such file or folder; check the path")
    place = addresses.absolute(address)
    if as_ is not None:
        return _as_said(place, as_)
    return _by_name(place) or _by_content(place)


def claim_by_name(address: str) -> Claim | None:
    """What the name of an address alone claims; None where it is not that of a published set."""
    return _by_name(addresses.absolute(address))


def _as_said(place: str, as_: str) -> Claim:
    entry = find_set(as_)
    name = entry.name if entry else as_
    if name in known_sets.names():
        known = known_sets.get(name)
        named = _matched(place, known)
        if named is not None:
            return Claim(_deeper(place, named, known), known, root=_above(place, named))
        below = place_below(place, known) if addresses.is_folder(place) else None
        return Claim(below or place, known, root=place if below else addresses.parent(place))
    if as_ in data_kinds.names():
        return Claim(place, kind=as_)
    hint = did_you_mean(as_, [*known_sets.names(), *data_kinds.names()])
    raise UsageError(f"--as {as_}: no data set and no kind of data of that name{hint}; {_names()}")


def _by_name(place: str) -> Claim | None:
    """The set one of whose places the address ends with; the longest such place counts."""
    matches = [(named, known) for known in _every_set() if (named := _matched(place, known)) is not None]
    if not matches:
        return None
    named, known = max(matches, key=lambda one: one[0].count("/"))
    return Claim(_deeper(place, named, known), known, root=_above(place, named))


def _by_content(place: str) -> Claim:
    """The one set that lies below the address."""
    found = [(below, known) for known in _every_set() if (below := _below(place, known))]
    if len(found) == 1:
        below, known = found[0]
        return Claim(below, known, root=place if place_below(place, known) else addresses.parent(place))
    if found:
        raise UsageError(
            f"{place}: it holds {len(found)} data sets, {', '.join(known.name for _, known in found[:4])}"
            f"{'...' if len(found) > 4 else ''}; check one of them, such as {found[0][0]}"
        )
    packed = [line for known in _every_set() if addresses.is_folder(place) and (line := not_unpacked(place, known))]
    if packed:
        raise DataError(f"{packed[0]}; unpack it first")
    if without_archive_ending(place) != place and not addresses.is_folder(place):
        raise DataError(f"{place}: an archive; unpack it first, and check the folder (tar shards: --as webdataset)")
    hint = did_you_mean(addresses.base_name(place), known_sets.names()).removeprefix("; ")
    hint = hint if hint.startswith("did you mean") else "it is not named as one of the published sets"
    raise UsageError(f"{place}: which data set is it? {hint}; say it with --as NAME: {_names()}")


def _below(place: str, known: KnownSet) -> str | None:
    """Where a set lies in a folder: a root, or one that holds it by name, as ``cifar-10.1`` its versions."""
    if not addresses.is_folder(place):
        return None
    named = place_below(addresses.parent(place), known)
    return place_below(place, known) or (named if named and named.startswith(f"{place}/") else None)


def _matched(address: str, known: KnownSet) -> str | None:
    """The longest place of a set that an address ends with, as names are compared; None where none does."""
    parts = [key_of(part) for part in _parts(address)]
    fitting = []
    for place in known.places:
        wanted = [key_of(part) for part in place.split("/")]
        if parts[-len(wanted) :] == wanted:
            fitting.append(place)
    if not fitting and parts[-1:] == [key_of(known.name)]:
        fitting.append(known.name)
    return max(fitting, key=lambda place: place.count("/"), default=None)


def _deeper(address: str, named: str, known: KnownSet) -> str:
    """The set's own top folder, where the address is one that holds it: ``imagenet`` for ``imagenet/val``."""
    for place in known.places:
        if place.startswith(f"{named}/"):
            below = addresses.join(address, place[len(named) + 1 :])
            if addresses.exists(below):
                return below
    return address


def _above(address: str, named: str) -> str:
    """The folder that the place is below."""
    for _ in range(named.count("/") + 1):
        address = addresses.parent(address)
    return address


def _parts(address: str) -> list[str]:
    outer = address.partition("::")[0].replace("\\", "/")
    return [part for part in outer.split("/") if part and not part.endswith(":")]


def _every_set() -> list[KnownSet]:
    return [known_sets.get(name) for name in known_sets.names()]


def _names() -> str:
    return f"the sets are {', '.join(known_sets.names())}; for any data: {', '.join(data_kinds.names())}"
