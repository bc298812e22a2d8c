"""What the store has already is not asked for again: images of another choice, and all but those that were broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from oodometer.core.labels import numbered
from oodometer.engine.plan import cell_for
from oodometer.engine.reuse import known_rows
from oodometer.store.index import look
from oodometer.store.run import Run

VIEW = odo.Geometry(8, 8)
CLASSES = 5


@dataclass
class Asked:
    """A model that remembers how often it was asked about each image."""

    images: Counter[bytes] = field(default_factory=Counter)

    def __call__(self, images: np.ndarray) -> np.ndarray:
        self.images.update(image.tobytes() for image in images)
        weights = np.random.default_rng(0).normal(size=(images[0].size, CLASSES))
        return (images.reshape(len(images), -1).astype(np.float64) @ weights / 255).astype(np.float32)

    @property
    def n(self) -> int:
        """How many answers it gave."""
        return sum(self.images.values())


def model_of(asked: Asked, *, name: str = "net", classes: odo.LabelSpace | None = None) -> odo.Model:
    seen = odo.Input(view=VIEW, mean=(0, 0, 0), std=(1, 1, 1))
    return odo.Model(name, "callable", f"digest of {name}", seen, classes or numbered(CLASSES), lambda compute: asked)


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """300 pictures of five classes."""
    rng = np.random.default_rng(1)
    for number in range(300):
        file = tmp_path / "set" / str(number % CLASSES) / f"{number:03d}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)).save(file)
    return tmp_path / "set"


@pytest.fixture
def some(pictures: Path) -> Callable[[int], odo.Dataset]:
    """As many of the pictures as are asked for, chosen as ``--images`` does it."""
    whole = odo.load_data(str(pictures))
    return lambda n: odo.stratified(whole, n)


def rows_of(made: Run, *, logits: bool = False) -> odo.Predictions:
    (cell,) = made.cells
    return made.store.read(cell, logits=logits)


def same(left: odo.Predictions, right: odo.Predictions) -> None:
    for one in fields(odo.Predictions):
        np.testing.assert_array_equal(getattr(left, one.name), getattr(right, one.name), err_msg=one.name)


def darker(image: np.ndarray, image_id: str) -> np.ndarray:
    return image // 2 + odo.rng_for("darker", 1, image_id).integers(0, 9, image.shape).astype(np.uint8)


def conditions_of(data: odo.Dataset) -> dict[str, odo.Condition]:
    return {
        "clean": odo.clean(data),
        "grouped": odo.Condition(
            "grouped", data, odo.super_classes("two", data.space, {"even": ["0", "2", "4"], "odd": ["1", "3"]})
        ),
        "darker": odo.Condition("darker", data, transform=odo.Transform("darker", {"seed": 0}, darker, VIEW)),
    }


# Another choice of images


@pytest.mark.parametrize("kind", ["clean", "grouped", "darker"])
@pytest.mark.parametrize("keep", ["summary", "logits"])
def test_of_200_images_only_the_new_hundred_are_asked_for(some, counted: Any, tmp_path: Path, kind, keep) -> None:
    options = odo.RunOptions(keep=keep, chunk=32, threads=2)
    first, asked, address = some(100), Asked(), str(tmp_path / "runs")
    odo.run([model_of(Asked())], [conditions_of(first)[kind]], store=address, options=options)
    data, source = counted(some(200))
    assert set(first.ids) < set(data.ids), "the choice of fewer is part of the choice of more"
    told: list[tuple[int, int]] = []
    grown = odo.run(
        [model_of(asked)],
        [conditions_of(data)[kind]],
        store=address,
        options=options,
        watcher=odo.Watcher(running=lambda done, total: told.append((done, total))),
    )
    new = [place for place, one in enumerate(data.ids) if one not in set(first.ids)]
    assert sorted(source.decoded) == sorted(data.rows[new].tolist()), "the new ones are decoded, each once"
    assert (asked.n, set(asked.images.values())) == (100, {1})
    assert (told[0], told[-1]) == ((0, 100), (100, 100))
    fresh = odo.run(
        [model_of(Asked())], [conditions_of(some(200))[kind]], store=str(tmp_path / "fresh"), options=options
    )
    same(rows_of(grown, logits=keep == "logits"), rows_of(fresh, logits=keep == "logits"))
    assert look(grown.store).is_complete(grown.cells[0])


def test_of_fewer_images_none_is_asked_for(some, counted: Any, tmp_path: Path) -> None:
    address, asked = str(tmp_path / "runs"), Asked()
    odo.run([model_of(Asked())], [odo.clean(some(200))], store=address)
    data, source = counted(some(100))
    smaller = odo.run([model_of(asked)], [odo.clean(data)], store=address)
    assert (source.decoded, asked.n) == ([], 0)
    same(rows_of(smaller), rows_of(odo.run([model_of(Asked())], [odo.clean(some(100))], store=str(tmp_path / "fresh"))))


def test_of_a_run_that_stopped_what_is_there_is_used_too(some, counted: Any, tmp_path: Path) -> None:
    class Stops(Asked):
        def __call__(self, images: np.ndarray) -> np.ndarray:
            if self.n >= 60:
                raise odo.ModelError("out of memory")
            return super().__call__(images)

    address, asked = str(tmp_path / "runs"), Asked()
    with pytest.raises(odo.ModelError, match="out of memory"):
        odo.run([model_of(Stops())], [odo.clean(some(100))], store=address, options=odo.RunOptions(threads=1, chunk=20))
    odo.run([model_of(asked)], [odo.clean(some(200))], store=address)
    assert asked.n == 200 - 60


def test_rows_of_images_without_logits_are_asked_for_when_logits_are_wanted(some, tmp_path: Path) -> None:
    address, asked = str(tmp_path / "runs"), Asked()
    odo.run([model_of(Asked())], [odo.clean(some(100))], store=address)
    odo.run([model_of(asked)], [odo.clean(some(200))], store=address, options=odo.RunOptions(keep="logits"))
    assert asked.n == 200


@pytest.mark.parametrize("other", ["model", "weights", "classes", "label", "transform", "content"])
def test_answers_to_anything_else_are_not_used(some, pictures: Path, tmp_path: Path, other) -> None:
    address, asked, data = str(tmp_path / "runs"), Asked(), some(100)
    first = conditions_of(data)["darker"]
    odo.run([model_of(Asked())], [first], store=address)
    model, new = model_of(asked), some(200)
    n_known = 100
    if other == "model":
        model, n_known = model_of(asked, name="other"), 0
    elif other == "weights":
        model, n_known = replace(model, digest="others"), 0
    elif other == "classes":
        model, n_known = replace(model, space=odo.LabelSpace("mine", tuple("10234"))), 0
    elif other == "label":
        labels = new.labels.copy()
        labels[new.ids.index(data.ids[0])] = (data.labels[0] + 1) % CLASSES
        new, n_known = replace(new, labels=labels), 99
    elif other == "content":
        (file,) = pictures.glob(f"{data.ids[0]}.png")
        Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(file)
        new, n_known = odo.stratified(odo.load_data(str(pictures)), 200), 99
    condition = conditions_of(new)["darker"]
    if other == "transform":
        assert condition.transform is not None
        condition, n_known = replace(condition, transform=replace(condition.transform, parameters={"seed": 1})), 0
    odo.run([model], [condition], store=address)
    assert asked.n == 200 - n_known


def test_what_is_damaged_is_asked_for_again(some, tmp_path: Path) -> None:
    address, asked = tmp_path / "runs", Asked()
    odo.run([model_of(Asked())], [odo.clean(some(100))], store=str(address))
    (table,) = address.glob("datasets/*")
    table.write_bytes(b"")
    said = f"{address}/datasets/{table.name.partition('.')[0]}...parquet: missing or damaged; "
    done = odo.run([model_of(asked)], [odo.clean(some(200))], store=str(address))
    assert asked.n == 200
    assert done.warnings == (f"{said}its answers are not used again; the run that made it mends it",)
    # The same images again: nothing to ask, and the table is mended in one line.
    done = odo.run([model_of(asked)], [odo.clean(some(100))], store=str(address))
    assert (asked.n, done.warnings) == (200, (f"{said}written anew",))
    assert odo.run([model_of(asked)], [odo.clean(some(100))], store=str(address)).warnings == ()
    assert odo.verify(str(address)).damage == ()


def test_groups_of_frames_are_asked_for_anew(make_dataset, tmp_path: Path) -> None:
    data = make_dataset(6, k=CLASSES, columns={"anchor": np.repeat([0, 1, 2], 2)})
    index = look(odo.run([model_of(Asked())], [odo.clean(data)], store=str(tmp_path / "runs")).store)
    condition = odo.Condition("pm-1", data, unit="anchor")
    cell = cell_for(model_of(Asked()), condition, precision="float32")
    assert known_rows(index, cell, condition, keep_logits=False) == (None, ())


# Images that could not be read


@pytest.mark.parametrize("keep", ["summary", "logits"])
def test_an_image_that_could_not_be_read_once_is_tried_again(
    some, pictures: Path, counted: Any, tmp_path: Path, keep
) -> None:
    """Its content is what it was; the decoder failed, or did not know the format."""
    options = odo.RunOptions(skip_broken=True, keep=keep)
    address, data = str(tmp_path / "runs"), odo.load_data(str(pictures))
    failing = replace(data, source=Failing(data.source, {7, 11}))
    first, second = Asked(), Asked()
    torn = odo.run([model_of(first)], [odo.clean(failing)], store=address, options=options)
    assert (first.n, len(rows_of(torn).image)) == (298, 298)
    again, source = counted(odo.load_data(str(pictures)))
    mended = odo.run([model_of(second)], [odo.clean(again)], store=address, options=options)
    assert mended.cells[0].key == torn.cells[0].key
    assert (sorted(source.decoded), second.n) == ([7, 11], 2)
    fresh = odo.run(
        [model_of(Asked())], [odo.clean(odo.load_data(str(pictures)))], store=str(tmp_path / "fresh"), options=options
    )
    same(rows_of(mended, logits=keep == "logits"), rows_of(fresh, logits=keep == "logits"))
    third = Asked()
    odo.run([model_of(third)], [odo.clean(odo.load_data(str(pictures)))], store=address, options=options)
    assert third.n == 0


def test_an_image_that_is_still_broken_stays_left_out(pictures: Path, counted: Any, tmp_path: Path) -> None:
    (pictures / "0" / "005.png").write_bytes(b"no picture")
    options, address = odo.RunOptions(skip_broken=True), str(tmp_path / "runs")
    odo.run([model_of(Asked())], [odo.clean(odo.load_data(str(pictures)))], store=address, options=options)
    data, source = counted(odo.load_data(str(pictures)))
    asked = Asked()
    made = odo.run([model_of(asked)], [odo.clean(data)], store=address, options=options)
    assert (source.decoded, asked.n) == ([], 0)
    assert len(rows_of(made).image) == 299


@dataclass(frozen=True)
class Failing:
    """A source that can't decode some images, though it reads their bytes."""

    inner: Any
    broken: set[int]

    def views(self, index: int, views: Any) -> list[np.ndarray]:
        if index in self.broken:
            raise odo.DataError(f"image {index}: can't be decoded")
        return self.inner.views(index, views)

    def scan(self, indices: np.ndarray, progress: Any) -> Any:
        return self.inner.scan(indices, progress)


# Logits that are added to what is there


@pytest.mark.parametrize("second_chunk", [5, 7, 40])
def test_logits_that_were_half_added_are_not_asked_for_again(some, tmp_path: Path, second_chunk: int) -> None:
    """A run for the logits of a complete cell is killed, and another one cuts the images otherwise."""

    class Stops(Asked):
        def __call__(self, images: np.ndarray) -> np.ndarray:
            if self.n >= 15:
                raise odo.ModelError("out of memory")
            return super().__call__(images)

    address, condition = str(tmp_path / "runs"), odo.clean(some(40))
    odo.run([model_of(Asked())], [condition], store=address)
    options = odo.RunOptions(keep="logits", threads=1, chunk=5)
    with pytest.raises(odo.ModelError, match="out of memory"):
        odo.run([model_of(Stops())], [condition], store=address, options=options)
    asked = Asked()
    made = odo.run([model_of(asked)], [condition], store=address, options=replace(options, chunk=second_chunk))
    assert asked.n == 25
    fresh = odo.run([model_of(Asked())], [odo.clean(some(40))], store=str(tmp_path / "fresh"), options=options)
    same(rows_of(made, logits=True), rows_of(fresh, logits=True))
