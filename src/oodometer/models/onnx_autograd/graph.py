"""An ONNX graph as a torch module, computed node by node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.inliner
import torch

from oodometer.models.onnx_autograd.operators import Node, Operator, UnsupportedError, operators
from oodometer.models.session import Network

OWN_DOMAINS = ("", "ai.onnx")
QUANTIZED = {
    "ConvInteger",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    "MatMulInteger",
    "QLinearConv",
    "QLinearMatMul",
    "QuantizeLinear",
}


@dataclass(frozen=True)
class Argument:
    """An input of a step: a value made earlier, or one that is known beforehand.

    Args:
        key: Of the value made earlier; None if it is known.
        plain: It is wanted as plain numbers.
        value: What is known.
    """

    key: str | None = None
    plain: bool = False
    value: Any = None


@dataclass(frozen=True)
class Step:
    """One node, ready to be computed.

    Args:
        inputs: What its operator is given.
        outputs: The names of what it makes.
        last_used: The names of what no later step needs.
    """

    node: Node
    operator: Operator
    inputs: tuple[Argument, ...]
    outputs: tuple[str, ...]
    last_used: tuple[str, ...]


class Graph(torch.nn.Module):  # type: ignore[misc]
    """The function from a network's input to its output, with gradients; half precision becomes float32.

    Where the network ends in a softmax, its logarithm comes out, computed without the detour.

    Large tensors of weights are buffers, which move with the module. Whole numbers and single values stay on the CPU:
    they are shapes, axes and factors, which would have to be fetched from a GPU again and again.
    """

    def __init__(self, network: Network) -> None:
        super().__init__()
        proto = network.proto
        if proto.functions:
            proto = onnx.inliner.inline_local_functions(proto)
        nodes = needed_nodes(proto.graph.node, network.output)
        check_operators(nodes)
        if network.softmax:
            nodes[-1] = _log_softmax(nodes[-1])
        used = {network.output, *(name for node in nodes for name in node.input)}
        constants = {
            tensor.name: to_torch(tensor, network.folder) for tensor in proto.graph.initializer if tensor.name in used
        }
        self._input, self._output = buffer_name(network.input), buffer_name(network.output)
        self._steps = _compile(nodes, constants, network, opset=_opset(proto))
        self._known = self._keep({buffer_name(name): tensor for name, tensor in constants.items()})

    def _keep(self, constants: Mapping[str, Any]) -> dict[str, Any]:
        """Register the large ones of the constants that the steps need; gives back the others."""
        used = {self._output, *(argument.key for step in self._steps for argument in step.inputs)}
        small = {}
        for key, tensor in constants.items():
            if key in used and tensor.is_floating_point() and tensor.numel() > 1:
                self.register_buffer(key, tensor)
            elif key in used:
                small[key] = tensor
        return small

    def forward(self, x: Any) -> Any:
        """The output for this input."""
        values = {**self._known, **self._buffers, self._input: x}
        elsewhere = x.device.type != "cpu"
        for step in self._steps:
            made = _compute(step, values, x.device if elsewhere else None)
            values.update(zip(step.outputs, made, strict=False))
            for key in step.last_used:
                del values[key]
        return values[self._output]


class Classifier(torch.nn.Module):  # type: ignore[misc]
    """The graph of a network as a function from normalised images, (N, 3, H, W), to logits, (N, K) float32."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.graph = Graph(network)
        self.training = self.graph.training = False
        self._channels_last = network.channels_last

    def forward(self, images: Any) -> Any:
        """The logits, or log-probabilities where the network ends in a softmax."""
        logits = self.graph(images.permute(0, 2, 3, 1) if self._channels_last else images).float()
        return logits.flatten(1) if logits.dim() == 4 and logits.shape[2:] == (1, 1) else logits


def _compute(step: Step, values: Mapping[str, Any], device: Any) -> Iterable[Any]:
    given = [_given(argument, values) for argument in step.inputs]
    if device is not None:
        given = _on_one_device(given, device)
    made = step.operator.function(step.node, *given)
    return made if step.operator.several else (made,)


def _given(argument: Argument, values: Mapping[str, Any]) -> Any:
    if argument.key is None:
        return argument.value
    tensor = values[argument.key]
    return tensor.tolist() if argument.plain else tensor


def _on_one_device(given: list[Any], device: Any) -> list[Any]:
    """The inputs of a node, all on the device if one of them is."""
    tensors = [value for value in given if isinstance(value, torch.Tensor)]
    if all(tensor.device == tensors[0].device for tensor in tensors):
        return given
    return [value.to(device) if isinstance(value, torch.Tensor) else value for value in given]


