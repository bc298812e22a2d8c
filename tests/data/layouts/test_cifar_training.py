"""CIFAR-10 and CIFAR-100 to train on, in every layout in which they are passed around: the same images and labels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from made_cifar import pixels, put_cifar_10, put_cifar_100
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.data.layouts.cifar import CLASSES
from oodometer.data.layouts.cifar_100 import broad_classes, open_cifar_100, subtypes
from oodometer.data.training_set import published_test_set, training_set

N = 10


def images_of(rows: np.ndarray) -> np.ndarray:
    """(N, 3072) as in the batches to (N, 32, 32, 3)."""
    return rows.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)


def ten() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training images and labels, test images and labels, as ``put_cifar_10`` has them."""
    labels = [(np.arange(N) * 3 + number) % 10 for number in range(6)]
    images = [images_of(pixels(some, 10, number)) for number, some in enumerate(labels)]
    return np.concatenate(images[1:]), np.concatenate(labels[1:]), images[0], labels[0]


def as_arrays(folder: Path) -> None:
    for name, value in zip(("x_train", "y_train", "x_test", "y_test"), ten(), strict=True):
        np.save(folder / f"{name}.npy", value[:, None] if name.startswith("y") else value)


def as_npz(folder: Path) -> None:
    np.savez(folder / "cifar10.npz", **dict(zip(("x_train", "y_train", "x_test", "y_test"), ten(), strict=True)))


def as_sheets(folder: Path) -> None:
    training, labels, test, test_labels = ten()
    for number in range(5):
        sheet = training[number * N : (number + 1) * N].reshape(N, 1024, 3)
        Image.fromarray(sheet).save(folder / f"data_batch_{number + 1}.png")
    Image.fromarray(test.reshape(N, 1024, 3)).save(folder / "test_batch.png")
    (folder / "train_lables.json").write_text(json.dumps(labels.tolist()))
    (folder / "test_lables.json").write_text(json.dumps(test_labels.tolist()))


def as_folders(folder: Path) -> None:
    training, labels, test, test_labels = ten()
    for part, images, some in (("train", training, labels), ("test", test, test_labels)):
        for number, (image, label) in enumerate(zip(images, some, strict=True)):
            place = folder / part / CLASSES.classes[label]
            place.mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(place / f"{number:04d}.png")


def content(dataset: Dataset) -> list[tuple[int, bytes]]:
    return sorted((int(label), dataset.image(row).tobytes()) for row, label in enumerate(dataset.labels))


@pytest.mark.parametrize("write", [as_arrays, as_npz, as_sheets, as_folders])
def test_cifar_10(tmp_path, write):
    put_cifar_10(tmp_path / "published" / "cifar-10-batches-bin", per_batch=N, binary=True)
    published = str(tmp_path / "published" / "cifar-10-batches-bin")
    folder = tmp_path / "cifar10"
    folder.mkdir()
    write(folder)
    data, test = training_set(str(folder)), published_test_set(str(folder))
    assert (data.space, len(data), len(test)) == (CLASSES, 5 * N, N)
    assert content(data) == content(training_set(published))
    assert content(test) == content(published_test_set(published))
    below = training_set("cifar-10", data_root=str(tmp_path))
    assert content(below) == content(data)


def put_hundred(folder: Path, form: str) -> None:
    """What ``put_cifar_100`` writes, in another form."""
    put_cifar_100(folder.with_name("published"), per_subtype=2, binary=True)
    arrays = {}
    for part in ("train", "test"):
        records = np.frombuffer((folder.with_name("published") / f"{part}.bin").read_bytes(), np.uint8)
        records = records.reshape(-1, 3074)
        arrays |= {f"x_{part}": images_of(records[:, 2:]), f"y_{part}": records[:, 1].astype(np.int64)}
        for number, (coarse, fine) in enumerate(records[:, :2].tolist()):
            if "folders" not in form:
                continue
            above = [broad_classes().classes[coarse]] if form == "broad folders" else []
            place = folder.joinpath(part, *above, subtypes().classes[fine])
            place.mkdir(parents=True, exist_ok=True)
            Image.fromarray(arrays[f"x_{part}"][number]).save(place / f"{number:04d}.png")
    folder.mkdir(exist_ok=True)
    if form == "npz":
        np.savez(folder / "cifar100.npz", **arrays)
    elif form == "arrays":
        for name, value in arrays.items():
            np.save(folder / f"{name}.npy", value)


@pytest.mark.parametrize("form", ["arrays", "npz", "folders", "broad folders"])
def test_cifar_100(tmp_path, form):
    folder = tmp_path / "cifar-100"
    put_hundred(folder, form)
    (tmp_path / "published").rename(tmp_path / "cifar-100-binary")
    published = str(tmp_path / "cifar-100-binary")
    for opened in (training_set, published_test_set):
        ours, theirs = opened(str(folder)), opened(published)
        assert ours.space == theirs.space == subtypes()
        assert content(ours) == content(theirs)
        names = [subtypes().classes[label] for label in ours.labels]
        assert ours.columns["subtype"].tolist() == names
        broad = {
            (one, other) for one, other in zip(theirs.columns["subtype"], theirs.columns["superclass"], strict=True)
        }
        assert set(zip(ours.columns["subtype"], ours.columns["superclass"], strict=True)) == broad
    assert content(open_cifar_100(str(folder), name="x")) == content(open_cifar_100(published, name="x"))


def test_a_folder_of_something_else_among_the_hundred(tmp_path):
    put_hundred(tmp_path / "cifar-100", "folders")
    (tmp_path / "cifar-100" / "train" / "dragon").mkdir()
    Image.new("RGB", (32, 32)).save(tmp_path / "cifar-100" / "train" / "dragon" / "a.png")
    with pytest.raises(DataError, match="a folder in it is not named as a class of CIFAR-100"):
        training_set(str(tmp_path / "cifar-100"))


def test_sheets_of_another_width(tmp_path):
    folder = tmp_path / "cifar10"
    folder.mkdir()
    as_sheets(folder)
    Image.new("RGB", (64, 64)).save(folder / "data_batch_3.png")
    with pytest.raises(DataError, match=r"data_batch_3.png: 64 pixels wide; expected 1024"):
        training_set(str(folder))
