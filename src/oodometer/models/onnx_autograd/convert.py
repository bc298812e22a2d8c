"""The gradients of an ONNX network: the same network in torch, compared with onnxruntime before it is used."""

from __future__ import annotations

from typing import Any

import numpy as np

from oodometer.core.errors import ModelError
from oodometer.core.extras import import_extra
from oodometer.core.messages import one_line
from oodometer.core.model import Compute, Input
from oodometer.models.onnx_autograd.operators import UnsupportedError
from oodometer.models.session import MOST_IMAGES, Network, open_session

# Of the spread of the logits. Two runtimes add float32 numbers in different orders; on 29 architectures of timm that
# changed the logits by 1e-7 to 3e-6 of their spread, while a wrong stride, axis or activation shows in percents.
MOST_APART = 1e-3
# onnxruntime rounds every layer of such a network to 11 bits, the converted one does not: 1e-4 to 3e-4 on three.
MOST_APART_HALF = 1e-2
HALF_TYPES = (10, 16)  # FLOAT16 and BFLOAT16 of onnx.TensorProto.DataType


def differentiable(network: Network, preprocessing: Input, compute: Compute, *, name: str) -> Any:
    """The network as a torch module on pixels in [0, 1], (N, 3, H, W), with gradients.

    A network of uint8 pixels gets all numbers from 0 to 255, a network of half precision is computed in float32.
    """
    import_extra("torch", extra="torch", what="attacks on ONNX models")
    from oodometer.models.torch import check_device, normalised

    check_device(compute, name)
    module = _convert(network, name)
    on_cpu = Compute(threads=compute.threads)
    batch = (network.batch or 1, network.batch or MOST_IMAGES)
    _check_agreement(normalised(module, preprocessing, on_cpu, batch=batch), network, preprocessing, on_cpu, name)
    return normalised(module.to(compute.device), preprocessing, compute, batch=batch)


def _convert(network: Network, name: str) -> Any:
    from oodometer.models.onnx_autograd.graph import Classifier

    try:
        return Classifier(network)
    except UnsupportedError as error:
        raise _refusal(name, str(error)) from error
    except Exception as error:
        raise _refusal(name, f"its graph can't be read ({one_line(error)})") from error


def _refusal(name: str, why: str) -> ModelError:
    return ModelError(
        f"model {name}: it can't be attacked: {why}; give the network that it was exported from, as a torch model"
    )


def _check_agreement(module: Any, network: Network, preprocessing: Input, compute: Compute, name: str) -> None:
    """Raise an error unless the module answers as onnxruntime does, and gradients reach the pixels."""
    import torch

    images = probes(preprocessing.view.height, preprocessing.view.width)
    expected = open_session(network, preprocessing, compute, name=name)(images)
    pixels = (torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255).requires_grad_(True)
    try:
        logits = module(pixels)
    except UnsupportedError as error:
        raise _refusal(name, str(error)) from error
    except Exception as error:
        raise _refusal(name, f"its network in torch fails ({one_line(error)})") from error
    if not logits.requires_grad:
        raise _refusal(name, "its logits have no gradients")
    apart = distance(logits.detach().numpy(), expected, _least(network))
    if not apart <= (MOST_APART_HALF if is_half(network) else MOST_APART):
        raise _refusal(
            name, f"its network in torch gives other logits than onnxruntime (by {apart:.1%} of their spread)"
        )


def probes(height: int, width: int) -> np.ndarray:
    """Two images to compare answers on, coarse blocks and fine noise, (2, height, width, 3) uint8."""
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)
    blocks = coarse[np.arange(height) * 8 // height][:, np.arange(width) * 8 // width]
    return np.stack([blocks, rng.integers(0, 256, (height, width, 3), dtype=np.uint8)])


def distance(logits: np.ndarray, expected: np.ndarray, least: float = -np.inf) -> float:
    """How far apart two sets of logits are, in shares of their spread; infinite where they can't be compared.

    >>> float(distance(np.array([[0.0, 11.0]]), np.array([[0.0, 10.0]])))
    0.1
    """
    if logits.shape != expected.shape:
        return np.inf
    logits, expected = np.maximum(logits, least), np.maximum(expected, least)
    # Logits that are all the same still have rounding errors, of their size.
    spread = max(np.ptp(expected), 1e-2 * np.abs(expected).max(), np.finfo(np.float32).tiny)
    apart = float(np.abs(logits - expected).max() / spread)
    return apart if np.isfinite(apart) else np.inf


def _least(network: Network) -> float:
    """The log-probability below which onnxruntime's softmax has no digits left."""
    if not network.softmax:
        return -np.inf
    return float(np.log(np.finfo(np.float16 if is_half(network) else np.float32).tiny))


def is_half(network: Network) -> bool:
    """Whether some of the network is in half precision."""
    graph = network.proto.graph
    attributes = [attribute for node in graph.node for attribute in node.attribute]
    return (
        network.element == "float16"
        or any(tensor.data_type in HALF_TYPES for tensor in graph.initializer)
        or any(
            attribute.t.data_type in HALF_TYPES or (attribute.name == "to" and attribute.i in HALF_TYPES)
            for attribute in attributes
        )
    )
