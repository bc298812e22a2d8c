"""Whole images for people who compare them: encoded anew, and kept in memory for a while."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from fastapi.responses import Response

from oodometer.build.testset.project.large_copies import LARGE_SIDE, large_copy

SIDES = {"medium": 480, "large": LARGE_SIDE}
"""The sizes that pages ask for."""

KEPT = 200


@lru_cache(KEPT)
def _copy(folder: Path, file: str, side: int) -> tuple[str, bytes]:
    return large_copy(folder, file, side)


def large_picture(folder: Path, file: str, size: str = "large") -> Response:
    """A copy of a whole image. A file of a project never changes, so the browser may keep it."""
    kind, content = _copy(folder, file, SIDES[size])
    return Response(content, media_type=kind, headers={"cache-control": "private, max-age=3600"})
