"""``oodometer check`` as a person types it: whole stdout, exit codes, what is said on stderr."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from as_typed import oodometer
from oodometer.data.kinds.folder import open_folder
from oodometer.data.layouts.known_set import KnownSet, known_sets

PETS = KnownSet(
    name="pets-a",
    title="Pets",
    page="https://example.org/pets",
    layout="class folders cat and dog",
    places=("pets-a",),
    open=open_folder,
    n_images=4,
    n_classes=2,
    per_class=2,
    size=(16, 12),
    classes=lambda: frozenset({"cat", "dog"}),
)
HINT = "files were compared by their bytes; --thorough decodes every image and compares pixels and looks\n"


@pytest.fixture
def pets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pets as they are published, in pets-a of the current folder."""
    monkeypatch.setattr(known_sets, "_addresses", {})
    monkeypatch.setattr(known_sets, "_loaded", {PETS.name: PETS})
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("cat/0", "cat/1", "dog/0", "dog/1")):
        path = tmp_path / "pets-a" / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = np.random.default_rng(number).integers(0, 256, (12, 16, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(path)
    return tmp_path / "pets-a"


def test_a_set_as_it_should_be(pets: Path) -> None:
    result = oodometer("check", "pets-a")
    assert result.stdout == (
        "check                     expected  found     verdict\n"
        "layout                    readable  readable  ok\n"
        "images                    4         4         ok\n"
        "classes                   2         2         ok\n"
        "unknown class ids         none      none      ok\n"
        "missing classes           none      none      ok\n"
        "empty folders             none      none      ok\n"
        "images per class          2         2         ok\n"
        "unreadable images         none      none      ok\n"
        "size                      16x12     16x12     ok\n"
        "endings that mislead      none      none      ok\n"
        "images not in the set     none      none      ok\n"
        "files that are no images  none      none      ok\n"
        "same bytes, two classes   none      none      ok\n"
        "same bytes, one class     none      none      ok\n"
        "\n"
        f"{pets} is pets-a: nothing wrong\n"
    )
    assert result.stderr == HINT
    assert result.exit_code == 0


def test_a_set_with_much_wrong(pets: Path) -> None:
    (pets / "dog" / "1.png").write_bytes((pets / "cat" / "0.png").read_bytes())
    (pets / "dog" / "0.png").write_bytes(b"")
    for name in "abcde":
        (pets / f"{name}.txt").write_text("x")
    result = oodometer("check", "pets-a", "--thorough")
    assert result.stdout == (
        "check                     expected  found     verdict\n"
        "layout                    readable  readable  ok\n"
        "images                    4         4         ok\n"
        "classes                   2         2         ok\n"
        "unknown class ids         none      none      ok\n"
        "missing classes           none      none      ok\n"
        "empty folders             none      none      ok\n"
        "images per class          2         2         ok\n"
        "unreadable images         none      1         wrong\n"
        "size                      16x12     16x12     ok\n"
        "endings that mislead      none      none      ok\n"
        "images not in the set     none      none      ok\n"
        "files that are no images  none      5         note\n"
        "same bytes, two classes   none      1         wrong\n"
        "same bytes, one class     none      none      ok\n"
        "same pixels, two classes  none      none      ok\n"
        "same pixels, one class    none      none      ok\n"
        "near-identical            none      none      ok\n"
        "mirrored copies           none      none      ok\n"
        "black images              none      none      ok\n"
        "\n"
        "unreadable images: dog/0.png: the file is empty\n"
        "files that are no images: a.txt; b.txt; c.txt; and 2 more\n"
        "same bytes, two classes: cat/0 = dog/1\n"
        "\n"
        f"{pets} is not pets-a as it should be: unreadable images, same bytes, two classes\n"
    )
    assert result.stderr == "Error: 2 checks of pets-a failed\n"
    assert result.exit_code == 3


def test_nothing_is_said_of_a_comparison_where_nothing_could_be_read(pets: Path) -> None:
    for picture in pets.rglob("*.png"):
        picture.unlink()
    result = oodometer("check", "pets-a")
    assert result.exit_code == 3
    assert HINT not in result.stderr


def test_of_many_equal_images_the_first_are_named(pets: Path) -> None:
    for number in range(2, 12):
        (pets / "cat" / f"{number}.png").write_bytes((pets / "cat" / "0.png").read_bytes())
    result = oodometer("check", "pets-a")
    assert "same bytes, one class: cat/0 = cat/10 = cat/11 = 8 more\n" in result.stdout
    rows = json.loads(oodometer("check", "pets-a", "--json").stdout)["checks"]
    (row,) = [row for row in rows if row["check"] == "same bytes, one class"]
    assert len(row["examples"][0].split(" = ")) == 11


def test_json_names_everything(pets: Path) -> None:
    for name in "abcde":
        (pets / f"{name}.txt").write_text("x")
    (pets / "dog" / "1.png").unlink()
    result = oodometer("check", "pets-a", "--json")
    told = json.loads(result.stdout)
    assert result.exit_code == 3
    assert (told["set"], told["verdict"]) == ("pets-a", "wrong")
    found = {row["check"]: row for row in told["checks"]}
    assert found["files that are no images"]["examples"] == ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"]
    assert found["images"] == {"check": "images", "expected": "4", "found": "3", "verdict": "wrong", "examples": []}


def test_any_data_by_their_kind(pets: Path) -> None:
    pets.rename(pets.parent / "mine")
    result = oodometer("check", "mine", "--as", "folder", "--against", "mine")
    assert result.exit_code == 3
    assert result.stdout.splitlines()[2] == "images                    -         4         ok"
    assert "same bytes as in mine     none      4         wrong" in result.stdout
    assert result.stdout.endswith(f"{pets.parent / 'mine'}: same bytes as in mine\n")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("nowhere",), 1, "Error: nowhere: no such file or folder; check the path\n"),
        (
            ("mine",),
            2,
            "mine: which data set is it? it is not named as one of the published sets; say it with --as NAME: the sets "
            "are pets-a; for any data: arrays, cifar-10-batches, "
            "folder, imagenet-c, images, manifest, parquet, webdataset\n",
        ),
        (("pets-a", "--as", "pets"), 2, "Error: --as pets: no data set and no kind of data of that name; did you mean"),
        (("mine", "--as", "folder"), 1, "mine: no images in it; expected class folders"),
        (("pets-a", "--against", "nowhere"), 1, "Error: nowhere: no such file or folder"),
    ],
)
def test_mistakes_get_one_line(pets: Path, words: tuple[str, ...], code: int, message: str) -> None:
    (pets.parent / "mine").mkdir()
    result = oodometer("check", *words)
    assert message in result.stderr
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (code, "", 1)


