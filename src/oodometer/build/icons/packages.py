"""The npm packages that icons are made of, as pinned in ``packages.toml``."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from oodometer.build.icons.tables import read_toml
from oodometer.build.npm import NpmPackage

Kind = Literal["unicode", "vector", "raster"]


@dataclass(frozen=True)
class Package(NpmPackage):
    """A package, and whose art is in it.

    Args:
        kind: ``unicode`` lists all emoji, ``vector`` is an Iconify set, ``raster`` has pictures of 64 px.
        style: The vendor.
        drawing: Which of the vendor's drawings.
        licence: Of the art; an SPDX name, or ``proprietary``.
    """

    kind: Kind
    licence: str
    by: str
    page: str
    style: str = ""
    drawing: str = ""


def pinned_packages(*, full: bool) -> tuple[Package, ...]:
    """The packages of a build; those with pictures instead of vectors are large, and only in the full one.

    >>> len(pinned_packages(full=False)), len(pinned_packages(full=True))
    (11, 19)
    """
    rows: list[dict[str, Any]] = read_toml(files("oodometer.build.icons") / "packages.toml")["package"]
    return tuple(Package(**row) for row in rows if full or row["kind"] != "raster")
