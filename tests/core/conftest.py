"""What the tests of the nouns share: data sets that live in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from oodometer.core.dataset import Dataset, Progress, Scan
from oodometer.core.labels import LabelSpace, numbered
from oodometer.core.view import View


@dataclass(frozen=True)
class FakeSource:
    """Images of one pixel whose value is their position; the content is given."""

    contents: tuple[bytes, ...]

    def views(self, index: int, views: Sequence[View | None]) -> list[np.ndarray]:
        return [np.full((1, 1, 3), index, dtype=np.uint8) for _ in views]

    def scan(self, indices: np.ndarray, progress: Progress) -> Scan:
        progress(len(indices), len(indices))
        return Scan(tuple(self.contents[index] for index in indices), {})


@pytest.fixture
def make_dataset() -> Callable[..., Dataset]:
    """A factory: ``make_dataset(n, labels=..., space=..., ids=..., contents=..., name=..., columns=...)``."""

    def make(
        n: int = 4,
        *,
        labels: Sequence[int] | None = None,
        space: LabelSpace | None = None,
        ids: Sequence[str] | None = None,
        contents: Sequence[bytes] | None = None,
        name: str = "val",
        columns: dict[str, np.ndarray] | None = None,
    ) -> Dataset:
        space = space or numbered(3)
        return Dataset(
            name=name,
            ids=tuple(ids if ids is not None else (f"{index:04d}" for index in range(n))),
            labels=np.asarray(labels if labels is not None else np.arange(n) % len(space), dtype=np.int64),
            space=space,
            source=FakeSource(tuple(contents or (index.to_bytes(16, "big") for index in range(n)))),
            rows=np.arange(n),
            columns=columns or {},
        )

    return make
