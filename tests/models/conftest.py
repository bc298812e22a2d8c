from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current directory; modules imported from it are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def module(here: Path) -> Callable[..., str]:
    """Write a Python module into the current directory."""

    def write(text: str, name: str = "mynets") -> str:
        (here / f"{name}.py").write_text(text)
        return name

    return write


@pytest.fixture
def evil(tmp_path: Path) -> tuple[object, Path]:
    """An object whose unpickling makes a folder, and that folder."""
    marker = tmp_path / "code-was-run"
    return _Evil(str(marker)), marker


class _Evil:
    def __init__(self, marker: str) -> None:
        self.marker = marker

    def __reduce__(self):
        return (os.mkdir, (self.marker,))


@pytest.fixture(scope="session")
def timm():
    """timm beside a torchvision whose compiled part is missing: two names are all that the import asks for."""
    torch = pytest.importorskip("torch")
    library = torch.library.Library("torchvision", "DEF")
    for definition in (
        "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    ):
        library.define(definition)
    import timm

    yield timm
    del library
