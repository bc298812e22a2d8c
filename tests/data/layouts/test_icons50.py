"""ICONS-50: names, odd modes, and the held-out subtypes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from oodometer.core.dataset import Dataset
from oodometer.data.check.check_set import check
from oodometer.data.layouts.class_lists import class_list
from oodometer.data.layouts.icons50 import held_out_names, icons_50, icons_or_any
from oodometer.data.layouts.known_set import known_sets
from oodometer.data.root import DataRoot
from published_lists import published_list

# names as they are in the archive
FILES = {
    "arrow_directions/microsoft_4_up_down_arrow.png": ("microsoft", "4", "up_down_arrow"),
    "clock/samsung_3_watch.png": ("samsung", "3", "watch"),
    "family/microsoft_2_family_man_man_girl.png": ("microsoft", "2", "family_man_man_girl"),
    "hand/emoji-one_3_waving_hand_sign.png": ("emoji-one", "3", "waving_hand_sign"),
    "monkey/emoji-one_4_monkey.png": ("emoji-one", "4", "monkey"),
    "monkey/htc_0_monkey_face.png": ("htc", "0", "monkey_face"),
    "worker/apple_0_male_teacher.png": ("apple", "0", "male_teacher"),
    "worker/twitter_0_female_factory_worker.png": ("twitter", "0", "female_factory_worker"),
}


def opened(root: object) -> Dataset:
    return DataRoot(str(root), partial=True).open("icons-50")


@pytest.mark.parametrize("folder", ["Icons-50", "Icons-50/Icons-50", "icons50"])
def test_the_names_become_columns(
    root: str, put: Callable[..., str], encode: Callable[..., bytes], folder: str
) -> None:
    for place, path in enumerate(FILES):
        put(f"{root}/{folder}/{path}", encode(place))
    put(f"{root}/{folder}/README.txt", b"")
    put(f"{root}/{folder}/.DS_Store", b"")
    data = opened(root)
    assert data.ids == tuple(path.removesuffix(".png") for path in FILES)
    assert [data.space.classes[label] for label in data.labels] == [path.partition("/")[0] for path in FILES]
    for column, place in (("style", 0), ("version", 1), ("subtype", 2)):
        assert data.columns[column].tolist() == [parts[place] for parts in FILES.values()]
    assert data.columns["held_out"].tolist() == ["", "watch", "", "", "monkey", "", "", "factory_worker"]


@pytest.mark.parametrize(
    "names", [("drinks", "marine_animals"), ("drink", "marine_animal"), ("Drinks", "marine animals")]
)
def test_the_released_spelling_of_two_classes_is_read_too(root: str, put, encode, names: tuple[str, str]) -> None:
    put(f"{root}/Icons-50/{names[0]}/apple_0_cup.png", encode(0))
    put(f"{root}/Icons-50/{names[1]}/apple_0_whale.png", encode(1))
    data = opened(root)
    assert [data.space.classes[label] for label in data.labels] == ["drink", "marine_animal"]
    checked = check(f"{root}/Icons-50")
    assert next(row for row in checked.rows if row.check == "unknown class ids").verdict == "ok"


def test_what_is_trained_on_is_read_as_icons_50_where_it_is_that(tmp_path: Path) -> None:
    for folder in ("set/Icons-50/bird", "pets/cat"):
        (tmp_path / folder).mkdir(parents=True)
    Image.new("RGB", (8, 8)).save(tmp_path / "set/Icons-50/bird/apple_0_duck.png")
    Image.new("RGB", (8, 8)).save(tmp_path / "pets/cat/1.png")
    for folder in ("set", "set/Icons-50"):
        assert icons_or_any(str(tmp_path / folder)).columns["style"].tolist() == ["apple"]
    assert icons_or_any(str(tmp_path / "pets")).columns == {}


def test_odd_sizes_and_modes_are_on_white(tmp_path: Path) -> None:
    folder = tmp_path / "Icons-50" / "airplane"
    folder.mkdir(parents=True)
    half = Image.new("RGBA", (10, 20), (255, 0, 0, 0))
    half.paste((0, 0, 255, 255), (0, 0, 5, 20))
    half.save(folder / "apple_0_airplane.png")
    half.convert("RGB").quantize(4).save(folder / "google_0_airplane.png")
    Image.new("LA", (7, 7), (0, 0)).save(folder / "htc_0_airplane.png")
    Image.new("L", (160, 160), 30).save(folder / "lg_0_airplane.png")
    palette = half.quantize(4)
    palette.save(folder / "mozilla_0_airplane.png")
    Image.new("1", (9, 9), 1).save(folder / "samsung_0_airplane.png")
    data = opened(tmp_path)
    apple, _, htc, lg, mozilla, samsung = (data.image(place) for place in range(6))
    assert apple.shape == (20, 10, 3)
    assert apple[0, 0].tolist() == [0, 0, 255]
    assert apple[0, 9].tolist() == [255, 255, 255], "transparent red is white"
    assert htc.shape == (7, 7, 3)
    assert (htc == 255).all()
    assert (lg == 30).all()
    assert mozilla[0, 9].tolist() == [255, 255, 255]
    assert (samsung == 255).all()


WRONG = {
    "empty": ({"readme.txt": b""}, "no images in it; expected CLASS/STYLE_VERSION_SUBTYPE.png"),
    "the array": ({"Icons-50.npy": b""}, "Icons-50.npy holds Python objects and is not read"),
    "another class": (
        {"dragon/apple_0_dragon.png": b""},
        "dragon/apple_0_dragon.png is not in a folder of one of the 50",
    ),
    "loose": ({"apple_0_dragon.png": b""}, "apple_0_dragon.png is not in a folder of one of the 50 classes"),
    "deeper": ({"bird/x/apple_0_duck.png": b""}, "bird/x/apple_0_duck.png is not in a folder"),
    "another name": ({"bird/duck.png": b""}, "bird/duck.png is not named STYLE_VERSION_SUBTYPE.png"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_set_is_one_line(
    tmp_path: Path, put: Callable[..., str], error_of: Callable[..., str], what: str
) -> None:
    contents, message = WRONG[what]
    for path, content in contents.items():
        put(f"{tmp_path}/Icons-50/{path}", content)
    assert message in error_of(lambda: opened(tmp_path))


def test_the_50_held_out_subtypes() -> None:
    names = class_list("icons_50_held_out")
    assert len(set(names)) == 50
    # the paper's example: the ducks of the broad class of birds
    assert "duck" in names
    # The folder monkey has these; the published script, looking for names anywhere in a path, would hold out all.
    monkeys = ["monkey", "monkey_face", "hear_no_evil_monkey"]
    assert held_out_names(monkeys) == {"monkey": "monkey"}
    ideographs = ["squared_cjk_unified_ideograph_5408", "squared_cjk_unified_ideograph_7533"]
    assert held_out_names(ideographs) == {ideographs[0]: "unified_ideograph_5408"}
    families = ["family", "family_man_boy", "family_man_boy_boy", "family_man_woman_boy"]
    assert held_out_names(families) == {one: one for one in families[1:3]}


def test_the_classes_and_numbers_are_as_published() -> None:
    known = known_sets.get("icons-50")
    assert (known.n_images, known.n_classes) == (10_000, 50)
    names = [line.strip() for line in published_list("icons50_classes.txt").splitlines() if line.strip()]
    assert [one.lower().replace(" ", "_") for one in names] == list(icons_50().classes)
