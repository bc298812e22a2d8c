"""``run --on adain/3`` as a person types it, with weights in the published layout that are made here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from as_typed import oodometer
from oodometer.store.index import index_at

torch = pytest.importorskip("torch")

# The places of the convolutions in the published files, and how wide each is here: (place, inputs, outputs).
ENCODER = [(2, 3, 4), (5, 4, 4), (9, 4, 5), (12, 5, 5), (16, 5, 6), (19, 6, 6), (22, 6, 6), (25, 6, 6), (29, 6, 7)]
DECODER = [(1, 7, 6), (5, 6, 6), (8, 6, 6), (11, 6, 6), (14, 6, 5), (18, 5, 5), (21, 5, 4), (25, 4, 4), (28, 4, 3)]
POOLED_BEFORE, GROWN_BEFORE = {9, 16, 29}, {5, 18, 25}
SIDE = 224
"""On which the transfer is defined, whatever a model wants to see."""

MODEL = '''
import numpy as np


def brightest_channel(images):
    """Logits of two classes, blue and red: the means of these channels."""
    return images.reshape(len(images), -1, 3).mean(axis=1)[:, [2, 0]].astype(np.float32)
'''


def weights_of(convolutions: list[tuple[int, int, int]], rng: np.random.Generator) -> dict[str, np.ndarray]:
    state = {}
    for place, inputs, outputs in convolutions:
        state[f"{place}.weight"] = rng.normal(0, (2 / (9 * inputs)) ** 0.5, (outputs, inputs, 3, 3))
        state[f"{place}.bias"] = rng.normal(0.1, 0.05, outputs)
    return {name: value.astype(np.float32) for name, value in state.items()}


def layer(values: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """A 3x3 convolution with mirrored borders, (C, H, W) float64, by shifted sums."""
    wide = np.pad(values, ((0, 0), (1, 1), (1, 1)), mode="reflect")
    height, width = values.shape[1:]
    made = np.zeros((len(weight), height, width))
    for row in range(3):
        for column in range(3):
            made += np.einsum(
                "oi,ihw->ohw", weight[:, :, row, column], wide[:, row : row + height, column : column + width]
            )
    return made + bias[:, None, None]


def encode(pixels: np.ndarray, state: dict[str, np.ndarray]) -> np.ndarray:
    values = np.einsum("oi,ihw->ohw", state["0.weight"][:, :, 0, 0], pixels.transpose(2, 0, 1) / 255.0)
    values += state["0.bias"][:, None, None]
    for place, _, _ in ENCODER:
        if place in POOLED_BEFORE:
            channels, height, width = values.shape
            values = values.reshape(channels, height // 2, 2, width // 2, 2).max(axis=(2, 4))
        values = np.maximum(layer(values, state[f"{place}.weight"], state[f"{place}.bias"]), 0)
    return values


def decode(values: np.ndarray, state: dict[str, np.ndarray]) -> np.ndarray:
    for place, _, _ in DECODER:
        if place in GROWN_BEFORE:
            values = values.repeat(2, axis=1).repeat(2, axis=2)
        values = layer(values, state[f"{place}.weight"], state[f"{place}.bias"])
        values = np.maximum(values, 0) if place != DECODER[-1][0] else values
    return np.clip(values * 255, 0, 255).transpose(1, 2, 0)


def restyled(own: np.ndarray, style: np.ndarray, alpha: float) -> np.ndarray:
    """Equation 8 of Huang and Belongie (2017), and their interpolation by alpha (equation 14)."""

    def moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # unbiased, and 1e-5 under the root, as in the published code
        deviation = np.sqrt(values.var(axis=(1, 2), ddof=1, keepdims=True) + 1e-5)
        return values.mean(axis=(1, 2), keepdims=True), deviation

    (mean, deviation), (style_mean, style_deviation) = moments(own), moments(style)
    return alpha * (style_deviation * (own - mean) / deviation + style_mean) + (1 - alpha) * own


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, np.ndarray]]:
    """Weights, one painting of 224 px, six icons of two classes and a model; what was made of weights."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    first = {"0.weight": rng.normal(0, 0.6, (3, 3, 1, 1)).astype(np.float32), "0.bias": np.zeros(3, np.float32)}
    states = {"vgg_normalised": {**first, **weights_of(ENCODER, rng)}, "decoder": weights_of(DECODER, rng)}
    Path("weights").mkdir()
    for name, state in states.items():
        torch.save({key: torch.from_numpy(value) for key, value in state.items()}, f"weights/{name}.pth")
    Path("paintings").mkdir()
    Image.fromarray(rng.integers(0, 256, (224, 224, 3), dtype=np.uint8)).save("paintings/a.png")
    for number in range(6):
        label = "red" if number % 2 else "blue"
        Path("icons", label).mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 120, (40, 40, 3))
        pixels[..., 0 if label == "red" else 2] += 90
        Image.fromarray(pixels.astype(np.uint8)).save(f"icons/{label}/{number}.png")
    Path("colours.py").write_text(MODEL)
    return states


WORDS = (
    "run", "--model", "callable:colours:brightest_channel", "--size", SIDE, "--data", "icons",
    "--on", "adain/3", "--keep", "logits", "--store", "runs",
)  # fmt: skip


def test_a_whole_run_shows_what_the_formula_gives(here):
    done = oodometer(*WORDS, "--style-weights", "weights", "--style-images", "paintings")
    assert done.exit_code == 0, done.stderr
    assert "adain/3 (n=6) against clean (n=6)" in done.stdout
    index = index_at("runs")
    (cell,) = [entry.cell for entry in index.answered if entry.cell.condition_name == "adain/3"]
    transform = cell.condition.transform
    assert (transform.parameters["alpha"], transform.view.height) == (0.6, SIDE)
    data, rows = odo.load_data("icons"), index.read(cell, logits=True)
    style = encode(np.asarray(Image.open("paintings/a.png")), here["vgg_normalised"])
    for row, image in enumerate(rows.image.tolist()):
        own = encode(data.views(image, [transform.view])[0], here["vgg_normalised"])
        made = decode(restyled(own, style, 0.6), here["decoder"])
        assert made.std() > 3, "a picture in which something is to be seen"
        expected = made.reshape(-1, 3).mean(axis=0)[[2, 0]]
        # each pixel is rounded to a whole number, and their mean kept as float16, of 11 bits
        assert rows.logits[row] == pytest.approx(expected, abs=0.15)
    again = oodometer(*WORDS, "--style-weights", "weights", "--style-images", "paintings")
    assert "nothing new to do" in again.stderr


def test_what_is_missing_is_one_line(here):
    done = oodometer(*WORDS)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith(
        "Error: adain: say where the weights and the paintings are: --style-weights DIR"
    )
