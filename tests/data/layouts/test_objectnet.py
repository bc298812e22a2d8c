"""ObjectNet in the layout of release 1.0 and of the beta: its mapping files, its border, its odd images."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from oodometer.core.preprocessing import Geometry
from oodometer.data.imagenet import imagenet
from oodometer.data.layouts.objectnet import objectnet_classes
from oodometer.data.root import DataRoot

# Class index and label of some classes; the two cranes have one label (index 134 and 517).
LABELS = {
    409: "analog clock",
    530: "digital clock",
    954: "banana",
    134: "crane",
    517: "crane",
    765: "rocking chair, rocker",
    559: "folding chair",
}
OVERLAP = {
    "Chair": "folding chair; rocking chair, rocker",
    "Banana": "banana",
    "Alarm clock": "analog clock; digital clock",
}
FOLDERS = {"alarm_clock": "Alarm clock", "banana": "Banana", "chair": "Chair", "air_freshener": "Air freshener"}


@pytest.fixture
def put_mappings(put: Callable[[str, bytes], str]) -> Callable[..., None]:
    def write(folder: str, *, beta: bool = False, overlap: dict[str, str] = OVERLAP) -> None:
        def put_json(name: str, value: object) -> None:
            put(f"{folder}/mappings/{name}", json.dumps(value).encode())

        put_json("folder_to_objectnet_label.json", FOLDERS)
        put_json("objectnet_to_imagenet_1k.json", overlap)
        if beta:
            put_json("imagenet_to_labels.json", {str(index): label for index, label in LABELS.items()})
            return
        # line numbers in an order of their own, as the ids of 2012 are
        lines = {index: place for place, index in enumerate(reversed(LABELS))}
        text = "".join(f"{LABELS[index]}\n" for index in reversed(LABELS))
        put(f"{folder}/mappings/imagenet_to_label_2012_v2", text.encode())
        put_json("pytorch_to_imagenet_2012_id.json", {str(index): line for index, line in lines.items()})

    return write


@pytest.fixture
def release(root: str, put, put_mappings, framed) -> str:
    folder = f"{root}/objectnet-1.0"
    put_mappings(folder)
    for place, name in enumerate(FOLDERS):
        for image in range(2):
            put(f"{folder}/images/{name}/{image}a0b1.png", framed(10 * place + image))
    put(f"{folder}/images/.DS_Store", b"")
    put(f"{folder}/README", b"never train on it")
    return root


@pytest.fixture
def framed(encode, pixels) -> Callable[..., bytes]:
    """A picture in a red frame of two pixels."""

    def make(seed: int, **size: int) -> bytes:
        inner = pixels(seed, **size)
        whole = np.empty((inner.shape[0] + 4, inner.shape[1] + 4, 3), dtype=np.uint8)
        whole[:] = (255, 0, 0)
        whole[2:-2, 2:-2] = inner
        return encode(whole)

    return make


def opened(root: object):
    return DataRoot(str(root), partial=True).open("objectnet")


def test_only_the_overlapping_classes_are_kept(release: str) -> None:
    data = opened(release)
    assert data.space.classes == ("Alarm clock", "Banana", "Chair")
    assert [one.partition("/")[0] for one in data.ids] == ["alarm_clock"] * 2 + ["banana"] * 2 + ["chair"] * 2
    assert data.labels.tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("beta", [False, True])
def test_super_classes_of_imagenet_by_the_mapping_files(tmp_path: Path, put_mappings, beta: bool) -> None:
    put_mappings(str(tmp_path), beta=beta)
    found = objectnet_classes(str(tmp_path))
    assert dict(zip(found.target.classes, found.members, strict=True)) == {
        "Alarm clock": (409, 530),
        "Banana": (954,),
        "Chair": (559, 765),
    }
    assert found.source == imagenet()
    logits = np.zeros((1, 1000))
    logits[0, [765, 530, 0]] = 3, 2, 9  # the tench is no class of ObjectNet, a super-class is its best member
    assert found.logits(logits).tolist() == [[2.0, 0.0, 3.0]]


def test_the_border_is_cut_off_before_anything_is_resized(release: str, pixels) -> None:
    data = opened(release)
    inner = pixels(0, height=12, width=16)
    view = Geometry(8, 8, resize=8)
    whole, seen = data.views(0, [None, view])
    np.testing.assert_array_equal(whole, inner)
    # reference: Pillow alone, on the picture without its frame; 16 x 12 becomes 10 x 8, and the crop begins at 1
    resized = np.asarray(Image.fromarray(inner).resize((10, 8), Image.Resampling.BILINEAR))
    np.testing.assert_array_equal(seen, resized[:, 1:9])
    np.testing.assert_array_equal(data.image(0), inner)


def test_an_image_that_is_all_border(tmp_path: Path, put, put_mappings, encode, pixels, error_of) -> None:
    put_mappings(f"{tmp_path}/objectnet")
    put(f"{tmp_path}/objectnet/images/banana/a.png", encode(pixels(0, 4, 30)))
    assert "a.png: 30x4 pixels are nothing but a border of 2" in error_of(lambda: opened(tmp_path).image(0))


@pytest.mark.parametrize(
    ("mode", "colour", "expected"),
    [
        ("RGBA", (10, 20, 30, 255), (10, 20, 30)),
        ("RGBA", (10, 20, 30, 0), (255, 255, 255)),
        ("L", 77, (77, 77, 77)),
        ("I;16", 77 * 257, (77, 77, 77)),
        ("P", 0, (5, 6, 7)),
    ],
)
def test_images_of_any_mode(tmp_path: Path, put, put_mappings, encode, mode: str, colour, expected) -> None:
    put_mappings(f"{tmp_path}/objectnet")
    picture = Image.new(mode, (20, 20), colour)
    if mode == "P":
        picture.putpalette([5, 6, 7] * 256)
    put(f"{tmp_path}/objectnet/images/banana/a.png", encode(picture))
    image = opened(tmp_path).image(0)
    np.testing.assert_array_equal(image, np.broadcast_to(np.array(expected, dtype=np.uint8), (16, 16, 3)))


def test_a_half_unpacked_release(tmp_path: Path, put, put_mappings, framed, error_of) -> None:
    folder = f"{tmp_path}/objectnet-1.0"
    put(f"{folder}/images/banana/a.png", framed(0))
    line = error_of(lambda: opened(tmp_path))
    assert "no mappings/imagenet_to_label_2012_v2 in it; expected images/FOLDER/FILE.png and the mapping files" in line
    put_mappings(folder)
    assert "1 classes instead of 113" in error_of(lambda: DataRoot(str(tmp_path)).open("objectnet"))
    put(f"{folder}/images/cat/a.png", framed(0))
    assert "a folder 'cat' is not in folder_to_objectnet_label.json" in error_of(lambda: opened(tmp_path))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("folder_to_objectnet_label.json", b"{", "folder_to_objectnet_label.json: not JSON"),
        ("objectnet_to_imagenet_1k.json", b"[]", "expected an object"),
        ("objectnet_to_imagenet_1k.json", b'{"Crane": "crane"}', "'crane', of Crane, is the label of two classes"),
        ("objectnet_to_imagenet_1k.json", b'{"Cat": "cat"}', "'cat', of Cat, is the label of no class of ImageNet"),
        ("imagenet_to_label_2012_v2", b"banana\n", "imagenet_to_label_2012_v2 has no line"),
        ("pytorch_to_imagenet_2012_id.json", b'{"a": 1}', "'a' is not the number of a class"),
        ("pytorch_to_imagenet_2012_id.json", b'{"1000": 1}', "a class 1000 of ImageNet"),
    ],
)
def test_mapping_files_of_another_form_are_one_line(
    tmp_path: Path, put, put_mappings, framed, error_of, name: str, content: bytes, expected: str
) -> None:
    folder = f"{tmp_path}/objectnet-1.0"
    put_mappings(folder)
    put(f"{folder}/images/banana/a.png", framed(0))
    put(f"{folder}/mappings/{name}", content)
    assert expected in error_of(lambda: opened(tmp_path))


def test_no_images(tmp_path: Path, put, put_mappings, framed, error_of) -> None:
    folder = f"{tmp_path}/objectnet-1.0"
    put_mappings(folder)
    assert "no folder images in it" in error_of(lambda: opened(tmp_path))
    put(f"{folder}/images/air_freshener/a.png", framed(0))
    assert "no images of the 3 classes that overlap" in error_of(lambda: opened(tmp_path))
