"""The whole way from packages to a data set, and everything that may go wrong on it."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import oodometer as odo
from oodometer.build.icons import build
from oodometer.build.icons.build import IconOptions as Options
from oodometer.build.icons.build import build_icons
from oodometer.build.icons.packages import Package
from oodometer.data.icon_protocols import has_icons
from oodometer.data.layouts.icons50 import icons_50, open_icons_50

pytest.importorskip("resvg_py")

PATHS = {
    "bird/apple_new_duck.png",
    "bird/google_new_duck.png",
    "bird/google_new_owl.png",
    "bird/mozilla_old_duck.png",
    "flag/google_new_flag_norway.png",
    "flag/mozilla_old_flag_norway.png",
    "hand/google_new_backhand_index_pointing_left.png",
    "hand/google_new_backhand_index_pointing_right.png",
    "heart/apple_new_red_heart.png",
    "heart/google_new_red_heart.png",
    "heart/mozilla_old_red_heart.png",
}
"""What the packages of conftest.py have: no snail, which is in no class, no hidden bird, one of two equal flags."""


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def beside(folder: Path) -> list[str]:
    return sorted(one for one in os.listdir(folder) if one not in ("registry", "tools", "cache"))


def test_what_is_built(tmp_path: Path, packages: tuple[Package, ...]) -> None:
    told: list[tuple[int, int]] = []
    built = build_icons(
        tmp_path / "icons", Options(packages=packages), drawing=lambda done, total: told.append((done, total))
    )
    assert set(files_in(tmp_path / "icons")) == PATHS | {"manifest.csv", "iid.csv", "CARD.md"}
    assert built.is_new
    assert (len(built.rows), built.same) == (11, 1)
    assert told[0] == (0, 12)
    assert told[-1] == (12, 12)
    with (tmp_path / "icons" / "manifest.csv").open(newline="") as file:
        rows = {row["path"]: row for row in csv.DictReader(file)}
    assert set(rows) == PATHS
    assert rows["bird/mozilla_old_duck.png"] | {"digest": ""} == {
        "path": "bird/mozilla_old_duck.png",
        "label": "bird",
        "id": "bird/mozilla_old_duck",
        "class": "bird",
        "subtype": "duck",
        "style": "mozilla",
        "version": "old",
        "package": "@iconify-json/old@1.0.0",
        "licence": "MIT",
        "code": "1f986",
        "digest": "",
    }


def test_it_opens_as_data_and_as_icons_50(tmp_path: Path, packages: tuple[Package, ...]) -> None:
    build_icons(tmp_path / "icons", Options(packages=packages))
    data = odo.load_data(tmp_path / "icons")
    assert data.name == "icons"
    assert has_icons(data)
    assert data.ids == tuple(sorted(path.removesuffix(".png") for path in PATHS))
    assert [data.space.classes[label] for label in data.labels] == data.columns["class"].tolist()
    assert not data.scan().broken
    same = open_icons_50(str(tmp_path / "icons"), name="icons")
    assert same.ids == data.ids
    for column in ("style", "version", "subtype"):
        assert same.columns[column].tolist() == data.columns[column].tolist()
    assert same.space == icons_50()


def test_the_pixels(tmp_path: Path, packages: tuple[Package, ...]) -> None:
    build_icons(tmp_path / "icons", Options(packages=packages))
    data = odo.load_data(tmp_path / "icons")
    images = {one: data.image(place) for place, one in enumerate(data.ids)}
    left, right = (images[f"hand/google_new_backhand_index_pointing_{side}"] for side in ("left", "right"))
    assert left.shape == (32, 32, 3)
    assert left[0, 0].tolist() == [255, 204, 0]
    assert left[0, -1].tolist() == [255, 255, 255]
    assert (left[:, ::-1] == right).all(), "one is the other, turned over"
    assert images["bird/apple_new_duck"][0, -1].tolist() == [9, 8, 7]
    assert images["bird/apple_new_duck"][0, 0].tolist() == [255, 255, 255], "transparent parts are white"


def test_two_builds_are_the_same_to_the_byte(tmp_path: Path, packages: tuple[Package, ...]) -> None:
    first = build_icons(tmp_path / "a", Options(packages=packages))
    second = build_icons(tmp_path / "b", Options(packages=packages, offline=True))
    assert files_in(tmp_path / "a") == files_in(tmp_path / "b")
    assert first.digest == second.digest


def test_skin_tones_and_sizes(tmp_path: Path, packages: tuple[Package, ...]) -> None:
    built = build_icons(tmp_path / "icons", Options(packages=packages, skin_tones=True, size=64))
    toned = "hand/google_new_backhand_index_pointing_right_dark_skin_tone.png"
    assert {row.path for row in built.rows} == PATHS | {toned}
    assert odo.load_data(tmp_path / "icons").image(0).shape == (64, 64, 3)


def test_a_second_call_does_nothing(
    tmp_path: Path, packages: tuple[Package, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build_icons(tmp_path / "icons", Options(packages=packages))
    before = files_in(tmp_path / "icons")
    monkeypatch.setattr(build, "fetch", None)
    second = build_icons(tmp_path / "icons", Options(packages=packages))
    assert second == replace(first, is_new=False)
    assert files_in(tmp_path / "icons") == before


def test_an_empty_folder_is_filled(tmp_path: Path, packages: tuple[Package, ...]) -> None:
    (tmp_path / "icons").mkdir()
    assert build_icons(tmp_path / "icons", Options(packages=packages)).is_new
    assert beside(tmp_path) == ["icons"]


SPOILED: dict[str, tuple[Callable[[Path], object], str]] = {
    "an icon changed": (lambda folder: (folder / "bird/google_new_owl.png").write_bytes(b"x"), "changed or lost"),
    "an icon lost": (lambda folder: (folder / "bird/google_new_owl.png").unlink(), "changed or lost"),
    "the manifest changed": (
        lambda folder: (folder / "manifest.csv").write_text("path,label\n"),
        "something in it was changed or lost; remove the folder and build it anew",
    ),
    "the test list lost": (lambda folder: (folder / "iid.csv").unlink(), "changed or lost"),
    "the manifest lost": (lambda folder: (folder / "manifest.csv").unlink(), "no icons that were built"),
    "the card changed": (
        lambda folder: (folder / "CARD.md").write_text("mine"),
        "not the card of icons that were built",
    ),
}


@pytest.mark.parametrize("what", SPOILED)
def test_what_is_there_is_checked(
    tmp_path: Path, packages: tuple[Package, ...], error_of: Callable[..., str], what: str
) -> None:
    build_icons(tmp_path / "icons", Options(packages=packages))
    spoil, message = SPOILED[what]
    spoil(tmp_path / "icons")
    assert message in error_of(lambda: build_icons(tmp_path / "icons", Options(packages=packages)))


def test_other_settings_are_one_line(
    tmp_path: Path, packages: tuple[Package, ...], error_of: Callable[..., str]
) -> None:
    build_icons(tmp_path / "icons", Options(packages=packages))
    message = error_of(lambda: build_icons(tmp_path / "icons", Options(packages=packages, size=64)))
    assert message == (
        f"{tmp_path / 'icons'}: is there already, and was built with other settings (32 px, without skin tones, "
        "4 packages); choose another folder"
    )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    message = error_of(lambda: build_icons(tmp_path / "mine", Options(packages=packages)))
    assert message == f"{tmp_path / 'mine'}: is there already, and no icons that were built; choose another folder"
    assert (tmp_path / "mine" / "thesis.txt").exists()


def test_another_size_is_one_line(tmp_path: Path, error_of: Callable[..., str]) -> None:
    assert "icons are drawn at 32, 64, 224 pixels" in error_of(
        lambda: build_icons(tmp_path / "icons", Options(size=48))
    )


def broken_packages(registry: Any, packages: tuple[Package, ...]) -> dict[str, tuple[Package, ...]]:
    listed, *_ = packages
    return {
        "npm did not bring it (npm error code ENOTFOUND)": (listed, replace(packages[1], version="9.9.9")),
        "has not the pinned digest": (listed, replace(packages[1], integrity="sha512-AAAA")),
        "a broken package": (listed, registry.put_bytes("cut", b"\x1f\x8b\x08\0", style="x", drawing="y")),
        "not what it should be (KeyError: 'icons.json')": (listed, registry.put("none", {}, style="x", drawing="y")),
        "not what it should be (JSONDecodeError": (
            listed,
            registry.put("half", {"icons.json": b'{"icons": '}, style="x", drawing="y"),
        ),
        "not what it should be (no pictures of 64 px in it)": (
            listed,
            registry.put("empty", {}, kind="raster", style="x", drawing="y"),
        ),
        "red heart: can't be drawn": (
            listed,
            registry.put(
                "bad",
                {"icons.json": {"icons": {"red-heart": {"body": "<path"}}}},
                style="x",
                drawing="y",
            ),
        ),
        "no icon of any class in the packages": (
            listed,
            registry.put("other", {"icons.json": {"icons": {"nothing": {"body": ""}}}}, style="x", drawing="y"),
        ),
    }


@pytest.mark.parametrize("place", range(8))
def test_nothing_half_built_is_left_behind(
    tmp_path: Path, registry: Any, packages: tuple[Package, ...], error_of: Callable[..., str], place: int
) -> None:
    message, some = list(broken_packages(registry, packages).items())[place]
    assert message in error_of(lambda: build_icons(tmp_path / "icons", Options(packages=some)))
    assert beside(tmp_path) == []


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path, packages: tuple[Package, ...]) -> None:
    def interrupt(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_icons(tmp_path / "icons", Options(packages=packages), drawing=interrupt)
    assert beside(tmp_path) == []


def test_a_blank_drawing_is_left_out(tmp_path: Path, registry: Any, packages: tuple[Package, ...]) -> None:
    blank = registry.put("blank", {"icons.json": {"icons": {"duck": {"body": ""}}}}, style="nobody", drawing="new")
    built = build_icons(tmp_path / "icons", Options(packages=(*packages, blank)))
    assert "nobody" not in {row.style for row in built.rows}
    assert built.same == 2


def test_the_card_counts_and_names_the_authors(tmp_path: Path, packages: tuple[Package, ...]) -> None:
    build_icons(tmp_path / "icons", Options(packages=packages))
    card = (tmp_path / "icons" / "CARD.md").read_text(encoding="utf-8")
    assert "11 emoji in 4 classes, as 3 vendors draw them, on white, 32 x 32 pixels" in card
    assert "| class | icons | apple new | google new | mozilla old |" in card
    assert "| bird | 4 | 1 | 2 | 1 |" in card
    assert "| all | 11 | 2 | 6 | 3 |" in card
    assert "| @iconify-json/old@1.0.0 | 3 | mozilla old | somebody | MIT | https://example.org |" in card


def test_a_missing_renderer_names_the_extra(
    tmp_path: Path, packages: tuple[Package, ...], monkeypatch: pytest.MonkeyPatch, error_of: Callable[..., str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "resvg_py", None)
    message = error_of(lambda: build_icons(tmp_path / "icons", Options(packages=packages)))
    assert message == "icons need more packages: pip install 'oodometer[icons]'"
    assert beside(tmp_path) == []
