"""ImageNet-Vid-Robust from a small tree in the form in which it is distributed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from oodometer.core.errors import DataError
from oodometer.data.check.check_set import check as check_set
from oodometer.data.layouts.vid_robust import open_vid_robust
from oodometer.data.root import DataRoot

A, B = "val/ILSVRC2015_val_00000000", "val/ILSVRC2015_val_00004000"
PMSETS = {
    # two anchors of one video with a frame in common, and one at the beginning of its video
    f"{A}/000010.JPEG": [f"{A}/000008.JPEG", f"{A}/000009.JPEG", f"{A}/000011.JPEG"],
    f"{B}/000000.JPEG": [f"{B}/000001.JPEG"],
    f"{A}/000012.JPEG": [f"{A}/000011.JPEG"],
}
LABELS = {
    **{f"{A}/{number:06d}.JPEG": [26] for number in range(8, 13)},
    f"{B}/000000.JPEG": [9, 17],
    f"{B}/000001.JPEG": [17],
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "imagenet-vid-robust"
    for path in LABELS:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (12, 8), (int(file.stem) * 9, 0, 0)).save(file, "JPEG", quality=95)
    write(root, "metadata/pmsets.json", PMSETS)
    write(root, "metadata/labels.json", LABELS)
    write(root, "misc/imagenet_vid_class_index.json", {"0": ["n02691156", "airplane"]})
    return root


def write(root: Path, path: str, content: object) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(json.dumps(content, indent=1))


def error_of(root: Path) -> str:
    with pytest.raises(DataError) as caught:
        open_vid_robust(str(root), name="vid")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_one_row_for_each_frame_of_each_anchor_in_the_order_of_time(tree):
    data = open_vid_robust(str(tree), name="vid")
    a, b = "ILSVRC2015_val_00000000", "ILSVRC2015_val_00004000"
    assert data.ids == (
        *(f"{a}/000010 -2", f"{a}/000010 -1", f"{a}/000010", f"{a}/000010 +1"),
        *(f"{a}/000012 -1", f"{a}/000012"),
        *(f"{b}/000000", f"{b}/000000 +1"),
    )
    assert data.columns["anchor"].tolist() == [f"{a}/000010"] * 4 + [f"{a}/000012"] * 2 + [f"{b}/000000"] * 2
    assert data.columns["offset"].tolist() == [-2, -1, 0, 1, -1, 0, 0, 1]
    assert data.columns["video"].tolist() == [a] * 6 + [b] * 2
    assert data.labels.tolist() == [26] * 6 + [9, 17]
    assert data.other_labels == ((),) * 6 + ((17,), ())
    assert [data.space.classes[one] for one in (26, 9, 17)] == ["turtle", "domestic cat", "monkey"]
    # frame 11 is in two sets: the same picture under two ids
    assert [int(data.image(row)[0, 0, 0]) // 9 for row in (3, 4)] == [11, 11]
    assert data.scan().contents[3] == data.scan().contents[4]


def test_below_a_root_anchors_are_counted(tree):
    assert len(DataRoot(str(tree.parent), partial=True).open("imagenet-vid-robust")) == 8
    with pytest.raises(DataError) as caught:
        DataRoot(str(tree.parent)).open("imagenet-vid-robust")
    assert "3 anchors instead of 1,109" in str(caught.value)


def test_found_where_both_sets_are_distributed_together(tree):
    together = tree.parent / "data" / "imagenet_vid_ytbb_robust"
    together.mkdir(parents=True)
    tree.rename(together / "imagenet-vid-robust")
    assert len(DataRoot(str(tree.parent / "data"), partial=True).open("imagenet-vid-robust")) == 8


def test_half_unpacked(tree):
    for number in (9, 11):
        (tree / A / f"{number:06d}.JPEG").unlink()
    assert error_of(tree) == (
        f"{tree}: expected 7 frames, found 5; the first that is missing is {A}/000009.JPEG; is it unpacked whole?"
    )


def test_a_frame_without_labels(tree):
    write(tree, "metadata/labels.json", {path: labels for path, labels in LABELS.items() if "000009" not in path})
    expected = f"{tree}: metadata/labels.json: {A}/000009.JPEG: expected a list of classes 0 to 29, found None"
    assert error_of(tree) == expected


@pytest.mark.parametrize(
    ("pmsets", "message"),
    [
        ({f"{A}/000010.JPEG": [f"{B}/000001.JPEG"]}, f"{B}/000001.JPEG is of another video than its anchor {A}/000010"),
        ({f"{A}/ten.JPEG": []}, f"'{A}/ten.JPEG' is no frame; expected val/VIDEO/NUMBER.JPEG"),
        ({f"{A}/000010.JPEG": 3}, f"{A}/000010.JPEG: expected a list of frames, found 3"),
        ({f"{A}/000010.JPEG": [3]}, "3 is no frame"),
        ([], "expected a JSON object, found a list"),
    ],
)
def test_metadata_of_another_form(tree, pmsets, message):
    write(tree, "metadata/pmsets.json", pmsets)
    assert message in error_of(tree)


def test_metadata_that_are_cut_short_or_missing(tree):
    (tree / "metadata/labels.json").write_text('{"val/')
    assert "labels.json: not a readable JSON file" in error_of(tree)
    (tree / "metadata/labels.json").unlink()
    assert "labels.json: no such file or folder" in error_of(tree)


def test_a_class_beyond_the_thirty(tree):
    write(tree, "metadata/labels.json", {**LABELS, f"{B}/000001.JPEG": [30]})
    assert error_of(tree) == "vid: label 30 is outside the label space of 30 classes"


def test_check_counts_anchors_and_takes_no_frame_of_two_sets_for_a_duplicate(tree):
    rows = {row.check: (row.expected, row.found, row.verdict) for row in check_set(str(tree)).rows}
    assert rows["anchors"] == ("1,109", "3", "wrong")
    assert rows["same bytes, one class"][1:] == ("none", "ok")
    assert [name for name, (_, _, verdict) in rows.items() if verdict == "wrong"] == ["anchors"]


def test_check_of_a_half_unpacked_set(tree):
    (tree / A / "000009.JPEG").unlink()
    rows = {row.check: row for row in check_set(str(tree)).rows}
    assert rows["layout"].verdict == "wrong"
    assert "expected 7 frames, found 6" in rows["layout"].examples[0]
    # how many files there should be is not published, only how many anchors
    assert (rows["image files"].found, rows["image files"].verdict) == ("6", "ok")
