"""The section "provenance"."""

from __future__ import annotations

from oodometer.report.html.parts import Section
from oodometer.report.study import Study


def section(study: Study) -> Section | None:  # noqa: ARG001
    """Nothing yet."""
    return None
