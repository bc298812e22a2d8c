"""What is held out from training on icons, and that no icon is on two sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from oodometer.core.dataset import Dataset
from oodometer.data.icon_protocols import (
    PROTOCOLS,
    common_iid_rows,
    held_out_rows,
    iid_rows,
    is_held_out_subtype,
    sides_of,
    sides_of_paper,
    split,
)
from oodometer.data.layouts.class_lists import class_list
from oodometer.data.layouts.icons50 import icons_50
from oodometer.data.root import DataRoot


def published(root: Path) -> Dataset:
    """ICONS-50 in small: a vendor draws each of eight subtypes in versions 0 and 2, and one in 2 alone."""
    square = Image.new("RGB", (4, 4))
    for folder, subtypes in (
        ("bird", ["duck", "owl", "eagle", "dove"]),
        ("hat", ["womans_hat", "cap", "crown", "helm"]),
    ):
        (root / "Icons-50" / folder).mkdir(parents=True)
        for style in ("apple", "google", "microsoft"):
            for subtype in subtypes:
                for version in ("0", "2"):
                    square.save(root / "Icons-50" / folder / f"{style}_{version}_{subtype}.png")
            square.save(root / "Icons-50" / folder / f"{style}_2_phoenix.png")
    return DataRoot(str(root), partial=True).open("icons-50")


@pytest.fixture
def built(make_dataset: Callable[..., Dataset]) -> Dataset:
    """Icons as they are built: two vendors with two drawings each, one with a single one; 400 subtypes and a duck."""
    rows = [
        (style, version, subtype)
        for style, versions in (("google", ("blob", "new")), ("microsoft", ("3d", "flat")), ("mozilla", ("old",)))
        for version in versions
        for subtype in [*(f"bird_{number:03d}" for number in range(400)), "duck"]
    ]
    columns = {name: np.array([row[at] for row in rows]) for at, name in enumerate(("style", "version", "subtype"))}
    ids = ["bird/" + "_".join(row) for row in rows]
    return make_dataset(len(rows), space=icons_50(), labels=[4] * len(rows), columns=columns, ids=ids)


def test_the_published_protocols(tmp_path: Path) -> None:
    data = published(tmp_path)
    expected = {
        "style=microsoft": data.columns["style"] == "microsoft",
        "subtypes": np.isin(data.columns["subtype"], ["duck", "womans_hat"]),
        "versions": (data.columns["version"] == "2") & (data.columns["subtype"] != "phoenix"),
    }
    for protocol, rows in expected.items():
        np.testing.assert_array_equal(held_out_rows(data, protocol), rows)
        parts = split(data, protocol)
        ids = [set(part.ids) for part in (parts.training, parts.iid, parts.held_out)]
        assert ids[2] == {one for one, is_it in zip(data.ids, rows, strict=True) if is_it}
        assert sum(len(part) for part in ids) == len(data)
        assert set.union(*ids) == set(data.ids), "no icon is in two parts, and none is lost"
        assert parts.held_out.name == "icons-50-held-out"


def test_the_rules_of_the_paper(make_dataset: Callable[..., Dataset]) -> None:
    """Hendrycks and Dietterich 2019, section 5: all Microsoft icons; the released script: ``'_2' in name``."""
    rows = list(product(("apple", "google", "microsoft"), ("0", "1", "2"), ["duck", *(f"owl_{n}" for n in range(40))]))
    columns = {name: np.array([row[at] for row in rows]) for at, name in enumerate(("style", "version", "subtype"))}
    ids = ["bird/" + "_".join(row) for row in rows]
    data = make_dataset(len(rows), space=icons_50(), labels=[4] * len(rows), columns=columns, ids=ids)
    expected = {
        "style=microsoft": columns["style"] == "microsoft",
        "subtypes": columns["subtype"] == "duck",
        "versions:paper": np.array(["_2" in one.rpartition("/")[2] for one in data.ids]),
    }
    standards = set()
    for protocol, held_out in expected.items():
        standard, shifted = sides_of_paper(data, protocol)
        assert set(shifted.ids) == {one for one, is_it in zip(data.ids, held_out, strict=True) if is_it}
        assert not set(standard.ids) & set(shifted.ids)
        standards.add(standard.ids)
        assert len(shifted) > len(sides_of(data, protocol)[1])  # ours leaves out what others hold out
    assert len(standards) == 1


def test_the_tenth_belongs_to_the_ids(make_dataset: Callable[..., Dataset]) -> None:
    n = 20_000
    columns = {name: np.array(["x"] * n) for name in ("style", "version", "subtype")}
    data = make_dataset(n, space=icons_50(), columns=columns, ids=[f"bird/{at:05d}" for at in range(n)])
    # 20,000 draws with probability 1/10: a standard deviation of 42.4; five of them
    assert abs(iid_rows(data).sum() - 2000) < 212
    np.testing.assert_array_equal(iid_rows(data.take(np.arange(n)[::-1])), iid_rows(data)[::-1])


def test_one_drawing_of_a_quarter_of_what_a_vendor_drew_twice(built: Dataset) -> None:
    rows = held_out_rows(built, "versions")
    styles, versions = (built.columns[name][rows] for name in ("style", "version"))
    assert "mozilla" not in styles, "drawn once"
    icons = Counter(zip(styles.tolist(), built.columns["subtype"][rows].tolist(), strict=True))
    assert set(icons.values()) == {1}, "one drawing stays for training"
    # 802 icons with probability 1/4: a standard deviation of 12.3; five of them
    assert abs(len(icons) - 200.5) < 62
    # which of the two: 200 draws with probability 1/2, a standard deviation of 7.1
    assert abs((np.isin(versions, ["new", "flat"])).sum() - len(icons) / 2) < 36


def test_several_held_out_at_once_leave_a_model_that_can_be_tested_on_each(built: Dataset) -> None:
    parts = split(built, ",".join(PROTOCOLS))
    assert set(parts.training.columns["style"].tolist()) == {"google", "mozilla"}
    assert "duck" not in parts.training.columns["subtype"]
    for protocol in PROTOCOLS:
        standard, shifted = sides_of(built, protocol)
        assert set(standard.ids) == set(parts.iid.ids), "one standard side for all"
        assert not set(shifted.ids) & set(parts.training.ids)
        for alone in (split(built, one) for one in (protocol, ",".join(PROTOCOLS))):
            assert not set(alone.training.ids) & (set(shifted.ids) | set(standard.ids))


def test_the_sides_of_a_shift_differ_in_one_thing(built: Dataset) -> None:
    sides = {protocol: sides_of(built, protocol)[1] for protocol in PROTOCOLS}
    assert set(sides["style=microsoft"].columns["style"].tolist()) == {"microsoft"}
    assert set(sides["subtypes"].columns["subtype"].tolist()) == {"duck"}
    assert "microsoft" not in sides["subtypes"].columns["style"]
    assert "microsoft" not in sides["versions"].columns["style"]
    assert not set(sides["style=microsoft"].columns["subtype"].tolist()) & {"duck"}
    ids = [one for side in sides.values() for one in side.ids]
    assert len(ids) == len(set(ids))


def test_the_common_test_icons(built: Dataset) -> None:
    kept = built.take(np.flatnonzero(common_iid_rows(built)))
    assert set(kept.ids) == set(sides_of(built, "subtypes")[0].ids)
    without = built.take(np.flatnonzero(built.columns["style"] != "microsoft"))
    assert common_iid_rows(without).sum() == len(kept), "where the vendor is not there, nothing is wrong"


def test_any_vendor_can_be_held_out(built: Dataset) -> None:
    parts = split(built, "style=google")
    assert set(parts.held_out.columns["style"].tolist()) == {"google"}
    assert "google" not in parts.training.columns["style"]


def test_the_list_of_subtypes() -> None:
    ours, theirs = class_list("icons_held_out"), class_list("icons_50_held_out")
    # One for one the 50 of the published script, under Unicode's names of today.
    assert len(set(ours)) == len(theirs) == 50
    assert sum(one in theirs for one in ours) >= 25
    assert all(is_held_out_subtype(one) for one in ours)
    assert is_held_out_subtype("victory_hand_medium_dark_skin_tone")
    assert is_held_out_subtype("man_factory_worker")
    assert not is_held_out_subtype("man_cartwheeling")
    assert not is_held_out_subtype("books_medium")


WRONG = {
    "style=mircosoft": "no icons of style 'mircosoft'; did you mean microsoft?",
    "style=": "'style=' can't be held out from icons; use style=VENDOR, subtypes or versions",
    "colours": "'colours' can't be held out from icons; use style=VENDOR, subtypes or versions",
}


@pytest.mark.parametrize("hold_out", WRONG)
def test_what_means_nothing_is_one_line(built: Dataset, error_of: Callable[..., str], hold_out: str) -> None:
    assert WRONG[hold_out] in error_of(lambda: split(built, hold_out))


def test_other_data_are_one_line(make_dataset: Callable[..., Dataset], error_of: Callable[..., str]) -> None:
    data = make_dataset(4)
    message = error_of(lambda: split(data, "subtypes"))
    assert message == f"{data.name}: no columns style, subtype, version; icons have them ('oodometer build icons')"


def test_a_part_without_icons_is_one_line(built: Dataset, error_of: Callable[..., str]) -> None:
    ducks = built.take(np.flatnonzero(built.columns["subtype"] == "duck"))
    assert "no icons for the training part when subtypes is held out" in error_of(lambda: split(ducks, "subtypes"))
