"""What the shifts look like: clean beside shifted of the same class, the same image where there is one, and no more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oodometer.core.condition import Condition, Shift
from oodometer.core.labels import LabelSpace
from oodometer.core.records import record_of_shift
from oodometer.document.section import Pictures, Words
from oodometer.report.html.page import sections_of
from oodometer.report.html.sections.shift_pictures import MOST_CHARACTERS, MOST_SHIFTS, section
from oodometer.study import study_of

PETS = LabelSpace("pets", ("cat", "n02099601", "eel", "ant"))


class Shown:
    """Grey images; it remembers which were asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def __call__(self, cell, image):
        self.asked.append((cell.condition_name, image))
        return np.full((20, 30, 3), 9, dtype=np.uint8)


@pytest.fixture
def with_shifts(filled, make_dataset):
    """A clean set, a corruption of it, and as many natural shifts as asked for."""

    def fill(n):
        clean = make_dataset(8, labels=[0, 1, 2, 3] * 2, space=PETS, name="iid")
        filled.add(clean, [0] * 8, condition="iid")
        for number in range(n):
            name = f"s{number}"
            data = make_dataset(6, labels=[0, 1, 2] * 2, space=PETS, name=name, ids=[f"{name}-{at}" for at in range(6)])
            shift = Shift(name, "style", Condition("iid", clean), Condition(name, data))
            filled.store.add_shift(record_of_shift(shift))
            filled.add(data, [0] * 6, condition=name)
        filled.add(clean, [0] * 8, condition="fog/3", transform={"name": "fog"})
        return study_of(filled.store)

    return fill


def test_pairs_of_one_class_each_and_the_same_image_where_it_can_be(with_shifts):
    shown = Shown()
    found = section(replace(with_shifts(1), picture=shown))
    natural, fog = (one for one in found.parts if isinstance(one, Pictures))
    assert natural.caption == "s0 (style) against iid. Other images of the same classes. Pairs shown: 3."
    names = [lines[0] for _, _, lines in natural.images]
    assert names[::2] == names[1::2]
    assert set(names) == {"cat", "golden retriever", "eel"}  # an ant is in no image of s0
    assert [lines[1] for _, _, lines in natural.images] == ["iid", "s0"] * 3
    assert "The same images on both sides" in fog.caption
    asked = [image for condition, image in shown.asked if not condition.startswith("s0")][3:]
    assert asked[::2] == asked[1::2]


def test_the_same_store_shows_the_same_images(with_shifts):
    study, first, again = with_shifts(1), Shown(), Shown()
    section(replace(study, picture=first))
    section(replace(study, picture=again))
    assert first.asked == again.asked


def test_never_more_than_a_page_bears(with_shifts):
    rng = np.random.default_rng(0)
    study = with_shifts(MOST_SHIFTS + 2)
    found = section(replace(study, picture=lambda *_: rng.integers(0, 255, (400, 400, 3), dtype=np.uint8)))
    pictures = [one for one in found.parts if isinstance(one, Pictures)]
    assert sum(len(image[0]) for one in pictures for image in one.images) <= MOST_CHARACTERS
    assert all(len(one.images) % 2 == 0 for one in pictures)
    assert isinstance(found.parts[-1], Words)


def test_nothing_without_images(with_shifts):
    study = with_shifts(1)
    assert section(study) is None
    assert section(replace(study, picture=lambda *_: None)) is None
    assert "shift-pictures" not in [each.id for each in sections_of(study)]
