"""What is trained on: the training part of published sets, by folder or by name below a root."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from made_cifar import FINE_BELOW_COARSE, pixels, put_cifar_10, put_cifar_100
from oodometer.core.errors import DataError, UsageError
from oodometer.data.layouts.cifar import CLASSES
from oodometer.data.layouts.cifar_100 import broad_classes, subtypes
from oodometer.data.training_set import labelled_by, training_set


@pytest.mark.parametrize("binary", [False, True])
def test_cifar_100_over_its_100_classes_with_the_broad_ones_as_a_column(tmp_path, binary):
    folder = tmp_path / ("cifar-100-binary" if binary else "cifar-100-python")
    put_cifar_100(folder, per_subtype=2, binary=binary)
    data = training_set(str(folder))
    assert (len(data), data.name, data.space) == (200, folder.name, subtypes())
    assert np.bincount(data.labels).tolist() == [2] * 100
    coarse_of = {fine: coarse for coarse, some in FINE_BELOW_COARSE.items() for fine in some}
    coarse = np.array([coarse_of[fine] for fine in data.labels.tolist()])
    assert data.columns["superclass"].tolist() == [broad_classes().classes[one] for one in coarse]
    assert data.columns["subtype"].tolist() == [subtypes().classes[one] for one in data.labels]
    expected = pixels(coarse, 20, 0).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    np.testing.assert_array_equal(data.image(7), expected[7])
    broad = labelled_by(data, "superclass")
    assert (broad.space.classes, broad.labels.tolist()) == (broad_classes().classes, coarse.tolist())


@pytest.mark.parametrize("binary", [False, True])
def test_the_five_batches_of_cifar_10(tmp_path, binary):
    folder = tmp_path / ("cifar-10-batches-bin" if binary else "cifar-10-batches-py")
    put_cifar_10(folder, per_batch=4, binary=binary)
    data = training_set(str(folder))
    labels = np.concatenate([(np.arange(4) * 3 + number) % 10 for number in range(1, 6)])
    assert (data.space, data.labels.tolist()) == (CLASSES, labels.tolist())
    expected = pixels(labels[8:12], 10, 3).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)  # of the third batch
    np.testing.assert_array_equal(data.image(9), expected[1])


def test_by_name_below_a_root(tmp_path):
    put_cifar_100(tmp_path / "cifar-100-python", per_subtype=1)
    data = training_set("CIFAR100", data_root=str(tmp_path))
    assert (data.name, len(data)) == ("cifar-100", 100)
    with pytest.raises(DataError, match=r"cifar-10 is not in .*: expected cifar-10-batches-py"):
        training_set("cifar-10", data_root=str(tmp_path))
    with pytest.raises(DataError, match=r"^cifar-10: no such file or folder; .* --data-root where cifar-10 is$"):
        training_set("cifar-10")
    (tmp_path / "cifar-100-python" / "train").unlink()
    with pytest.raises(DataError, match=r"no batch train \(python\) or train\.bin"):
        training_set("cifar-100", data_root=str(tmp_path))


def test_a_folder_that_only_has_the_name_is_any_data(tmp_path):
    for label in ("cat", "dog"):
        (tmp_path / "cifar-10" / label).mkdir(parents=True)
        Image.new("RGB", (4, 4)).save(tmp_path / "cifar-10" / label / "a.png")
    assert training_set(str(tmp_path / "cifar-10")).space.classes == ("cat", "dog")


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("it-ran",)


@pytest.mark.parametrize("name", ["cifar-100-python/train", "cifar-10-batches-py/data_batch_2"])
def test_no_code_of_a_batch_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    put_cifar_100(tmp_path / "cifar-100-python", per_subtype=1)
    put_cifar_10(tmp_path / "cifar-10-batches-py", per_batch=2)
    (tmp_path / name).write_bytes(pickle.dumps({b"data": Evil()}, protocol=2))
    with pytest.raises(DataError) as caught:
        training_set(name.partition("/")[0])
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "it-ran").exists()


def test_a_column_that_is_not_there(tmp_path):
    put_cifar_10(tmp_path / "cifar-10-batches-py", per_batch=2)
    with pytest.raises(
        UsageError, match=r"^--label superclass: cifar-10-batches-py has no column 'superclass'; its im"
    ):
        labelled_by(training_set(str(tmp_path / "cifar-10-batches-py")), "superclass")
