from __future__ import annotations

import sys

import numpy as np
import pytest
from PIL import Image

from oodometer.core.errors import MissingExtraError, ModelError, UsageError
from oodometer.core.preprocessing import Geometry
from oodometer.data.resize import as_view
from oodometer.models.card import Declared
from oodometer.models.load import load_model
from oodometer.models.timm import own_input

torch = pytest.importorskip("torch")

CONFIG = {
    "input_size": (3, 224, 224),
    "interpolation": "bicubic",
    "mean": (0.485, 0.456, 0.406),
    "std": (0.229, 0.224, 0.225),
    "crop_pct": 0.875,
    "crop_mode": "center",
}
NAME = "test_vit"


@pytest.fixture
def photos(rng) -> list[Image.Image]:
    """Images of many shapes with structure at every scale."""
    sizes = [(500, 375), (375, 500), (341, 256), (257, 1001), (224, 224), (180, 150)]
    made = []
    for width, height in sizes:
        coarse = Image.fromarray(rng.integers(0, 256, (9, 7, 3), dtype=np.uint8)).resize((width, height), 3)
        fine = rng.integers(-30, 30, (height, width, 3))
        made.append(Image.fromarray(np.clip(np.asarray(coarse) + fine, 0, 255).astype(np.uint8)))
    return made


@pytest.fixture
def checkpoint(timm, tmp_path):
    """A file of random weights, and the network that has them."""
    torch.manual_seed(5)
    network = timm.create_model(NAME, pretrained=False).eval()
    torch.save(network.state_dict(), tmp_path / "weights.pth")
    return tmp_path / "weights.pth", network


# reference: timm.data.create_transform, which makes the preprocessing of timm's own validation script
@pytest.mark.parametrize("interpolation", ["bicubic", "bilinear"])
@pytest.mark.parametrize(
    ("size", "crop_pct"), [(224, 0.875), (224, 0.9), (224, 0.95), (224, 1.0), (240, 0.965), (32, 1.0)]
)
def test_the_same_pixels_as_timm(timm, photos, size, crop_pct, interpolation):
    config = {**CONFIG, "input_size": (3, size, size), "crop_pct": crop_pct, "interpolation": interpolation}
    transform = timm.data.create_transform(**config, is_training=False, normalize=False)
    view = own_input(config, "x").view
    for photo in photos:
        wanted = np.asarray(transform(photo)).transpose(1, 2, 0)
        np.testing.assert_array_equal(as_view(photo, view), wanted)


def test_the_same_pixels_as_timm_when_squashed(timm, photos):
    config = {**CONFIG, "crop_mode": "squash", "crop_pct": 1.0}
    transform = timm.data.create_transform(**config, is_training=False, normalize=False)
    view = own_input(config, "x").view
    assert view == Geometry(224, 224, None, "bicubic")
    for photo in photos:
        np.testing.assert_array_equal(as_view(photo, view), np.asarray(transform(photo)).transpose(1, 2, 0))


def test_the_same_logits_as_timm(timm, photos, checkpoint):
    path, network = checkpoint
    model = load_model(f"timm:{NAME}@{path}")
    transform = timm.data.create_transform(**timm.data.resolve_model_data_config(network), is_training=False)
    with torch.inference_mode():
        wanted = network(torch.stack([transform(photo) for photo in photos])).numpy()
    images = np.stack([as_view(photo, model.input.view) for photo in photos])
    np.testing.assert_allclose(model.logits(images), wanted, atol=1e-4)
    assert (model.name, model.kind, model.notes, len(model.space)) == ("weights", "timm", {"input": "from timm"}, 1000)
    assert model.space.name == "numbers"


def test_weights_for_other_classes(timm, tmp_path):
    network = timm.create_model(NAME, pretrained=False, num_classes=7).eval()
    torch.save({"epoch": 3, "state_dict": network.state_dict()}, tmp_path / "mine.pth")
    model = load_model(f"timm:{NAME}@{tmp_path / 'mine.pth'}")
    assert len(model.space) == 7
    image = np.full((1, model.input.view.height, model.input.view.width, 3), 99, np.uint8)
    with torch.inference_mode():
        pixels = (torch.full((1, 3, 160, 160), 99 / 255) - torch.tensor(model.input.mean).view(1, 3, 1, 1)) / (
            torch.tensor(model.input.std).view(1, 3, 1, 1)
        )
        np.testing.assert_allclose(model.logits(image), network(pixels).numpy(), atol=1e-4)


