"""Learned networks in files under a key of what they were learned from, so that none is learned twice."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from oodometer.core.digests import digest_of
from oodometer.train.writing import write_whole


def kept(folder: Path | None, name: str, about: Mapping[str, Any], learn: Callable[[], dict[str, Any]]) -> Any:
    """The state dict that ``learn`` gives, from its file where it was learned before.

    Args:
        folder: Where files are kept; None: nowhere.
        about: All that it depends on.
    """
    import torch

    path = None if folder is None else folder / f"{name}-{digest_of(about)[:16]}.pt"
    if path is not None and (state := _read(path)) is not None:
        return state
    state = learn()
    if path is not None:
        content = io.BytesIO()  # in a file, torch would write its name into it
        torch.save(state, content)
        write_whole(path, content.getvalue())
    return state


def _read(path: Path) -> dict[str, Any] | None:
    """What is in a file of tensors; None where it is missing or damaged, so that it is made anew."""
    import torch

    try:
        state = torch.load(io.BytesIO(path.read_bytes()), map_location="cpu", weights_only=True)
    except Exception:  # torch.load raises whatever the bytes lead to
        return None
    return state if isinstance(state, dict) else None
