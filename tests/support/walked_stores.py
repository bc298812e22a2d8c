"""A real store for tests: made photographs, several sorts of shifts, and models, of which one did not finish."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from oodometer.core.condition import Condition, Shift
from oodometer.core.model import Card, Input, Model
from oodometer.data.load import load_data
from oodometer.shifts.attribute import attribute_shifts, pairs_of
from oodometer.shifts.constraint import parse_base, parse_shift
from oodometer.store.tables import Accuracy, write_table

COLOURS = {"blue": (40, 60, 200), "green": (40, 180, 60), "grey": (128, 128, 128), "red": (210, 50, 40)}
N_IMAGES, SIZE, CHUNK = 96, 48, 16
WEIGHTS = {
    "even": (1.0, 1.0, 1.0),
    "reds": (1.0, 0.3, 0.2),
    "greens": (0.1, 1.0, 0.5),
    "blues": (0.3, 0.05, 1.0),
    "yellows": (1.0, 0.8, 0.02),
    "violets": (1.0, 0.02, 0.7),
}
"""How much each model looks at red, green and blue."""
CARDS = {"yellows": Card(category="more data", parent="even"), "violets": Card(category="robust intervention")}
ON = ("clean", "greyscale", "imagenet-c/fog/1", "imagenet-c/fog/4", "imagenet-c/contrast/2")
"""What every model is asked about, besides an attribute shift."""


def run_store(folder: Path) -> Path:
    """A store of a run of all models on all conditions, and of one that failed on the way."""
    listed = _photographs(folder)
    asked: list[Condition | Shift] = [*odo.load_shifts(*ON, data=str(folder / "photographs"))]
    split = attribute_shifts(load_data(listed), parse_base("light=day"), [parse_shift("light=night")], test_share=0.5)
    asked += pairs_of(split)
    options = odo.RunOptions(threads=1, chunk=CHUNK)
    store = folder / "runs"
    odo.run([_model(name) for name in WEIGHTS], asked, store=str(store), options=options)
    with pytest.raises(odo.OodometerError, match="no more"):
        odo.run([_model("late", until=10)], asked[:2], store=str(store), options=options)
    return store


def add_table(store: Path) -> None:
    """Accuracies of other models on the same shifts, of one of the same name, and on a shift that nobody was run on."""
    columns = {"val": 0.0, "greyscale": 0.12, "imagenet-sketch": 0.3}
    columns |= {name: 0.05 * at + 0.06 for at, name in enumerate(ON[2:])}
    rows = [
        Accuracy(model, column, round(clean - (1 - clean) * lost, 4), 50_000, "t.csv")
        for model, clean in {"alexnet": 0.5652, "vgg11": 0.6902, "resnet18": 0.6976, "even": 0.7}.items()
        for column, lost in columns.items()
    ]
    write_table(odo.open_store(str(store)), rows)


def _photographs(folder: Path) -> Path:
    """Pictures of four colours, each with a tint of its own, and their list."""
    lines = [["path", "label", "light"]]
    for number in range(N_IMAGES):
        name, colour = list(COLOURS.items())[number % len(COLOURS)]
        rng = np.random.default_rng(number)
        pixels = np.asarray(colour) + rng.normal(0, 50, 3) + rng.normal(0, 20, (SIZE, SIZE, 3))
        path = folder / "photographs" / name / f"{number:02d}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(path)
        lines.append([str(path), name, "night" if number % 3 == 0 else "day"])
    listed = folder / "photographs.csv"
    with listed.open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    return listed


def _model(name: str, *, until: int | None = None) -> Model:
    view = odo.Geometry(SIZE, SIZE)
    plain = Input(view, (0.0, 0.0, 0.0), (1 / 255,) * 3)
    return odo.load_model(
        _answers(name, until), name=name, card=CARDS.get(name, Card(category="standard")), input=plain
    )


def _answers(name: str, until: int | None) -> Callable[[np.ndarray], np.ndarray]:
    weights = np.array(WEIGHTS.get(name, (1.0, 1.0, 1.0)))
    calls = []

    def answer(images: np.ndarray) -> np.ndarray:
        calls.append(len(images))
        if until is not None and len(calls) > until:
            raise ValueError("no more")
        means = images.reshape(len(images), -1, 3).mean(axis=1, dtype=np.float64)
        far = ((means[:, None, :] - np.array(list(COLOURS.values()))) ** 2 * weights).sum(axis=2)
        return np.asarray(-far / 1000, dtype=np.float32)

    return answer
