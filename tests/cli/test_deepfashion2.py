"""DeepFashion2 in its published layout: both halves split, trained on and tested, as a person types it."""

from __future__ import annotations

import csv
import json
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from as_typed import oodometer
from oodometer.data.load import load_data
from oodometer.models.load import load_model

pytest.importorskip("torch")

TOP, TROUSERS = 1, 8  # category_id
WORN = [(TOP,), (TROUSERS,), (TOP, TROUSERS)]
BASE = "scale=2,occlusion=2,viewpoint=2,zoom_in=1"


def garment(category: int, scale: int) -> dict[str, object]:
    return {"category_id": category, "scale": scale, "occlusion": 2, "viewpoint": 2, "zoom_in": 1}


def put_half(folder: Path, n: int, seed: int) -> None:
    """Images whose red says that there is a top, and whose blue that there are trousers; every third is small."""
    rng = np.random.default_rng(seed)
    for part in ("image", "annos"):
        (folder / part).mkdir(parents=True)
    for number, worn in zip(range(1, n + 1), cycle(WORN), strict=False):
        pixels = rng.integers(0, 90, (12, 12, 3))
        pixels[..., 0] += 150 * (TOP in worn)
        pixels[..., 2] += 150 * (TROUSERS in worn)
        Image.fromarray(pixels.astype(np.uint8)).save(folder / "image" / f"{number:06d}.png")
        scale = 1 if number % 4 == 0 else 2
        items = {f"item{place}": garment(one, scale) for place, one in enumerate(worn, start=1)}
        about = {"source": "user", "pair_id": number, **items}
        (folder / "annos" / f"{number:06d}.json").write_text(json.dumps(about))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    put_half(tmp_path / "data/deepfashion2/train", 240, 0)
    put_half(tmp_path / "data/deepfashion2/validation", 80, 1)
    return tmp_path


TABLE = """\
set      file         images  classes  also in iid
train    train.csv    180     2        0
iid      iid.csv      60      2        0
scale=1  scale=1.csv  20      2        0
"""


def test_split_reads_both_halves(here):
    done = oodometer("split", "data/deepfashion2", "--base", BASE, "--shift", "scale=1", "--out", "splits")
    assert (done.exit_code, done.stdout) == (0, TABLE), done.stderr
    assert "column split: train is its train part, tests are its val part" in done.stderr
    with Path("splits/train.csv").open(newline="") as file:
        row = list(csv.DictReader(file))[2]
    assert row["path"] == "../data/deepfashion2/train/image/000003.png"
    assert (row["id"], row["labels"], row["split"]) == ("train-000003-2221", "short sleeve top|trousers", "train")
    data = load_data("splits/train.csv")
    assert not data.scan().broken
    assert data.space.classes == ("short sleeve top", "trousers")


def test_a_folder_of_anything_else_is_told_what_to_do(here):
    (here / "other" / "cat").mkdir(parents=True)
    done = oodometer("split", "other", "--base", BASE, "--shift", "scale=1", "--out", "splits")
    assert (done.exit_code, done.stderr) == (
        2,
        "Error: other: no manifest; give a CSV or Parquet table with a column path\n",
    )


def test_several_labels_are_learned_and_tested(here):
    words = ("--net", "linear", "--size", 8, "--epochs", 8, "--lr", 0.05, "--batch", 32, "--threads", 1)
    done = oodometer("train", "dfr", "--data-root", "data", *words, "-o", "clothes.onnx", "--json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    # a tenth of 180, by their ids, is kept for the IID test
    assert told["training_images"] + told["iid_accuracy"]["n"] == 180
    model = load_model("onnx:clothes.onnx")
    assert model.notes["loss"] == "binary cross-entropy of every class"
    assert len(model.space) == 13
    words = ("--data-root", "data", "--partial", "--on", "dfr", "--keep", "logits", "--store", "runs")
    done = oodometer("run", "--model", "onnx:clothes.onnx", *words)
    assert done.exit_code == 0, done.stderr
    done = oodometer("score", "runs", "--metrics", "map", "--json")
    scores = {row["condition"]: row["estimate"]["value"] for row in json.loads(done.stdout)}
    # the colours say it all
    assert scores == {"dfr/iid": pytest.approx(1), "dfr/size_small": pytest.approx(1)}


def test_a_network_that_can_not_learn_several_labels(here):
    done = oodometer("train", "dfr", "--data-root", "data", "--net", "nearest", "--size", 8)
    assert (done.exit_code, done.stderr) == (
        2,
        "Error: --net nearest: deepfashion-remixed has several labels per image, which it can't learn\n",
    )
