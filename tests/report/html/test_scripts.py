"""The scripts of the report and of the explorer: strict, and names from a store never become HTML."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import oodometer

HTML, WEB = (Path(oodometer.__file__).parent / part / "static" for part in ("report/html", "explorer"))
SCRIPTS = [*sorted(HTML.glob("*.js")), WEB / "explorer.js"]
HTML_OF_TEXT = re.compile(r"(inner|outer|insertAdjacent)HTML|document\.write|createContextualFragment|\beval\(")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda one: one.stem)
def test_scripts_say_what_they_hold_and_are_strict(script: Path) -> None:
    lines = script.read_text("utf-8").splitlines()
    assert lines[0].startswith("// ")
    assert next(line for line in lines if not line.startswith("//")) == '"use strict";'


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda one: one.stem)
def test_scripts_make_no_html_of_text(script: Path) -> None:
    assert HTML_OF_TEXT.findall(script.read_text("utf-8")) == []
