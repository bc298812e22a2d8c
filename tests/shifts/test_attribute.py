"""Base, IID test and shifted sets of small manifests, row by row."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from oodometer.analysis.score import score
from oodometer.core.errors import DataError, UsageError
from oodometer.core.labels import LabelSpace
from oodometer.core.model import Input, Model
from oodometer.core.preprocessing import Geometry
from oodometer.data.load import load_data
from oodometer.engine.run import run
from oodometer.shifts.attribute import (
    also_in_iid,
    attribute_shifts,
    check_contents,
    classes_of,
    fewer_images,
    pairs_of,
    shifts_of_flags,
)
from oodometer.shifts.constraint import parse_base, parse_shift
from oodometer.shifts.sources import Sources
from oodometer.store.index import look

BASE = "camera=new,year=2019,country=us|mx|ca"
SHIFTS = ("country=fr", "camera=old", "year=2017|2018")


def write(folder: Path, rows: list[dict[str, object]], name: str = "shops") -> str:
    """A manifest with its pictures: grey, as bright as the column ``grey`` says (by default each another)."""
    folder.mkdir(exist_ok=True)
    for number, row in enumerate(rows):
        row.setdefault("path", f"{number:03d}.png")
        grey = row.pop("grey", number)
        Image.new("RGB", (4, 4), (grey,) * 3).save(folder / str(row["path"]))
    path = folder / f"{name}.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def row(label="bank", country="us", year=2019, camera="new", **more) -> dict[str, object]:
    return {"label": label, "country": country, "year": year, "camera": camera, **more}


def shops(**more) -> list[dict[str, object]]:
    """20 base rows, 12 of one class and 8 of the other; 5 of France; 2 of each other shift; 3 that differ in two."""
    base = [row("bank" if n < 12 else "gym", ("us", "mx", "ca")[n % 3], **more) for n in range(20)]
    france = [row("bank" if n < 3 else "gym", "fr", **more) for n in range(5)]
    old = [row(label, camera="old", **more) for label in ("bank", "gym")]
    years = [row(label, year=year, **more) for label, year in (("bank", 2017), ("gym", 2018))]
    both = [row("bank", "fr", camera="old", **more) for _ in range(3)]
    return [*base, *france, *old, *years, *both]


def split_of(path: str, base: str = BASE, shifts=SHIFTS, **options):
    return attribute_shifts(load_data(path), parse_base(base), [parse_shift(one) for one in shifts], **options)


def test_one_attribute_at_a_time(tmp_path):
    split = split_of(write(tmp_path, shops()))
    assert {name: len(data) for name, data in split.sets.items()} == {
        "train": 10,
        "iid": 10,
        "country=fr": 5,
        "camera=old": 2,
        "year=2017|2018": 2,
    }
    # Rows 20 to 24 are France with the base's camera and year; 29 to 31 have an old camera too and are in no set.
    assert split.shifted["country=fr"].ids == tuple(f"{n:03d}" for n in range(20, 25))
    assert split.shifted["camera=old"].ids == ("025", "026")
    assert split.shifted["year=2017|2018"].ids == ("027", "028")
    assert sorted([*split.train.ids, *split.iid.ids]) == [f"{n:03d}" for n in range(20)]
    assert split.iid.title == "shops/iid"
    assert split.notes == (
        "iid is 10 of 20 base images, by id with seed 0; the others are train",
        "few images: iid 10, country=fr 5, camera=old 2, year=2017|2018 2; an accuracy on fewer than 30 says little",
    )


def test_the_iid_test_has_each_class_in_proportion_and_depends_on_ids_and_seed_alone(tmp_path):
    rows = shops()
    split = split_of(write(tmp_path, rows), test_share=0.25)
    assert np.bincount(split.iid.labels).tolist() == [3, 2]  # of 12 and 8 a quarter each
    for number, one in enumerate(rows):
        one["id"] = f"{number:03d}"
    again = split_of(write(tmp_path, rows[::-1], "backwards"), test_share=0.25)
    assert set(again.iid.ids) == set(split.iid.ids)
    assert {split_of(write(tmp_path, rows), test_share=0.25, seed=seed).iid.ids for seed in range(4)} != {split.iid.ids}


def test_a_column_split_decides(tmp_path):
    rows = [*(one | {"split": "train"} for one in shops()), *(one | {"split": "test"} for one in shops())]
    split = split_of(write(tmp_path, rows))
    assert {name: len(data) for name, data in split.sets.items()} == {
        "train": 20,
        "iid": 20,
        "country=fr": 5,
        "camera=old": 2,
        "year=2017|2018": 2,
    }
    assert min(split.iid.ids) == "032"  # the 33rd row is the first of test
    assert split.notes[0] == "column split: train is its train part, tests are its test part"


def test_validation_is_tested_on_where_there_is_no_test_part(tmp_path):
    split = split_of(write(tmp_path, [one | {"split": "validation"} for one in shops()]))
    assert (split.train, len(split.iid)) == (None, 20)
    assert list(split.sets) == ["iid", "country=fr", "camera=old", "year=2017|2018"]
    assert split.notes[0] == "column split: no images to train on, tests are its val part"


def test_classes_on_one_side_only_are_noted(tmp_path):
    rows = [row("bank") for _ in range(10)] + [row("gym", "fr"), row("hotel", "fr")]
    split = split_of(write(tmp_path, rows), "country=us", ("country=fr",))
    assert split.notes[1:-1] == (
        "country=fr: 2 classes (gym, hotel) without a training image",
        "country=fr: 1 class (bank) of iid not in it; the two are not over the same classes",
        "country=fr: 2 classes (gym, hotel) not in iid; the two are not over the same classes",
    )
    assert classes_of(split.shifted["country=fr"]) == ["gym", "hotel"]


@pytest.mark.parametrize(
    ("base", "shifts", "message"),
    [
        ("", (), "--base : expected COLUMN=VALUE or COLUMN=VALUE|VALUE, with commas between columns"),
        (BASE, (), "an attribute shift needs a base and a shift, for example --base country=us --shift country=fr"),
        ("country=us", ("year=1",), "shift year=1: the base does not say which year it has; add year=... to --base"),
        (BASE, ("country=us",), "shift country=us: the base has country=us too; name another value"),
        (BASE, ("country=fr|mx",), "shift country=fr|mx: the base has country=mx too; name another value"),
        (BASE, ("year=2019.0",), "shift year=2019.0: the base has year=2019.0 too; name another value"),
        (BASE, ("country=fr", "country=fr"), "shift country=fr: given twice; once is enough"),
        (BASE, ("shop=a",), "shift shop=a: the base does not say which shop it has; add shop=... to --base"),
        (BASE, ("country=de",), "shift country=de: no image of shops has country=de; its values are ca, fr, mx, us"),
        ("contry=us", ("contry=fr",), "base contry=us: shops has no column 'contry'; did you mean country?"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line(tmp_path, base, shifts, message):
    with pytest.raises(UsageError) as caught:
        split_of(write(tmp_path, shops()), base, shifts)
    assert str(caught.value) == message


@pytest.mark.parametrize("share", [0, 1.01, -0.1, float("nan")])
def test_a_share_is_between_0_and_1(tmp_path, share):
    with pytest.raises(UsageError, match=r"expected a number between 0 and 1, for example 0\.1$"):
        split_of(write(tmp_path, shops()), test_share=share)


def test_a_share_of_1_tests_on_all_and_trains_on_none(tmp_path):
    split = split_of(write(tmp_path, shops()), test_share=1)
    assert split.train is None
    assert len(split.iid) == 20
    assert split.iid.title == "shops/iid"
    assert split.notes[0] == "iid is all 20 base images; none is left to train on"


@pytest.mark.parametrize(("n", "expected"), [(30, 15), (300, 100), (1500, 150)])
def test_the_default_share_leaves_enough_images(tmp_path, n, expected):
    """A tenth, and at least 100 or half of the base; a tenth of 40 gave a test of 4 images."""
    rows = [*(row() for _ in range(n)), *(row(country="fr") for _ in range(30))]
    split = split_of(write(tmp_path, rows), "country=us", ("country=fr",))
    assert len(split.iid) == expected
    assert any(note.startswith("few images: iid 15;") for note in split.notes) == (n == 30)


def test_empty_sets_are_errors(tmp_path):
    rows = [row(), row(), row(country="fr", camera="old")]
    with pytest.raises(DataError) as caught:
        split_of(write(tmp_path, rows), "country=us,camera=new", ("country=fr",))
    assert str(caught.value) == "shops: no image for country=fr: none has country=fr, camera=new"
    with pytest.raises(DataError) as caught:
        split_of(write(tmp_path, rows), "country=us,camera=old", ("country=fr",))
    assert str(caught.value) == "shops: no image for base: none has the whole base"
    with pytest.raises(DataError, match="the base has 1 image, which can't be both train and test"):
        split_of(write(tmp_path, rows[1:]), "country=us,camera=new", ("camera=old",))
    rows = [row(split="train"), row(split="test"), row(country="fr", split="train")]
    with pytest.raises(DataError) as caught:
        split_of(write(tmp_path, rows), "country=us", ("country=fr",))
    assert str(caught.value) == "shops: no image for country=fr: none has country=fr in the test part (column split)"
    with pytest.raises(DataError, match="column split has the value 'fold1'; expected train, val or test"):
        split_of(write(tmp_path, [row(split="fold1")]), "country=us", ("country=fr",))


def test_a_file_in_train_and_in_a_test_set_is_an_error(tmp_path):
    rows = [row(id=str(n), split="train", path=f"{n}.png") for n in range(3)]
    rows += [row(id="3", split="test", path="3.png"), row(id="4", split="test", path="1.png", country="fr")]
    with pytest.raises(DataError) as caught:
        split_of(write(tmp_path, rows), "country=us", ("country=fr",))
    assert str(caught.value) == (
        "shops/country=fr: 1 of its 1 images are in train too, for example '4' (in train '1'); "
        "remove one of each, or say in a column split which is which"
    )


def test_one_file_in_two_test_sets_is_noted(tmp_path):
    rows = [row(id=str(n), split="test", path=f"{min(n, 3)}.png", country="fr" if n > 3 else "us") for n in range(6)]
    split = split_of(write(tmp_path, rows), "country=us", ("country=fr",))
    assert also_in_iid(split, "country=fr") == 2
    assert split.notes[-2] == "country=fr: 2 of its files are in iid too, with other labels"


def test_copies_under_other_names_are_found_by_reading_them(tmp_path):
    rows = [row(split="train"), row(split="train"), row(split="test"), row(split="test", country="fr")]
    for one, grey in zip(rows, (10, 20, 30, 20), strict=True):
        one["grey"] = grey
    split = split_of(write(tmp_path, rows), "country=us", ("country=fr",))
    with pytest.raises(DataError) as caught:
        check_contents(split)
    assert "1 of its 1 images are in train too, for example '003' (in train '001')" in str(caught.value)
    told = []
    check_contents(split_of(write(tmp_path / "clean", shops())), lambda done, total: told.append((done, total)))
    assert told == [(0, 5), (1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]


def test_files_that_are_not_there_are_not_taken_for_the_same_content(tmp_path):
    table = write(tmp_path, shops())
    split = split_of(table)
    for picture in tmp_path.rglob("*.png"):
        picture.unlink()
    with pytest.raises(DataError, match=r"shops/train: (\d+) of its \1 images can't be read, first .*no such file"):
        check_contents(split)


def test_fewer_images_of_each_test_set(tmp_path):
    split = fewer_images(split_of(write(tmp_path, shops()), test_share=0.5), 4)
    assert {name: len(data) for name, data in split.tests.items()} == {
        "iid": 4, "country=fr": 4, "camera=old": 2, "year=2017|2018": 2
    }  # fmt: skip


def bright(images: np.ndarray) -> np.ndarray:
    """Says gym of pictures that are brighter than 100."""
    light = images.mean(axis=(1, 2, 3)) > 100
    return np.stack([~light, light], axis=1).astype(np.float32)


def test_run_on_the_pairs_gives_the_accuracies_of_a_count_by_hand(tmp_path):
    """Of France 3 of 5 are answered right, of the old camera 2 of 2, of the IID test all."""
    rows = shops()
    for one in rows:
        one["grey"] = 200 if one["label"] == "gym" else 50
    for number, one in enumerate(rows):
        one["grey"] += number % 20  # no two pictures alike
    rows[20]["grey"], rows[24]["grey"] = 200, 40
    split = split_of(write(tmp_path, rows))
    pairs = pairs_of(split)
    assert [(one.name, one.kind) for one in pairs] == [(name, "attribute") for name in SHIFTS]
    assert all(one.standard is pairs[0].standard for one in pairs)
    model = Model(
        name="light",
        kind="callable",
        digest="0" * 32,
        input=Input(Geometry(4, 4, resize=4)),
        space=LabelSpace("shops", ("bank", "gym")),
        open=lambda compute: bright,
    )
    store = run([model], pairs, store=str(tmp_path / "runs"))
    found = {one.condition: (one.estimate.value, one.estimate.n) for one in score(store, metrics=["top-1"]).rows}
    assert found == {"iid": (1.0, 10), "country=fr": (0.6, 5), "camera=old": (1.0, 2), "year=2017|2018": (1.0, 2)}
    kept = look(store.store).shifts
    assert [(one.name, one.kind, one.standard.name, one.shifted.name) for one in kept] == [
        (name, "attribute", "iid", name) for name in sorted(SHIFTS)
    ]


def test_what_the_flags_name(tmp_path):
    sources, lines = Sources(load_data(write(tmp_path, shops())), images=4), []
    pairs = shifts_of_flags(sources, BASE, SHIFTS, tell=lines.append)
    assert [one.name for one in pairs] == list(SHIFTS)
    assert [len(one.shifted.dataset) for one in pairs] == [4, 2, 2]
    assert lines[0] == "iid is 10 of 20 base images, by id with seed 0; the others are train"
    pairs = shifts_of_flags(replace(sources, images=None), BASE, SHIFTS, test_share=0.25)
    assert len(pairs[0].standard.dataset) == 5


@pytest.mark.parametrize(
    ("base", "shifts", "message"),
    [
        (None, ["a=1"], "--shift alone is half a shift; give the other half, for example --base country=us"),
        ("a=1", [], "--base alone is half a shift; give the other half, for example --shift country=fr"),
        ("a=1", ["a=2"], "--base: say which images, with --data MANIFEST; its columns are the attributes"),
    ],
)
def test_flags_that_lack_something(base, shifts, message):
    with pytest.raises(UsageError) as caught:
        shifts_of_flags(Sources(), base, shifts)
    assert str(caught.value) == message


def test_names_below_a_prefix(tmp_path):
    pairs = pairs_of(split_of(write(tmp_path, shops())), prefix="svsf/")
    assert {(one.name, one.standard.name, one.shifted.name) for one in pairs} == {
        (f"svsf/{name}", "svsf/iid", f"svsf/{name}") for name in SHIFTS
    }
