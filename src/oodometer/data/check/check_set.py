"""Whether data are the published set that they claim to be: counts, class ids, duplicates, broken and odd files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from oodometer.core.columns import columns
from oodometer.core.dataset import Dataset, Progress, silent
from oodometer.core.errors import DataError, UsageError
from oodometer.data import addresses
from oodometer.data.check.classes import class_rows, folder_rows
from oodometer.data.check.duplicates import Contents, twice_in_both, twice_inside
from oodometer.data.check.files import header_rows, other_files_rows, short, unreadable_row
from oodometer.data.check.rows import CheckRow
from oodometer.data.check.training_part import training_rows
from oodometer.data.find_sets import not_unpacked, place_below
from oodometer.data.fingerprints import BRIGHTEST_BLACK, DISTANCE, looks_of
from oodometer.data.headers import headers_of
from oodometer.data.identify import Claim, claim_of
from oodometer.data.kinds.folder import list_images
from oodometer.data.layouts.known_set import KnownSet, known_sets
from oodometer.data.load import default_name, load_data

Stage = Callable[[str], Progress]
"""From what is being done ("files read") to whoever is told how far it is."""

SHOWN = 3
"""Of everything that is wrong, so many are named in the text."""

METHODS = {
    "same bytes": "files (or rows of pixels) whose 128-bit digests are equal",
    "same pixels": "images of equal size and RGB pixels after decoding, however they are encoded (64-bit digests)",
    "near-identical": f"64-bit difference hashes of a grey 9x8 reduction that differ in at most {DISTANCE} bits; finds "
    "re-encoded and resized copies, not crops or turns; pictures without structure are not compared, "
    "and now and then two different pictures look alike to it",
    "mirrored copies": "the same with one of the two in a mirror",
    "black images": f"no pixel is brighter than {BRIGHTEST_BLACK} of 255",
    "unreadable images": "files that begin and end as whole images pass; the others, and all with --thorough, are "
    "decoded",
}
"""How duplicates and broken files are found, and what the way of looking can't see."""


@dataclass(frozen=True)
class Checked:
    """What the checks of a data set found; prints as a table, details and the verdict.

    Args:
        name: The set that the data claim to be, or what they are called.
        place: Where the images lie.
        known: Whether it is a published set, so that counts and class ids could be compared.
        thorough: Whether every image was decoded.
        unchecked: What of a published set could not be compared, since nobody published it.
    """

    name: str
    place: str
    known: bool
    thorough: bool
    rows: tuple[CheckRow, ...]
    unchecked: tuple[str, ...] = ()

    @property
    def wrong(self) -> tuple[CheckRow, ...]:
        """The rows that say that the data are not what they claim to be."""
        return tuple(row for row in self.rows if row.verdict == "wrong")

    @property
    def readable(self) -> bool:
        """Whether there were images to look at."""
        return not any(row.check == "layout" for row in self.wrong)

    @property
    def verdict(self) -> str:
        """The outcome in one line."""
        if self.wrong:
            which = ", ".join(row.check for row in self.wrong)
            return (
                f"{self.place} is not {self.name} as it should be: {which}" if self.known else f"{self.place}: {which}"
            )
        notes = sum(row.verdict == "note" for row in self.rows)
        more = f" ({notes} {'note' if notes == 1 else 'notes'})" if notes else ""
        if self.unchecked:
            said = f"not published, so not checked: {', '.join(self.unchecked)}"
            return f"{self.place} may be {self.name}: nothing wrong in what could be checked{more}; {said}"
        return (
            f"{self.place} is {self.name}: nothing wrong{more}" if self.known else f"{self.place}: nothing wrong{more}"
        )

    def __str__(self) -> str:
        table = [["check", "expected", "found", "verdict"]]
        table += [[row.check, row.expected, row.found, row.verdict] for row in self.rows]
        details = [_details(row) for row in self.rows if row.examples]
        return "\n".join([columns(table), "", *details, *([""] if details else []), self.verdict])

    def as_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "set": self.name if self.known else None,
            "place": self.place,
            "verdict": "wrong" if self.wrong else "ok",
            "thorough": self.thorough,
            "unchecked": list(self.unchecked),
            "checks": [row.as_json() for row in self.rows],
            "methods": METHODS,
        }


def _details(row: CheckRow) -> str:
    """The first examples of what a row is about."""
    more = f"; and {len(row.examples) - SHOWN:,} more" if len(row.examples) > SHOWN else ""
    return f"{row.check}: {'; '.join(_few(example) for example in row.examples[:SHOWN])}{more}"


def _few(example: str) -> str:
    """An example as it is shown: of many images that are the same, the first."""
    same = example.split(" = ")
    return " = ".join([*same[:SHOWN], f"{len(same) - SHOWN:,} more"]) if len(same) > SHOWN + 1 else example


