"""Small pictures, in any place and encoding, and a count of what is read."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import numpy as np
import pytest
from PIL import Image

from oodometer.core.errors import OodometerError
from oodometer.data import addresses

Encode = Callable[..., bytes]
Put = Callable[[str, bytes], str]


@pytest.fixture(autouse=True)
def scan_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that no other test has written to."""
    folder = tmp_path / "own cache"
    monkeypatch.setenv("OODOMETER_CACHE", str(folder))
    return folder


@pytest.fixture
def pixels() -> Callable[..., np.ndarray]:
    def make(seed: int = 0, height: int = 12, width: int = 16) -> np.ndarray:
        return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)

    return make


@pytest.fixture
def encode(pixels: Callable[..., np.ndarray]) -> Encode:
    """The bytes of a picture; without one, of noise that belongs to the seed."""

    def to_bytes(picture: Image.Image | np.ndarray | int = 0, kind: str = "PNG", **options: object) -> bytes:
        if isinstance(picture, int):
            picture = pixels(picture)
        image = Image.fromarray(picture) if isinstance(picture, np.ndarray) else picture
        target = io.BytesIO()
        image.save(target, format=kind, **options)
        return target.getvalue()

    return to_bytes


@pytest.fixture(params=["local", "memory"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A place to put data: a folder on disk, or an fsspec address."""
    if request.param == "local":
        yield str(tmp_path / "data")
        return
    fsspec.filesystem("memory").store.clear()
    fsspec.filesystem("memory").pseudo_dirs[:] = [""]
    yield "memory://data"
    fsspec.filesystem("memory").store.clear()


@pytest.fixture
def put() -> Put:
    """Write a file, folders and all."""

    def write(address: str, content: bytes) -> str:
        if "://" in address:
            fs, path = fsspec.core.url_to_fs(address)
            fs.makedirs(fs._parent(path), exist_ok=True)
            fs.pipe_file(path, content)
        else:
            Path(address).parent.mkdir(parents=True, exist_ok=True)
            Path(address).write_bytes(content)
        return address

    return write


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that were read, whole or in part."""
    seen: list[str] = []
    for name in ("read_bytes", "read_range"):
        real = getattr(addresses, name)

        def counted(address: str, *args: int, real: Callable[..., bytes] = real) -> bytes:
            seen.append(address)
            return real(address, *args)

        monkeypatch.setattr(addresses, name, counted)
    return seen


@pytest.fixture
def settle() -> Callable[[], None]:
    """Wait until what was just written is old enough that its time of change tells it from what comes later."""
    return lambda: time.sleep(0.06)


@pytest.fixture
def error_of() -> Callable[[Callable[[], object]], str]:
    """The one line that a user would see."""

    def call(work: Callable[[], object]) -> str:
        with pytest.raises(OodometerError) as caught:
            work()
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return call
