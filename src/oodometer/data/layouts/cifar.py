"""CIFAR-10 in the forms in which it is passed around, CIFAR-10.1, CIFAR-10-C, and CIFAR-100."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace, align
from oodometer.data import addresses
from oodometer.data.kinds.arrays import open_arrays, open_rows, read_array
from oodometer.data.kinds.folder import open_folder
from oodometer.data.layouts.cifar_10_c import open_corrupted
from oodometer.data.layouts.cifar_100 import broad_classes, open_cifar_100
from oodometer.data.layouts.cifar_batches import read_batch
from oodometer.data.layouts.cifar_sheets import open_sheet
from oodometer.data.layouts.known_set import KnownSet
from oodometer.data.layouts.plain_pickle import read_plain_pickle, texts_of
from oodometer.data.layouts.small_arrays import dataset_of_rows

CLASSES = LabelSpace(
    "cifar-10",
    ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
)
"""In the order of their numbers."""

_LABELS_OF_ARRAYS = {
    "cifar10_test_images.npy": ("cifar10_test_labels.npy", "cifar10_test_images_labels.npy", "labels.npy"),
    "x_test.npy": ("y_test.npy",),
}
_FILES = ("test_batch", "test_batch.bin", *_LABELS_OF_ARRAYS, "cifar10_test_images.npz", "test_batch.png")
_FOLDERS = ("", "cifar-10-batches-py", "cifar-10-batches-bin")


def open_cifar_10(address: str, *, name: str) -> Dataset:
    """The test set: python or binary batches, arrays, a sheet, or class folders of PNG files."""
    if not addresses.is_folder(address):
        return _open_file(address, name)
    for file in (f"{folder}/{one}".lstrip("/") for folder in _FOLDERS for one in _FILES):
        path = addresses.join(address, file)
        if addresses.exists(path):
            return _open_file(path, name)
    for folder in (addresses.join(address, "test"), address):
        if addresses.exists(folder) and set(addresses.list_folders(folder)) & _folder_names():
            return _open_class_folders(folder, name)
    found = ", ".join(sorted(one.path for one in addresses.list_files(address))[:3]) or "nothing"
    raise DataError(
        f"{address}: no test set of CIFAR-10 in it; expected test_batch (python batches), test_batch.bin, "
        f"cifar10_test_images.npy or .npz, test_batch.png, or test/airplane/*.png and so on; found {found}"
    )


def _folder_names() -> set[str]:
    return {*CLASSES.classes, *(str(number) for number in range(len(CLASSES)))}


def _open_file(path: str, name: str) -> Dataset:
    if path.endswith(".npz"):
        found = open_arrays(path, name=name)
        return _among_the_ten(found, path)
    if path.endswith(".npy"):
        return _open_array(path, name)
    if path.endswith(".png"):
        rows, labels = open_sheet(path)
        return dataset_of_rows(rows, labels, space=CLASSES, name=name, where=path)
    _check_names(path)
    batch = read_batch(path, ("labels",))
    return dataset_of_rows(batch.rows, batch.labels["labels"], space=CLASSES, name=name, where=path)


def _check_names(path: str) -> None:
    """An error where ``batches.meta``, beside python batches, names other classes or another order."""
    meta = addresses.join(addresses.parent(path), "batches.meta")
    if path.endswith(".bin") or not addresses.exists(meta):
        return
    names = texts_of(read_plain_pickle(meta).get("label_names"))
    if names != CLASSES.classes:
        raise DataError(f"{meta}: it names the classes {', '.join(names) or 'of nothing'}; expected those of CIFAR-10")


def _open_array(path: str, name: str) -> Dataset:
    folder, file = addresses.parent(path), addresses.base_name(path)
    candidates = _LABELS_OF_ARRAYS.get(file, (f"{file[: -len('.npy')]}_labels.npy", "labels.npy"))
    for candidate in candidates:
        beside = addresses.join(folder, candidate)
        if addresses.exists(beside):
            return dataset_of_rows(open_rows(path), read_array(beside), space=CLASSES, name=name, where=path)
    raise DataError(f"{path}: no labels beside it; expected {' or '.join(candidates)}")


def _among_the_ten(found: Dataset, where: str) -> Dataset:
    if (found.labels < 0).any():
        raise DataError(f"{where}: no labels in it; expected an array named labels, y or y_test")
    labels = align(found.labels, found.space, CLASSES, what=f"{where}: CIFAR-10")
    return replace(found, labels=labels, space=CLASSES)


def _open_class_folders(folder: str, name: str) -> Dataset:
    return _among_the_ten(open_folder(folder, name=name), folder)


def open_cifar_10_1(address: str, *, name: str, version: str) -> Dataset:
    """One version of the new test set, from its array or the folder that holds it."""
    file = f"cifar10.1_{version}_data.npy"
    if addresses.is_folder(address):
        inside = [addresses.join(address, one) for one in (file, f"datasets/{file}")]
        path = next((one for one in inside if addresses.exists(one)), inside[0])
    else:
        path = address
    labels = path.replace("_data.npy", "_labels.npy")
    for one in (path, labels):
        if not addresses.exists(one) or labels == path:
            raise DataError(f"{one}: expected {file} and cifar10.1_{version}_labels.npy beside it")
    return dataset_of_rows(open_rows(path), read_array(labels), space=CLASSES, name=name, where=path)


def open_cifar_10_c(address: str, *, name: str) -> Dataset:
    """All corrupted images with their columns corruption and severity."""
    return open_corrupted(address, space=CLASSES, name=name)


_PAGE = "https://www.cs.toronto.edu/~kriz/cifar.html"
_SIZE = (32, 32)

CIFAR_10 = KnownSet(
    name="cifar-10",
    title="CIFAR-10 test set",
    page=_PAGE,
    layout="test_batch or test_batch.bin, cifar10_test_images.npy or .npz, test_batch.png, or test/CLASS/*.png",
    places=(
        "cifar-10-batches-py",
        "cifar-10/test",
        "cifar-10",
        "cifar-10-batches-bin",
        "cifar10_test_images.npy",
        "cifar10_test_images.npz",
    ),
    open=open_cifar_10,
    n_images=10_000,
    n_classes=10,
    per_class=1000,
    size=_SIZE,
)


def _cifar_10_1(version: str, n_images: int, per_class: int | None = None) -> KnownSet:
    file = f"cifar10.1_{version}_data.npy"
    return KnownSet(
        name=f"cifar-10.1-{version}",
        title=f"CIFAR-10.1 {version}",
        page="https://github.com/modestyachts/CIFAR-10.1",
        layout=f"{file} with cifar10.1_{version}_labels.npy beside it",
        places=(f"cifar-10.1/{file}", f"cifar-10.1/datasets/{file}", file),
        open=partial(open_cifar_10_1, version=version),
        n_images=n_images,
        n_classes=10,
        per_class=per_class,
        size=_SIZE,
    )


CIFAR_10_1_V4 = _cifar_10_1("v4", 2021)
CIFAR_10_1_V6 = _cifar_10_1("v6", 2000, per_class=200)

CIFAR_10_C = KnownSet(
    name="cifar-10-c",
    title="CIFAR-10-C",
    page="https://github.com/hendrycks/robustness",
    layout="CORRUPTION.npy of 5 x 10,000 images for 19 corruptions, and labels.npy",
    places=("CIFAR-10-C",),
    open=open_cifar_10_c,
    n_images=950_000,
    n_classes=10,
    per_class=95_000,
    size=_SIZE,
)

CIFAR_100 = KnownSet(
    name="cifar-100",
    title="CIFAR-100 test set, over its 20 broad classes",
    page=_PAGE,
    layout="the python batches test, train and meta, or the binary ones test.bin and train.bin",
    places=("cifar-100-python", "cifar-100", "cifar-100-binary"),
    open=open_cifar_100,
    n_images=10_000,
    n_classes=20,
    per_class=500,
    size=_SIZE,
    classes=lambda: frozenset(broad_classes().classes),
)
