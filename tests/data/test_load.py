import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from made_cifar import put_cifar_10
from oodometer.core.dataset import Dataset
from oodometer.data.load import data_kinds, load_data


def test_the_kinds():
    assert set(data_kinds.names()) >= {"arrays", "folder", "manifest", "parquet", "webdataset"}
    assert all(callable(data_kinds.get(name)) for name in ("arrays", "folder", "manifest", "parquet", "webdataset"))


@pytest.mark.parametrize(
    ("folder", "binary"), [("cifar-10-batches-bin", True), ("cifar-10-batches-py", False), ("", True)]
)
def test_batches_of_cifar_10_are_its_test_images(tmp_path, folder, binary):
    put_cifar_10(tmp_path / "photographs" / folder, per_batch=7, binary=binary)
    (tmp_path / "photographs" / "CARD.md").write_text("whose they are")
    data = load_data(tmp_path / "photographs")
    assert (data.name, len(data), data.space.name) == ("photographs", 7, "cifar-10")
    assert data.labels.tolist() == [number * 3 % 10 for number in range(7)]  # as put_cifar_10 labels its test batch


def test_kind_and_name_override(tmp_path, encode, put):
    put(str(tmp_path / "v" / "a" / "1.png"), encode())
    put(str(tmp_path / "v" / "list.txt"), b"path,label\na/1.png,7\n")
    assert load_data(str(tmp_path / "v" / "list.txt"), kind="manifest").labels.tolist() == [7]
    assert load_data(tmp_path / "v", name="mine").name == "mine"


def test_a_folder_with_class_folders_is_a_folder_whatever_else_is_in_it(tmp_path, encode, put):
    put(str(tmp_path / "v" / "a" / "1.png"), encode())
    put(str(tmp_path / "v" / "extra.parquet"), b"no matter")
    assert load_data(str(tmp_path / "v")).ids == ("a/1",)


def test_a_folder_with_a_manifest_is_that_manifest(tmp_path, encode, put):
    put(str(tmp_path / "v" / "a" / "1.png"), encode())
    put(str(tmp_path / "v" / "a" / "2.png"), encode(2))
    put(str(tmp_path / "v" / "manifest.csv"), b"path,label,vendor\r\na/2.png,a,me\r\n")
    data = load_data(str(tmp_path / "v"))
    assert (data.name, data.ids, data.columns["vendor"].tolist()) == ("v", ("a/2",), ["me"])
    assert load_data(str(tmp_path / "v"), kind="manifest").ids == ("a/2",)
    assert load_data(str(tmp_path / "v"), kind="folder").ids == ("a/1", "a/2")


def test_a_table_without_paths_is_no_manifest(tmp_path, encode, put):
    put(str(tmp_path / "v" / "a" / "1.png"), encode())
    put(str(tmp_path / "v" / "manifest.csv"), b"file,label\na/2.png,a\n")
    assert load_data(str(tmp_path / "v")).ids == ("a/1",)


def test_errors_are_one_line(tmp_path, put, error_of):
    missing = str(tmp_path / "none")
    assert error_of(lambda: load_data(missing)) == f"{missing}: no such file or folder; check the path"
    assert "can't tell what kind of data" in error_of(lambda: load_data(put(str(tmp_path / "a.doc"), b"x")))
    assert error_of(lambda: load_data(missing, kind="foldr")).endswith("did you mean folder?")


def test_a_change_of_directory_does_no_harm(tmp_path, encode, put, monkeypatch, pixels):
    put(str(tmp_path / "v" / "a" / "1.png"), encode(5))
    monkeypatch.chdir(tmp_path)
    data = load_data("v")
    monkeypatch.chdir(os.sep)
    np.testing.assert_array_equal(data.image(0), pixels(5))


def test_a_kind_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.setattr(data_kinds, "_loaded", dict(data_kinds._loaded))  # other tests list the kinds

    @data_kinds.register("test-kind")
    def open_it(address: str, *, name: str) -> Dataset:
        raise RuntimeError(f"{address} {name}")

    with pytest.raises(RuntimeError, match=str(tmp_path)):
        load_data(str(tmp_path), kind="test-kind")


def test_listing_the_kinds_loads_nothing_heavy():
    code = (
        "import sys; from oodometer.data.load import data_kinds; data_kinds.names(); "
        "print([m for m in ('PIL', 'pyarrow', 'fsspec', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_table_as_images_of_no_class(photos: Path):
    rows = [
        "path,label,id",
        *(f"val/{name},{name.split('/')[0]},{at}" for at, name in enumerate(["red/1.png", "blue/3.png"])),
    ]
    (photos.parent / "some.csv").write_text("\n".join(rows))
    data = load_data(photos.parent / "some.csv", kind="images")
    assert (data.ids, data.labels.tolist(), data.name) == (("0", "1"), [-1, -1], "some")
    assert data.image(1).shape[2] == 3
