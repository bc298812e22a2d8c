"""Photographs in the style of paintings, made on the fly by adaptive instance normalisation (Huang & Belongie 2017).

As in Stylized ImageNet (Geirhos et al. 2019), each photograph gets one painting, drawn by chance, brought to a square
of 224 px; here at five strengths. Network and paintings are the user's.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from oodometer.catalogue.names import ShiftEntry
from oodometer.core.condition import Condition, Family, Shift, Transform
from oodometer.core.dataset import silent
from oodometer.core.errors import DataError, ModelError, UsageError
from oodometer.core.preprocessing import Geometry
from oodometer.core.random import rng_for
from oodometer.data import addresses
from oodometer.data.kinds.folder import is_image
from oodometer.data.source import EncodedSource, ImageFiles
from oodometer.shifts.adain_network import Statistics, StyleNetwork, read_network, restyled, statistics
from oodometer.shifts.sources import Sources

ALPHAS = (0.2, 0.4, 0.6, 0.8, 1.0)
"""The strength of the style at severities 1 to 5."""

PAINTING = Geometry(224, 224, resize=224)
"""What is seen of a painting: its central square, as in Stylized ImageNet."""

N_REMEMBERED = 4096
"""Paintings whose statistics are kept (4 kB each): the five strengths are made chunk by chunk, one after the other."""


@dataclass(frozen=True)
class Paintings:
    """The paintings of a folder, sorted by path.

    Args:
        digest: Of their contents, in this order.
    """

    paths: tuple[str, ...]
    digest: str

    def of(self, image_id: str, seed: int) -> str:
        """The painting that an image gets, the same at every strength."""
        return self.paths[int(rng_for("adain", image_id, seed=seed).integers(len(self.paths)))]


@dataclass(frozen=True)
class Styling:
    """A style transfer of one strength, as a transform; a value, so that it can be sent to other processes.

    Args:
        weights: The folder of the network's weights.
        network: Their digest.
        alpha: 0: the photograph, encoded and decoded; 1: all style.
    """

    weights: str
    network: str
    paintings: Paintings
    alpha: float
    seed: int

    def __call__(self, image: np.ndarray, image_id: str) -> np.ndarray:
        """The image in the style of its painting, (H, W, 3) uint8."""
        import torch

        network = _network(self.weights, self.network)
        with torch.inference_mode(), _one_thread():
            style = _statistics(
                self.paintings.of(image_id, self.seed), self.paintings.digest, self.weights, self.network
            )
            made = network.decode(restyled(network.encode(image), style, self.alpha))
        # Sides that are no multiple of 8 come back rounded up to one.
        return np.ascontiguousarray(made[: image.shape[0], : image.shape[1]])


def adain(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """The clean images against themselves in the style of paintings, ``adain/1`` to ``adain/5``."""
    weights, folder = (sources.settings.get(key) for key in ("style_weights", "style_images"))
    if not weights or not folder:
        raise UsageError(
            "adain: say where the weights and the paintings are: --style-weights DIR (with vgg_normalised.pth and "
            "decoder.pth) --style-images DIR"
        )
    standard = sources.clean()
    weights = addresses.absolute(weights)
    _loaded.cache_clear()  # the files may have changed since they were last asked for
    network, paintings = _loaded(weights).digest, paintings_in(addresses.absolute(folder))
    return [
        _shift(
            standard,
            Family(entry.of, entry.declared.corruption, severity),
            Styling(weights, network, paintings, alpha, sources.seed),
        )
        for severity, alpha in enumerate(ALPHAS, start=1)
    ]


def _shift(standard: Condition, family: Family, styling: Styling) -> Shift:
    parameters = {
        "alpha": styling.alpha,
        "seed": styling.seed,
        "weights": styling.network,
        "paintings": styling.paintings.digest,
        "painting": PAINTING.describe(),
    }
    name = f"{family.name}/{family.severity}"
    shifted = Condition(name, standard.dataset, transform=Transform("adain", parameters, styling))
    return Shift(name, "style", standard, shifted, family)


def paintings_in(folder: str) -> Paintings:
    """The paintings below a folder; every file is looked at, so that a broken one is an error now."""
    files = [file for file in addresses.list_files(folder) if is_image(file.path)]
    if not files:
        raise DataError(f"{folder}: no images in it; --style-images wants a folder of paintings")
    paths = tuple(addresses.join(folder, file.path) for file in files)
    source = EncodedSource(ImageFiles(paths, tuple(file.version for file in files)))
    scan = source.scan(np.arange(len(paths)), silent)
    if scan.broken:
        first = scan.broken[min(scan.broken)]
        raise DataError(
            f"{folder}: {len(scan.broken)} of {len(paths)} paintings can't be read, first {first}; remove it"
        )
    return Paintings(paths, hashlib.blake2b(b"".join(scan.contents), digest_size=16).hexdigest())


@lru_cache(maxsize=1)
def _loaded(weights: str) -> StyleNetwork:
    return read_network(weights)


def _network(weights: str, digest: str) -> StyleNetwork:
    """The network in that folder, read once per process; it must still be the one that was asked for."""
    network = _loaded(weights)
    if network.digest != digest:
        raise ModelError(f"{weights}: these are other weights than when the run began; start it again")
    return network


@lru_cache(maxsize=N_REMEMBERED)
def _statistics(painting: str, paintings: str, weights: str, network: str) -> Statistics:  # noqa: ARG001
    """The statistics of a painting's features; the digest of all paintings is there for the cache's sake."""
    pixels = EncodedSource(ImageFiles((painting,))).views(0, [PAINTING])[0]
    return statistics(_network(weights, network).encode(pixels))


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Torch on one thread: the engine works on as many images at once as there are cores."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
