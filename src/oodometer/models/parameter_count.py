"""How many numbers a network has learned, counted without running it."""

from __future__ import annotations

import math
from typing import Any

LEARNED = frozenset({1, 2, 3, 10, 11, 16})
"""Numbers of onnx.TensorProto.DataType: floats, and the 8 bits of quantised weights; whole numbers are shapes."""

STATISTICS = slice(3, 5)
"""Inputs of BatchNormalization that are means and variances: kept, not learned."""


def onnx_parameters(proto: Any) -> int | None:
    """The learned numbers of an ``onnx.ModelProto``; None where it has none.

    Where an exporter folded a normalisation into a convolution, those of the normalisation are gone.
    """
    graph = proto.graph
    statistics = {
        name for node in graph.node if node.op_type == "BatchNormalization" for name in node.input[STATISTICS]
    }
    tensors = [tensor for tensor in graph.initializer if tensor.data_type in LEARNED and tensor.name not in statistics]
    return sum(math.prod(tensor.dims) for tensor in tensors if tensor.dims and min(tensor.dims) > 0) or None


def torch_parameters(module: Any) -> int | None:
    """The learned numbers of a torch module; None where it has none, as a plain function."""
    parameters = getattr(module, "parameters", None)
    if not callable(parameters):
        return None
    return sum(int(parameter.numel()) for parameter in parameters()) or None
