"""What tells that a folder is a project; known without a database."""

from __future__ import annotations

from pathlib import Path

PLACE = "testset.json"
"""Says where the database is. Its address may hold a password, so others can't read the file."""


def is_project(address: str | Path) -> bool:
    """Whether a test set in the making is in that folder."""
    return "://" not in str(address) and (Path(address) / PLACE).is_file()
