"""torchvision's models, held against torchvision itself: its own networks, its own preprocessing."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from PIL import Image

from oodometer.core.errors import MissingExtraError, ModelError, UsageError
from oodometer.data.resize import as_view
from oodometer.models.card import Declared
from oodometer.models.load import load_model
from oodometer.models.torchvision import own_input

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def models(timm):
    return pytest.importorskip("torchvision").models


@pytest.fixture
def photo(rng) -> Image.Image:
    coarse = Image.fromarray(rng.integers(0, 256, (9, 7, 3), dtype=np.uint8)).resize((500, 375), 3)
    return Image.fromarray(np.clip(np.asarray(coarse) + rng.integers(-30, 30, (375, 500, 3)), 0, 255).astype(np.uint8))


def saved(network, path):
    torch.save(network.state_dict(), path)
    return path


@pytest.mark.parametrize("name", ["squeezenet1_1", "mobilenet_v3_small"])
def test_the_same_logits_as_torchvision(models, photo, tmp_path, name):
    torch.manual_seed(1)
    network = models.get_model(name, weights=None).eval()
    model = load_model(f"torchvision:{name}@{saved(network, tmp_path / 'mine.pth')}")
    transform = next(iter(models.get_model_weights(name))).transforms()
    with torch.inference_mode():
        wanted = network(transform(photo)[None]).numpy()
    np.testing.assert_allclose(model.logits(as_view(photo, model.input.view)[None]), wanted, atol=1e-4)
    assert (model.name, model.kind, model.notes["input"]) == ("mine", "torchvision", "from torchvision")


@pytest.mark.parametrize("name", ["alexnet", "squeezenet1_1", "vgg11", "resnet50", "densenet121", "resnext50_32x4d"])
def test_without_a_word_the_weights_are_those_of_the_papers(models, monkeypatch, name):
    asked = {}

    def make(name, *, weights):
        asked[name] = weights
        raise OSError("no route to host")

    monkeypatch.setattr(models, "get_model", make)
    with pytest.raises(ModelError, match=r"its weights could not be fetched \(OSError: no route to host\)"):
        load_model(f"torchvision:{name}")
    assert asked == {name: "IMAGENET1K_V1"}


@pytest.mark.parametrize("name", ["alexnet", "inception_v3", "vit_b_16", "efficientnet_b1"])
def test_the_same_pixels_as_torchvision(models, photo, name):
    for weights in models.get_model_weights(name):
        transform = weights.transforms()
        view = own_input(transform, name).view
        pixels = (transform(photo) * torch.tensor(transform.std).view(3, 1, 1)) + torch.tensor(transform.mean).view(
            3, 1, 1
        )
        wanted = np.rint(pixels.numpy().transpose(1, 2, 0) * 255).astype(np.uint8)
        np.testing.assert_array_equal(as_view(photo, view), wanted)


def test_published_weights_know_their_classes(models, monkeypatch):
    torch.manual_seed(2)
    network = models.get_model("squeezenet1_1", weights=None)
    monkeypatch.setattr(models, "get_model", lambda name, *, weights: network)
    model = load_model("torchvision:squeezenet1_1")
    assert (model.space.name, model.name) == ("imagenet-1k", "squeezenet1_1")
    other = models.get_model_weights("mobilenet_v2").IMAGENET1K_V2
    assert load_model(f"torchvision:mobilenet_v2.{other.name}").name == "mobilenet_v2.IMAGENET1K_V2"


@pytest.mark.parametrize("name", ["mobilenet_v3_small", "squeezenet1_1", "alexnet"])
def test_weights_for_other_classes(models, tmp_path, name):
    network = models.get_model(name, weights=None, num_classes=7)
    assert len(load_model(f"torchvision:{name}@{saved(network, tmp_path / 'mine.pth')}").space) == 7


def test_declarations_over_its_own(models, tmp_path):
    path = saved(models.get_model("mobilenet_v3_small", weights=None), tmp_path / "mine.pth")
    model = load_model(f"torchvision:mobilenet_v3_small@{path}", card=Declared(interpolation="bicubic"))
    assert model.input.view.interpolation == "bicubic"


def test_unknown_names(models):
    with pytest.raises(UsageError, match="torchvision has no model named 'alexnett'; did you mean alexnet"):
        load_model("torchvision:alexnett")
    with pytest.raises(UsageError, match="torchvision:alexnet has no weights named 'V9'; there are: IMAGENET1K_V1"):
        load_model("torchvision:alexnet.V9")


def test_no_code_is_run_by_a_checkpoint(models, tmp_path, evil):
    bomb, marker = evil
    torch.save({"state_dict": bomb}, tmp_path / "x.pth")
    with pytest.raises(ModelError, match="refused, since it is a pickle"):
        load_model(f"torchvision:alexnet@{tmp_path / 'x.pth'}")
    assert not marker.exists()


def test_a_missing_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torchvision.models", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'oodometer\[torchvision\]'"):
        load_model("torchvision:alexnet")
