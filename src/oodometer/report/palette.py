"""Colours and marks of categories of models, the same in the report, the figures and the explorer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    """How a category is drawn: never by colour alone.

    Args:
        colour: On white; ``dark`` on a dark page. Told apart by eyes that see no red or no green.
        symbol: Plotly's name of the mark; ``marker`` matplotlib's.
    """

    colour: str
    dark: str
    symbol: str
    marker: str


# Okabe and Ito's colours that are told apart without red or green; darker on white for a contrast of 3 to 1.
STANDARD = Look("#0072b2", "#56b4e9", "circle", "o")
LOOKS = {
    "standard": STANDARD,
    "robust intervention": Look("#b35900", "#e69f00", "diamond", "D"),
    "adversarially trained": Look("#8b2f6b", "#cc79a7", "x", "X"),
    "lp adversarial": Look("#8b2f6b", "#cc79a7", "x", "X"),  # what the testbed calls the adversarially trained
    "more data": Look("#00795a", "#20c997", "triangle-up", "^"),
}
OTHERS = (
    Look("#5b5b00", "#f0e442", "square", "s"),
    Look("#a3341c", "#ff8a65", "star", "*"),
    Look("#4b3f9e", "#a99cf0", "triangle-down", "v"),
    Look("#8a5a44", "#d9a58b", "pentagon", "p"),
    Look("#00696b", "#6fd6d8", "triangle-left", "<"),
    Look("#9c2c5c", "#f78fb3", "triangle-right", ">"),
    Look("#3a6b1f", "#a5d67a", "hexagon", "h"),
)
UNKNOWN = "category unknown"
NOBODY_SAYS = Look("#595959", "#bbbbbb", "cross", "P")


def looks_of(categories: Iterable[str]) -> dict[str, Look]:
    """The look of each category, the known ones first; spelled with ``_`` or a space.

    >>> [look.marker for look in looks_of(["mine", "more_data", "standard"]).values()]
    ['o', '^', 's']
    """
    names = dict.fromkeys(categories)
    known = {name: LOOKS[plain] for plain in LOOKS for name in names if name.replace("_", " ") == plain}
    others = sorted(name for name in names if name not in known and name != UNKNOWN)
    unknown = {UNKNOWN: NOBODY_SAYS} if UNKNOWN in names else {}
    return {**known, **{name: OTHERS[place % len(OTHERS)] for place, name in enumerate(others)}, **unknown}


def looks_css(categories: Iterable[str]) -> str:
    """The colours of categories as styles, by their place among the looks; in both themes."""
    lines = []
    for place, look in enumerate(looks_of(categories).values()):
        lines.append(f".look-{place} {{ --look: {look.colour}; }}")
        lines.append(f':root[data-theme="dark"] .look-{place} {{ --look: {look.dark}; }}')
    return "\n".join(lines) + "\n"
