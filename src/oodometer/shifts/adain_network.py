"""The network of adaptive instance normalisation (Huang & Belongie 2017), with the weights that people pass around.

The weights are those of github.com/naoto0804/pytorch-AdaIN: ``vgg_normalised.pth``, a VGG-19 of which the layers up to
relu4_1 are used, and ``decoder.pth``, its mirror image. Both are state dicts whose names are the places of the
convolutions in a sequence of layers (``0.weight``, ``0.bias``, ``2.weight``...).
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oodometer.core.errors import MissingExtraError, ModelError
from oodometer.data import addresses

ENCODER_FILE, DECODER_FILE = "vgg_normalised", "decoder"
ENDINGS = (".pth", ".safetensors")

FIRST = 0
"""The place of the encoder's first convolution, 1x1: from RGB in [0, 1] to what VGG-19 was trained on."""
POOL, GROW = "pool", "grow"
ENCODER: tuple[int | str, ...] = (2, 5, POOL, 9, 12, POOL, 16, 19, 22, 25, POOL, 29)
"""Up to relu4_1: 3x3 convolutions by their place in the file, and where the side is halved."""
UNUSED = (32, 35, 38, 42, 45, 48, 51)
"""The convolutions behind relu4_1, which the file has too."""
DECODER: tuple[int | str, ...] = (1, GROW, 5, 8, 11, 14, GROW, 18, 21, GROW, 25, 28)

EPSILON = 1e-5
"""Added to a variance before its root is taken, as in the published code."""

Statistics = tuple[Any, Any]
"""Mean and standard deviation of each channel, tensors of (C, 1, 1)."""


@dataclass(frozen=True)
class StyleNetwork:
    """Encoder and decoder on the CPU.

    Args:
        encoder, decoder: Weight and bias of each convolution by its place.
        digest: Of names, shapes and values; the same for every way of keeping the weights in a file.
    """

    encoder: Mapping[int, tuple[Any, Any]]
    decoder: Mapping[int, tuple[Any, Any]]
    digest: str

    def encode(self, pixels: np.ndarray) -> Any:
        """The features at relu4_1, (H, W, 3) uint8 -> (C, ceil(H / 8), ceil(W / 8))."""
        import torch

        image = torch.from_numpy(np.array(pixels)).permute(2, 0, 1).float() / 255
        normalised = torch.conv2d(image[None], *self.encoder[FIRST])
        return _through(normalised, ENCODER, self.encoder, last_relu=True)[0]

    def decode(self, features: Any) -> np.ndarray:
        """The picture that has such features, (C, H, W) -> (8 H, 8 W, 3) uint8."""
        image = _through(features[None], DECODER, self.decoder, last_relu=False)[0]
        pixels: np.ndarray = (image * 255 + 0.5).clamp(0, 255).byte().permute(1, 2, 0).contiguous().numpy()
        return pixels


def statistics(features: Any) -> Statistics:
    """Mean and standard deviation of each channel of (C, H, W); of the variance the unbiased estimate."""
    flat = features.flatten(1)
    mean, deviation = flat.mean(dim=1), (flat.var(dim=1) + EPSILON).sqrt()
    return mean[:, None, None], deviation[:, None, None]


def restyled(features: Any, style: Statistics, alpha: float) -> Any:
    """Features with the statistics of the style (``alpha`` 1), with their own (0), or in between, (C, H, W)."""
    mean, deviation = statistics(features)
    style_mean, style_deviation = style
    adapted = (features - mean) / deviation * style_deviation + style_mean
    return alpha * adapted + (1 - alpha) * features


def _through(
    values: Any, layers: Sequence[int | str], weights: Mapping[int, tuple[Any, Any]], *, last_relu: bool
) -> Any:
    """Values through layers; at its borders every 3x3 convolution sees the picture mirrored."""
    import torch
    from torch.nn import functional

    for layer in layers:
        if layer == POOL:
            values = functional.max_pool2d(values, 2, ceil_mode=True)
        elif layer == GROW:
            values = functional.interpolate(values, scale_factor=2, mode="nearest")
        else:
            values = torch.conv2d(functional.pad(values, (1, 1, 1, 1), mode="reflect"), *weights[int(layer)])
            values = values.relu() if last_relu or layer != layers[-1] else values
    return values


