"""The sets around ImageNet in their published layouts: V2, -A, -O, -R, -Sketch, Stylized, real blurry, -C."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from oodometer.core.preprocessing import Geometry
from oodometer.data.imagenet import imagenet
from oodometer.data.layouts.class_lists import class_list
from oodometer.data.layouts.known_set import known_sets
from oodometer.data.root import DataRoot
from published_lists import published_list

V2 = [name for name in known_sets.names() if name.startswith("imagenetv2-")]
FILES = {
    # a name as each archive has it
    "imagenet-a": "0.000116_digital clock _ digital clock_0.865662.jpg",
    "imagenet-o": "ILSVRC2012_val_1.JPEG",
    "imagenet-r": "cartoon_12.jpg",
    "imagenet-sketch": "sketch_12.JPEG",
    "stylized-imagenet": "ILSVRC2012_val_00000293.png",
    "real-blurry": "blurry_1.jpg",
}


def opened(root: object, name: str):
    return DataRoot(str(root), partial=True).open(name)


@pytest.mark.parametrize("name", V2)
def test_imagenet_v2_folders_are_numbers_and_not_text(root, put, encode, name: str) -> None:
    for index in (0, 1, 2, 9, 10, 11, 100, 999):
        for image in range(2):
            put(f"{root}/{name}/{index}/{image:02x}.jpeg", encode(index, "JPEG"))
    put(f"{root}/{name}/.DS_Store", b"")
    data = opened(root, name)
    # sorted as text, as torchvision's ImageFolder does, folder 10 would be class 2, 100 class 3 and 2 class 6
    assert data.labels.tolist() == [0, 0, 1, 1, 2, 2, 9, 9, 10, 10, 11, 11, 100, 100, 999, 999]
    assert data.space == imagenet()
    assert len(V2) == 6


@pytest.mark.parametrize("folder", ["imagenetv2-threshold0.7-format-val", "imagenetv2-threshold-0.7-format-val"])
def test_the_name_in_the_archive_and_that_of_the_testbed(tmp_path: Path, put, encode, folder: str) -> None:
    put(f"{tmp_path}/{folder}/7/a.jpeg", encode(0, "JPEG"))
    assert opened(tmp_path, "imagenetv2-threshold-0.7-format-val").labels.tolist() == [7]
    assert not DataRoot(str(tmp_path)).has("imagenetv2-threshold0.7")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("inside", ["", "inside/"])
def test_class_folders_by_wordnet_id(root, put, encode, name: str, inside: str) -> None:
    known = known_sets.get(name)
    assert known.classes is not None
    chosen = sorted(known.classes())[:3]
    for seed, wnid in enumerate(chosen):
        put(f"{root}/{known.places[0]}/{inside}{wnid}/{FILES[name]}", encode(seed, "PNG"))
    put(f"{root}/{known.places[0]}/{inside}README.txt", b"read me")
    data = opened(root, name)
    indices = [imagenet().classes.index(wnid) for wnid in chosen]
    assert data.space == imagenet()
    assert [one.partition("/")[0] for one in data.ids] == chosen
    assert data.labels.tolist() == ([-1] * 3 if name == "imagenet-o" else indices)


@pytest.mark.parametrize("name", [*V2, *FILES])
def test_a_half_unpacked_set_says_what_was_expected_and_found(tmp_path: Path, put, encode, error_of, name: str) -> None:
    known = known_sets.get(name)
    wnid = sorted(known.classes())[0] if known.classes else "0"
    put(f"{tmp_path}/{known.places[0]}/{wnid}/a.jpg", encode(0, "JPEG"))
    line = error_of(lambda: DataRoot(str(tmp_path)).open(name))
    assert f"1 images instead of {known.n_images:,}" in line
    if known.n_classes and name != "imagenet-o":
        assert f"1 classes instead of {known.n_classes:,}" in line


@pytest.mark.parametrize("name", [*V2, *FILES])
def test_a_set_that_is_not_there_says_where_to_get_it(tmp_path: Path, error_of, name: str) -> None:
    line = error_of(lambda: DataRoot(str(tmp_path)).open(name))
    assert f"expected {known_sets.get(name).places[0]}" in line
    assert known_sets.get(name).page in line


def test_published_numbers() -> None:
    # references: the 204-model testbed (7,500, 30,000, 50,889, 10,000); Hendrycks et al. 2021 (2,000 and 1,000);
    # the page of ImageNet-Sketch says 50,000, which is not what the archive holds
    found = {name: (known_sets.get(name).n_images, known_sets.get(name).n_classes) for name in [*V2, *FILES]}
    assert found == {
        **dict.fromkeys(V2, (10_000, 1000)),
        "imagenet-a": (7_500, 200),
        "imagenet-o": (2_000, 200),
        "imagenet-r": (30_000, 200),
        "imagenet-sketch": (50_889, 1000),
        "stylized-imagenet": (50_000, 1000),
        "real-blurry": (1_000, None),
    }


@pytest.mark.parametrize("letter", ["a", "o", "r"])
def test_the_classes_are_the_published_ones(letter: str) -> None:
    found = class_list(f"imagenet_{letter}")
    assert len(set(found)) == 200
    assert list(found) == sorted(found)
    assert set(found) < set(imagenet().classes)
    assert list(found) == published_list(f"imagenet_{letter}_wnids.txt").split()


@pytest.mark.parametrize("name", ["imagenet-a", "imagenet-o", "imagenet-r"])
@pytest.mark.parametrize(
    ("folder", "expected"), [("n01440764", "not one of the 200 classes"), ("0", "not of this set")]
)
def test_another_set_in_its_place_is_one_line(
    tmp_path: Path, put, encode, error_of, name: str, folder: str, expected: str
) -> None:
    assert "n01440764" not in class_list(name.replace("-", "_"))  # the tench is in none of the three
    put(f"{tmp_path}/{name}/{class_list(name.replace('-', '_'))[0]}/art_1.jpg", encode(0, "JPEG"))
    put(f"{tmp_path}/{name}/{folder}/art_0.jpg", encode(0, "JPEG"))
    assert expected in error_of(lambda: opened(tmp_path, name))


def test_the_folder_of_an_image_of_imagenet_o_is_no_label(tmp_path: Path, put, encode) -> None:
    first, second = class_list("imagenet_o")[:2]
    for wnid in (second, first):
        put(f"{tmp_path}/imagenet-o/{wnid}/x.JPEG", encode(0, "JPEG"))
    data = opened(tmp_path, "imagenet-o")
    assert data.labels.tolist() == [-1, -1]
    assert data.columns["folder"].tolist() == [first, second]


def test_the_rendition_is_a_column(tmp_path: Path, put, encode) -> None:
    wnid = class_list("imagenet_r")[0]
    for name in ("art_0.jpg", "cartoon_12.jpg", "videogame_3.jpg", "DeviantArt_7.JPG", "odd.jpg", "art_0.png"):
        put(f"{tmp_path}/imagenet-r/{wnid}/{name}", encode(0, "PNG"))
    data = opened(tmp_path, "imagenet-r")
    found = dict(zip(data.ids, data.columns["style"].tolist(), strict=True))
    assert found == {
        f"{wnid}/art_0.jpg": "art",
        f"{wnid}/art_0.png": "art",
        f"{wnid}/cartoon_12": "cartoon",
        f"{wnid}/videogame_3": "videogame",
        f"{wnid}/DeviantArt_7": "deviantart",
        f"{wnid}/odd": "unknown",
    }


def odd_images() -> dict[str, Image.Image]:
    grey = np.full((20, 20), 200, dtype=np.uint8)
    palette = Image.new("P", (20, 20), 3)
    palette.putpalette([0] * 9 + [10, 20, 30] + [0] * 756)
    return {
        "grey": Image.fromarray(grey),
        "deep": Image.fromarray(grey.astype(np.uint16) * 257),
        "palette": palette,
        "clear": Image.new("RGBA", (20, 20), (10, 20, 30, 0)),
        "solid": Image.new("RGBA", (20, 20), (10, 20, 30, 255)),
        "two tones": Image.new("1", (20, 20), 1),
        "grey, clear": Image.new("LA", (20, 20), (9, 0)),
    }


ODD = {
    "grey": (200, 200, 200),
    "deep": (200, 200, 200),
    "palette": (10, 20, 30),
    "clear": (255, 255, 255),
    "solid": (10, 20, 30),
    "two tones": (255, 255, 255),
    "grey, clear": (255, 255, 255),
}


@pytest.mark.parametrize("kind", ODD)
def test_images_of_any_mode_are_rgb(tmp_path: Path, put, encode, kind: str) -> None:
    put(f"{tmp_path}/imagenet-r/{class_list('imagenet_r')[0]}/art_0.png", encode(odd_images()[kind]))
    image = opened(tmp_path, "imagenet-r").image(0)
    np.testing.assert_array_equal(image, np.broadcast_to(np.array(ODD[kind], dtype=np.uint8), (20, 20, 3)))


def test_stylized_images_have_their_size(tmp_path: Path, put, encode, pixels, error_of) -> None:
    picture = pixels(0, 224, 224)
    put(f"{tmp_path}/stylized_imagenet/val/n01440764/ILSVRC2012_val_00000293.png", encode(picture))
    put(f"{tmp_path}/stylized_imagenet/val/n01440764/small.png", encode(pixels(1, 30, 40)))
    data = opened(tmp_path, "stylized-imagenet")
    assert data.ids == ("n01440764/ILSVRC2012_val_00000293", "n01440764/small")
    whole, same = data.views(0, [None, Geometry(224, 224)])
    np.testing.assert_array_equal(whole, picture)
    np.testing.assert_array_equal(same, picture)
    assert "small.png: 40x30 pixels instead of 224x224" in error_of(lambda: data.image(1))


# ImageNet-C


@pytest.mark.parametrize("group", ["", "blur/", "imagenet-c/blur/"])
@pytest.mark.parametrize("folders", [("n01440764", "n01443537", "n02123045"), ("0", "1", "281")])
def test_imagenet_c_in_both_nestings(root, put, encode, group: str, folders: tuple[str, ...]) -> None:
    for severity in ("5", "1"):
        for seed, folder in enumerate(folders):
            put(f"{root}/imagenet-c/{group}zoom_blur/{severity}/{folder}/{file(seed)}", encode(seed, "JPEG"))
    data = opened(root, "imagenet-c")
    assert data.space == imagenet()
    assert data.labels.tolist() == [0, 1, 281, 0, 1, 281]
    assert data.columns["corruption"].tolist() == ["zoom_blur"] * 6
    assert data.columns["severity"].tolist() == [1, 1, 1, 5, 5, 5]


def file(number: int) -> str:
    return f"ILSVRC2012_val_{number:08d}.JPEG"


def test_what_is_no_imagenet_c_is_one_line(tmp_path: Path, put, encode, error_of) -> None:
    put(f"{tmp_path}/imagenet-c/fog/6/n01440764/a.JPEG", encode(0, "JPEG"))
    assert "is not at CORRUPTION/SEVERITY/CLASS/FILE" in error_of(lambda: opened(tmp_path, "imagenet-c"))
    (tmp_path / "imagenet-c/fog/6").rename(tmp_path / "imagenet-c/fog/5")
    (tmp_path / "imagenet-c/fog/5/n01440764").rename(tmp_path / "imagenet-c/fog/5/cat")
    assert "ImageNet has no class 'cat'" in error_of(lambda: opened(tmp_path, "imagenet-c"))


def test_a_file_of_imagenet_c_has_its_size(tmp_path: Path, put, encode, pixels, error_of) -> None:
    put(f"{tmp_path}/imagenet-c/fog/1/n01440764/a.JPEG", encode(pixels(0, 256, 224), "PNG"))
    assert "224x256 pixels instead of 224x224" in error_of(lambda: opened(tmp_path, "imagenet-c").image(0))
