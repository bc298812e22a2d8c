"""The constants of a corruption are part of a cell's key: where a later version has others, nothing old is reused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import oodometer as odo
from oodometer.core.condition import Transform
from oodometer.core.records import record_of_condition
from oodometer.corruptions import registry, severities
from oodometer.corruptions.registry import BAR, COMMON, EXTRA, corruptions
from oodometer.corruptions.severities import tables
from oodometer.shifts.imagenet_c import CANONICAL, SMALL, corrupting

NAME = "flat_for_this_test"
VIEWS = {32: SMALL, 64: odo.Geometry(64, 64), 224: CANONICAL, 299: odo.Geometry(299, 299), None: None}


def transform(name: str, severity: int, side: int | None) -> Transform:
    return corrupting(name, severity, quality=None, view=VIEWS[side], seed=0)


@pytest.fixture
def change(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int, int], None]:
    """Another constant of one corruption at one severity and side, as a later version may have it."""

    def changed(name: str, severity: int, side: int) -> None:
        levels = list(tables()[name][side])
        first, *others = levels[severity - 1]
        levels[severity - 1] = (first + 1, *others)
        new = {**tables(), name: {**tables()[name], side: tuple(levels)}}
        for module in (severities, registry):
            monkeypatch.setattr(module, "tables", lambda: new)

    return changed


@pytest.mark.parametrize("name", [*COMMON, *EXTRA, *BAR])
def test_another_constant_is_another_transform_at_that_severity_and_side_alone(name, change):
    places = [(severity, side) for severity in range(1, 6) for side in tables()[name]]
    before = {place: transform(name, *place).parameters for place in places}
    at_each_size = transform(name, 3, None).parameters
    for place in places:
        assert before[place]["constants"] == list(tables()[name][place[1]][place[0] - 1])
    change(name, 3, 224)
    after = {place: transform(name, *place).parameters for place in places}
    assert [place for place in places if before[place] != after[place]] == [(3, 224)]
    assert transform(name, 3, None).parameters != at_each_size


def test_the_key_is_another(make_dataset, change):
    def key() -> str:
        return record_of_condition(odo.Condition("c", make_dataset(), transform=transform("fog", 3, 224))).key

    before = key()
    assert key() == before
    change("fog", 3, 224)
    assert key() != before


def test_what_was_made_with_other_constants_is_made_again(photos: Path, tmp_path: Path):
    """A corruption of one's own whose strengths change, also where more images are asked for than before."""
    shown: list[float] = []

    def register(amount: float) -> None:
        corruptions._loaded.pop(NAME, None)
        odo.corruption(NAME, strengths=[amount] * 5)(lambda image, level, _: image * 0 + np.uint8(level))

    def answer(images: np.ndarray) -> np.ndarray:
        shown.extend(float(image.mean()) for image in images)
        return np.zeros((len(images), 4), dtype=np.float32)

    def run(amount: float, images: int) -> list[float]:
        register(amount)
        shifts = odo.load_shifts(f"own/{NAME}/1", data=str(photos), images=images)
        shown.clear()
        odo.run([model], shifts, store=str(tmp_path / "runs"), options=odo.RunOptions(threads=1))
        return [one for one in shown if one in (10, 20)]

    view = odo.Geometry(32, 32)
    model = odo.load_model(answer, name="m", input=odo.Input(view, (0.0, 0.0, 0.0), (1 / 255,) * 3))
    assert run(10, 4) == [10] * 4
    assert run(10, 4) == []
    assert run(10, 8) == [10] * 4
    assert run(20, 8) == [20] * 8
    del corruptions._loaded[NAME]
