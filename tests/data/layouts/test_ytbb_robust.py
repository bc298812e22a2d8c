"""YTBB-Robust from a small tree in the form in which the 204-model testbed reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from oodometer.core.errors import DataError
from oodometer.data.layouts.ytbb_robust import open_ytbb_robust
from oodometer.data.root import DataRoot

# The words and their order are those of the published files.
ANCHOR_WORDS = [
    *("good", "unsure", "bad", "person", "bird", "bicycle", "boat", "bus", "bear", "cow", "cat", "giraffe"),
    *("potted plant", "horse", "motorcycle", "knife", "airplane", "skateboard", "train", "truck", "zebra", "toilet"),
    *("dog", "elephant", "umbrella", "none", "car"),
]
PAIR_WORDS = [
    *("similar", "dissimilar", "problematic", "correct", "incorrect", "dont know", "deformation"),
    *("background-change", "occlusion-increased", "blur-increase", "bad-anchor"),
]
LONG = "/home/ubuntu/data/ytbb/frames_orig_fps/robustness_test_anchors"
BUS, DOG, CAR, COW, TWICE, BAD, DROPPED, UNSURE = (
    *("a_b-C_6600/frame-99.jpg", "dog1_500/frame-10.jpg", "car1_700/frame-21.jpg", "cow1_100/frame-3.jpg"),
    *("twice_30/frame-5.jpg", "bad1_10/frame-1.jpg", "drop_20/frame-2.jpg", "uns_40/frame-4.jpg"),
)
ANCHORS = [
    (BUS, "good bus person"),
    (f"{LONG}/{DOG}", "good"),
    (CAR, "good"),
    (COW, "good"),
    (TWICE, "bad"),
    (f"{LONG}/{TWICE}", "good cat"),  # reviewed again under a longer name, and found good
    (BAD, "good bad"),
    (DROPPED, "good"),
    (UNSURE, "good"),
    (UNSURE, "good unsure"),  # the later review of the same name counts
]
FIRST = [
    *(("a_b-C", 6600, 4), ("dog1", 500, 19), ("car1", 700, 22), ("cow1", 100, 6), ("twice", 30, 19)),
    *(("bad1", 10, 1), ("drop", 20, 1), ("uns", 40, 1), ("none", 50, 23)),
]


def near(anchor: str, offset: int) -> str:
    folder, _, name = anchor.partition("/")
    number = int(name.removeprefix("frame-").removesuffix(".jpg"))
    return f"{folder}/frame-{number + offset}.jpg"


PAIRS = [
    (f"{BUS},{near(BUS, 1)}", "similar correct"),  # frame 100, which as text is before frame 99
    (f"{BUS},{near(BUS, -1)}", "similar"),
    (f"{BUS},{near(BUS, 2)}", "similar blur-increase"),
    (f"{BUS},{near(BUS, 3)}", "correct"),
    (f"{BUS},{near(BUS, 4)}", "dissimilar"),
    (f"{BUS},{near(BUS, 11)}", "similar"),  # too far away
    (f"{BUS},{near(BUS, 5)}", "dissimilar"),
    (f"{BUS},{near(BUS, 5)}", "similar"),  # the later review counts
    (f"{DOG},{near(DOG, -10)}", "similar"),
    (f"{DOG},{near(DOG, 10)}", "similar"),
    (f"{DROPPED},{near(DROPPED, 1)}", "similar"),
    (f"{LONG}/{DROPPED},{LONG}/{near(DROPPED, 2)}", "bad-anchor"),
]
KEPT = {BUS: (-1, 0, 1, 5), CAR: (0,), COW: (0,), DOG: (-10, 0, 10), TWICE: (0,)}


def reviews(rows: list[tuple[str, str]], words: list[str]) -> str:
    def indices(said: str) -> list[int]:
        return [place for place, word in enumerate(words) if word in said.split()]

    found = [{"key": key, "notes": "", "labels": indices(said)} for key, said in rows]
    return json.dumps({"annotations": found, "labels": words})


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "ytbb-robust"
    metadata = root / "metadata"
    metadata.mkdir(parents=True)
    (metadata / "anchor_labels.json").write_text(reviews(ANCHORS, ANCHOR_WORDS))
    (metadata / "pmk_labels.json").write_text(reviews(PAIRS, PAIR_WORDS))
    table = "".join(f"{video},{ms},{label}\n" for video, ms, label in FIRST)
    (metadata / "ytbb_robustness_test_anchors_full.csv").write_text(f"ytid,time_ms,label\n{table}")
    for anchor in (BUS, DOG, CAR, COW, TWICE, BAD, DROPPED, UNSURE):
        for offset in range(-12, 13):
            file = root / "ytbb_videos" / near(anchor, offset)
            if "frame--" not in file.name:
                file.parent.mkdir(parents=True, exist_ok=True)
                Image.new("RGB", (8, 8)).save(file, "JPEG")
    return root


def error_of(root: Path) -> str:
    with pytest.raises(DataError) as caught:
        open_ytbb_robust(str(root), name="ytbb")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_frames_that_the_reviewers_kept(tree):
    data = open_ytbb_robust(str(tree), name="ytbb")
    found: dict[str, list[int]] = {}
    for anchor, offset in zip(data.columns["anchor"].tolist(), data.columns["offset"].tolist(), strict=True):
        found.setdefault(f"{anchor}.jpg", []).append(offset)
    assert {anchor: tuple(offsets) for anchor, offsets in found.items()} == KEPT
    assert data.columns["video"].tolist() == [*["a_b-C"] * 4, "car1", "cow1", *["dog1"] * 3, "twice"]


def test_labels_are_the_anchor_s_and_cars_are_not_none(tree):
    data = open_ytbb_robust(str(tree), name="ytbb")
    names = data.space.classes
    assert data.other_labels is not None
    found = {
        anchor: [names[label], *(names[one] for one in others)]
        for anchor, label, others in zip(
            data.columns["video"].tolist(), data.labels.tolist(), data.other_labels, strict=True
        )
    }
    # the class that the anchor was chosen for, and those that the reviewer added; 22 in the table is the car
    assert found == {
        "a_b-C": ["bus", "person"],
        "car1": ["car"],
        "cow1": ["cow"],
        "dog1": ["dog"],
        "twice": ["dog", "cat"],
    }
    assert len(set(data.labels[:4].tolist())) == 1, "neighbours are judged by the labels of their anchor"


@pytest.mark.parametrize("folder", ["metadata", "ytbb-robust_metadata"])
def test_frames_may_lie_beside_the_metadata(tree, folder):
    for video in (tree / "ytbb_videos").iterdir():
        video.rename(tree / video.name)
    (tree / "ytbb_videos").rmdir()
    (tree / "metadata").rename(tree / folder)
    assert len(open_ytbb_robust(str(tree), name="ytbb")) == 10


def test_below_a_root_anchors_are_counted(tree):
    with pytest.raises(DataError) as caught:
        DataRoot(str(tree.parent)).open("ytbb-robust")
    assert "5 anchors instead of 2,030" in str(caught.value)
    assert len(DataRoot(str(tree.parent), partial=True).open("ytbb-robust")) == 10


def test_half_unpacked(tree):
    (tree / "ytbb_videos" / near(BUS, 1)).unlink()
    assert error_of(tree) == (
        f"{tree}: expected 10 frames, found 9; the first that is missing is ytbb_videos/{near(BUS, 1)}; "
        "is it unpacked whole?"
    )


def test_frames_that_do_not_count_need_not_be_there(tree):
    (tree / "ytbb_videos" / near(BUS, 2)).unlink()
    assert len(open_ytbb_robust(str(tree), name="ytbb")) == 10


def test_without_metadata_it_says_what_is_expected(tree):
    (tree / "metadata").rename(tree / "other")
    assert error_of(tree).startswith(f"{tree}: no folder metadata in it; expected anchor_labels.json, pmk_labels.json")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("anchor_labels.json", "{}", "expected the lists 'labels' and 'annotations', found nothing"),
        ("anchor_labels.json", reviews([], ANCHOR_WORDS), "no good anchor in anchor_labels.json"),
        ("anchor_labels.json", reviews([("x.jpg", "good")], ANCHOR_WORDS), "has no row for x.jpg"),
        ("pmk_labels.json", '{"labels": ["similar"], "annotations": [{"key": "a,b", "labels": [7]}]}', "is no review"),
        ("pmk_labels.json", '{"labels": ["similar"], "annotations": [{"key": "a,b", "labels": [-1]}]}', "is no review"),
        ("pmk_labels.json", '{"labels": ["similar"], "annotations": [3]}', "3 is no review"),
        ("ytbb_robustness_test_anchors_full.csv", "ytid,time_ms\na,3\n", "the columns ytid, time_ms and label"),
        ("ytbb_robustness_test_anchors_full.csv", "ytid,time_ms,label\na,3,x\n", "the columns ytid, time_ms and label"),
        ("ytbb_robustness_test_anchors_full.csv", "ytid,time_ms,label\na,3,1\n", "has no row for a_b-C_6600, which"),
    ],
)
def test_metadata_of_another_form(tree, file, content, message):
    (tree / "metadata" / file).write_text(content)
    assert message in error_of(tree)
