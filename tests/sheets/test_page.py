"""How a sheet is laid out: every pixel as it is, words above, beside and beneath."""

from __future__ import annotations

import numpy as np

from oodometer.sheets.page import GAP, LINE, MARGIN, Heading, Row, Tile, beside, broken, cut_to, drawn, wrapped


def square(value: int, side: int = 100) -> np.ndarray:
    return np.full((side, side, 3), value, dtype=np.uint8)


def test_every_image_is_there_pixel_by_pixel_with_its_words_around_it() -> None:
    image = np.random.default_rng(0).integers(0, 256, (100, 100, 3), dtype=np.uint8)
    row = Row("tench", (Tile(image), Tile(square(9), "coho\n69%")), (Heading("clean", 0), Heading("fog", 1)))
    sheet = drawn([row], gaps=[1])
    top, second = MARGIN + 2 * LINE, MARGIN + 100 + MARGIN + GAP
    np.testing.assert_array_equal(sheet[top : top + 100, MARGIN : MARGIN + 100], image)
    np.testing.assert_array_equal(sheet[top : top + 100, second : second + 100], square(9))
    assert (sheet[MARGIN : MARGIN + LINE, second:] < 255).any()  # the heading
    assert (sheet[MARGIN + LINE : top, :second] < 255).any()  # the name of the row
    beneath = sheet[top + 101 :]
    assert (beneath[:, second:] < 255).any()
    assert (beneath[:, :second] == 255).all()  # the first image has no caption


def test_a_place_without_an_image_stays_white() -> None:
    sheet = drawn([Row("", (Tile(square(9)), Tile(), Tile(square(9))))])
    assert (sheet[:, 2 * MARGIN + 100 : 2 * MARGIN + 200] == 255).all()


def test_words_are_cut_or_broken_to_the_room_they_have() -> None:
    assert cut_to("hen-of-the-woods", 300) == "hen-of-the-woods"
    assert cut_to("hen-of-the-woods", 70).endswith("...")
    assert "".join(broken("imagenetv2-matched-frequency-format-val", 112)) == "imagenetv2-matched-frequency-format-val"
    assert len(broken("imagenetv2-matched-frequency-format-val", 112)) > 1
    narrow = drawn([Row("", (Tile(square(9)),), (Heading("imagenet-r classes", 0),))])
    plain = drawn([Row("", (Tile(square(9)),), (Heading("clean", 0),))])
    assert len(narrow) == len(plain) + LINE


def test_a_long_row_goes_on_below_and_keeps_its_headings() -> None:
    row = Row("hue", tuple(Tile(square(n)) for n in range(12)), tuple(Heading(str(n), n) for n in range(12)))
    first, second = wrapped(row, 7)
    assert (first.name, second.name, len(first.tiles), len(second.tiles)) == ("hue", "", 6, 6)
    assert [(one.text, one.start) for one in second.headings] == [(str(n), n - 6) for n in range(6, 12)]


def test_two_sheets_beside_each_other_share_the_height() -> None:
    joined = beside(np.zeros((4, 2, 3), np.uint8), np.zeros((6, 3, 3), np.uint8))
    assert joined.shape == (6, 5, 3)
    assert (joined[4:, :2] == 255).all()
