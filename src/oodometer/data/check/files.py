"""Files that can't be read, that are not what their name or the layout says, or that do not belong there."""

from __future__ import annotations

from collections.abc import Mapping

from oodometer.core.dataset import Dataset, ImageSource
from oodometer.data import addresses
from oodometer.data.check.rows import CheckRow, none_expected
from oodometer.data.headers import Header, Headers, kept_images, lies_about_its_kind
from oodometer.data.kinds.folder import is_image
from oodometer.data.layouts.known_set import KnownSet
from oodometer.data.source import ImageFiles


def unreadable_row(dataset: Dataset, place: str, problems: Mapping[int, str]) -> CheckRow:
    """Images that are empty, cut short, damaged, or no images at all."""
    lines = []
    for position, problem in sorted(problems.items()):
        reason = short(problem, place)
        named = reason if ": " in reason else f"{dataset.ids[position]}: {reason}"
        lines.append(named)
    return none_expected("unreadable images", lines)


def header_rows(dataset: Dataset, place: str, known: KnownSet | None, headers: Headers) -> list[CheckRow]:
    """The rows about the size of the images, and about endings that do not tell their kind."""
    rows = []
    if known is not None and known.size is not None:
        rows.append(_size_row(dataset, known.size, headers))
    files = files_of(dataset.source)
    if files is not None:
        lies = [
            f"{short(files.paths[row], place)} is {header.kind}"
            for row, header in zip(dataset.rows.tolist(), headers.found, strict=True)
            if header is not None and lies_about_its_kind(files.paths[row], header)
        ]
        rows.append(none_expected("endings that mislead", lies, otherwise="note"))
    return rows


def other_files_rows(dataset: Dataset, place: str) -> list[CheckRow]:
    """Files that lie among the images and are none of the set's."""
    files = files_of(dataset.source)
    if files is None or not addresses.is_folder(place):
        return []
    used = {files.paths[row] for row in dataset.rows.tolist()}
    others = [one.path for one in addresses.list_files(place) if addresses.join(place, one.path) not in used]
    return [
        none_expected("images not in the set", [path for path in others if is_image(path)], otherwise="note"),
        none_expected("files that are no images", [path for path in others if not is_image(path)], otherwise="note"),
    ]


def files_of(source: ImageSource) -> ImageFiles | None:
    """The image files that a source reads; None where it reads something else."""
    images = kept_images(source)
    return images if isinstance(images, ImageFiles) else None


def short(text: str, place: str) -> str:
    """A path, or a line that begins with one, from the place on."""
    for end in ("/", "\\"):
        text = text.removeprefix(f"{place.rstrip(end)}{end}")
    return text


def _size_row(dataset: Dataset, size: tuple[int, int], headers: Headers) -> CheckRow:
    others = [
        f"{one} is {header.width}x{header.height}"
        for one, header in zip(dataset.ids, headers.found, strict=True)
        if header is not None and _size_of(header) != size
    ]
    expected = f"{size[0]}x{size[1]}"
    return CheckRow(
        "size", expected, f"{len(others):,} differ" if others else expected, "wrong" if others else "ok", tuple(others)
    )


def _size_of(header: Header) -> tuple[int, int]:
    return header.width, header.height
