"""CIFAR-10 in the forms in which it is passed around, CIFAR-10.1, and CIFAR-10-C."""

from __future__ import annotations

from dataclasses import replace

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace, align
from oodometer.data import addresses
from oodometer.data.kinds.arrays import open_arrays, open_rows, read_array
from oodometer.data.kinds.folder import open_folder
from oodometer.data.layouts.cifar_10_c import open_corrupted
from oodometer.data.layouts.cifar_arrays import open_part_arrays
from oodometer.data.layouts.cifar_batches import read_batch
from oodometer.data.layouts.cifar_sheets import open_sheet
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
ARCHIVE = "cifar10.npz"
FOLDERS = ("", "cifar-10-batches-py", "cifar-10-batches-bin")


def open_cifar_10(address: str, *, name: str) -> Dataset:
    """The test set: python or binary batches, arrays, a sheet, or class folders of PNG files."""
    if not addresses.is_folder(address):
        return _open_file(address, name)
    for file in (f"{folder}/{one}".lstrip("/") for folder in FOLDERS for one in _FILES):
        path = addresses.join(address, file)
        if addresses.exists(path):
            return _open_file(path, name)
    arrays = open_part_arrays(address, "test", ARCHIVE)
    if arrays is not None:
        return dataset_of_rows(*arrays[:2], space=CLASSES, name=name, where=arrays[2])
    for folder in (addresses.join(address, "test"), address):
        if has_class_folders(folder):
            return open_class_folders(folder, name)
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
    check_names(path)
    batch = read_batch(path, ("labels",))
    return dataset_of_rows(batch.rows, batch.labels["labels"], space=CLASSES, name=name, where=path)


def check_names(path: str) -> None:
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


def has_class_folders(folder: str) -> bool:
    """Whether it holds folders that are named as classes, or numbered."""
    return addresses.exists(folder) and bool(set(addresses.list_folders(folder)) & _folder_names())


def open_class_folders(folder: str, name: str) -> Dataset:
    """The images of folders that are named as the classes, or numbered."""
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


def open_cifar_10_1_v4(address: str, *, name: str) -> Dataset:
    """The version of 2,021 images."""
    return open_cifar_10_1(address, name=name, version="v4")


def open_cifar_10_1_v6(address: str, *, name: str) -> Dataset:
    """The version of 2,000 images, equally many of each class."""
    return open_cifar_10_1(address, name=name, version="v6")


def open_cifar_10_c(address: str, *, name: str) -> Dataset:
    """All corrupted images with their columns corruption and severity."""
    return open_corrupted(address, space=CLASSES, name=name)
