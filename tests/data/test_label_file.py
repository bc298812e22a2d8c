"""Files of labels in each form, and what is wrong with those that can't be used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace, numbered
from oodometer.data.label_file import read_labels

PETS = LabelSpace("pets", ("cat", "dog", "newt"))


def written(folder: Path, name: str, text: str | bytes) -> str:
    content = text if isinstance(text, bytes) else text.encode()
    (folder / name).write_bytes(content)
    return str(folder / name)


@pytest.mark.parametrize(
    ("name", "text", "ids", "values"),
    [
        ("l.txt", "2\n0\n-1\n", None, [2, 0, -1]),
        ("l.csv", "id,label\na,2\nb,0\n", ("a", "b"), [2, 0]),
        ("l.csv", "filename,label\na.png,2\nb.png,\n", ("a.png", "b.png"), [2, -1]),
        ("l.csv", "\ufefflabel,size,ID\n1,9,a\n", ("a",), [1]),
        ("l.csv", "label\n1\n", None, [1]),
    ],
)
def test_texts_and_tables(tmp_path: Path, name: str, text: str, ids: tuple[str, ...] | None, values: list[int]) -> None:
    labels = read_labels(written(tmp_path, name, text))
    assert (labels.ids, labels.values.tolist(), labels.classes) == (ids, values, None)


def test_arrays(tmp_path: Path) -> None:
    np.save(tmp_path / "l.npy", np.array([3, 1], dtype=np.uint8))
    assert read_labels(str(tmp_path / "l.npy")).values.tolist() == [3, 1]


def test_names_of_classes_are_labels_where_the_classes_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, "l.csv", "id,label\na,newt\nb,cat\nc,\n")
    labels = read_labels(path, classes=PETS)
    assert (labels.values.tolist(), labels.classes) == ([2, 0, -1], PETS)
    assert read_labels(written(tmp_path, "l.txt", "2\n0\n"), classes=PETS).values.tolist() == [2, 0]
    # Classes whose names are numbers: a label is such a name where all are.
    years = LabelSpace("years", ("2001", "2000", "1"))
    assert read_labels(written(tmp_path, "y.txt", "2000\n1\n"), classes=years).values.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("name", "text", "classes", "message"),
    [
        ("l.txt", "0\n2000000000\n", None, "the label 2000000000 is outside the classes 0 to 999999 (-1: no label)"),
        ("l.txt", "0\n" + "9" * 400, None, "which is too large; classes are numbered from 0 to 999999 at most"),
        ("l.txt", "0\n-2\n", None, "the label -2 is outside the classes 0 to 999999 (-1: no label)"),
        ("l.txt", "0\n3\n", PETS, "the label 3 is outside the classes 0 to 2 (-1: no label)"),
        ("l.txt", "0\n5\n", numbered(5), "the label 5 is outside the classes 0 to 4 (-1: no label)"),
        ("l.txt", "cat\ndgo\n", PETS, "line 2 has the label 'dgo', which is none of the 3 classes; did you mean dog?"),
        ("l.txt", "cat\n1\n", PETS, "some labels are names of classes and some numbers; write all in one way"),
        (
            "l.txt",
            "0\ncat\n",
            None,
            "line 2 has the label 'cat', which is not a whole number; labels may be names where",
        ),
        ("l.txt", "0.5\n", None, "line 1 has the label '0.5', which is not a whole number"),
        ("l.txt", "", None, "labels must be whole numbers, one per image, not int64 of shape (0,)"),
        ("l.txt", b"\xff\xfe\x00", None, "not a text file; it should hold the true classes, one a line"),
        ("l.csv", "a,1\nb,2\n", None, "expected a first line with the columns id (or filename) and label"),
        (
            "l.csv",
            "path,label\na,1\n",
            None,
            "whose labels are these? Call the column of the images' ids id or filename",
        ),
        ("l.csv", "", None, "expected a first line with the columns id (or filename) and label"),
        ("l.csv", "id,label\na,1\nb\n", None, "line 3 has 1 columns instead of 2"),
        ("l.csv", "id,label\na,1\na,2\n", None, "labels: the image 'a' is there twice"),
        ("l.csv", 'id,label\n"' + "a" * 200_000 + '",1\n', None, "not a table (field larger than field limit"),
    ],
)
def test_what_can_not_be_used_gets_one_line(tmp_path: Path, name, text, classes, message) -> None:
    path = written(tmp_path, name, text)
    with pytest.raises(DataError) as caught:
        read_labels(path, classes=classes)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("array", [np.eye(2), np.array([0.5]), np.array(["a"]), np.array([2_000_000_000])])
def test_arrays_that_can_not_be_labels(tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "l.npy", array)
    with pytest.raises(DataError, match=r"l\.npy: (labels must be whole numbers|the label 2000000000 is outside)"):
        read_labels(str(tmp_path / "l.npy"))


def test_what_has_no_end_is_not_begun() -> None:
    with pytest.raises(DataError, match="/dev/zero: a device, not a file; it should hold the true classes"):
        read_labels("/dev/zero")
    with pytest.raises(DataError, match="none: no such file; it should hold the true classes"):
        read_labels("none")
