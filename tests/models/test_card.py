from __future__ import annotations

from pathlib import Path

import pytest

from oodometer.core.errors import ModelError, UsageError
from oodometer.core.labels import LabelSpace
from oodometer.core.model import IMAGENET_MEAN, Card, Input
from oodometer.core.preprocessing import Geometry
from oodometer.models.card import Declared, declared_card, declared_input, preprocessing, read_card, space_of

FULL = """
name = "mine"
category = "robust intervention"
parent = "resnet50"
interventions = ["augmix", "deepaugment"]
training_data = "ImageNet-1k"
classes = "classes.txt"

[input]
size = [96, 128]
resize = 160
interpolation = "bicubic"
mean = [0.5, 0.5, 0.5]
std = [0.25, 0.25, 1]
"""


def card(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


def test_a_full_card(tmp_path):
    (tmp_path / "classes.txt").write_text("cat\n dog \n\n")
    declared = read_card(card(tmp_path, FULL))
    assert declared.card() == Card("robust intervention", "resnet50", ("augmix", "deepaugment"), "ImageNet-1k")
    assert declared.classes == LabelSpace("classes", ("cat", "dog"))
    given, note = preprocessing(declared, Input(), "default")
    assert given == Input(Geometry(96, 128, 160, "bicubic"), (0.5, 0.5, 0.5), (0.25, 0.25, 1.0))
    assert note == "declared"


def test_classes_as_list_and_as_imagenet(tmp_path):
    assert read_card(card(tmp_path, 'classes = ["a", "b"]')).classes == LabelSpace("card", ("a", "b"))
    space = read_card(card(tmp_path, 'classes = "imagenet-1k"')).classes
    assert space is not None
    assert (space.name, len(space)) == ("imagenet-1k", 1000)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nmae = 'x'", "mine.toml: no key named 'nmae'; did you mean name?"),
        ("[inputs]\nsize = 3", "mine.toml: no key named 'inputs'; did you mean input?"),
        ("[input]\nsiz = 3", "mine.toml [input]: no key named 'siz'; did you mean size?"),
        ("input = 3", "mine.toml: input must be a table ([input]), not a number"),
        ("name = 3", "mine.toml: name must be a text, not a number"),
        ("interventions = 'augmix'", "mine.toml: interventions must be a list of texts, not a text"),
        ("thread_safe = 1", "mine.toml: thread_safe must be true or false, not a number"),
        ("[input]\nsize = 'big'", "mine.toml [input]: size must be a number of pixels or [height, width], not a text"),
        ("[input]\nsize = true", "size must be a number of pixels or [height, width], not true or false"),
        ("[input]\nresize = 'crop'", 'mine.toml [input]: resize must be a number of pixels or "squash", not a text'),
        ("[input]\ninterpolation = 'bicubik'", "no interpolation named 'bicubik'; did you mean bicubic?"),
        ("[input]\nmean = [0.5, 0.5]", "mean must be three numbers for pixels in [0, 1], not a list"),
        ("classes = 'absent.txt'", "absent.txt: can't read the classes; expected a text file, one class per line"),
        ("classes = []", "classes: no classes in it"),
        ("classes = ['a', 'a']", "classes: the class 'a' is there twice"),
        ("name = ", "mine.toml: not a TOML file"),
    ],
)
def test_errors_of_a_card_are_one_line(tmp_path, text, message):
    with pytest.raises(UsageError) as caught:
        read_card(card(tmp_path, text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_card(tmp_path):
    with pytest.raises(UsageError, match=r"absent\.toml: can't read this card"):
        read_card(tmp_path / "absent.toml")


def test_a_binary_card(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not a TOML file"):
        read_card(path)


def test_an_unknown_category():
    with pytest.raises(UsageError, match="no model category 'robust'"):
        Declared(category="robust").card()


def test_the_later_declaration_wins_field_by_field():
    merged = Declared(name="flag", size=(32, 32)).over(Declared(name="file", parent="p"))
    assert (merged.name, merged.parent, merged.size) == ("flag", "p", (32, 32))


def test_declared_size_brings_its_default_geometry():
    given, note = preprocessing(Declared(size=(32, 32)), Input(), "default")
    assert given == Input(Geometry(32, 32))
    assert note == "declared (size), the rest default"
    given, _ = preprocessing(Declared(size=(448, 448)), Input(), "default")
    assert given.view.resize == 512


def test_declared_fields_replace_single_fields_of_a_base():
    base = Input(Geometry(224, 224, 235, "bicubic"), (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
    given, note = preprocessing(Declared(resize="squash", mean=IMAGENET_MEAN), base, "from timm")
    assert given == Input(Geometry(224, 224, None, "bicubic"), IMAGENET_MEAN, (0.5, 0.5, 0.5))
    assert note == "declared (resize, mean), the rest from timm"
    assert preprocessing(Declared(), base, "from timm") == (base, "from timm")


@pytest.mark.parametrize("one", [Input(), Input(Geometry(32, 48), (0.1, 0.2, 0.3), (0.4, 0.5, 0.6))])
def test_a_whole_input_survives_being_declared(one):
    assert preprocessing(declared_input(one), Input(Geometry(64, 64)), "default") == (one, "declared")


def test_a_whole_card_survives_being_declared():
    one = Card("more data", "p", ("x",), "JFT")
    assert declared_card(one).card() == one


def test_as_many_classes_as_outputs():
    assert space_of(Declared(), 2, "m").classes == ("0", "1")
    with pytest.raises(ModelError, match=r"model m: it has 3 outputs, but 2 classes are declared \(pets\)"):
        space_of(Declared(classes=LabelSpace("pets", ("cat", "dog"))), 3, "m")