def read_network(folder: str) -> StyleNetwork:
    """The network whose weights lie in a folder, as .pth or .safetensors; nothing in these files is run."""
    encoder_path, encoder = _state(folder, ENCODER_FILE)
    decoder_path, decoder = _state(folder, DECODER_FILE)
    places = _convolutions(ENCODER)
    _check_names(encoder_path, encoder, (FIRST, *places), may_have=UNUSED)
    _check_names(decoder_path, decoder, _convolutions(DECODER), may_have=())
    _check_shape(encoder_path, encoder, FIRST, (3, 3, 1, 1))
    channels = _check_shapes(encoder_path, encoder, places, channels=3)
    made = _check_shapes(decoder_path, decoder, _convolutions(DECODER), channels=channels)
    if made != 3:
        raise ModelError(f"{decoder_path}: makes pictures of {made} channels instead of 3")
    return StyleNetwork(
        {place: _pair(encoder, place) for place in (FIRST, *places)},
        {place: _pair(decoder, place) for place in _convolutions(DECODER)},
        _digest(encoder, (FIRST, *places), decoder),
    )


def _convolutions(layers: Sequence[int | str]) -> tuple[int, ...]:
    return tuple(layer for layer in layers if isinstance(layer, int))


def _pair(state: Mapping[str, Any], place: int) -> tuple[Any, Any]:
    return state[f"{place}.weight"], state[f"{place}.bias"]


def _state(folder: str, name: str) -> tuple[str, dict[str, Any]]:
    """Where the weights of that name lie, and the tensors by their names."""
    paths = [addresses.join(folder, name + ending) for ending in ENDINGS]
    path = next((one for one in paths if addresses.exists(one)), None)
    if path is None:
        raise ModelError(
            f"{folder}: no {name}.pth in it; --style-weights wants the folder with vgg_normalised.pth and decoder.pth "
            "(github.com/naoto0804/pytorch-AdaIN)"
        )
    content = addresses.read_bytes(path)
    state = _from_safetensors(path, content) if path.endswith(".safetensors") else _from_torch(path, content)
    return path, {key: value.float().contiguous() for key, value in state.items()}


def _from_torch(path: str, content: bytes) -> dict[str, Any]:
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("torch", "style transfers") from error
    try:
        state = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged file raises almost anything
        raise ModelError(f"{path}: not a file of tensors written by torch, or a damaged one") from error
    if not isinstance(state, Mapping) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise ModelError(f"{path}: expected tensors by their names (a state dict)")
    return {str(key): value.detach() for key, value in state.items()}


def _from_safetensors(path: str, content: bytes) -> dict[str, Any]:
    try:
        from safetensors.torch import load
    except ImportError as error:
        raise MissingExtraError("timm", "safetensors files") from error
    try:
        return dict(load(content))
    except Exception as error:
        raise ModelError(f"{path}: not a safetensors file, or a damaged one") from error


def _check_names(path: str, state: Mapping[str, Any], places: Sequence[int], *, may_have: Sequence[int]) -> None:
    wanted, more = ([f"{one}.{kind}" for one in some for kind in ("weight", "bias")] for some in (places, may_have))
    lacking = [name for name in wanted if name not in state]
    if lacking:
        raise ModelError(f"{path}: has no {lacking[0]}; expected the tensors {wanted[0]} to {wanted[-1]}")
    unknown = sorted(set(state) - {*wanted, *more})
    if unknown:
        raise ModelError(f"{path}: {unknown[0]!r} is no part of this network; expected {wanted[0]} to {wanted[-1]}")


def _check_shapes(path: str, state: Mapping[str, Any], places: Sequence[int], *, channels: int) -> int:
    """The channels that come out behind a chain of 3x3 convolutions; how wide each is, the weights say."""
    for place in places:
        weight = state[f"{place}.weight"]
        width = int(weight.shape[0]) if weight.ndim else 0
        _check_shape(path, state, place, (width, channels, 3, 3))
        channels = width
    return channels


def _check_shape(path: str, state: Mapping[str, Any], place: int, shape: tuple[int, ...]) -> None:
    for name, wanted in ((f"{place}.weight", shape), (f"{place}.bias", shape[:1])):
        found = tuple(state[name].shape)
        if found != wanted:
            raise ModelError(f"{path}: {name} has shape {found}, expected {wanted}")
        if not state[name].isfinite().all():
            raise ModelError(f"{path}: {name} holds values that are NaN or infinite")


def _digest(encoder: Mapping[str, Any], places: Sequence[int], decoder: Mapping[str, Any]) -> str:
    total = hashlib.blake2b(digest_size=16)
    used = [(f"{one}.{kind}", encoder[f"{one}.{kind}"]) for one in places for kind in ("weight", "bias")]
    for name, tensor in (*used, *sorted(decoder.items())):
        total.update(f"\0{name}\0{tuple(tensor.shape)}\0".encode())
        total.update(memoryview(tensor.flatten().numpy()).cast("B"))
    return total.hexdigest()
