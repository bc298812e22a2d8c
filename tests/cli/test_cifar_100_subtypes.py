"""The experiment of Hendrycks and Dietterich (2018, appendix E) as a person types it, on a small CIFAR-100."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from as_typed import oodometer
from made_cifar import put_cifar_100
from oodometer.models.load import load_model
from oodometer.store.index import index_at

pytest.importorskip("torch")

TRAIN = ("--net", "linear", "--epochs", 2, "--lr", 0.01, "--size", 8, "--threads", 1, "--label", "superclass")


@pytest.fixture(scope="module")
def here(tmp_path_factory) -> Path:
    """A root with CIFAR-100, and a model for each of the four hold-outs that was run on its own shift."""
    folder = tmp_path_factory.mktemp("subtypes")
    put_cifar_100(folder / "data" / "cifar-100-python", per_subtype=6)
    for n in range(1, 5):
        words = ("train", "cifar-100", "--data-root", folder / "data", "--hold-out", f"subtypes/{n}", *TRAIN)
        done = oodometer(*words, "-o", folder / f"without-{n}.onnx")
        assert done.exit_code == 0, done.stderr
        done = run(folder, n, n)
        assert done.exit_code == 0, done.stderr
        assert "was trained on what" not in done.stderr
    return folder


def run(folder: Path, model: int, shift: int, store: str = "runs"):
    words = ("run", "--model", f"onnx:{folder}/without-{model}.onnx", "--data-root", folder / "data", "--partial")
    return oodometer(*words, "--on", f"cifar-100-subtypes/{shift}", "--store", folder / store)


def test_the_card_says_what_was_learned_and_held_out(here):
    model = load_model(f"onnx:{here}/without-3.onnx")
    assert len(model.space) == 20
    assert model.card.training_data == "cifar-100 without subtypes/3"
    assert (model.notes["label"], model.notes["hold_out"]) == ("superclass", "subtypes/3")


# reference: plain numpy means over the stored answers
def test_the_mean_over_the_four_hold_outs(here):
    done = oodometer("gaps", here / "runs", "--mean", "--no-plot")
    assert done.exit_code == 0
    index = index_at(str(here / "runs"))
    shares = {entry.cell.condition_name: (index.read(entry.cell).rank == 0).mean() for entry in index.answered}
    kept = np.mean([shares[f"cifar-100-kept-subtypes/{n}"] for n in range(1, 5)])
    held_out = np.mean([shares[f"cifar-100-subtypes/{n}"] for n in range(1, 5)])
    # the made test set has 300 images; all of them are held out or kept by one of the four, but for the fifth subtypes
    heading, line = done.stdout.splitlines()[-2:]
    assert heading == "mean of 4 (n=240) against standard (n=240)"
    numbers = [float(one) for one in re.findall(r"(-?\d\.\d{4}) \[", line)]
    assert numbers == pytest.approx([kept, held_out, kept - held_out], abs=6e-5)
    assert "mean: plain mean, each model under each shift counting once; intervals over images" in done.stderr
    told = json.loads(oodometer("gaps", here / "runs", "--mean", "--json").stdout)
    assert (len(told["gaps"]), told["mean"]["n_pairs"]) == (4, 4)
    assert told["mean"]["accuracy_shifted"]["value"] == pytest.approx(held_out)
    assert told["mean"]["gap"]["interval"] == "newcombe of korn-graubard 95%"


def test_a_model_on_the_shift_of_another_is_warned_about(here):
    seen = run(here, 1, 2, "other").stderr
    assert (
        "warning: without-1 was trained on what cifar-100-subtypes/2 tests: its card holds out subtypes/1, not" in seen
    )
    unknown = run(here, 3, 2, "other").stderr
    assert "was trained on what" not in unknown
    assert "without-3 was trained without subtypes/3: not all subtypes of the standard side of cifar-100-su" in unknown


def test_again_as_the_card_says(here):
    words = ("train", "cifar-100", "--data-root", here / "data", "--like", here / "without-2.toml")
    done = oodometer(*words, "-o", here / "again.onnx")
    assert done.exit_code == 0, done.stderr
    assert load_model(f"onnx:{here}/again.onnx").digest == load_model(f"onnx:{here}/without-2.onnx").digest


def test_the_hundred_classes_by_the_folder(here, monkeypatch):
    monkeypatch.chdir(here)
    words = ("--net", "linear", "--epochs", 1, "--size", 8, "--lr", 0.01, "-o", "fine.onnx")
    done = oodometer("train", "data/cifar-100-python", *words)
    assert done.exit_code == 0, done.stderr
    assert len(load_model("onnx:fine.onnx").space) == 100
