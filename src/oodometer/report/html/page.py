"""The report of a study as one HTML file: scripts, styles, plots and numbers inside, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from oodometer.report.html.parts import Section
from oodometer.report.study import Study

SECTIONS = (
    "summary",
    "leaderboard",
    "scatter",
    "quadrants",
    "corruptions",
    "uncertainty",
    "correlations",
    "interventions",
    "hardest",
    "provenance",
)
"""Modules of `oodometer.report.html.sections`, in the order of the page; each has a function ``section``."""


def sections_of(study: Study) -> list[Section]:
    """The sections that have something to say."""
    found = []
    for name in SECTIONS:
        make: Callable[[Study], Section | None] = import_module(f"oodometer.report.html.sections.{name}").section
        if section := make(study):
            found.append(section)
    return found
