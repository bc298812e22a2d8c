"""EfficientNet-Lite as an ONNX graph, built from its weights.

Tan & Le 2019 (arXiv:1905.11946) without squeeze-and-excitation and with ReLU6; stem, head, and the depth of the
first and the last stage are the same in all variants.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

BATCH_NORM_EPSILON = 1e-3
OPSET, IR_VERSION = 17, 8
INPUT, OUTPUT = "images", "logits"


@dataclass(frozen=True)
class Scale:
    """What tells the variants apart."""

    width: float
    depth: float
    size: int


@dataclass(frozen=True)
class Stage:
    """A row of Table 1 of the paper."""

    kernel: int
    stride: int
    expand: int
    channels: int
    repeats: int


STAGES = (
    Stage(3, 1, 1, 16, 1),
    Stage(3, 2, 6, 24, 2),
    Stage(5, 2, 6, 40, 2),
    Stage(3, 2, 6, 80, 3),
    Stage(5, 1, 6, 112, 3),
    Stage(5, 2, 6, 192, 4),
    Stage(3, 1, 6, 320, 1),
)


@dataclass(frozen=True)
class Block:
    """One inverted residual."""

    kernel: int
    stride: int
    expand: int
    inputs: int
    outputs: int


def blocks_of(scale: Scale) -> list[Block]:
    """The inverted residuals of a variant, in order.

    >>> len(blocks_of(Scale(1.0, 1.0, 224))), len(blocks_of(Scale(1.1, 1.2, 260)))
    (16, 21)
    """
    blocks: list[Block] = []
    inputs = 32
    for index, stage in enumerate(STAGES):
        fixed = index in (0, len(STAGES) - 1)
        repeats = stage.repeats if fixed else math.ceil(scale.depth * stage.repeats)
        outputs = _multiple_of_8(stage.channels * scale.width)
        for repeat in range(repeats):
            blocks.append(Block(stage.kernel, stage.stride if repeat == 0 else 1, stage.expand, inputs, outputs))
            inputs = outputs
    return blocks


def _multiple_of_8(channels: float) -> int:
    """The nearest multiple of 8, but not less than nine tenths.

    >>> _multiple_of_8(26.4), _multiple_of_8(17.6)
    (24, 16)
    """
    rounded = max(8, int(channels + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels else rounded


@dataclass
class _Graph:
    """A graph in the making: nodes and weights, and the side of the image at this point."""

    weights: Mapping[str, np.ndarray]
    side: int
    nodes: list[Any] = field(default_factory=list)
    tensors: list[Any] = field(default_factory=list)

    def add(self, op: str, inputs: list[str], output: str, **options: object) -> str:
        """A node; gives back the name of its output."""
        from onnx import helper

        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **options))
        return output

    def constant(self, name: str, values: np.ndarray) -> str:
        """A tensor of the graph; gives back its name."""
        from onnx import numpy_helper

        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(values, dtype=np.float32), name))
        return name

    def conv(self, data: str, name: str, norm: str, *, stride: int = 1, relu6: bool = True) -> str:
        """A convolution with its batch norm folded in, padded as TensorFlow's SAME does it."""
        weight = self.weights[f"{name}.weight"]
        gamma, beta, mean, variance = (
            self.weights[f"{norm}.{part}"].astype(np.float64)
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        factor = gamma / np.sqrt(variance + BATCH_NORM_EPSILON)
        kernel = weight.shape[-1]
        before, after = _same_padding(self.side, kernel, stride)
        self.side = math.ceil(self.side / stride)
        folded = [
            self.constant(f"{name}.weight", weight * factor[:, None, None, None]),
            self.constant(f"{name}.bias", beta - mean * factor),
        ]
        groups = len(weight) if weight.shape[1] == 1 else 1
        done = self.add(
            "Conv",
            [data, *folded],
            name,
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=[before, before, after, after],
            group=groups,
        )
        return self.add("Clip", [done, "zero", "six"], f"{name}.relu6") if relu6 else done


def _same_padding(side: int, kernel: int, stride: int) -> tuple[int, int]:
    """What TensorFlow's SAME puts before and after.

    >>> _same_padding(224, 3, 2), _same_padding(56, 5, 2), _same_padding(65, 5, 2)
    ((0, 1), (1, 2), (2, 2))
    """
    total = max((math.ceil(side / stride) - 1) * stride + kernel - side, 0)
    return total // 2, total - total // 2


def build(weights: Mapping[str, np.ndarray], scale: Scale) -> Any:
    """The ``onnx.ModelProto`` of a variant, (N, 3, size, size) float32 -> (N, 1000)."""
    from onnx import TensorProto, helper

    graph = _Graph(weights, scale.size)
    graph.constant("zero", np.array(0.0))
    graph.constant("six", np.array(6.0))
    data = graph.conv(INPUT, "_conv_stem", "_bn0", stride=2)
    for index, block in enumerate(blocks_of(scale)):
        data = _residual(graph, data, f"_blocks.{index}", block)
    data = graph.conv(data, "_conv_head", "_bn1")
    data = graph.add("GlobalAveragePool", [data], "pool")
    data = graph.add("Flatten", [data], "features", axis=1)
    linear = [graph.constant("_fc.weight", weights["_fc.weight"]), graph.constant("_fc.bias", weights["_fc.bias"])]
    graph.add("Gemm", [data, *linear], OUTPUT, transB=1)
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            "efficientnet-lite",
            [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["N", 3, scale.size, scale.size])],
            [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["N", len(weights["_fc.bias"])])],
            graph.tensors,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )


def _residual(graph: _Graph, data: str, name: str, block: Block) -> str:
    entry = data
    if block.expand != 1:
        data = graph.conv(data, f"{name}._expand_conv", f"{name}._bn0")
    data = graph.conv(data, f"{name}._depthwise_conv", f"{name}._bn1", stride=block.stride)
    data = graph.conv(data, f"{name}._project_conv", f"{name}._bn2", relu6=False)
    if block.stride == 1 and block.inputs == block.outputs:
        return graph.add("Add", [data, entry], f"{name}.sum")
    return data
