"""The colours of the page: every text can be read on every ground that it stands on, in light and dark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import oodometer
from oodometer.report.palette import LOOKS, NOBODY_SAYS, OTHERS, Look

STYLE = (Path(oodometer.__file__).parent / "report" / "html" / "static" / "report.css").read_text("utf-8")
TEXTS, GROUNDS = ("ink", "soft", "accent"), ("paper", "raised", "sunk")


def colours(theme: str) -> dict[str, str]:
    """The named colours of a theme; dark ones stand in place of light ones."""
    light, dark = (
        re.search(start + r" \{(.*?)\n\}", STYLE, re.DOTALL) for start in (":root", r'\[data-theme="dark"\]')
    )
    assert light is not None
    assert dark is not None
    blocks = (light[1],) if theme == "light" else (light[1], dark[1])
    return {name: value for block in blocks for name, value in re.findall(r"--([a-z]+): (#[0-9a-f]{6});", block)}


def luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb``, as WCAG 2.1 defines it."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, as WCAG 2.1 defines it."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)  # WCAG 2.1: from 1 to 21
    # The grey of which WebAIM's contrast checker says that it passes AA on white by a hair: 4.54
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("ground", GROUNDS)
def test_text_can_be_read(theme: str, text: str, ground: str) -> None:
    named = colours(theme)
    assert contrast(named[text], named[ground]) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_can_be_touched_has_an_edge_that_can_be_seen(theme: str) -> None:
    named = colours(theme)
    assert all(contrast(named["edge"], named[ground]) >= 3 for ground in ("paper", "raised"))


@pytest.mark.parametrize("look", [*LOOKS.values(), *OTHERS, NOBODY_SAYS], ids=lambda look: look.symbol)
@pytest.mark.parametrize("ground", ["paper", "raised"])
def test_marks_of_categories_can_be_seen(look: Look, ground: str) -> None:
    # WCAG 2.1, 1.4.11: graphics need 3 to 1
    assert contrast(look.colour, colours("light")[ground]) >= 3
    assert contrast(look.dark, colours("dark")[ground]) >= 3
