"""pm-0 to pm-k from a manifest, against a plain loop over frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from oodometer.analysis.score import score
from oodometer.catalogue.names import find_shift
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError
from oodometer.data.kinds.manifest import open_manifest
from oodometer.engine.run import conditions_of, run
from oodometer.models.callable import from_function
from oodometer.models.card import Declared
from oodometer.shifts.consistency import pm_shift
from oodometer.shifts.sources import Sources

Row = tuple[object, ...]


def manifest(folder: Path, header: str, rows: list[Row]) -> Dataset:
    """A manifest beside one picture for each of its rows; ``right`` tells what the model will say."""
    folder.mkdir(parents=True, exist_ok=True)
    names = header.split(",")
    lines = [",".join([*(f"{name}" for name in names), "path", "label"])]
    for number, row in enumerate(rows):
        grey = 200 if dict(zip(names, row, strict=True)).get("right", True) else 50
        Image.new("L", (9, 9), grey).save(folder / f"{number}.png")
        lines.append(",".join([*(str(one) for one in row), f"{number}.png", "1"]))
    (folder / "frames.csv").write_text("\n".join(lines) + "\n")
    return open_manifest(str(folder / "frames.csv"), name="clips")


def bright(images: np.ndarray) -> np.ndarray:
    """Class 1 for bright pictures, 0 for dark ones."""
    light = images.reshape(len(images), -1).mean(axis=1) / 255
    return np.stack([1 - light, light], axis=1)


MODEL = from_function(bright, Declared(name="bright", size=(8, 8)))


def shift_of(dataset: Dataset, spec: str, **options):
    return pm_shift(spec, Sources(dataset=dataset, **options))


def members(dataset: Dataset) -> list[tuple[str, int, str]]:
    """Anchor, offset and file of each row."""
    paths = dataset.source.images.paths
    return [
        (anchor, offset, Path(paths[row]).stem)
        for anchor, offset, row in zip(
            dataset.columns["anchor"].tolist(), dataset.columns["offset"].tolist(), dataset.rows.tolist(), strict=True
        )
    ]


def error_of(dataset: Dataset, spec: str) -> str:
    with pytest.raises(DataError) as caught:
        shift_of(dataset, spec)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("pm-10", True),
        ("pm-3", True),
        ("pm-k", False),
        ("pm-", False),
        ("pgd-1", False),
        ("pm-1/2", False),
    ],
)
def test_names(spec, expected):
    entry = find_shift(spec)
    assert (entry is not None and entry.kind == "consistency") is expected


def test_the_middle_frame_is_the_anchor_and_frames_are_numbers(tmp_path):
    # files 0 to 4 are the frames 12 to 8: sorted as text, 10 to 12 would stand before 8 and 9
    data = manifest(tmp_path, "sequence,frame", [("a", number) for number in (12, 11, 10, 9, 8)])
    shift = shift_of(data, "pm-1")
    assert members(shift.standard.dataset) == [("2", 0, "2")]
    assert members(shift.shifted.dataset) == [("2", -1, "3"), ("2", 0, "2"), ("2", 1, "1")]
    assert (shift.name, shift.kind, shift.standard.name, shift.shifted.name) == ("pm-1", "consistency", "pm-0", "pm-1")
    assert shift.shifted.unit == "anchor"
    assert (shift.standard.dataset.title, shift.shifted.dataset.title) == ("clips/anchors", "clips/pm-1")


def test_of_two_middle_frames_the_earlier_is_the_anchor(tmp_path):
    data = manifest(tmp_path, "sequence,frame", [("a", number) for number in range(4)])
    assert members(shift_of(data, "pm-1").standard.dataset) == [("1", 0, "1")]


@pytest.mark.parametrize("marks", [("1", "0"), ("true", "false"), ("True", ""), ("1.0", "")])
def test_frames_near_two_anchors_count_for_both(tmp_path, marks):
    yes, no = marks
    rows = [("a", 0, no), ("a", 1, yes), ("a", 2, no), ("a", 3, yes), ("b", 0, yes), ("b", 1, no)]
    shift = shift_of(manifest(tmp_path, "sequence,frame,anchor", rows), "pm-1")
    assert members(shift.shifted.dataset) == [
        *(("1", -1, "0"), ("1", 0, "1"), ("1", 1, "2")),
        *(("3", -1, "2"), ("3", 0, "3")),
        *(("4", 0, "4"), ("4", 1, "5")),
    ]
    assert shift.shifted.dataset.ids == ("1 -1", "1", "1 +1", "3 -1", "3", "4", "4 +1")
    assert shift.standard.dataset.ids == ("1", "3", "4")


def test_gaps_in_the_numbers_are_gaps(tmp_path):
    rows = [("a", number, int(number == 5)) for number in (3, 4, 5, 6, 9)] + [("b", n, int(n == 1)) for n in range(3)]
    shift = shift_of(manifest(tmp_path, "sequence,frame,anchor", rows), "pm-1")
    assert members(shift.shifted.dataset)[:3] == [("2", -1, "1"), ("2", 0, "2"), ("2", 1, "3")]
    shift = shift_of(
        manifest(tmp_path / "far", "sequence,frame,anchor", [("c", 0, 0), ("c", 7, 1), ("c", 8, 0), *rows]), "pm-1"
    )
    assert members(shift.shifted.dataset)[-2:] == [("1", 0, "1"), ("1", 1, "2")], "frame 0 is not next to frame 7"


def test_to_the_digit_against_a_plain_loop(tmp_path):
    rng = np.random.default_rng(5)
    rows = [
        (name, number, int(rng.random() < 0.3), int(rng.random() < 0.85))
        for name in ("a", "b", "c")
        for number in range(15)
    ]
    order = rng.permutation(len(rows))
    data = manifest(tmp_path / "data", "sequence,frame,anchor,right", [rows[place] for place in order])
    sources = Sources(dataset=data)
    pairs = [pm_shift(spec, sources) for spec in ("pm-1", "pm-3")]
    assert len(conditions_of(pairs)) == 3, "pm-0 is asked once"
    store = run([MODEL], pairs, store=str(tmp_path / "runs"))
    right = {(name, number): bool(good) for name, number, _, good in rows}
    anchors = [(name, number) for name, number, is_anchor, _ in rows if is_anchor]
    found = {row.condition: (row.estimate.value, row.estimate.n) for row in score(store, metrics=["top-1"]).rows}
    of_metric = score(store, metrics=["pm-k"]).rows
    as_metric = {(row.condition, row.metric): (row.estimate.value, row.estimate.n) for row in of_metric}
    assert len(of_metric) == len(as_metric) == 3
    values = []
    for k in (0, 1, 3):
        expected = [all(right.get((name, at + one), True) for one in range(-k, k + 1)) for name, at in anchors]
        assert found[f"pm-{k}"] == (pytest.approx(np.mean(expected)), len(anchors))
        assert as_metric[f"pm-{k}", f"pm-{k}"] == found[f"pm-{k}"]
        values.append(np.mean(expected))
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 3


def test_data_that_say_how_far_each_frame_is(tmp_path):
    rows = [("x", 1), ("x", 0), ("x", -1), ("x", 5), ("y", 0), ("y", 2)]
    shift = shift_of(manifest(tmp_path, "anchor,offset", rows), "pm-2")
    assert members(shift.shifted.dataset) == [
        ("1", 1, "0"),
        ("1", 0, "1"),
        ("1", -1, "2"),
        ("4", 0, "4"),
        ("4", 2, "5"),
    ]
    assert shift.standard.dataset.ids == ("1", "4")


def test_several_labels_travel_along(tmp_path):
    from dataclasses import replace

    data = manifest(tmp_path, "sequence,frame", [("a", number) for number in range(3)])
    data = replace(data, other_labels=((0,), (), (0,)))
    assert shift_of(data, "pm-1").shifted.dataset.other_labels == ((0,), (), (0,))
    assert shift_of(data, "pm-1").standard.dataset.other_labels == ((),)


def test_a_part_has_whole_anchors(tmp_path):
    rows = [(f"clip{number}", frame) for number in range(6) for frame in range(3)]
    data = manifest(tmp_path, "sequence,frame", rows)
    shift = shift_of(data, "pm-1", images=2)
    assert (len(shift.standard.dataset), len(shift.shifted.dataset)) == (2, 6)


def test_columns_that_are_missing_or_hold_no_numbers(tmp_path):
    assert error_of(manifest(tmp_path / "a", "sequence,shot", [("a", 1)]), "pm-1") == (
        "clips: pm-1 needs the columns sequence and frame (or anchor and offset) in the manifest; "
        "its columns are: sequence, shot"
    )
    texts = manifest(tmp_path / "b", "sequence,frame", [("a", "first"), ("a", 2)])
    assert error_of(texts, "pm-1") == "clips: the column frame has to hold a whole number for every image"
    halves = manifest(tmp_path / "c", "sequence,frame", [("a", 1.5), ("a", 2)])
    assert error_of(halves, "pm-1") == "clips: the column frame has to hold a whole number for every image"
    wide = manifest(tmp_path / "e", "sequence,frame", [("a", "1.0"), ("a", "2.0"), ("a", "3.0")])
    assert members(shift_of(wide, "pm-1").shifted.dataset) == [("1", -1, "0"), ("1", 0, "1"), ("1", 1, "2")]
    holes = manifest(tmp_path / "d", "anchor,offset", [("a", 0), ("a", "")])
    assert error_of(holes, "pm-1") == "clips: the column offset has to hold a whole number for every image"


def test_a_frame_that_is_there_twice(tmp_path):
    twice = manifest(tmp_path / "a", "sequence,frame", [("a", 1), ("b", 1), ("b", 2), ("b", 1)])
    assert error_of(twice, "pm-1") == "clips: b has its frame 1 twice; leave one out"
    twice = manifest(tmp_path / "b", "anchor,offset", [("a", 0), ("a", 1), ("a", 1)])
    assert error_of(twice, "pm-1") == "clips: a has its frame 1 twice; leave one out"


def test_too_few_frames(tmp_path):
    short = manifest(tmp_path / "a", "sequence,frame", [("a", 1), ("a", 2), ("a", 3), ("b", 1)])
    assert error_of(short, "pm-2") == (
        "clips: none of the 2 anchors has all 5 frames within 2 of it (at most 3); are the frames numbered one by one? "
        "otherwise ask for a smaller k"
    )
    alone = manifest(tmp_path / "b", "anchor,offset", [("a", 0), ("a", 4)])
    assert error_of(alone, "pm-3") == "clips: no frame within 3 of an anchor but the anchors themselves"
    headless = manifest(tmp_path / "c", "anchor,offset", [("a", 0), ("a", 1), ("b", 1)])
    assert error_of(headless, "pm-3") == "clips: 1 anchors have no frame of offset 0; the first is b"


def test_marks_that_are_none(tmp_path):
    none = manifest(tmp_path / "a", "sequence,frame,anchor", [("a", 1, 0), ("a", 2, 0)])
    assert error_of(none, "pm-1") == (
        "clips: the column anchor marks no frame; put 1 or true where a frame is an anchor"
    )
    odd = manifest(tmp_path / "b", "sequence,frame,anchor", [("a", 1, "maybe"), ("a", 2, "yes")])
    assert error_of(odd, "pm-1") == "clips: the column anchor says 'maybe'; expected true or false, 1 or 0"


@pytest.mark.parametrize("spec", ["pm-0", "pm-k"])
def test_a_k_that_means_nothing(tmp_path, spec):
    data = manifest(tmp_path, "sequence,frame", [("a", 1)])
    with pytest.raises(UsageError) as caught:
        shift_of(data, spec)
    assert str(caught.value) == f"{spec}: give the number of frames before and after each anchor, pm-10 for one"


def test_no_data():
    with pytest.raises(UsageError, match="pm-3: say which frames, with --data ADDRESS"):
        pm_shift("pm-3", Sources())
