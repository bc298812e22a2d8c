"""Where styles come from, if not from the training images: a folder of images, and weights that people pass around."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from oodometer.core.dataset import silent
from oodometer.core.errors import DataError, ModelError
from oodometer.data import addresses
from oodometer.data.kinds.folder import list_images
from oodometer.data.source import EncodedSource, ImageFiles
from oodometer.models.files import file_digest, read_file
from oodometer.models.pickle_texts import check_pickles

FILES = {"encoder": "vgg_normalised.pth", "decoder": "decoder.pth"}


@dataclass(frozen=True)
class StyleSources:
    """What a user brings for style transfers.

    Args:
        images: A folder of images whose styles are taken; None: the training images.
        weights: A folder with ``vgg_normalised.pth`` and ``decoder.pth``; None: a small network is learned.
    """

    images: str | None = None
    weights: str | None = None

    def describe(self) -> dict[str, str]:
        """The digests of what is brought; empty where nothing is."""
        told = {}
        if self.images is not None:
            told["images"] = FolderImages.of(self.images).digest
        if self.weights is not None:
            told |= {name: file_digest(read_file(Path(self.weights) / file)) for name, file in FILES.items()}
        return told


@dataclass(frozen=True)
class FolderImages:
    """The images of a folder and below, read when they are asked for.

    Args:
        digest: Of their contents, in the order of their paths.
    """

    source: EncodedSource
    n_images: int
    digest: str

    @classmethod
    def of(cls, folder: str) -> FolderImages:
        """Those of a folder; a broken one is an error now."""
        files = sorted(list_images(folder), key=lambda file: file.path)
        if not files:
            raise DataError(f"{folder}: no images in it; --style-images wants a folder of images")
        source = EncodedSource(ImageFiles(tuple(addresses.join(folder, file.path) for file in files)))
        scan = source.scan(np.arange(len(files)), silent)
        if scan.broken:
            first = scan.broken[min(scan.broken)]
            raise DataError(f"{folder}: {len(scan.broken)} of {len(files)} can't be read, first {first}; remove it")
        return cls(source, len(files), hashlib.blake2b(b"".join(scan.contents), digest_size=16).hexdigest())

    def __len__(self) -> int:
        return self.n_images

    def __getitem__(self, index: int) -> np.ndarray:
        return self.source.views(index, [None])[0]


def published_network(folder: str) -> Any:
    """The style network whose weights lie in a folder; nothing in these files is run."""
    from oodometer.train.augment.style.network import PUBLISHED, new_network

    network = new_network(PUBLISHED)
    for module, name in ((network.encoder, FILES["encoder"]), (network.decoder, FILES["decoder"])):
        path = Path(folder) / name
        state, wanted = _state(path), module.state_dict()
        # The encoder's file has the layers behind relu4_1 too.
        if missing := [key for key in wanted if key not in state or state[key].shape != wanted[key].shape]:
            raise ModelError(f"{path}: has no {missing[0]} of shape {tuple(wanted[missing[0]].shape)}; give {name}")
        module.load_state_dict({key: state[key].float() for key in wanted})
        module.eval().requires_grad_(False)
    return network


def _state(path: Path) -> dict[str, Any]:
    import torch

    content = read_file(path)
    try:
        check_pickles(content, path)
        state: dict[str, Any] = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        return {key: value for key, value in state.items() if isinstance(value, torch.Tensor)}
    except Exception as error:  # a damaged file raises almost anything
        raise ModelError(f"{path}: not a file of tensors written by torch, or a damaged one") from error
