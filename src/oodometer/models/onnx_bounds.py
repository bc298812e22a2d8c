"""What an ONNX network would ask of the machine, by its graph: a few bytes can stand for gigabytes, or for ever."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from oodometer.core.errors import ModelError
from oodometer.core.limits import MAX_LOOPS, MAX_TENSOR_BYTES
from oodometer.core.preprocessing import Geometry
from oodometer.models.session import Network

SMALL = 1024
"""Numbers of a weight up to which it may be the shape of something; larger ones are known by their own shape alone."""


FIXED_BATCH = 8
"""For how many images the bound is raised where a network wants a fixed number of them."""


def check_bounds(network: Network, view: Geometry, *, name: str) -> None:
    """An error where a tensor would be too large for one image, or a loop not known to end.

    What a network computes its sizes from is followed as far as ONNX's own inference of shapes does; sizes that depend
    on the answers themselves are not seen.
    """
    _check_loops(network.proto, name)
    # What follows from a large weight may be as large; and several images are asked about at once where they must.
    most = max(MAX_TENSOR_BYTES * min(network.batch or 1, FIXED_BATCH), network.proto.ByteSize())
    for what, shape, n_bytes in _tensors(network, view):
        if n_bytes > most:
            raise ModelError(
                f"model {name}: {what!r} of shape {shape} would take {n_bytes:,} bytes (at most {most:,}); is it whole?"
            )


def _check_loops(proto: Any, name: str) -> None:
    if sum(_passes(graph, {}) for graph in (proto.graph, *proto.functions)) > MAX_LOOPS:
        raise ModelError(
            f"model {name}: it has loops without a constant number of passes, or with more than {MAX_LOOPS:,}; "
            "export it without loops"
        )


def _passes(graph: Any, constants: Mapping[str, Any]) -> float:
    """How often the loops of a graph are gone through, those inside others as often as the others ask for them."""
    known = {**constants, **_constants_of(graph)}
    total = 0.0
    for node in graph.node:
        inside = sum(_passes(inner, known) for inner in _inner_graphs(node))
        total += inside if node.op_type != "Loop" else _trips(node, known) * (1 + inside)
    return total


def _trips(node: Any, constants: Mapping[str, Any]) -> float:
    value = constants.get(node.input[0]) if node.input else None
    return math.inf if value is None or value.size != 1 else float(value.reshape(-1)[0])


def _inner_graphs(node: Any) -> Iterator[Any]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _constants_of(graph: Any) -> dict[str, Any]:
    """The small numbers that a graph brings along, by name."""
    from onnx import numpy_helper

    tensors = {tensor.name: tensor for tensor in getattr(graph, "initializer", ())} | _constant_nodes(graph)
    return {key: numpy_helper.to_array(tensor) for key, tensor in tensors.items() if _is_small(tensor)}


def _constant_nodes(graph: Any) -> dict[str, Any]:
    """What nodes of a graph give as a tensor, by name."""
    nodes = [node for node in graph.node if node.op_type == "Constant" and node.output]
    return {node.output[0]: given.t for node in nodes for given in node.attribute if given.name == "value"}


def _is_small(tensor: Any) -> bool:
    return bool(math.prod(tensor.dims) <= SMALL and tensor.data_location != tensor.EXTERNAL)


def _tensors(network: Network, view: Geometry) -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Name, shape and bytes of every tensor whose shape follows from the input's."""
    from onnx import TensorProto, helper, shape_inference

    for sparse in network.proto.graph.sparse_initializer:
        yield _sized(sparse.values.name, tuple(sparse.dims), sparse.values.data_type)
    try:
        graph = shape_inference.infer_shapes(_skeleton(network, view), data_prop=True).graph
    except Exception:  # what can't be followed is for onnxruntime to judge
        return
    for value in (graph.input[0], *graph.value_info, *graph.output):
        kind = value.type.tensor_type
        dims = kind.shape.dim
        if kind.elem_type in helper.get_all_tensor_dtypes() and kind.elem_type != TensorProto.STRING and dims:
            yield _sized(value.name, tuple(max(1, dim.dim_value) for dim in dims), kind.elem_type)


def _sized(name: str, shape: tuple[int, ...], element: int) -> tuple[str, tuple[int, ...], int]:
    from onnx import helper

    try:
        size = helper.tensor_dtype_to_np_dtype(element).itemsize
    except KeyError:
        size = 1
    return name, shape, math.prod(shape) * size


def _skeleton(network: Network, view: Geometry) -> Any:
    """The network for one image, without its weights and without what it says about its own shapes."""
    import onnx

    graph = network.proto.graph
    sides = (view.height, view.width)
    shape = [network.batch or 1, *((*sides, 3) if network.channels_last else (3, *sides))]
    weights = {tensor.name: tensor for tensor in graph.initializer} | _constant_nodes(graph)
    kinds = {value.name: value.type.tensor_type.elem_type for value in graph.input}
    inputs = [onnx.helper.make_tensor_value_info(network.input, kinds[network.input], shape)]
    inputs += [
        onnx.helper.make_tensor_value_info(key, tensor.data_type, list(tensor.dims))
        for key, tensor in weights.items()
        if not _is_small(tensor)
    ]
    outputs = [onnx.helper.make_empty_tensor_value_info(value.name) for value in graph.output]
    small = [tensor for tensor in graph.initializer if _is_small(tensor)]
    large = {value.name for value in inputs}
    nodes = [node for node in graph.node if not large.intersection(node.output)]
    bare = onnx.helper.make_graph(nodes, "bare", inputs, outputs, small)
    return onnx.helper.make_model(
        bare,
        opset_imports=network.proto.opset_import,
        functions=network.proto.functions,
        ir_version=network.proto.ir_version,
    )
