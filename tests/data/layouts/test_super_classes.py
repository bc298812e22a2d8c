"""The broad classes of the video sets: as many as published, each with the members that its name promises."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.data.imagenet import imagenet_names
from oodometer.data.layouts.super_classes import super_class_map


# Taori et al. 2020, section 3 and the settings of its testbed: 30 and 24 classes; val on them has 14,400 and 11,550
# images, which is 50 for each of 288 and 231 classes.
@pytest.mark.parametrize(("name", "n", "members"), [("imagenet_vid_robust", 30, 288), ("ytbb_robust", 24, 231)])
def test_as_many_as_published(name, n, members):
    found = super_class_map(name)
    assert (len(found.target), sum(len(group) for group in found.members)) == (n, members)
    assert len(found.source) == 1000


@pytest.mark.parametrize(
    ("name", "broad", "index", "expected"),
    [
        ("imagenet_vid_robust", "airplane", 0, ["airliner"]),
        ("imagenet_vid_robust", "elephant", 10, ["Indian elephant", "African elephant"]),
        ("imagenet_vid_robust", "red panda", 20, ["lesser panda"]),
        ("imagenet_vid_robust", "zebra", 29, ["zebra"]),
        ("ytbb_robust", "person", 0, ["ballplayer", "groom", "scuba diver"]),
        ("ytbb_robust", "knife", 12, ["cleaver", "letter opener"]),
        ("ytbb_robust", "umbrella", 21, ["umbrella"]),
    ],
)
def test_members_are_what_the_name_says(name, broad, index, expected):
    found = super_class_map(name)
    assert found.target.classes[index] == broad
    assert [imagenet_names()[one].replace("_", " ") for one in found.members[index]] == expected


def test_of_ytbb_five_classes_are_no_class_of_imagenet():
    found = super_class_map("ytbb_robust")
    lacking = [name for name, group in zip(found.target.classes, found.members, strict=True) if not group]
    assert lacking == ["cow", "giraffe", "skateboard", "toilet", "none"]
    assert not super_class_map("imagenet_vid_robust").unanswerable


def test_the_video_classes_and_those_of_youtube_share_most_members():
    vid, ytbb = (super_class_map(name) for name in ("imagenet_vid_robust", "ytbb_robust"))
    for one in ("bird", "dog", "car", "bus", "bear", "bicycle", "zebra", "train"):
        of_vid, of_ytbb = (some.members[some.target.classes.index(one)] for some in (vid, ytbb))
        assert of_vid == of_ytbb


@pytest.mark.parametrize("shift", [0.0, -100.0, 100.0])
def test_a_class_without_members_is_never_the_answer(shift):
    logits = np.random.default_rng(0).normal(shift, 3, (50, 1000)).astype(np.float32)
    found = super_class_map("ytbb_robust")
    mapped = found.logits(logits)
    for row, given in zip(mapped, logits, strict=True):
        # A plain loop over the classes is the reference; the testbed leaves 0 where there are no members, which is
        # the same as long as the best logit is above 0.
        best = [given[list(group)].max() if group else -np.inf for group in found.members]
        assert int(row.argmax()) == int(np.argmax(best))
        assert [one for one, group in zip(row, found.members, strict=True) if group] == [
            one for one in best if one > -np.inf
        ]
    assert np.isfinite(mapped).all()
    lacking = [place for place, group in enumerate(found.members) if not group]
    assert (mapped[:, lacking].max(axis=1) < np.delete(mapped, lacking, axis=1).min(axis=1)).all()
