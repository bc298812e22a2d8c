"""The shifts of the video sets, from small trees and a model whose answers are known, to the digit.

The reference is a plain loop over the sets' own files, with the rules of the 204-model testbed.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from oodometer.analysis.accuracy_pairs import pairs_of
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.measured_shifts import measured_shifts
from oodometer.analysis.score import score
from oodometer.core.errors import DataError
from oodometer.data.imagenet import imagenet
from oodometer.data.layouts.super_classes import super_class_map
from oodometer.data.root import DataRoot
from oodometer.engine.run import run
from oodometer.models.callable import from_function
from oodometer.models.card import Declared
from oodometer.shifts.resolve import asked_for
from oodometer.shifts.sources import Sources
from oodometer.store.index import index_at

# tench (in no broad class), airliner, a turtle, two cats, a monkey, two dogs, a bird, zebra, elephant, bus
PALETTE = (0, 404, 33, 281, 283, 370, 151, 207, 7, 340, 385, 654)
STEP = 20


def picture(file: Path, answer: int) -> None:
    """A grey picture to which the model answers with this class of ImageNet; a JPEG keeps its grey."""
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (20, 16), (STEP * PALETTE.index(answer) + 5,) * 3).save(file, "JPEG")


def by_grey(images: np.ndarray) -> np.ndarray:
    """The class that the grey stands for; above all stands one outside of every mask, toilet tissue."""
    logits = np.full((len(images), 1000), -3.0)
    shades = np.rint((images.reshape(len(images), -1).mean(axis=1) - 5) / STEP).astype(int)
    logits[np.arange(len(images)), np.array(PALETTE)[shades]] = -1.0
    logits[:, 999] = 9.0
    return logits


@pytest.fixture
def model():
    return from_function(by_grey, Declared(name="grey", size=(8, 8)))


def broad(name: str, answer: int) -> int:
    """The broad class that is answered: the first one where no member of any stands out."""
    members = super_class_map(name).members
    return next((place for place, group in enumerate(members) if answer in group), 0)


@pytest.fixture
def vid(tmp_path: Path) -> tuple[Path, dict, dict, dict]:
    """Twenty anchors with up to ten frames on each side, most of them answered rightly; some frames of two classes."""
    root, rng = tmp_path / "data" / "imagenet-vid-robust", np.random.default_rng(3)
    pmsets, labels, answers = {}, {}, {}
    for number in range(20):
        video, true = f"val/ILSVRC2015_val_{number:08d}", int(rng.choice(PALETTE[1:]))
        first = 0 if number % 5 == 0 else 87  # at the edge of the video: no frame before it
        near = [first + one for one in range(-10, 11) if first + one >= 0 and rng.random() < 0.8 and one]
        anchor = f"{video}/{first:06d}.JPEG"
        pmsets[anchor] = [f"{video}/{one:06d}.JPEG" for one in near]
        for path in (anchor, *pmsets[anchor]):
            labels[path] = [broad("imagenet_vid_robust", true)]
            answers[path] = true if rng.random() < 0.93 else int(rng.choice(PALETTE[1:]))
            if number % 4 == 1 and broad("imagenet_vid_robust", answers[path]) not in labels[path]:
                labels[path].append(broad("imagenet_vid_robust", answers[path]))  # a second label, which makes it right
            picture(root / path, answers[path])
    (root / "metadata").mkdir()
    (root / "metadata/pmsets.json").write_text(json.dumps(pmsets))
    (root / "metadata/labels.json").write_text(json.dumps(labels))
    return tmp_path / "data", pmsets, labels, answers


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    """ImageNet: 5 of 8 right in the broad classes of both sets."""
    for name, answer in [
        *((151, 151), (151, 207), (151, 281)),  # a dog, another dog, a cat
        *((281, 283), (340, 340), (340, 0)),  # another cat; a zebra, and one with a fish's answer
        *((654, 654), (654, 340)),
        *((0, 0), (0, 151)),  # of no broad class: not in the set
    ]:
        folder = tmp_path / "data/imagenet/val" / imagenet().classes[name]
        picture(folder / f"{answer}.JPEG", answer)
    return tmp_path / "data"


def accuracies(store) -> dict[str, tuple[float, int]]:
    return {row.condition: (row.estimate.value, row.estimate.n) for row in score(store, metrics=["top-1"]).rows}


def shifts(root: Path, *names: str, **options):
    sources = Sources(root=DataRoot(str(root), partial=True), **options)
    return list(asked_for(names, sources).found)


def test_vid_robust_to_the_digit(model, vid, clean, tmp_path):
    root, pmsets, labels, answers = vid
    right = {path: broad("imagenet_vid_robust", answers[path]) in labels[path] for path in labels}
    pm0 = np.mean([right[anchor] for anchor in pmsets])
    pm10 = np.mean([all(right[path] for path in (anchor, *near)) for anchor, near in pmsets.items()])
    assert pm10 < pm0 < 1
    both = shifts(root, "imagenet-vid-robust_pm0", "imagenet-vid-robust_pm10")
    assert [(one.name, one.kind) for one in both] == [
        ("imagenet-vid-robust_pm0", "dataset"),
        ("imagenet-vid-robust_pm10", "consistency"),
    ]
    assert both[1].standard is both[0].shifted
    found = accuracies(run([model], both, store=str(tmp_path / "runs")))
    assert found == {
        "val-on-vid-robust-classes": (5 / 8, 8),
        "imagenet-vid-robust_pm0": (pm0, 20),
        "imagenet-vid-robust_pm10": (pm10, 20),
    }


def test_the_two_sides_are_paired_by_anchor(model, vid, tmp_path):
    root, pmsets, labels, answers = vid
    store = run([model], shifts(root, "imagenet-vid-robust_pm10"), store=str(tmp_path / "runs"))
    (gap,) = score(store, metrics=["gap"]).rows
    right = {path: broad("imagenet_vid_robust", answers[path]) in labels[path] for path in labels}
    lost = [right[anchor] and not all(right[path] for path in near) for anchor, near in pmsets.items()]
    assert gap.estimate.value == pytest.approx(np.mean(lost))
    assert gap.estimate.n == 20
    assert gap.convention.endswith("the same photographs, paired")


@pytest.fixture
def ytbb(tmp_path: Path) -> Path:
    """Five anchors: right, right with a bad neighbour, wrong with good neighbours, a cow, and one with two labels."""
    root = tmp_path / "data" / "ytbb-robust"
    words = ["good", "unsure", "bad", "bus", "dog", "cow", "zebra"]
    said = {"dog_1": (9, [0]), "zebra_1": (9, [0]), "bus_1": (9, [0]), "cow_1": (9, [0]), "two_1": (9, [0, 6])}
    table = {"dog": 19, "zebra": 17, "bus": 4, "cow": 6, "two": 19}
    frames = {
        "dog_1": {8: 151, 9: 207, 10: 151},
        "zebra_1": {9: 340, 10: 340, 11: 151},
        "bus_1": {9: 340, 10: 654},
        "cow_1": {9: 340, 10: 340},
        "two_1": {8: 151, 9: 340, 10: 340},
    }
    anchors = [{"key": f"{one}/frame-9.jpg", "labels": labels} for one, (_, labels) in said.items()]
    pairs = [
        {"key": f"{one}/frame-9.jpg,{one}/frame-{number}.jpg", "labels": [0]}
        for one, found in frames.items()
        for number in found
    ]
    problems = ["dissimilar", "problematic", "incorrect", "bad-anchor"]
    (root / "metadata").mkdir(parents=True)
    (root / "metadata/anchor_labels.json").write_text(json.dumps({"annotations": anchors, "labels": words}))
    (root / "metadata/pmk_labels.json").write_text(json.dumps({"annotations": pairs, "labels": ["similar", *problems]}))
    rows = "".join(f"{video},1,{label}\n" for video, label in table.items())
    (root / "metadata/ytbb_robustness_test_anchors_full.csv").write_text(f"ytid,time_ms,label\n{rows}")
    for one, found in frames.items():
        for number, answer in found.items():
            picture(root / "ytbb_videos" / one / f"frame-{number}.jpg", answer)
    return tmp_path / "data"


def test_ytbb_robust_to_the_digit(model, ytbb, clean, tmp_path):
    both = shifts(ytbb, "ytbb-robust_pm0", "ytbb-robust_pm10")
    store = run([model], both, store=str(tmp_path / "runs"))
    # of 5 anchors the bus is wrong, and the cow because no class of ImageNet is one; the zebra has a bad neighbour
    assert accuracies(store) == {
        "val-on-ytbb-robust-classes": (5 / 8, 8),
        "ytbb-robust_pm0": (3 / 5, 5),
        "ytbb-robust_pm10": (2 / 5, 5),
    }


def test_a_part_has_whole_anchors(vid):
    root, pmsets, _, _ = vid
    (shift,) = shifts(root, "imagenet-vid-robust_pm10", images=7)
    frames = shift.shifted.dataset
    kept = set(frames.columns["anchor"].tolist())
    assert len(kept) == len(shift.standard.dataset) == 7
    assert len(frames) == sum(
        1 + len(near) for anchor, near in pmsets.items() if anchor.removeprefix("val/").removesuffix(".JPEG") in kept
    )
    assert frames.title == "imagenet-vid-robust[7, seed 0]"
    assert shift.standard.dataset.title == "imagenet-vid-robust/anchors[7, seed 0]"
    (other,) = shifts(root, "imagenet-vid-robust_pm10", images=7, seed=1)
    assert set(other.shifted.dataset.columns["anchor"].tolist()) != kept
    (whole,) = shifts(root, "imagenet-vid-robust_pm10", images=50)
    assert len(whole.standard.dataset) == 20


def test_the_anchors_are_the_clean_side_and_nothing_is_lost(model, vid, tmp_path):
    root, name = vid[0], "imagenet-vid-robust_pm10"
    index = index_at(run([model], shifts(root, name), store=str(tmp_path / "runs")))
    (shift,) = measured_shifts(index).shifts
    assert shift.name == name
    found = pairs_of(index, shift, origins={}, how=IntervalOptions())
    assert found.x == ("imagenet-vid-robust_pm0",)
    assert found.same_images
    assert found.notes == (), "neighbours are no images that were left out"


def test_a_set_that_is_not_there_says_where_to_get_it(tmp_path):
    with pytest.raises(DataError) as caught:
        shifts(tmp_path, "ytbb-robust_pm10")
    assert str(caught.value) == (
        f"ytbb-robust is not in {tmp_path}: expected ytbb-robust (ytbb_videos/VIDEO_MILLISECONDS/frame-NUMBER.jpg, and "
        "the reviews in metadata); get it from https://modestyachts.github.io/natural-perturbations-website/"
    )