def test_run_refuses_a_set_that_is_not_whole_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models_of_mine.py").write_text(
        "import numpy as np\n\ndef net(images):\n    return np.zeros((len(images), 1000))\n"
    )
    monkeypatch.chdir(tmp_path)
    for place in ("imagenet/val/n01440764/a.png", "imagenet-a/n01498041/b.png"):
        (tmp_path / place).parent.mkdir(parents=True)
        Image.new("RGB", (40, 30), "red").save(tmp_path / place)
    words = ("run", "--model", "callable:models_of_mine:net", "--size", "32", "--data-root", ".", "--on", "imagenet-a")
    result = oodometer(*words)
    place = tmp_path / "imagenet-a"
    assert result.stderr.splitlines()[-1] == (
        f"Error: {place}: 1 images instead of 7,500 and 1 classes instead of 200; is it unpacked whole? "
        f"('oodometer check {place}'; --partial uses it as it is)"
    )
    assert (result.exit_code, result.stdout) == (1, "")
    (place / "n01498041" / "b.png").rename(place / "imagenet-a.tar")
    (place / "n01498041").rmdir()
    assert oodometer(*words).stderr.splitlines()[-1] == (
        f"Error: imagenet-a: imagenet-a.tar lies in {place} but is not unpacked; expected imagenet-a "
        "(200 class folders named by WordNet id)"
    )
