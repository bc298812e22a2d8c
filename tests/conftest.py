"""What many tests share: a cache of their own, small photographs, and where the real ones may lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from declared_skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: F401 - pytest calls them
from oodometer.core.dataset import Dataset, Progress, Scan
from oodometer.core.labels import LabelSpace, numbered
from oodometer.core.preprocessing import Geometry
from postgres_server import either_database, postgres  # noqa: F401 - pytest finds them
from shared_data import shared


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OODOMETER_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def imagenet_sample() -> Path:
    return shared("imagenet-sample")


@dataclass(frozen=True)
class FakeSource:
    """Images of one pixel whose value is their position; the content is given."""

    contents: tuple[bytes, ...]

    def views(self, index: int, views: Sequence[Geometry | None]) -> list[np.ndarray]:
        return [np.full((1, 1, 3), index, dtype=np.uint8) for _ in views]

    def scan(self, indices: np.ndarray, progress: Progress) -> Scan:
        progress(len(indices), len(indices))
        return Scan(tuple(self.contents[index] for index in indices), {})


@pytest.fixture
def make_dataset() -> Callable[..., Dataset]:
    """A factory of data sets in memory: ``make_dataset(n, k=..., labels=..., ids=..., contents=..., ...)``."""

    def make(
        n: int = 4,
        *,
        k: int = 3,
        labels: Sequence[int] | np.ndarray | None = None,
        space: LabelSpace | None = None,
        ids: Sequence[str] | None = None,
        contents: Sequence[bytes] | None = None,
        name: str = "val",
        columns: dict[str, np.ndarray] | None = None,
        subset: str = "",
    ) -> Dataset:
        space = space or numbered(k)
        return Dataset(
            name=name,
            ids=tuple(ids if ids is not None else (f"{index:04d}" for index in range(n))),
            labels=np.asarray(labels if labels is not None else np.arange(n) % len(space), dtype=np.int64),
            space=space,
            source=FakeSource(tuple(contents or (index.to_bytes(16, "big") for index in range(n)))),
            rows=np.arange(n),
            columns=columns or {},
            subset=subset,
        )

    return make


COLOURS = {"blue": (40, 60, 200), "green": (40, 180, 60), "grey": (128, 128, 128), "red": (210, 50, 40)}


def coloured_photo(colour: tuple[int, int, int], seed: int, size: tuple[int, int]) -> Image.Image:
    """A noisy picture of one colour, so that a model's answer to it is known."""
    rng = np.random.default_rng(seed)
    pixels = np.asarray(colour) + rng.normal(0, 20, (size[1], size[0], 3))
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Four classes of ten pictures each, of many sizes."""
    root = tmp_path / "val"
    for place, (name, colour) in enumerate(COLOURS.items()):
        (root / name).mkdir(parents=True)
        for number in range(10):
            picture = coloured_photo(colour, 100 * place + number, (40 + 3 * number, 60 - number))
            picture.save(root / name / f"{number}.{'png' if number % 2 else 'jpg'}")
    return root
