"""An image that changes between the scan and the run: an error, and nothing is kept as the answer to the old one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from oodometer.store.index import look


def by_brightness(images: np.ndarray) -> np.ndarray:
    """Class 0 for dark pictures, class 1 for bright ones."""
    bright = images.reshape(len(images), -1).mean(axis=1) / 255
    return np.stack([0.5 - bright, bright - 0.5], axis=1).astype(np.float32)


def paint(file: Path, value: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((32, 32, 3), value, np.uint8)).save(file)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(4):
        paint(tmp_path / "set" / "0" / f"{number}.bmp", 10)
        paint(tmp_path / "set" / "1" / f"{number}.bmp", 240)
    return tmp_path / "set"


@pytest.fixture
def model() -> odo.Model:
    seen = odo.Input(view=odo.Geometry(32, 32, resize=36), mean=(0, 0, 0), std=(1, 1, 1))
    space = odo.LabelSpace("numbers", ("0", "1"))
    return odo.Model("brightness", "callable", "digest", seen, space, open=lambda compute: by_brightness)


def after_the_scan(change: Callable[[], None]) -> odo.Watcher:
    return odo.Watcher(scanning=lambda done, total: change() if done == total else None)


@pytest.mark.parametrize("skip_broken", [False, True])
def test_it_is_an_error_and_the_next_run_is_right(
    folder: Path, tmp_path: Path, model: odo.Model, skip_broken: bool
) -> None:
    options = odo.RunOptions(skip_broken=skip_broken)
    dark = folder / "0" / "2.bmp"
    with pytest.raises(odo.DataError) as caught:
        odo.run(
            [model],
            [odo.clean(odo.load_data(folder))],
            store=str(tmp_path / "runs"),
            options=options,
            watcher=after_the_scan(lambda: paint(dark, 240)),
        )
    assert str(caught.value) == f"{dark}: has changed since it was scanned; run again"
    kept = odo.open_store(str(tmp_path / "runs"))
    for cell in look(kept).cells:
        with pytest.raises(odo.StoreError, match="no predictions"):
            kept.read(cell)
    store = odo.run([model], [odo.clean(odo.load_data(folder))], store=str(tmp_path / "runs"), options=options)
    row = next(row for row in odo.score(store).rows if row.state == "complete")
    assert (row.estimate.n, row.estimate.value) == (8, 7 / 8)  # seven pictures have the brightness of their class
