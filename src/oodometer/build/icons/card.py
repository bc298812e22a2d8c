"""The card of the icons: how many of what, by whom, under which licence, and how they were made."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from oodometer.build.icons.manifest import Row
from oodometer.build.icons.outside import MIN_ICONS
from oodometer.build.icons.packages import Package
from oodometer.core.errors import DataError

_BLOCK = re.compile(r"^```toml\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Made:
    """How icons were made, as the last lines of the card say it.

    Args:
        outside: Whether they are those outside the 50 classes.
        renderer: The version of resvg_py.
        same: How many drawings were left out because their pixels are those of another, or all of one colour.
        digest: Of the manifest.
    """

    size: int
    skin_tones: bool
    packages: tuple[str, ...]
    outside: bool = False
    renderer: str = ""
    same: int = 0
    digest: str = ""

    def finished(self, renderer: str, same: int, digest: str) -> Made:
        """The same with what is known at the end."""
        return replace(self, renderer=renderer, same=same, digest=digest)

    def settings(self) -> tuple[object, ...]:
        """What the user chose."""
        return self.size, self.skin_tones, self.packages, self.outside

    def in_words(self) -> str:
        """What the user chose, for a message."""
        tones = "with" if self.skin_tones else "without"
        outside = ", outside the classes" if self.outside else ""
        return f"{self.size} px, {tones} skin tones, {len(self.packages)} packages{outside}"

    def toml(self) -> str:
        """As TOML, which `made_of` reads."""
        packages = "".join(f'    "{one}",\n' for one in self.packages)
        return (
            f"size = {self.size}\nskin_tones = {str(self.skin_tones).lower()}\noutside = {str(self.outside).lower()}\n"
            f"same = {self.same}\n"
            f'renderer = "{self.renderer}"\ndigest = "{self.digest}"\npackages = [\n{packages}]\n'
        )


def made_of(card: str, where: str) -> Made:
    """How the icons of a card were made."""
    blocks = _BLOCK.findall(card)
    try:
        table = tomllib.loads(blocks[-1])
        return Made(**{**table, "packages": tuple(table["packages"])})
    except (IndexError, KeyError, TypeError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"{where}: not the card of icons that were built; choose another folder") from error


@dataclass(frozen=True)
class _Words:
    """What differs between the cards of the icons in the 50 classes and of those outside them."""

    title: str
    use: str
    classes: str


_INSIDE = _Words(
    "Icons",
    "The same object drawn by many hands is a natural shift: train without one vendor, and test on it.",
    "The classes are the 50 of ICONS-50 (Hendrycks and Dietterich), filled by a table over Unicode's subgroups and\n"
    "names of emoji.",
)
_OUTSIDE = _Words(
    "Icons outside the 50 classes",
    "They are for models that learn from more data: train on them first, without the vendor that is held out.",
    "The classes are Unicode's subgroups of emoji, without every emoji that is in one of the 50 classes of ICONS-50,\n"
    "and without every drawing whose pixels are those of one in them. A subgroup of which fewer than "
    f"{MIN_ICONS} icons are left\nis no class.",
)


def card_text(rows: Sequence[Row], packages: Sequence[Package], made: Made) -> str:
    """The card, as Markdown."""
    of_package = Counter(row.package for row in rows)
    n_classes, n_styles = len({row.class_name for row in rows}), len({row.style for row in rows})
    sources = [[one.spec, str(of_package[one.spec]), _drawing(one), one.by, one.licence, one.page] for one in packages]
    kept = "with" if made.skin_tones else "without the emoji with"
    words = _OUTSIDE if made.outside else _INSIDE
    return f"""# {words.title}

{len(rows)} emoji in {n_classes} classes, as {n_styles} vendors draw them, on white, {made.size} x {made.size} pixels, \
{kept} skin tones.
{words.use}

`manifest.csv` lists each icon with its class, subtype, style (the vendor), version (which of the vendor's drawings),
package and licence; the files lie as in ICONS-50, `CLASS/STYLE_VERSION_SUBTYPE.png`. `iid.csv` lists the tenth of them
that no model is trained on, without what the protocols hold out.

## How many

{_table(*counts(rows, drawings=True))}

{made.same} more drawings were left out: their pixels are those of another icon, or all of one colour. Others of one
vendor may be alike without being the same, so an accuracy on new drawings of a known vendor (`versions`) says less than
one on a vendor that was never seen (`style`).

## Whose art it is

The licence of each icon is in the manifest. Whoever passes icons on must name their authors and keep to the licence;
art that is proprietary is for looking at, not for passing on.

{_table(["package", "icons", "style", "by", "licence", "page"], sources)}

## How they were made

{words.classes}

Drawn from the packages below, each checked against its pinned digest, with resvg. An emoji is known by its code points,
or, where a package has none, by its name. `digest` is that of the manifest, which has the digest of each file.

```toml
{made.toml()}```
"""


def counts(rows: Sequence[Row], *, drawings: bool) -> tuple[list[str], list[list[str]]]:
    """How many icons there are of each class (rows) by each vendor (columns): the header and the lines.

    Args:
        drawings: A column for each drawing of a vendor.
    """
    places = [(row.class_name, f"{row.style} {row.version}" if drawings else row.style) for row in rows]
    cells, classes, styles = (
        Counter(places),
        Counter(place[0] for place in places),
        Counter(place[1] for place in places),
    )
    ordered = sorted(styles)
    lines = [[name, str(classes[name]), *(str(cells[name, style]) for style in ordered)] for name in sorted(classes)]
    return ["class", "icons", *ordered], [*lines, ["all", str(len(rows)), *(str(styles[one]) for one in ordered)]]


def _drawing(package: Package) -> str:
    return f"{package.style} {package.drawing}" if package.style else "the list of emoji"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
