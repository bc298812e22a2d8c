"""Waiting for what another process writes."""

from __future__ import annotations

import os
import time
from pathlib import Path


def count_entries(folder: Path, suffix: str = "") -> int:
    """How many entries are there whose names end so; os.walk, unlike glob, is content when a folder goes away."""
    return sum(name.endswith(suffix) for _, folders, files in os.walk(folder) for name in [*folders, *files])


def wait_for_parts(store: Path, count: int) -> None:
    until = time.monotonic() + 60
    while count_entries(store / "cells", ".parquet") < count:
        assert time.monotonic() < until, "the run wrote nothing"
        time.sleep(0.01)