def _nobody(what: str) -> Progress:  # noqa: ARG001 - nobody wants to know
    return silent


def check(
    address: str,
    *,
    as_: str | None = None,
    against: str | None = None,
    thorough: bool = False,
    progress: Stage = _nobody,
) -> Checked:
    """What is right and wrong about the data at an address.

    Args:
        as_: The published set that it should be, or a kind of data (``folder``) for what can be checked of any data;
            by default the address tells (``data/imagenet-a``).
        against: Another set or address that must not have images in common with it; by default the clean set below
            the same root.
        thorough: Decode every image: finds damage inside files, equal pixels and near-identical images.
        progress: Told what is being done and how far it is.
    """
    claim = claim_of(address, as_)
    name = claim.known.name if claim.known else default_name(claim.place)
    try:
        dataset = _open(claim, name)
    except DataError as error:
        rows = _rows_of_unopened(claim, error)
    else:
        here, rows = _rows_of(dataset, claim, thorough, progress)
        rows += _against(here, claim, against, progress)
    return Checked(name, claim.place, claim.known is not None, thorough, tuple(rows), _unchecked(claim.known))


def _unchecked(known: KnownSet | None) -> tuple[str, ...]:
    """What can't be compared with what was published; a set of unknown size may be a part of itself."""
    if known is None or known.n_images is not None:
        return ()
    return ("the number of images",) if known.n_classes is not None else ("the numbers of images and classes",)


def _open(claim: Claim, name: str) -> Dataset:
    if claim.known is not None:
        return claim.known.open(claim.place, name=name)
    return load_data(claim.place, kind=claim.kind, name=name)


def _rows_of_unopened(claim: Claim, error: DataError) -> list[CheckRow]:
    if claim.known is None:
        raise error
    expected = claim.known.layout
    line = short(str(error).removeprefix(f"{claim.place}: "), claim.place)
    packed = not_unpacked(claim.root, claim.known) if claim.root else ""
    examples = tuple(one for one in (packed, line, f"expected {expected}") if one)
    rows = [CheckRow("layout", "readable", "not readable", "wrong", examples)]
    if not addresses.is_folder(claim.place):
        return rows
    n_images = len(list_images(claim.place))
    return rows + folder_rows(claim.place, claim.known, n_images)


def _rows_of(dataset: Dataset, claim: Claim, thorough: bool, progress: Stage) -> tuple[Contents, list[CheckRow]]:
    place, known = claim.place, claim.known
    here, problems = _contents(dataset, thorough, progress)
    headers = headers_of(dataset, progress("headers read"))
    problems = {**headers.broken, **problems}
    rows = [
        CheckRow("layout", "readable", "readable", "ok"),
        *class_rows(dataset, place, known),
        unreadable_row(dataset, place, problems),
        *header_rows(dataset, place, known, headers),
        *other_files_rows(dataset, place),
        *twice_inside(here),
        *training_rows(place, known),
    ]
    return here, rows


def _contents(dataset: Dataset, thorough: bool, progress: Stage) -> tuple[Contents, dict[int, str]]:
    """What images are compared by, and what is wrong with those that can't be read."""
    scan = dataset.scan(progress("files read"))
    looks = looks_of(dataset, progress("images decoded")) if thorough else None
    problems = {**(looks.broken if looks else {}), **scan.broken}
    return Contents(dataset, scan.contents, frozenset(problems), looks), problems


def _against(here: Contents, claim: Claim, against: str | None, progress: Stage) -> list[CheckRow]:
    found = _other_set(claim, against)
    if found is None:
        return []
    called, other = found
    there, _ = _contents(other, here.looks is not None, progress)
    return twice_in_both(here, there, called=called)


def _other_set(claim: Claim, against: str | None) -> tuple[str, Dataset] | None:
    """The data to compare with and what to call them; None where there are none."""
    if against is not None:
        return _given_set(against)
    known = _clean_set(claim)
    place = place_below(claim.root, known) if known and claim.root else None
    if known is None or place is None:
        return None
    try:
        return known.name, known.open(place, name=known.name)
    except DataError:  # a clean set that is not whole has a check of its own
        return None


def _clean_set(claim: Claim) -> KnownSet | None:
    """The set that a shifted one is compared with: none of its images may be in it."""
    clean = claim.known.clean if claim.known else None
    return known_sets.get(clean) if clean else None


def _given_set(against: str) -> tuple[str, Dataset]:
    try:
        claim = claim_of(against)
    except DataError:
        if not addresses.exists(against):
            raise
        claim = Claim(addresses.absolute(against))
    except UsageError:  # no published set, so any data
        claim = Claim(addresses.absolute(against))
    name = claim.known.name if claim.known else default_name(claim.place)
    return name, _open(claim, name)
