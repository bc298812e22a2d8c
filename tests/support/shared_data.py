"""Data that is too large or not ours to bundle, and may lie beside the project in ``../shared``."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"
"""Real data that may lie beside the project; tests that use it skip where it is missing."""


def shared(*parts: str) -> Path:
    """A file or folder of it; where it is missing the test that asks is skipped, and says so in these words."""
    __tracebackhide__ = True  # so that the summary names the test
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"../shared/{'/'.join(parts)} is not here")
    return path
