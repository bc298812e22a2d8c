"""The images behind predictions: the very pixels that models were shown, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from oodometer.core.attack import Attack
from oodometer.core.condition import Condition, clean
from oodometer.core.errors import DataError, UsageError
from oodometer.core.labels import LabelSpace
from oodometer.core.model import Input, Model
from oodometer.core.records import record_of_condition
from oodometer.data.root import root_at
from oodometer.shifts.imagenet_c import CANONICAL, SMALL, as_it_is, corrupted, imagenet_c_on_disk, without_colours
from oodometer.shifts.imagenet_p import frame_at
from oodometer.store.index import Index, look
from oodometer.study.pictures import album_of, as_shown


class Watching:
    """A model that remembers all it is shown."""

    def __init__(self, side: int, classes: tuple[str, ...]) -> None:
        self.seen: list[np.ndarray] = []
        view = odo.Geometry(side, side)
        self.model = Model("watching", "test", "a" * 32, Input(view), LabelSpace("test", classes), lambda _: self._ask)

    def _ask(self, images: np.ndarray) -> np.ndarray:
        self.seen += list(images)
        return np.tile(np.arange(len(self.model.space), dtype=np.float32), (len(images), 1))


def watched(condition: Condition, folder: Path, side: int = 32) -> tuple[Index, list[np.ndarray]]:
    """What a model was shown in a run of one condition, in the order of the data."""
    watching = Watching(side, condition.dataset.space.classes)
    run = odo.run([watching.model], [condition], store=str(folder), options=odo.RunOptions(threads=1))
    return look(run.store), watching.seen


def loaded(photos: Path, n: int = 4) -> odo.Dataset:
    data = odo.load_data(photos)
    return odo.stratified(data, n, seed=3)


SMALL_ONES = [("fog", 3, None), ("frost", 5, None), ("gaussian_noise", 2, None), ("jpeg_compression", 1, 85)]


@pytest.mark.parametrize(("name", "severity", "quality"), SMALL_ONES)
def test_a_corruption_is_what_the_engine_showed(photos, tmp_path, name, severity, quality):
    data = loaded(photos)
    condition = corrupted(data, "cifar10-c", name, severity, quality=quality, view=SMALL, seed=7)
    index, seen = watched(condition, tmp_path / "runs")
    (cell,) = index.cells
    album = album_of([str(photos)], index)
    for image_id, pixels in zip(data.ids, seen, strict=True):
        np.testing.assert_array_equal(album(cell, image_id), pixels)


@pytest.mark.parametrize("side", [224, 96])
@pytest.mark.parametrize("severity", [0, 3])
def test_the_very_pixels_that_a_model_was_given_whatever_its_size(photos, tmp_path, side, severity):
    data = loaded(photos)
    condition = clean(data)
    if severity:
        condition = corrupted(data, "imagenet-c", "gaussian_noise", severity, quality=85, view=CANONICAL, seed=7)
    index, seen = watched(condition, tmp_path / "runs", side=side)
    (cell,) = index.cells
    album = album_of([str(photos)], index)
    for image_id, pixels in zip(data.ids, seen, strict=True):
        np.testing.assert_array_equal(as_shown(album, cell, image_id), pixels)


def test_other_transforms_too(photos, tmp_path):
    data = loaded(photos, 2)
    frame = Condition("frame", data, transform=frame_at("gaussian_noise", 3, seed=5))
    grey = Condition("greyscale", data, transform=without_colours())
    cut = Condition("cut", data, transform=as_it_is(CANONICAL))
    for number, condition in enumerate([grey, frame, cut]):
        index, seen = watched(condition, tmp_path / str(number), side=224)
        (cell,) = index.cells
        album = album_of([str(photos)], index)
        for image_id, pixels in zip(data.ids, seen, strict=True):
            np.testing.assert_array_equal(album(cell, image_id), pixels)


def test_clean_images_are_whole_and_a_subset_is_found_in_all(photos, tmp_path):
    data = loaded(photos)
    index, _ = watched(clean(data), tmp_path / "runs")
    (cell,) = index.cells
    assert cell.data.title == "val[4, seed 3]"
    shown = album_of([str(photos)], index)(cell, data.ids[0])
    file = next(photos.rglob(f"{data.ids[0].removesuffix('.jpg').removesuffix('.png')}.*"))
    np.testing.assert_array_equal(shown, np.asarray(Image.open(file).convert("RGB")))
    outside = next(one for one in odo.load_data(photos).ids if one not in data.ids)
    assert album_of([str(photos)], index)(cell, outside) is None


def test_the_same_id_with_other_content_is_another_image(photos, tmp_path):
    data = loaded(photos)
    index, _ = watched(clean(data), tmp_path / "runs")
    (cell,) = index.cells
    album = album_of([str(photos)], index)
    before = album(cell, data.ids[1])
    assert before is not None
    file = Path(data.source.images.name(int(data.rows[1])))
    Image.fromarray(255 - before).save(file)
    assert album(cell, data.ids[1]) is None
    file.unlink()
    assert album(cell, data.ids[1]) is None
    assert album(cell, data.ids[0]) is not None


def test_parts_with_ids_of_their_own_are_found_by_their_place(tmp_path):
    folder = tmp_path / "ImageNet-C"
    for place, part in enumerate(("fog/1", "fog/3", "snow/3")):
        (folder / part / "n01443537").mkdir(parents=True)
        Image.new("RGB", (224, 224), (40 * place, 0, 0)).save(folder / part / "n01443537" / "x.JPEG")
    conditions = imagenet_c_on_disk(odo.load_data(folder, kind="imagenet-c"))
    asked = next(one for one in conditions if one.name == "imagenet-c:disk/snow/3")
    index, seen = watched(asked, tmp_path / "runs", side=224)
    (cell,) = index.cells
    assert not set(asked.dataset.ids) & set(odo.load_data(folder).ids)
    np.testing.assert_array_equal(album_of([str(folder)], index)(cell, asked.dataset.ids[0]), seen[0])


@pytest.mark.parametrize("asked", ["../../../etc/passwd", "/etc/passwd", "", "red/../red/0.jpg", "\0", "red/0.jpg\0"])
def test_nothing_else_can_be_had(photos, tmp_path, asked):
    index, _ = watched(clean(loaded(photos)), tmp_path / "runs")
    assert album_of([str(photos)], index)(index.cells[0], asked) is None


def test_an_attack_has_no_picture_without_its_model(photos, tmp_path):
    data = loaded(photos)
    index, _ = watched(clean(data), tmp_path / "runs")
    (cell,) = index.cells
    asked = Condition("mine", data, attack=Attack("mine", {"epsilon": 4}, lambda *_: None))  # type: ignore[arg-type]
    attacked = replace(cell, condition=record_of_condition(asked))
    album = album_of([str(photos)], index)
    assert album(cell, data.ids[0]) is not None
    assert album(attacked, data.ids[0]) is None


def test_a_transform_that_cant_be_made_again_has_no_picture(photos, tmp_path):
    data = loaded(photos)
    transform = odo.Transform("upside down", {"seed": 1}, lambda image, _: image[::-1], view=SMALL)
    index, _ = watched(Condition("upside down", data, transform=transform), tmp_path / "runs")
    assert album_of([str(photos)], index)(index.cells[0], data.ids[0]) is None


def test_data_that_are_not_of_the_store(photos, tmp_path):
    index, _ = watched(clean(loaded(photos)), tmp_path / "runs")
    other = tmp_path / "other"
    for place, name in enumerate(("blue", "red")):
        (other / name).mkdir(parents=True)
        Image.new("RGB", (8, 8), (place, 0, 0)).save(other / name / "0.png")
    with pytest.raises(UsageError, match=r"other: none of its images was shown to a model in .*runs; give the data"):
        album_of([str(photos), str(other)], index)
    with pytest.raises(DataError, match="no such file or folder"):
        album_of([str(tmp_path / "nowhere")], index)


def test_published_sets_are_found_below_a_root(tmp_path):
    folder = tmp_path / "root" / "imagenet-r"
    (folder / "n01443537").mkdir(parents=True)
    for number in range(3):
        Image.new("RGB", (8, 8), (number, 0, 0)).save(folder / "n01443537" / f"art_{number}.png")
    root = root_at(str(tmp_path / "root"), partial=True)
    assert root is not None
    data = root.open("imagenet-r")
    index, seen = watched(clean(odo.stratified(data, 2)), tmp_path / "runs", side=8)
    (cell,) = index.cells
    kept = odo.stratified(data, 2).ids
    album = album_of([str(tmp_path / "root")], index)
    assert [one for one in data.ids if album(cell, one) is not None] == list(kept)
    np.testing.assert_array_equal(album(cell, kept[0]), seen[0])
    assert album_of([], index)(cell, kept[0]) is None


def test_a_damaged_description_has_no_picture(photos, tmp_path):
    data = loaded(photos)
    condition = corrupted(data, "cifar10-c", "fog", 3, quality=None, view=SMALL, seed=0)
    index, _ = watched(condition, tmp_path / "runs")
    (cell,) = index.cells
    album = album_of([str(photos)], index)
    transform = cell.condition.transform
    parameters = dict(transform.parameters)
    for wrong in (
        replace(transform, parameters={**parameters, "severity": "3"}),
        replace(transform, parameters={**parameters, "severity": 9}),
        replace(transform, parameters={**parameters, "seed": "a"}),
        replace(transform, parameters={**parameters, "quality": []}),
        replace(transform, parameters={**parameters, "more": 1}),
        replace(transform, view=odo.Geometry(16_000, 16_000)),
        replace(transform, name="smog"),
        replace(transform, parameters={}),
    ):
        changed = replace(cell, condition=replace(cell.condition, transform=wrong))
        assert album(changed, data.ids[0]) is None, wrong
