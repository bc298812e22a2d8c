"""Tiny-ImageNet as distributed and in class folders, and Tiny-ImageNet-C: labels among its own 200 classes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from oodometer.core.dataset import Dataset
from oodometer.data.imagenet import imagenet_index
from oodometer.data.layouts.known_set import known_sets
from oodometer.data.layouts.tiny_imagenet import tiny_imagenet
from oodometer.data.root import DataRoot

# the first lines of wnids.txt, whose order is another than the sorted one
IN_WNIDS = ["n02124075", "n04067472", "n04540053", "n04099969"]
IMAGES = {"val_0.JPEG": "n04067472", "val_1.JPEG": "n02124075", "val_2.JPEG": "n04540053", "val_10.JPEG": "n02124075"}


def opened(root: object, name: str = "tiny-imagenet") -> Dataset:
    return DataRoot(str(root), partial=True).open(name)


def put_as_distributed(root: str, put: Callable[..., str], encode: Callable[..., bytes]) -> None:
    for place, file in enumerate(IMAGES):
        put(f"{root}/tiny-imagenet-200/val/images/{file}", encode(place, "PNG"))
    lines = "".join(f"{file}\t{wnid}\t0\t32\t44\t62\n" for file, wnid in IMAGES.items())
    put(f"{root}/tiny-imagenet-200/val/val_annotations.txt", lines.encode())
    put(f"{root}/tiny-imagenet-200/wnids.txt", "\n".join(IN_WNIDS).encode())
    put(f"{root}/tiny-imagenet-200/words.txt", b"n02124075\tEgyptian cat\n")
    put(f"{root}/tiny-imagenet-200/train/n02124075/images/n02124075_0.JPEG", encode(9, "PNG"))
    put(f"{root}/tiny-imagenet-200/test/images/test_0.JPEG", encode(9, "PNG"))


def put_in_folders(root: str, put: Callable[..., str], encode: Callable[..., bytes], inside: str) -> None:
    for place, (file, wnid) in enumerate(IMAGES.items()):
        put(f"{root}/tiny-imagenet-200/val/{wnid}/{inside}{file}", encode(place, "PNG"))


@pytest.mark.parametrize("layout", ["distributed", "images/", ""])
def test_both_layouts_give_the_same(
    root: str, put: Callable[..., str], encode: Callable[..., bytes], pixels: Callable[..., np.ndarray], layout: str
) -> None:
    if layout == "distributed":
        put_as_distributed(root, put, encode)
    else:
        put_in_folders(root, put, encode, layout)
    data = opened(root)
    assert data.ids == ("n02124075/val_1", "n02124075/val_10", "n04067472/val_0", "n04540053/val_2")
    places = [sorted(tiny_imagenet().classes).index(one.partition("/")[0]) for one in data.ids]
    assert data.labels.tolist() == places
    # neither the order of wnids.txt nor the number of the class in ImageNet
    assert data.labels[0] not in (0, imagenet_index()["n02124075"])
    np.testing.assert_array_equal(data.image(0), pixels(1))
    assert len(data.space) == 200


def test_the_200_classes() -> None:
    classes = tiny_imagenet().classes
    assert len(set(classes)) == 200
    assert list(classes) == sorted(classes)
    assert set(IN_WNIDS) <= set(classes)
    assert set(classes) <= set(imagenet_index())


@pytest.mark.parametrize("group", ["", "Tiny-ImageNet-C/"])
def test_tiny_imagenet_c(root: str, put: Callable[..., str], encode: Callable[..., bytes], group: str) -> None:
    for corruption in ("fog", "brightness"):
        for severity in (1, 5):
            for place, (file, wnid) in enumerate(IMAGES.items()):
                put(f"{root}/Tiny-ImageNet-C/{group}{corruption}/{severity}/{wnid}/{file}", encode(place, "PNG"))
    put_as_distributed(root, put, encode)
    data = opened(root, "tiny-imagenet-c")
    assert data.space == tiny_imagenet()
    clean = opened(root)
    assert data.labels.tolist() == clean.labels.tolist() * 4
    assert data.ids[:4] == tuple(f"brightness/1/{one}" for one in clean.ids)
    assert sorted(set(data.columns["severity"].tolist())) == [1, 5]


WRONG = {
    "empty": (
        {"val/readme.txt": b""},
        "no images in it; expected images/val_0.JPEG and so on, and val_annotations.txt",
    ),
    "no annotations": ({"val/images/val_0.JPEG": b""}, "val_annotations.txt: no such file; it says which class"),
    "an image without one": (
        {"val/images/val_0.JPEG": b"", "val/val_annotations.txt": b"val_1.JPEG\tn02124075\t0\t0\t1\t1\n"},
        "val_annotations.txt says nothing about val_0.JPEG",
    ),
    "a class of ImageNet that is not one of the 200": (
        {"val/images/val_0.JPEG": b"", "val/val_annotations.txt": b"val_0.JPEG\tn01440764\t0\t0\t1\t1\n"},
        "line 1 does not name one of the 200 classes",
    ),
    "other folders": (
        {"val/n02124075/val_0.JPEG": b"", "val/n01440764/val_1.JPEG": b""},
        "n01440764/val_1.JPEG is neither in images/ nor in the folder of one of the 200 classes",
    ),
    "half sorted": (
        {"val/n02124075/val_0.JPEG": b"", "val/images/val_1.JPEG": b""},
        "images/val_1.JPEG is neither in images/ nor",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_set_is_one_line(
    tmp_path: Path, put: Callable[..., str], error_of: Callable[..., str], what: str
) -> None:
    contents, message = WRONG[what]
    for path, content in contents.items():
        put(f"{tmp_path}/tiny-imagenet-200/{path}", content)
    assert message in error_of(lambda: opened(tmp_path))


def test_a_corrupted_set_of_other_classes_is_one_line(
    tmp_path: Path, put: Callable[..., str], error_of: Callable[..., str]
) -> None:
    put(f"{tmp_path}/Tiny-ImageNet-C/fog/1/n01440764/val_0.JPEG", b"")
    assert "Tiny-ImageNet has no class 'n01440764'" in error_of(lambda: opened(tmp_path, "tiny-imagenet-c"))


def test_the_numbers_are_as_published() -> None:
    # 50 validation images of each of 200 classes; 15 corruptions x 5 severities of them
    clean, corrupted = known_sets.get("tiny-imagenet"), known_sets.get("tiny-imagenet-c")
    assert (clean.n_images, clean.n_classes, clean.per_class) == (10_000, 200, 50)
    assert (corrupted.n_images, corrupted.n_classes, corrupted.per_class) == (15 * 5 * 10_000, 200, 15 * 5 * 50)
    assert clean.size == corrupted.size == (64, 64)
