"""Preflight as a person meets it: by its own command, and before a long run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from as_typed import oodometer
from oodometer.core.condition import Condition, Shift
from oodometer.core.errors import PreflightError
from oodometer.core.labels import mask
from oodometer.core.model import Input
from oodometer.core.preprocessing import Geometry
from oodometer.data.layouts.class_lists import class_list
from oodometer.data.load import load_data
from oodometer.models.load import load_model
from oodometer.preflight import before_run
from oodometer.preflight.before_run import cleared_models
from oodometer.store.index import index_at

MODELS = """
import numpy as np

COLOURS = np.array([(40, 60, 200), (40, 180, 60), (128, 128, 128), (210, 50, 40)], dtype=np.float64)

def rgb(images):
    means = images.reshape(len(images), -1, 3).mean(axis=1)
    return -((means[:, None, :] - COLOURS) ** 2).sum(axis=2) / 1000

def bgr(images):
    return rgb(images[..., ::-1])

def probabilities(images):
    raised = np.exp(rgb(images) - rgb(images).max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)

def thousand(images):
    return np.tile(np.arange(1000.0), (len(images), 1))

def constant(images):
    return np.tile(np.arange(4.0), (len(images), 1))

def guesses(images):
    values = images.reshape(len(images), -1).sum(axis=1).astype(np.int64)
    return np.eye(4)[values * 2654435761 // 97 % 4]
"""


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "preflight_models.py").write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def words(verb: str, model: str, photos: Path, *more: str) -> tuple[str, ...]:
    return (verb, "--model", f"callable:preflight_models:{model}", "--data", str(photos), "--size", "8", *more)


def test_a_right_model(photos: Path) -> None:
    result = oodometer(*words("preflight", "rgb", photos))
    assert result.exit_code == 0, result.stderr
    assert "nothing found" in result.stdout
    assert "as declared 1.0000" in result.stdout


def test_a_wrong_order_of_channels(photos: Path) -> None:
    result = oodometer(*words("preflight", "bgr", photos))
    assert result.exit_code == 3
    assert "with BGR 100 % (n = 40): is the channel order right?; if so, add --channels bgr" in result.stdout
    assert oodometer(*words("preflight", "bgr", photos, "--channels", "bgr")).exit_code == 0


def test_for_programs(photos: Path) -> None:
    result = oodometer(*words("preflight", "probabilities", photos, "--json"))
    assert result.exit_code == 3
    ((model,), findings) = (json.loads(result.stdout), json.loads(result.stdout)[0]["findings"])
    assert (model["model"], findings[0]["about"]) == ("probabilities", "outputs")
    assert "each row sums to 1" in findings[0]["said"]


def test_answers_computed_elsewhere_can_not_be_asked(workplace: Path, photos: Path) -> None:
    (workplace / "answers.csv").write_text("id,prediction\n" + "".join(f"{n},0\n" for n in range(3)))
    result = oodometer("preflight", "--model", "predictions:answers.csv", "--data", str(photos))
    assert result.exit_code != 0
    assert "Traceback" not in result.stderr


def test_before_a_long_run(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(before_run, "MANY", 40)
    result = oodometer(*words("run", "bgr", photos))
    assert result.exit_code == 3
    assert "preflight: bgr: preprocessing: as declared" in result.stderr
    assert result.stderr.splitlines()[-1].endswith("or go on with --accept-preflight")
    assert not index_at("runs").cells, "nothing was run"

    accepted = oodometer(*words("run", "bgr", photos, "--accept-preflight"))
    assert accepted.exit_code == 0, accepted.stderr
    (cell,) = index_at("runs").cells
    assert "is the channel order right?" in cell.model.notes["preflight"]
    again = oodometer(*words("run", "bgr", photos))
    assert again.exit_code == 0, "the store has answers of this model: it was settled"

    right = oodometer(*words("run", "bgr", photos, "--channels", "bgr"))
    assert right.exit_code == 0, right.stderr
    notes = {entry.cell.model.input.channels: entry.cell.model.notes for entry in index_at("runs").entries}
    assert notes["bgr"]["preflight"] == "100.0 % of 40 right; nothing found"


def test_a_short_run_is_not_delayed(photos: Path) -> None:
    result = oodometer(*words("run", "rgb", photos))
    assert result.exit_code == 0, result.stderr
    assert "preflight" not in result.stderr


def test_a_short_run_whose_answers_can_not_be_right_is_told_and_kept(workplace: Path, photos: Path) -> None:
    result = oodometer(*words("run", "constant", photos))
    assert result.exit_code == 0
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("warning")]
    assert line == (
        "warning: constant: class 3 is the answer to all 40 images of clean; are weights, order of the classes and "
        "preprocessing right? 'oodometer preflight' looks into it"
    )
    # A quarter of four classes is chance, and 400 answers are enough to say so; 40 are not.
    for path in list(photos.glob("*/*")):
        for number in range(9):
            with Image.open(path) as image:
                image.rotate(10 * number + 5).save(path.with_name(f"{number}-{path.stem}.png"))
    guessed = oodometer(*words("run", "guesses", photos, "--size", "32"))
    assert guessed.exit_code == 0
    assert "% right, no more than by chance, among the 400 images of clean; " in guessed.stderr
    few = oodometer(*words("run", "guesses", photos, "--size", "32", "--images", "20", "--store", "few"))
    assert "warning" not in few.stderr


def test_before_a_long_run_of_masked_classes_alone(
    workplace: Path, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clean images of some classes are there: they are looked at, and not taken for the set that has these classes."""
    monkeypatch.setattr(before_run, "MANY", 40)
    data = load_data(str(photos))
    three, some = mask("three", data.space, ["blue", "green", "red"]), data.take(np.flatnonzero(data.labels != 2))
    sides = [Condition(name, some, three) for name in ("val-on-three", "set-of-three")]
    shift = Shift("set-of-three", "dataset", *sides)
    said: list[str] = []
    for name, is_right in (("rgb", True), ("bgr", False)):
        model = load_model(f"callable:preflight_models:{name}", input=Input(Geometry(8, 8), (0, 0, 0), (1 / 255,) * 3))
        if is_right:
            (cleared,) = cleared_models([model], [shift], store="runs", tell=said.append)
            assert cleared.notes["preflight"] == "100.0 % of 30 right; nothing found"
        else:
            with pytest.raises(PreflightError):
                cleared_models([model], [shift], store="runs", tell=said.append)
    assert any(line.startswith("preflight: bgr: ") for line in said)


def test_imagenet_a_alone_is_flown_and_its_clean_side_is_not_taken_for_it(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(before_run, "MANY", 40)
    for name in ("imagenet/val", "imagenet-a"):
        make_set(workplace / "root" / name, "imagenet_a")
    model = ("--model", "callable:preflight_models:thousand", "--size", "8")
    result = oodometer("run", *model, "--data-root", "root", "--partial", "--on", "imagenet-a")
    assert result.exit_code == 3
    assert "preflight: thousand: outputs: class" in result.stderr
    assert "this is ImageNet-A" not in result.stderr


@pytest.mark.parametrize(("name", "bundled"), [("imagenet-a", "imagenet_a"), ("elsewhere", "imagenet_a")])
def test_imagenet_a_as_plain_data(workplace: Path, name: str, bundled: str) -> None:
    """By the name of its folder, and by its classes where it is called otherwise."""
    make_set(workplace / name, bundled)
    line = "this is ImageNet-A, which is answered over its 200 classes, not over 1,000; give --data-root"
    preflown = oodometer(*words("preflight", "thousand", workplace / name))
    assert preflown.exit_code == 3
    assert line in preflown.stdout
    result = oodometer(*words("run", "thousand", workplace / name))
    assert result.exit_code == 3
    assert line in result.stderr
    assert "--on imagenet-a" in result.stderr
    assert oodometer(*words("run", "thousand", workplace / name, "--accept-preflight")).exit_code == 0


def test_images_of_no_class_have_no_accuracy_whatever_is_accepted(workplace: Path) -> None:
    make_set(workplace / "imagenet-o", "imagenet_o")
    for more in ((), ("--accept-preflight",)):
        result = oodometer(*words("run", "thousand", workplace / "imagenet-o", *more))
        assert result.exit_code == 3
        assert "whose images are of none of the classes: it has no accuracy" in result.stderr
        assert "--on imagenet-o" in result.stderr


def make_set(folder: Path, bundled: str) -> None:
    """One small picture of each class."""
    for number, wnid in enumerate(class_list(bundled)):
        (folder / wnid).mkdir(parents=True)
        Image.new("RGB", (8, 8), (number, number, number)).save(folder / wnid / "0.png")
