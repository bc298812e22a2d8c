"""Which synsets are kinds of the 25 broad classes, by ImageNet's hierarchy, and which of them ImageNet-1k has."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from oodometer.core.dataset import Dataset
from oodometer.data.layouts.imagenet_22k import (
    broad_classes,
    open_by_paper,
    open_seen_subtypes,
    subtypes_among,
    subtypes_at,
    subtypes_by_paper,
)
from oodometer.data.root import DataRoot
from published_lists import published_list

AMPHIBIAN, BIRD, DOG, VEHICLE = "n01627424", "n01503061", "n02084071", "n04576211"
FROG, TREE_FROG, GREENFROG, BULLFROG = "n01639765", "n01644373", "n01641739", "n01641577"
COCK, CUCKOO = "n01514668", "n01821869"
AMPHIBIAN_VEHICLE = "n02699629"
PAIRS = [
    (AMPHIBIAN, FROG),
    (FROG, TREE_FROG),  # of ImageNet-1k
    (FROG, BULLFROG),  # of ImageNet-1k
    (FROG, GREENFROG),
    ("n01502101", BIRD),
    (BIRD, COCK),  # of ImageNet-1k
    (BIRD, CUCKOO),
    (VEHICLE, AMPHIBIAN_VEHICLE),
    (AMPHIBIAN, AMPHIBIAN_VEHICLE),  # below two broad classes
    ("n00015388", DOG),
    ("n00015388", "n02131999"),  # below none
]


def test_seen_and_unseen_kinds() -> None:
    everything = {one for pair in PAIRS for one in pair}
    found = subtypes_among(everything, PAIRS)
    names = broad_classes().classes
    assert {one: names[index] for one, index in found.seen.items()} == {
        TREE_FROG: "Amphibian",
        BULLFROG: "Amphibian",
        COCK: "Bird",
    }
    assert {one: names[index] for one, index in found.unseen.items()} == {GREENFROG: "Amphibian", CUCKOO: "Bird"}
    assert found.ambiguous == (AMPHIBIAN_VEHICLE,)
    # a broad class itself and what has kinds below it may show a seen kind
    assert set(found.inner) == {AMPHIBIAN, BIRD, VEHICLE, DOG, FROG}


# reference: the paper's definition (appendix E), and the released lists, which begin with n01627424 and n01639765 and
# give a synset of two broad classes to the first
def test_the_paper_leaves_nothing_out() -> None:
    everything = {one for pair in PAIRS for one in pair}
    found, strict = subtypes_by_paper(everything, PAIRS), subtypes_among(everything, PAIRS)
    names = broad_classes().classes
    assert found.seen == strict.seen
    assert {one: names[index] for one, index in found.unseen.items()} == {
        GREENFROG: "Amphibian",
        CUCKOO: "Bird",
        AMPHIBIAN: "Amphibian",
        FROG: "Amphibian",
        BIRD: "Bird",
        DOG: "Dog",
        VEHICLE: "Vehicle",
        AMPHIBIAN_VEHICLE: "Amphibian",
    }
    assert (found.ambiguous, found.inner) == ((), ())


def test_a_circle_in_the_hierarchy_ends() -> None:
    found = subtypes_among([CUCKOO], [(BIRD, CUCKOO), (CUCKOO, BIRD)])
    assert (dict(found.unseen), found.inner) == ({}, (CUCKOO,))


def put_tree(root: str, put: Callable[..., str], encode: Callable[..., bytes], beside: bool) -> None:
    for place, synset in enumerate((GREENFROG, CUCKOO, TREE_FROG, FROG, AMPHIBIAN_VEHICLE, "n02131999")):
        for image in range(2):
            put(f"{root}/imagenet22k/{synset}/{synset}_{image}.JPEG", encode(place, "JPEG"))
    lines = "".join(f"{above} {below}\n" for above, below in PAIRS)
    put(f"{root}/{'' if beside else 'imagenet22k/'}wordnet.is_a.txt", lines.encode())


def opened(root: object) -> Dataset:
    return DataRoot(str(root), partial=True).open("imagenet-22k")


@pytest.mark.parametrize("beside", [False, True])
def test_the_folders_of_unseen_kinds(
    root: str, put: Callable[..., str], encode: Callable[..., bytes], beside: bool
) -> None:
    put_tree(root, put, encode, beside)
    data = opened(root)
    assert data.ids == tuple(f"{one}/{one}_{image}" for one in (GREENFROG, CUCKOO) for image in (0, 1))
    assert [data.space.classes[label] for label in data.labels] == ["Amphibian"] * 2 + ["Bird"] * 2
    assert data.columns["subtype"].tolist() == [GREENFROG] * 2 + [CUCKOO] * 2
    seen = open_seen_subtypes(f"{root}/imagenet22k", name="seen")
    assert seen.columns["subtype"].tolist() == [TREE_FROG] * 2
    assert subtypes_at(f"{root}/imagenet22k").ambiguous == (AMPHIBIAN_VEHICLE,)
    by_paper = open_by_paper(f"{root}/imagenet22k", name="by paper")
    assert set(by_paper.columns["subtype"]) == {GREENFROG, CUCKOO, FROG, AMPHIBIAN_VEHICLE}


def test_a_wrong_set_is_one_line(
    tmp_path: Path, put: Callable[..., str], encode: Callable[..., bytes], error_of: Callable[..., str]
) -> None:
    put(f"{tmp_path}/imagenet-22k/{GREENFROG}/a.JPEG", encode(0))
    assert "no wordnet.is_a.txt in it or beside it" in error_of(lambda: opened(tmp_path))
    put(f"{tmp_path}/imagenet-22k/wordnet.is_a.txt", f"{BIRD} {CUCKOO}\n{BIRD}\n".encode())
    assert "line 2 is not a synset and one below it" in error_of(lambda: opened(tmp_path))
    put(f"{tmp_path}/imagenet-22k/wordnet.is_a.txt", f"{BIRD} {CUCKOO}\n\n".encode())
    assert "no folders (n01639765 and so on) with images below a broad class" in error_of(lambda: opened(tmp_path))


def test_the_broad_classes_are_those_of_the_paper() -> None:
    rows = list(csv.DictReader(published_list("imagenet22k_broad_classes.csv").splitlines()))
    assert len(rows) == 25
    assert [row["class"] for row in rows] == list(broad_classes().classes)
    # each is known under its own id: a synset directly below it is of its class
    for index, row in enumerate(rows):
        assert dict(subtypes_among(["n99999999"], [(row["wnid"], "n99999999")]).unseen) == {"n99999999": index}
