"""Icon sets of Iconify: sides, hidden icons, other names, and what is turned over."""

from __future__ import annotations

import json

import numpy as np
import pytest

from oodometer.build.icons.iconify import read_icon_set

pytest.importorskip("resvg_py")

from oodometer.build.icons.pictures import draw

BAR = '<path fill="#f00" d="M0 0h4v16h-4z"/>'
TOP = '<path fill="#f00" d="M0 0h16v4h-16z"/>'


def drawn(icons: dict[str, object], name: str, **more: object) -> np.ndarray:
    packed = {"icons": icons, "width": 16, "height": 16, **more}
    found = read_icon_set({"icons.json": json.dumps(packed).encode()})
    return draw(found.icons[name].svg(16), 16)


def red(pixels: np.ndarray) -> np.ndarray:
    return np.asarray((pixels == (255, 0, 0)).all(axis=2))


def test_a_drawing_is_on_white() -> None:
    pixels = drawn({"bar": {"body": BAR}}, "bar")
    assert red(pixels)[:, :4].all()
    assert (pixels[:, 4:] == 255).all()


@pytest.mark.parametrize(
    ("body", "row", "expected"),
    [
        (BAR, {"hFlip": True}, np.s_[:, 12:]),
        (TOP, {"vFlip": True}, np.s_[12:, :]),
        (BAR, {"rotate": 1}, np.s_[:4, :]),
        (BAR, {"rotate": 2}, np.s_[:, 12:]),
    ],
)
def test_another_name_may_turn_it_over(body: str, row: dict[str, object], expected: tuple[slice, slice]) -> None:
    pixels = drawn({"bar": {"body": body}}, "other", aliases={"other": {"parent": "bar", **row}})
    mask = np.zeros((16, 16), bool)
    mask[expected] = True
    np.testing.assert_array_equal(red(pixels), mask)


def test_turned_over_twice_is_as_before() -> None:
    aliases = {"a": {"parent": "bar", "hFlip": True}, "b": {"parent": "a", "hFlip": True}}
    np.testing.assert_array_equal(
        drawn({"bar": {"body": BAR}}, "b", aliases=aliases), drawn({"bar": {"body": BAR}}, "bar")
    )


def test_a_drawing_that_is_not_square_is_in_the_middle() -> None:
    pixels = drawn({"flag": {"body": '<path fill="#f00" d="M0 0h16v8h-16z"/>', "height": 8}}, "flag")
    assert red(pixels)[4:12].all()
    assert (pixels[:4] == 255).all()
    assert (pixels[12:] == 255).all()


def test_a_drawing_that_begins_elsewhere() -> None:
    pixels = drawn({"bar": {"body": '<path fill="#f00" d="M100 0h4v16h-4z"/>', "left": 100}}, "bar")
    assert red(pixels)[:, :4].all()


def test_hidden_icons_and_names_that_lead_nowhere_are_left_out() -> None:
    packed = {
        "icons": {"bar": {"body": BAR}, "old": {"body": BAR, "hidden": True}},
        "aliases": {
            "of-old": {"parent": "old"},
            "of-none": {"parent": "none"},
            "circle": {"parent": "circle"},
            "hidden": {"parent": "bar", "hidden": True},
            "same": {"parent": "bar"},
        },
    }
    chars = {"1f600": "bar", "1f601": "old", "0023-FE0F-20E3": "same"}
    found = read_icon_set({"icons.json": json.dumps(packed).encode(), "chars.json": json.dumps(chars).encode()})
    assert list(found.icons) == ["bar", "same"]
    assert found.codes == {"1f600": "bar", "23-20e3": "same"}
    assert found.aliases == {"same": "bar"}
