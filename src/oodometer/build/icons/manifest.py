"""The manifest of the icons: a row for each, as `oodometer.load_data` reads it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, fields

from oodometer.build.icons.art import Art

FILE = "manifest.csv"


@dataclass(frozen=True)
class Row:
    """One icon.

    Args:
        label: Its class, under the name by which labels are found.
        version: Which of the vendor's drawings.
        code: The code points of the emoji.
        digest: Of its file.
    """

    path: str
    label: str
    id: str
    class_name: str
    subtype: str
    style: str
    version: str
    package: str
    licence: str
    code: str
    digest: str

    @classmethod
    def of(cls, art: Art, digest: str) -> Row:
        """The row of an icon that was drawn."""
        package = art.package
        return cls(
            path=f"{art.id}.png",
            label=art.class_name,
            id=art.id,
            class_name=art.class_name,
            subtype=art.emoji.slug,
            style=package.style,
            version=package.drawing,
            package=package.spec,
            licence=package.licence,
            code=art.emoji.code,
            digest=digest,
        )


_COLUMNS = {"class" if one.name == "class_name" else one.name: one.name for one in fields(Row)}


def manifest_text(rows: Iterable[Row]) -> str:
    """The manifest as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows([getattr(row, name) for name in _COLUMNS.values()] for row in rows)
    return text.getvalue()


def read_manifest(text: str) -> list[Row]:
    """The rows of a manifest that `manifest_text` made."""
    return [
        Row(**{_COLUMNS[column]: value for column, value in row.items()}) for row in csv.DictReader(io.StringIO(text))
    ]