def test_declarations_over_its_own(checkpoint):
    model = load_model(f"timm:{NAME}@{checkpoint[0]}", name="mine", card=Declared(interpolation="bilinear"))
    assert (model.name, model.input.view.interpolation) == ("mine", "bilinear")
    assert model.notes["input"] == "declared (interpolation), the rest from timm"


def test_the_card_beside_the_weights(checkpoint):
    path, _ = checkpoint
    path.with_suffix(".toml").write_text('parent = "p"\n[input]\ninterpolation = "bilinear"\n')
    model = load_model(f"timm:{NAME}@{path}")
    assert (model.card.parent, model.input.view.interpolation) == ("p", "bilinear")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"input_size": (1, 28, 28)}, "timm:x: its input has 1 channels; only colour images (3) can be shown"),
        (
            {"crop_mode": "border"},
            "timm:x: its preprocessing (crop_mode border, crop_pct 0.875, 224x224) is not supported",
        ),
        ({"crop_mode": "squash"}, "timm:x: its preprocessing (crop_mode squash, crop_pct 0.875, 224x224)"),
        ({"input_size": (3, 224, 320)}, "timm:x: its preprocessing (crop_mode center, crop_pct 0.875, 224x320)"),
    ],
)
def test_preprocessing_that_is_not_supported(change, message):
    with pytest.raises(ModelError) as caught:
        own_input({**CONFIG, **change}, "x")
    assert str(caught.value).startswith(message)


def test_a_declared_geometry_helps(timm, checkpoint, monkeypatch):
    path, _ = checkpoint
    real = timm.data.resolve_model_data_config
    monkeypatch.setattr(timm.data, "resolve_model_data_config", lambda net: {**real(net), "crop_mode": "border"})
    with pytest.raises(ModelError, match="declare size and resize in a card"):
        load_model(f"timm:{NAME}@{path}")
    model = load_model(f"timm:{NAME}@{path}", card=Declared(size=(160, 160), resize=170))
    assert model.input.view == Geometry(160, 160, 170, "bicubic")


def test_unknown_names(timm):
    with pytest.raises(UsageError, match="timm has no model named 'resnet5O'; did you mean resnet50"):
        load_model("timm:resnet5O")
    with pytest.raises(UsageError, match=r"timm has no model named 'zzzzzz'$"):
        load_model("timm:zzzzzz")


def test_weights_that_can_not_be_fetched(timm, monkeypatch):
    def fail(*args, **kwargs):
        raise OSError("no route to host\nand more lines")

    monkeypatch.setattr(timm, "create_model", fail)
    with pytest.raises(ModelError) as caught:
        load_model("timm:resnet18.a1_in1k")
    assert str(caught.value) == (
        "timm:resnet18.a1_in1k: its weights could not be fetched (OSError: no route to host and more lines); "
        "with a file of weights, give timm:resnet18.a1_in1k@FILE"
    )


def test_published_weights_know_their_classes(timm, checkpoint, monkeypatch):
    _, network = checkpoint
    asked = {}

    def create(name, *, pretrained):
        asked["pretrained"] = pretrained
        return network

    monkeypatch.setattr(timm, "create_model", create)
    model = load_model(f"timm:{NAME}.r160_in1k")
    assert asked == {"pretrained": True}
    assert (model.space.name, model.name) == ("imagenet-1k", f"{NAME}.r160_in1k")


def test_no_code_is_run_by_a_checkpoint(timm, tmp_path, evil):
    bomb, marker = evil
    torch.save({"state_dict": bomb}, tmp_path / "x.pth")
    with pytest.raises(ModelError, match="refused, since it is a pickle"):
        load_model(f"timm:{NAME}@{tmp_path / 'x.pth'}")
    assert not marker.exists()


@pytest.mark.parametrize("package", ["torch", "timm"])
def test_a_missing_extra(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"timm models need more packages: pip install 'oodometer\[timm\]'"):
        load_model(f"timm:{NAME}")
