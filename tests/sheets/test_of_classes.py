"""Rows of classes: which images are drawn, under which names, and what a model says to them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from colour_model import colour_model
from oodometer.data.imagenet import imagenet
from oodometer.data.layouts.class_lists import class_list
from oodometer.sheets.answers import answers
from oodometer.sheets.of_classes import SIDE, sheet_of_classes
from oodometer.sheets.options import SheetOptions
from oodometer.sheets.page import LINE, MARGIN


def tiles(sheet: np.ndarray, top: int, n: int, *, gaps: Sequence[int] = ()) -> list[np.ndarray]:
    """The images of a row that begins at that height; gaps are in pixels, before each."""
    lefts = [MARGIN + place * (SIDE + MARGIN) + (gaps[place] if gaps else 0) for place in range(n)]
    return [sheet[top : top + SIDE, left : left + SIDE] for left in lefts]


def test_each_class_is_a_row_under_its_name(photos: Path, tmp_path: Path) -> None:
    made = odo.sheet(photos, tmp_path / "sheet.png", options=SheetOptions(per=3))
    assert (made.rows, made.columns) == (("blue", "green", "grey", "red"), ("val",))
    sheet = np.asarray(Image.open(made.path))
    height = SIDE + LINE + 2 * MARGIN
    colours = [(40, 60, 200), (40, 180, 60), (128, 128, 128), (210, 50, 40)]  # of the fixture
    for number, colour in enumerate(colours):
        for tile in tiles(sheet, MARGIN + 2 * LINE + number * height, 3):
            middle = tile[SIDE // 2 - 10 : SIDE // 2 + 10, SIDE // 2 - 10 : SIDE // 2 + 10]
            assert np.abs(middle.mean(axis=(0, 1)) - colour).max() < 12


def test_the_choice_is_of_the_seed_and_not_of_the_order(photos: Path, tmp_path: Path) -> None:
    data = odo.load_data(photos)
    turned = data.take(np.arange(len(data))[::-1])

    def drawn(dataset: odo.Dataset, seed: int) -> np.ndarray:
        return sheet_of_classes([odo.clean(dataset)], SheetOptions(per=2, seed=seed))[0]

    np.testing.assert_array_equal(drawn(data, 0), drawn(turned, 0))
    assert not np.array_equal(drawn(data, 0), drawn(data, 1))


def test_a_shift_of_the_same_images_shows_each_beside_itself(photos: Path, tmp_path: Path) -> None:
    (grey,) = odo.load_shifts("greyscale", data=str(photos))
    sheet, _, columns = sheet_of_classes([grey], SheetOptions(classes=("red",), per=1))
    assert columns == ["clean", "greyscale"]
    _, shifted = tiles(sheet, MARGIN + 2 * LINE, 2)
    data = odo.load_data(photos)
    of_red = [at for at in range(len(data)) if data.labels[at] == 3]
    grey_ones = [grey.shifted.transform.apply(data.views(at, [grey.shifted.transform.view])[0], "") for at in of_red]
    small = [Image.fromarray(one).resize((SIDE, SIDE), Image.Resampling.LANCZOS) for one in grey_ones]
    (place,) = [at for at, one in zip(of_red, small, strict=True) if np.array_equal(shifted, np.asarray(one))]
    # The clean image is cut as the transformed one is.
    whole = Image.fromarray(data.views(place, [grey.shifted.transform.view])[0])
    clean = tiles(sheet, MARGIN + 2 * LINE, 1)[0]
    np.testing.assert_array_equal(clean, np.asarray(whole.resize((SIDE, SIDE), Image.Resampling.LANCZOS)))


@pytest.fixture
def icons(tmp_path: Path) -> Path:
    lines = ["path,label,style,subtype"]
    for number, (label, style, subtype) in enumerate(
        [
            ("cat", "a", "big_cat"),
            ("cat", "b", "big_cat"),
            ("dog", "a", "pug"),
            ("owl", "b", "owl"),
            ("dog", "b", "pug"),
        ]
    ):
        Image.new("RGB", (32, 32), (number, 0, 0)).save(tmp_path / f"{number}.png")
        lines.append(f"{number}.png,{label},{style},{subtype}")
    (tmp_path / "icons.csv").write_text("\n".join(lines))
    return tmp_path / "icons.csv"


def test_the_values_of_a_column_are_the_columns_and_rows_that_all_have_come_first(icons: Path) -> None:
    made = odo.sheet(icons, icons.with_name("sheet.png"), options=SheetOptions(by="style", rows=2))
    assert (made.rows, made.columns) == (("cat", "dog"), ("a", "b"))
    sheet = np.asarray(Image.open(made.path))
    middle = MARGIN + 2 * LINE + SIDE // 2
    reds = [int(sheet[middle, MARGIN + place * (SIDE + MARGIN) + SIDE // 2, 0]) for place in range(2)]
    assert reds == [0, 1]
    both = odo.sheet(icons, icons.with_name("both.png"), options=SheetOptions(by="subtype+style", rows=9))
    assert both.rows == ("big cat", "owl", "pug")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": "styl"}, "no column 'styl'; did you mean style?"),
        ({"classes": ("cta",)}, "no images of 'cta'; did you mean cat?"),
    ],
)
def test_what_the_data_have_not_is_told(icons: Path, options: dict[str, object], said: str) -> None:
    with pytest.raises(odo.UsageError) as error:
        odo.sheet(icons, icons.with_name("sheet.png"), options=SheetOptions(**options))
    assert said in str(error.value)


def test_a_natural_shift_is_drawn_beside_the_clean_images_of_its_classes(tmp_path: Path) -> None:
    drawn, other = (
        class_list("imagenet_r")[0],
        next(one for one in imagenet().classes if one not in class_list("imagenet_r")),
    )
    for folder, wnid, colour in (
        ("imagenet/val", drawn, "red"), ("imagenet/val", other, "black"), ("imagenet-r", drawn, "blue"),
    ):  # fmt: skip
        (tmp_path / "data" / folder / wnid).mkdir(parents=True)
        Image.new("RGB", (160, 120), colour).save(tmp_path / "data" / folder / wnid / "art_1.png")
    options = SheetOptions(data_root=str(tmp_path / "data"), partial=True)
    made = odo.sheet(None, tmp_path / "sheet.png", on=["imagenet-r"], options=options)
    assert made.rows == ("goldfish",)  # n01443537, the first class of ImageNet-R
    assert made.columns == ("val-on-imagenet-r-classes", "imagenet-r")
    sheet = np.asarray(Image.open(made.path))
    clean, shifted = (sheet[-MARGIN * 3 - SIDE // 2, MARGIN + place * (SIDE + MARGIN) + 50] for place in range(2))
    assert (clean.tolist(), shifted.tolist()) == ([255, 0, 0], [0, 0, 255])


def test_a_published_set_is_named_as_in_the_catalogue(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "Icons-50" / "clock"
    folder.mkdir(parents=True)
    for name in ("samsung_3_watch", "apple_1_alarm_clock"):
        Image.new("RGB", (32, 32)).save(folder / f"{name}.png")
    options = SheetOptions(by="style", data_root=str(tmp_path / "data"), partial=True)
    made = odo.sheet("icons50", tmp_path / "sheet.png", options=options)
    assert (made.rows, made.columns) == (("clock",), ("apple", "samsung"))
    with pytest.raises(odo.DataError, match="icons50: no such file or folder"):
        odo.sheet("icons50", tmp_path / "other.png")


def test_too_many_columns_and_attacks_are_refused(photos: Path, tmp_path: Path) -> None:
    for name, said in (("imagenet-c", "76 columns of images"), ("pgd-linf-2", "an attack is made for one model")):
        with pytest.raises(odo.UsageError, match=said):
            odo.sheet(photos, tmp_path / "sheet.png", on=[name])


def test_images_of_no_class_are_a_row_of_their_own(photos: Path, tmp_path: Path) -> None:
    options = SheetOptions(data_kind="images", model=colour_model())
    assert odo.sheet(photos, tmp_path / "sheet.png", options=options).rows == ("of no class",)


def test_the_model_answers_as_in_a_run(photos: Path, tmp_path: Path) -> None:
    data, model = odo.load_data(photos), colour_model()
    (grey,) = odo.load_shifts("greyscale", data=str(photos))
    run = odo.run([model], [grey], store=str(tmp_path / "runs"))
    stored = {row.condition: row.estimate.value for row in odo.score(run.store).rows if row.metric == "top-1"}
    for condition in (grey.standard, grey.shifted):
        said = answers(model, condition, range(len(data)))
        assert np.mean([answer.is_right for answer in said]) == pytest.approx(stored[condition.name])
    first = answers(model, grey.standard, [0])[0]
    assert (first.name, first.is_right, str(first)) == ("blue", True, f"blue\n{first.confidence:.0%}")
    assert {answer.colour for answer in answers(model, grey.shifted, range(len(data)))} == {"black", "firebrick"}
    with_answers = odo.sheet(photos, tmp_path / "a.png", on=["greyscale"], options=SheetOptions(model=model))
    without = odo.sheet(photos, tmp_path / "b.png", on=["greyscale"])
    assert with_answers.pixels[1] == without.pixels[1] + 4 * 2 * LINE