def buffer_name(name: str) -> str:
    """The name of a tensor as torch allows it: without dots, and not that of another attribute of the module.

    >>> buffer_name("stem.weight")
    'tensor/stem%2Eweight'
    """
    return f"tensor/{name}".replace("%", "%25").replace(".", "%2E")


def _opset(proto: Any) -> int:
    return next((opset.version for opset in proto.opset_import if opset.domain in OWN_DOMAINS), 13)


def needed_nodes(nodes: Iterable[Any], output: str) -> list[Any]:
    """The nodes that the output depends on, in their order."""
    wanted, needed = {output}, []
    for node in reversed(list(nodes)):
        if wanted.intersection(node.output):
            needed.append(node)
            wanted.update(name for name in node.input if name)
    return needed[::-1]


def check_operators(nodes: Iterable[Any]) -> None:
    """Raise an error that names every operator which is not in the table."""
    known = operators()
    unknown = sorted(
        {_full_name(node) for node in nodes if node.domain not in OWN_DOMAINS or node.op_type not in known}
    )
    if not unknown:
        return
    names = ", ".join(unknown)
    if QUANTIZED.issuperset(unknown):
        raise UnsupportedError(f"it is quantized ({names}), and whole numbers have no gradients")
    raise UnsupportedError(f"no gradients are known of {'operator' if len(unknown) == 1 else 'operators'} {names}")


def _full_name(node: Any) -> str:
    return str(node.op_type) if node.domain in OWN_DOMAINS else f"{node.domain}.{node.op_type}"


def to_torch(tensor: Any, folder: Path | None) -> Any:
    """A tensor of ONNX as one of torch; its values may lie in a file of the folder."""
    values = onnx.numpy_helper.to_array(tensor, base_dir=str(folder or ""))
    if tensor.data_type in (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16):
        values = values.astype(np.float32)
    try:
        return torch.from_numpy(np.array(values))  # a copy: torch shares memory, and ONNX's is read-only
    except TypeError as error:
        raise UnsupportedError(f"torch has no tensors of type {values.dtype}") from error


def _log_softmax(softmax: Any) -> Any:
    node = onnx.NodeProto()
    node.CopyFrom(softmax)
    node.op_type = "LogSoftmax"
    return node


def _compile(nodes: list[Any], constants: dict[str, Any], network: Network, *, opset: int) -> list[Step]:
    """The steps to the output; nodes with constant inputs are computed here and become constants."""
    steps = []
    last = {name: place for place, node in enumerate(nodes) for name in node.input if name}
    wanted = {*last, network.output}
    for place, proto in enumerate(nodes):
        inputs = [name for name in proto.input if name]
        node = Node(proto.op_type, opset, _attributes(proto, network.folder), len(proto.output))
        ends = {name for name in inputs if last[name] == place} - {network.output} - constants.keys()
        step = _step(node, proto, constants, wanted, ends)
        if all(name in constants for name in inputs):
            made = _compute(step, {buffer_name(name): constants[name] for name in inputs}, None)
            constants.update({name: tensor for name, tensor in zip(proto.output, made, strict=False) if name in wanted})
        else:
            steps.append(step)
    return steps


def _step(node: Node, proto: Any, constants: Mapping[str, Any], wanted: set[str], ends: set[str]) -> Step:
    known = operators()[node.op]
    if not known.several and wanted.intersection(proto.output[1:]):
        raise node.refuse("more than one output")
    return Step(
        node,
        known,
        tuple(_argument(name, place in known.plain, constants) for place, name in enumerate(proto.input)),
        tuple(map(buffer_name, proto.output)),
        tuple(map(buffer_name, sorted(ends))),
    )


def _argument(name: str, plain: bool, constants: Mapping[str, Any]) -> Argument:
    if not name:
        return Argument()
    if plain and name in constants:
        return Argument(value=constants[name].tolist())
    return Argument(buffer_name(name), plain)


def _attributes(proto: Any, folder: Path | None) -> dict[str, Any]:
    """The attributes of a node as plain values and tensors of torch."""
    plain = {}
    for attribute in proto.attribute:
        value = onnx.helper.get_attribute_value(attribute)
        if attribute.type == onnx.AttributeProto.TENSOR:
            value = to_torch(value, folder)
        elif attribute.type == onnx.AttributeProto.STRING:
            value = value.decode()
        elif attribute.type in (onnx.AttributeProto.INTS, onnx.AttributeProto.FLOATS):
            value = list(value)
        plain[attribute.name] = value
    return plain
