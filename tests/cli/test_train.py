"""``oodometer train`` as a person types it: stdout, stderr, exit code, and the files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from as_typed import oodometer
from oodometer.core.model import Card
from oodometer.models.load import load_model

pytest.importorskip("torch")


@pytest.fixture
def shapes(tmp_path, monkeypatch) -> Path:
    """120 bright or dark images of two styles, with a manifest; images of unequal size."""
    monkeypatch.chdir(tmp_path)
    Path("shapes").mkdir()
    rng = np.random.default_rng(0)
    lines = ["path,label,style"]
    for n in range(120):
        label, style = ("dark", "light")[n % 2], ("thin", "thick", "thick")[n % 3]
        pixels = rng.integers(0, 100, size=(8 + n % 5, 9, 3)) + (120 if label == "light" else 0)
        Image.fromarray(pixels.astype(np.uint8)).save(f"shapes/{n:03d}.png")
        lines.append(f"{n:03d}.png,{label},{style}")
    Path("shapes/manifest.csv").write_text("\n".join(lines) + "\n")
    return Path("shapes")


WORDS = ("--size", 8, "--epochs", 4, "--batch", 16, "--lr", 0.01, "--threads", 1)
# 40 of 120 are thin; of the 80 others 6 have ids of the IID tenth. There are 8 * 8 * 3 weights and a bias, twice.
# reference of the interval: 0.025 ** (1 / 6) = 0.5407 is the exact bound where all of 6 are right
TABLE = """\
file       network  parameters  trained on  held out  IID accuracy
dark.onnx  linear   386         74          40        1.0000 [0.5407, 1.0000]  n=6
"""


def test_a_whole_training(shapes):
    result = oodometer("train", shapes, "--net", "linear", "--hold-out", "style=thin", "-o", "dark.onnx", *WORDS)
    assert (result.exit_code, result.stdout) == (0, TABLE)
    lines = result.stderr.splitlines()
    form = r"epoch \d/4: loss \d\.\d{4}, accuracy \d\.\d{4}, IID accuracy \d\.\d{4}, \d+\.\d s"
    assert all(re.fullmatch(form, line) for line in lines)
    assert lines[-1].startswith("epoch 4/4: ")
    assert sorted(path.name for path in Path().iterdir()) == ["dark.onnx", "dark.pt", "dark.toml", "shapes"]
    model = load_model("onnx:dark.onnx")
    assert model.space.classes == ("dark", "light")
    assert model.card.training_data == "shapes without style=thin"
    assert (model.card.category, model.card.interventions) == ("standard", ())
    notes = dict(model.notes)
    assert notes["architecture"] == "linear"
    assert (notes["epochs"], notes["seed"], notes["hold_out"], notes["training_images"]) == (
        "4",
        "0",
        "style=thin",
        "74",
    )

    again = oodometer(
        "train", shapes, "--net", "linear", "--hold-out", "style=thin", "-o", "dark.onnx", *WORDS, "--json"
    )
    assert again.exit_code == 0
    assert again.stderr == "nothing new to do: dark.onnx is the result of this very training\n"
    told = json.loads(again.stdout)
    assert told.pop("digest") == model.digest
    accuracy = told.pop("iid_accuracy")
    assert (accuracy["value"], accuracy["n"], accuracy["interval"]) == (1.0, 6, "clopper-pearson 95%")
    assert told == {
        "model": "dark",
        "file": "dark.onnx",
        "architecture": "linear",
        "parameters": 386,
        "training_images": 74,
        "held_out_images": 40,
        "is_new": False,
    }


def test_the_card_says_what_was_done(shapes):
    words = ("--net", "resnet8", "--width", 0.25, "--augment", "crop,erase", "--parent", "p", "--half", *WORDS)
    result = oodometer("train", shapes, *words, "--epochs", 1)
    assert result.exit_code == 0
    model = load_model("onnx:resnet8x0.25.onnx")
    n = int(model.notes["parameters"])
    assert model.card == Card("robust intervention", "p", ("erase",), "shapes", parameters=n)
    assert (model.notes["weights"], model.notes["augment"]) == ("float16", "crop, erase")


def test_the_card_names_the_recipe_and_its_weight_decay(shapes):
    words = ("--recipe", "icons-50", "--net", "linear", "--epochs", 1, "--size", 8)
    assert oodometer("train", shapes, *words).exit_code == 0
    notes = load_model("onnx:linear.onnx").notes
    assert (notes["recipe"], notes["weight_decay"]) == ("icons-50, but size, epochs", "0.0001")
    assert (notes["learning_rate"], notes["batch"], notes["augment"]) == ("0.1", "128", "mirror, crop-black")
    result = oodometer("train", shapes, "--net", "linear", *WORDS, "--weight-decay", 0.01, "-o", "own.onnx")
    assert result.exit_code == 0
    notes = load_model("onnx:own.onnx").notes
    assert (notes["weight_decay"], "recipe" in notes) == ("0.01", False)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("nowhere",), 1, "Error: nowhere: no such file or folder; check the path"),
        (("shapes", "--net", "resnt20"), 2, "Error: no network named 'resnt20'; did you mean resnet20?"),
        (("shapes", "--augment", "mirorr"), 2, "Error: no augmentation named 'mirorr'; did you mean mirror?"),
        (
            ("shapes", "--hold-out", "style=thn"),
            2,
            "Error: --hold-out style=thn: no image of shapes has style 'thn'; did you mean thin?",
        ),
        (
            ("shapes", "--hold-out", "versions"),
            2,
            "Error: shapes: no columns subtype, version; icons have them ('oodometer build icons')",
        ),
        (("shapes", "--init", "no.pt"), 1, "Error: no.pt: no such model file"),
        (
            ("shapes", "--category", "good"),
            2,
            "Error: no model category 'good'; known: adversarially trained, human, more data, robust intervention, "
            "standard",
        ),
        (("shapes", "-o", "a.pt"), 2, "Error: --out a.pt: the file of a trained model ends in .onnx"),
    ],
)
def test_errors_are_one_line(shapes, words, code, message):
    net = () if "--net" in words else ("--net", "linear")
    result = oodometer("train", *words, *net, "--size", 8)
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", f"{message}\n")
    assert sorted(path.name for path in Path().iterdir()) == ["shapes"]


def test_an_augmentation_of_ones_own(shapes):
    Path("my_augment.py").write_text(
        "from oodometer.train.augment.registry import augmentations\n\n\n"
        "@augmentations.register('invert')\n"
        "def invert(images, rng):\n"
        "    return 255 - images\n"
    )
    words = ("--net", "linear", "--augment", "invert", "--plugin", "my_augment", *WORDS)
    result = oodometer("train", shapes, *words, "--json")
    assert result.exit_code == 0
    # Dark is light and light is dark: what it learned is wrong for every image as it is.
    assert json.loads(result.stdout)["iid_accuracy"]["value"] == 0
    assert load_model("onnx:linear.onnx").card.interventions == ("invert",)


def test_a_model_is_trained_again_from_its_card(shapes):
    words = (
        "--net",
        "resnet8x0.25",
        "--hold-out",
        "style=thin",
        "--augment",
        "crop,erase",
        "--seed",
        3,
        "--half",
        *WORDS,
    )
    assert oodometer("train", shapes, *words, "-o", "first.onnx", "--parent", "p").exit_code == 0
    assert oodometer("train", shapes, "--like", "first.toml", "-o", "again.onnx").exit_code == 0
    assert Path("first.onnx").read_bytes() == Path("again.onnx").read_bytes()
    first, again = (Path(f"{name}.toml").read_text() for name in ("first", "again"))
    assert first.replace('"first"', '"again"') == again
    assert oodometer("train", shapes, "--like", "first.toml", "-o", "other.onnx", "--seed", 4).exit_code == 0
    assert load_model("onnx:other.onnx").notes["seed"] == "4"
    assert Path("first.onnx").read_bytes() != Path("other.onnx").read_bytes()


@pytest.mark.parametrize(
    ("card", "message"),
    [
        ("name = 'a'", "a.toml: not the card of a model that oodometer train made: it does not say how"),
        (
            "[input]\nsize = 8\n[notes]\narchitecture = 'linear'\nseed = 'x'",
            "a.toml: a number in its notes is none (invalid literal for int() with base 10: 'x')",
        ),
        (
            "[input]\nsize = 8\n[notes]\narchitecture = 'linear'\ninit = 'b'",
            "a.toml: it began with the weights of b; give their checkpoint with --init",
        ),
    ],
)
def test_cards_that_do_not_tell(shapes, card, message):
    Path("a.toml").write_text(card)
    result = oodometer("train", shapes, "--like", "a.toml")
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"Error: {message}\n")


def test_no_network(shapes):
    result = oodometer("train", shapes)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "Error: which network? Give --net NAME, for example resnet20, or --like CARD\n"
