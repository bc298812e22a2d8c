"""In CI a test that skips has to have a declared reason: otherwise a proof could be lost and nobody would see it.

Where the environment variable ``CI`` is set, a skip for any other reason than these is a failure. A new reason that
depends on the place, and not on what ``make setup`` installs, is a line here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from shared_data import SHARED

ALLOWED = (
    r"needs (moto|s3fs)",  # their pins do not agree with ours: an environment of their own
    r"(cuda|mps) is there",  # tests of what is said where there is no GPU
    r"no GPU",
    r"no LaTeX on PATH",
    r"no PostgreSQL on this machine",
    r"root may read everything",
    r"there is no mount command",
    r"a tmpfs can't be mounted here: .*",  # only root may
    r"\S+ is not on this machine",  # no IPv6
    r"the registry is out of reach: .*",
    r"needs the network",
    r"no firefox-esr on PATH",  # of Debian; where it can't be installed, Chromium has the same tests and more
    r"no accessibility check: .*",  # its script comes by npm
)
"""Patterns of whole reasons that depend on the place alone."""

NOT_BESIDE = r"\.\./shared/\S+ is not here"
"""Allowed where there is no ``../shared`` at all; a part of it that is missing is a mistake."""


def is_declared(reason: str, shared: Path = SHARED) -> bool:
    """Whether a test may skip for this reason in CI."""
    patterns = ALLOWED if shared.exists() else (*ALLOWED, NOT_BESIDE)
    return any(re.fullmatch(pattern, reason, re.DOTALL) for pattern in patterns)


def undeclared(longrepr: Any) -> str | None:
    """What to say of a skip in CI; None if it is all right, or if this is not CI."""
    reason = str(longrepr[2] if isinstance(longrepr, tuple) else longrepr).removeprefix("Skipped: ")
    if not os.environ.get("CI") or is_declared(reason):
        return None
    return f"skipped in CI: {reason!r}; run it here, or declare the reason in tests/support/declared_skips.py"


def _fail(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip that is not declared into a failure."""
    if report.skipped and not hasattr(report, "wasxfail") and (message := undeclared(report.longrepr)):
        report.outcome, report.longrepr = "failed", message


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tests and fixtures that skip."""
    report = yield
    _fail(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Files that skip as a whole, as with ``importorskip`` at their top."""
    report = yield
    _fail(report)
    return report
