"""The icons outside the classes: which they are, and that nothing of the classes is among them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import oodometer as odo
from oodometer.build.icons import outside
from oodometer.build.icons.build import IconOptions as Options
from oodometer.build.icons.build import build_icons
from oodometer.build.icons.outside import MIN_ICONS, subgroups_outside, too_small
from oodometer.build.icons.packages import Package
from oodometer.build.icons.unicode_emoji import Emoji

pytest.importorskip("resvg_py")

BIRDS = {"bird": {"subgroups": ["animal-bird"]}}
LISTED = [
    {"codes": "1F986", "name": "duck", "subgroup": "animal-bird"},
    *({"codes": f"{0x1F400 + place:X}", "name": f"bug {place}", "subgroup": "animal-bug"} for place in range(32)),
    {"codes": "1F44B", "name": "wave", "subgroup": "person"},
    {"codes": "1F44B 1F3FF", "name": "wave: dark skin tone", "subgroup": "person"},
    {"codes": "23 20E3", "name": "keycap: #", "subgroup": "keycap"},
    {"codes": "2A 20E3", "name": "keycap: *", "subgroup": "keycap"},
]


def bar(width: int) -> dict[str, str]:
    """An icon of 64 x 64: a bar so many pixels wide."""
    return {"body": f'<path d="M0 0h{width}v64h-{width}z"/>'}


@pytest.fixture
def packages(registry: Any) -> tuple[Package, ...]:
    """A duck, 32 bugs of which one is drawn as the duck is, a hand with and without a tone, and two keys."""
    names = [one["name"] for one in LISTED]
    icons = {name: bar(1 if name == "bug 7" else place + 1) for place, name in enumerate(names)}
    drawn = {
        "icons.json": {"prefix": "x", "icons": icons, "width": 64, "height": 64},
        "chars.json": {one["codes"].lower().replace(" ", "-"): one["name"] for one in LISTED},
    }
    return (
        registry.put("emoji.json", {"emoji.json": LISTED}, kind="unicode"),
        registry.put("@iconify-json/x", drawn, style="google", drawing="new"),
    )


def test_what_is_built(tmp_path: Path, packages: tuple[Package, ...]) -> None:
    options = Options(size=64, packages=packages, rules=BIRDS, outside=True)
    built = build_icons(tmp_path / "outside", options)
    # Not the duck, nor the bug that is drawn as the duck is; the other subgroups are too small.
    assert {row.subtype for row in built.rows} == {f"bug_{place}" for place in range(32) if place != 7}
    assert {row.class_name for row in built.rows} == {"animal_bug"}
    assert built.same == 1
    folders = sorted(path.name for path in (tmp_path / "outside").iterdir())
    assert folders == ["CARD.md", "animal_bug", "iid.csv", "manifest.csv"]
    assert len(odo.load_data(tmp_path / "outside")) == 31
    card = (tmp_path / "outside" / "CARD.md").read_text()
    assert card.startswith("# Icons outside the 50 classes\n\n31 emoji in 1 classes")
    assert f"fewer than {MIN_ICONS} icons are left" in card


def test_small_subgroups_and_skin_tones_are_there_when_asked_for(
    tmp_path: Path, packages: tuple[Package, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside, "MIN_ICONS", 2)
    options = Options(size=64, packages=packages, rules=BIRDS, outside=True)
    paths = {row.path for row in build_icons(tmp_path / "plain", options).rows if row.class_name != "animal_bug"}
    keys = {"keycap/google_new_keycap_hash.png", "keycap/google_new_keycap_asterisk.png"}
    assert paths == keys, "one hand is too small a subgroup"
    toned = Options(size=64, packages=packages, rules=BIRDS, outside=True, skin_tones=True)
    paths = {row.path for row in build_icons(tmp_path / "toned", toned).rows if row.class_name != "animal_bug"}
    assert paths == keys | {"person/google_new_wave.png", "person/google_new_wave_dark_skin_tone.png"}


def test_a_second_call_and_other_settings(
    tmp_path: Path, packages: tuple[Package, ...], error_of: Callable[..., str]
) -> None:
    options = Options(size=64, packages=packages, rules=BIRDS, outside=True)
    first = build_icons(tmp_path / "outside", options)
    second = build_icons(tmp_path / "outside", options)
    assert (first.is_new, second.is_new) == (True, False)
    assert (second.rows, second.same, second.digest) == (first.rows, first.same, first.digest)
    inside = Options(size=64, packages=packages, rules=BIRDS)
    assert error_of(lambda: build_icons(tmp_path / "outside", inside)) == (
        f"{tmp_path / 'outside'}: is there already, and was built with other settings (64 px, without skin tones, "
        "2 packages, outside the classes); choose another folder"
    )


def test_nothing_large_enough_is_one_line(
    tmp_path: Path, packages: tuple[Package, ...], error_of: Callable[..., str]
) -> None:
    rules = {"all": {"subgroups": ["animal-bird", "animal-bug"]}}
    message = error_of(lambda: build_icons(tmp_path / "outside", Options(packages=packages, rules=rules, outside=True)))
    assert message == "no subgroup outside the classes has enough icons in the packages"
    assert not (tmp_path / "outside").exists()


def test_a_name_that_the_classes_have_is_not_outside() -> None:
    duck = Emoji("1f986", "duck", "animal-bird", "duck")
    other = Emoji("e001", "Duck", "other-symbol", "Duck")
    assert subgroups_outside([duck, other], BIRDS) == {}
    assert subgroups_outside([other], BIRDS) == {"e001": "other_symbol"}


def test_enough_is_enough() -> None:
    assert too_small(["a"] * MIN_ICONS + ["b"] * (MIN_ICONS - 1)) == {"b"}
