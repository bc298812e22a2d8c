"""The validation set of ImageNet in every layout in which it is handed around, and ReaL's labels of it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.data.imagenet import imagenet
from oodometer.data.layouts.imagenet import open_imagenet
from oodometer.data.layouts.imagenet_real import real_labels, relabelled
from oodometer.data.layouts.known_set import known_sets
from oodometer.data.root import DataRoot

# The first five validation images: numbers of the development kit and classes, as its files and Caffe's val.txt begin
# (490, 361, 171, 822, 297 and 65, 970, 230, 809, 516).
CLASSES = {1: 65, 2: 970, 3: 230, 4: 809, 5: 516}
DEVKIT = {1: 490, 2: 361, 3: 171, 4: 822, 5: 297}
WNIDS = {number: imagenet().classes[index] for number, index in CLASSES.items()}


def file_of(number: int) -> str:
    return f"ILSVRC2012_val_{number:08d}.JPEG"


def devkit_meta(pairs: dict[int, str]) -> bytes:
    """A meta.mat as in the kit: a struct array (N, 1) of 8 fields, inner nodes of the tree behind the classes."""
    fields = ["ILSVRC2012_ID", "WNID", "words", "gloss", "num_children", "children", "wordnet_height"]
    kinds = [(name, object) for name in (*fields, "num_train_images")]
    rows = [(float(one), wnid, "w", "g", 0.0, np.zeros((1, 0)), 0.0, 1300.0) for one, wnid in pairs.items()]
    rows.append((1001.0, "n00001740", "entity", "g", 2.0, np.array([[1.0, 2.0]]), 9.0, 0.0))
    table = np.empty((len(rows), 1), dtype=kinds)
    for place, row in enumerate(rows):
        table[place, 0] = row
    target = io.BytesIO()
    savemat(target, {"synsets": table})
    return target.getvalue()


@pytest.fixture
def flat(put: Callable[[str, bytes], str], encode: Callable[..., bytes]) -> Callable[..., None]:
    """The five images in one folder, as the archive unpacks."""

    def make(folder: str) -> None:
        for number in CLASSES:
            put(f"{folder}/{file_of(number)}", encode(number, "JPEG"))

    return make


@pytest.fixture
def by_class(put: Callable[[str, bytes], str], encode: Callable[..., bytes]) -> Callable[..., None]:
    def make(folder: str, names: dict[int, str]) -> None:
        for number, name in names.items():
            put(f"{folder}/{name}/{file_of(number)}", encode(number, "JPEG"))

    return make


def classes_of(data: Dataset) -> dict[int, int]:
    return {int(one[-8:]): int(label) for one, label in zip(data.ids, data.labels, strict=True)}


TRUTHS: dict[str, dict[str, str]] = {
    "kaggle": {
        "LOC_val_solution.csv": "ImageId,PredictionString\n"
        + "".join(f"ILSVRC2012_val_{n:08d},{WNIDS[n]} 85 1 499 272 {WNIDS[n]} 1 2 3 4 \n" for n in CLASSES)
    },
    "caffe": {"val.txt": "".join(f"{file_of(n)} {index}\n" for n, index in CLASSES.items())},
    "caffe in its folder": {
        "caffe_ilsvrc12/val.txt": "".join(f"{file_of(n)} {index}\n" for n, index in CLASSES.items())
    },
    "synsets": {"imagenet_2012_validation_synset_labels.txt": "\n".join(WNIDS.values()) + "\n"},
}


@pytest.mark.parametrize("kind", TRUTHS)
@pytest.mark.parametrize("above", ["val", "", "up"])
def test_flat_with_a_file_of_classes(root, put, flat, kind: str, above: str) -> None:
    folder = f"{root}/ILSVRC/Data/CLS-LOC/val"
    place = {"val": folder, "": f"{root}/ILSVRC/Data/CLS-LOC", "up": root}[above]
    flat(folder)
    for name, text in TRUTHS[kind].items():
        put(f"{place}/{name}", text.encode())
    data = open_imagenet(folder, name="imagenet")
    assert classes_of(data) == CLASSES
    assert data.space == imagenet()


@pytest.mark.parametrize("place", ["", "ILSVRC2012_devkit_t12/data/", "devkit/data/"])
def test_numbers_of_the_development_kit_are_not_the_classes_of_models(root, put, flat, place: str) -> None:
    folder = f"{root}/imagenet/val"
    flat(folder)
    truth = f"{root}/imagenet/{place}ILSVRC2012_validation_ground_truth.txt"
    put(truth, "\n".join(str(one) for one in DEVKIT.values()).encode())
    with pytest.raises(DataError, match=r"not the classes that models answer; put meta\.mat of the same kit beside"):
        open_imagenet(folder, name="imagenet")
    put(f"{root}/imagenet/{place}meta.mat", devkit_meta({DEVKIT[n]: WNIDS[n] for n in CLASSES}))
    assert classes_of(open_imagenet(folder, name="imagenet")) == CLASSES


def test_a_damaged_or_foreign_meta_mat_is_one_line(tmp_path: Path, put, flat, error_of) -> None:
    folder = f"{tmp_path}/val"
    flat(folder)
    put(f"{tmp_path}/ILSVRC2012_validation_ground_truth.txt", b"490\n361\n171\n822\n297\n")
    put(f"{tmp_path}/meta.mat", b"MATLAB 5.0 MAT-file, but cut short")
    assert "not the meta.mat of the ILSVRC 2012 development kit" in error_of(lambda: open_imagenet(folder, name="i"))
    put(f"{tmp_path}/meta.mat", devkit_meta({490: WNIDS[1]}))
    assert "line 2 says '361', which is no class of" in error_of(lambda: open_imagenet(folder, name="i"))


def test_every_layout_is_the_same_data_set(tmp_path: Path, put, flat, by_class) -> None:
    flat(f"{tmp_path}/flat")
    put(f"{tmp_path}/flat/val.txt", TRUTHS["caffe"]["val.txt"].encode())
    by_class(f"{tmp_path}/wnids", WNIDS)
    by_class(f"{tmp_path}/numbers", {n: str(index) for n, index in CLASSES.items()})
    by_class(f"{tmp_path}/padded", {n: f"{index:05d}" for n, index in CLASSES.items()})
    by_class(f"{tmp_path}/around/ILSVRC2012_img_val", WNIDS)
    opened = [open_imagenet(f"{tmp_path}/{one}", name="i") for one in ("flat", "wnids", "numbers", "padded", "around")]
    assert {data.ids for data in opened} == {opened[0].ids}
    assert opened[0].ids[0] == f"{WNIDS[1]}/ILSVRC2012_val_00000001"
    assert len({data.digest for data in opened}) == 1
    assert all(classes_of(data) == CLASSES for data in opened)


def test_folders_are_numbers_and_not_text(root, put, encode) -> None:
    for index in range(12):
        put(f"{root}/val/{index}/{file_of(index + 1)}", encode(index))
    data = open_imagenet(f"{root}/val", name="i")
    assert data.labels.tolist() == list(range(12))  # as text, 10 and 11 would come before 2
    assert [int(one[-8:]) for one in data.ids] == list(range(1, 13))


def test_hidden_files_and_readmes_are_left_alone(root, put, by_class) -> None:
    by_class(f"{root}/val", WNIDS)
    for name in (".DS_Store", "README.txt", f"{WNIDS[1]}/.DS_Store", f"{WNIDS[1]}/._{file_of(1)}", "__MACOSX/._a.JPEG"):
        put(f"{root}/val/{name}", b"nothing")
    assert classes_of(open_imagenet(f"{root}/val", name="i")) == CLASSES


def test_a_flat_folder_that_nothing_tells_the_classes_of(root, put, flat, error_of) -> None:
    flat(f"{root}/val")
    # Kaggle's list of the validation set has the numbers of its lines, not classes
    put(f"{root}/val.txt", "".join(f"ILSVRC2012_val_{n:08d} {n}\n" for n in CLASSES).encode())
    put(f"{root}/synset_words.txt", "".join(f"{wnid} words\n" for wnid in imagenet().classes).encode())
    line = error_of(lambda: open_imagenet(f"{root}/val", name="i"))
    assert "5 images in no class folders, and nothing that tells their classes: put LOC_val_solution.csv" in line


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "no images in it|no such file"),
        ({"n01440764/a.JPEG": 1, "loose.JPEG": 2}, "1 images, such as loose.JPEG, are in no class folder"),
        ({"n01440764/a.JPEG": 1, "train/a.JPEG": 2}, "a folder 'train' is not of this set"),
        ({"1/a.JPEG": 1, "1000/a.JPEG": 2}, "a folder '1000' is not of this set; .* by number from 0 to 999"),
    ],
)
def test_what_is_no_validation_set_is_one_line(tmp_path: Path, put, encode, error_of, files, expected: str) -> None:
    (tmp_path / "val").mkdir()
    for name, seed in files.items():
        put(f"{tmp_path}/val/{name}", encode(seed))
    with pytest.raises(DataError, match=expected):
        open_imagenet(f"{tmp_path}/val", name="i")


def test_an_image_that_the_file_of_classes_lacks(tmp_path: Path, put, flat, encode, error_of) -> None:
    flat(f"{tmp_path}/val")
    put(f"{tmp_path}/val.txt", TRUTHS["caffe"]["val.txt"].encode())
    put(f"{tmp_path}/val/{file_of(6)}", encode(6))
    line = error_of(lambda: open_imagenet(f"{tmp_path}/val", name="i"))
    assert "ILSVRC2012_val_00000006.JPEG is not in" in line
    assert "which has 5 images" in line
    put(f"{tmp_path}/val/cat.JPEG", encode(7))
    (tmp_path / "val" / file_of(6)).unlink()
    assert "cat.JPEG is not named like" in error_of(lambda: open_imagenet(f"{tmp_path}/val", name="i"))


@pytest.mark.parametrize("place", ["imagenet/val", "ILSVRC2012/val", "ILSVRC/Data/CLS-LOC/val", "val", "imagenet"])
def test_where_it_is_found_below_a_root(tmp_path: Path, by_class, error_of, place: str) -> None:
    by_class(f"{tmp_path}/{place}", WNIDS)
    data = DataRoot(str(tmp_path), partial=True).open("imagenet")
    assert classes_of(data) == CLASSES
    line = error_of(lambda: DataRoot(str(tmp_path)).open("imagenet"))
    assert "5 images instead of 50,000 and 5 classes instead of 1,000" in line


# ReaL


@pytest.fixture
def val(tmp_path: Path, by_class) -> Path:
    by_class(f"{tmp_path}/imagenet/val", WNIDS)
    return tmp_path


@pytest.mark.parametrize("place", ["imagenet-real/real.json", "imagenet/real.json", "real.json"])
def test_re_assessed_labels_by_the_number_of_the_image(val: Path, put, place: str) -> None:
    put(f"{val}/{place}", json.dumps([[65], [], [231, 230], [809, 925, 1], [0]]).encode())
    data = DataRoot(str(val), partial=True).open("imagenet-real")
    assert classes_of(data) == {1: 65, 3: 231, 4: 809, 5: 0}  # the second has no label and is left out
    assert data.other_labels is not None
    others = {int(one[-8:]): some for one, some in zip(data.ids, data.other_labels, strict=True)}
    assert others == {1: (), 3: (230,), 4: (925, 1), 5: ()}


def test_labels_without_images(tmp_path: Path, put, error_of) -> None:
    put(f"{tmp_path}/imagenet-real/real.json", b"[[1]]")
    line = error_of(lambda: DataRoot(str(tmp_path), partial=True).open("imagenet-real"))
    assert "labels without images; expected the validation set at imagenet/val beside it" in line


@pytest.mark.parametrize("content", [b"{", b"{}", b"[]", b"[1]", b"[[1000]]", b'[["a"]]', b"[[true]]", b"[[1.5]]"])
def test_a_real_json_of_another_form_is_one_line(tmp_path: Path, put, error_of, content: bytes) -> None:
    put(f"{tmp_path}/real.json", content)
    assert "expected a list" in error_of(lambda: real_labels(f"{tmp_path}/real.json"))


def test_images_that_real_json_can_not_know(tmp_path: Path, put, encode, make_dataset, error_of) -> None:
    put(f"{tmp_path}/val/n01440764/cat.JPEG", encode(0))
    data = open_imagenet(f"{tmp_path}/val", name="val")
    assert "n01440764/cat has no number" in error_of(lambda: relabelled(data, [[1]], name="r"))
    put(f"{tmp_path}/val/n01440764/{file_of(2)}", encode(0))
    (tmp_path / "val/n01440764/cat.JPEG").unlink()
    data = open_imagenet(f"{tmp_path}/val", name="val")
    assert "beyond the 1 images of real.json" in error_of(lambda: relabelled(data, [[1]], name="r"))
    assert "no label for any" in error_of(lambda: relabelled(data, [[1], []], name="r"))
    assert "not the 1,000 of ImageNet" in error_of(lambda: relabelled(make_dataset(2), [[1]], name="r"))


def test_published_numbers() -> None:
    # reference: image-net.org (50,000 images, 50 of each class); Beyer et al. 2020, section 3 (46,837 images)
    assert (known_sets.get("imagenet").n_images, known_sets.get("imagenet").n_classes) == (50_000, 1000)
    assert known_sets.get("imagenet-real").n_images == 46_837
