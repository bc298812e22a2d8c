"""A trained network as an ONNX graph: in float32, or with weights in float16 that are cast when it is opened."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np

from oodometer.core.errors import ModelError
from oodometer.core.extras import import_extra

OPSET = 17
INPUT, OUTPUT = "images", "logits"


def to_onnx(network: Any, size: tuple[int, int]) -> Any:
    """The network as an ``onnx.ModelProto`` for any number of images, normalisation left to the card."""
    import torch

    onnx = import_extra("onnx", extra="train", what="networks to train")
    network = network.to("cpu").eval()
    target = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of tracing, and of the newer exporter
        torch.onnx.export(
            network,
            (torch.zeros(2, 3, *size),),
            target,
            dynamo=False,
            opset_version=OPSET,
            input_names=[INPUT],
            output_names=[OUTPUT],
            dynamic_axes={INPUT: {0: "N"}, OUTPUT: {0: "N"}},
        )
    return onnx.load_model_from_string(target.getvalue())


def halved(proto: Any) -> Any:
    """A copy whose weights are stored in float16, each with a Cast, so that all arithmetic stays in float32.

    Biases, which are few, stay as they are.
    """
    import onnx

    result = onnx.ModelProto()
    result.CopyFrom(proto)
    graph = result.graph
    casts = []
    for tensor in graph.initializer:
        values = onnx.numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.ndim < 2:
            continue
        name = tensor.name
        tensor.CopyFrom(onnx.numpy_helper.from_array(in_half(values, name), f"{name}/half"))
        casts.append(onnx.helper.make_node("Cast", [f"{name}/half"], [name], to=onnx.TensorProto.FLOAT))
    rest = list(graph.node)
    del graph.node[:]
    graph.node.extend([*casts, *rest])
    return result


def in_half(values: np.ndarray, name: str) -> np.ndarray:
    """The numbers in float16; one that is too large for it is an error."""
    if np.abs(values).max() > np.finfo(np.float16).max:
        raise ModelError(f"the weights {name} are too large for float16; leave --half out")
    return values.astype(np.float16)
