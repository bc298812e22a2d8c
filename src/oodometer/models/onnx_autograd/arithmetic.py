"""ONNX operators on single values: arithmetic, comparisons, activations; and sums and means along axes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name

from oodometer.models.onnx_autograd.operators import Node, number, operator

DTYPES = {  # numbers of onnx.TensorProto.DataType
    1: torch.float32,
    2: torch.uint8,
    3: torch.int8,
    5: torch.int16,
    6: torch.int32,
    7: torch.int64,
    9: torch.bool,
    # Half precision is computed in float32: small gradients would vanish in it.
    10: torch.float32,
    11: torch.float64,
    16: torch.float32,
}

UNARY: dict[str, Callable[[Any], Any]] = {
    "Abs": torch.abs,
    "Ceil": torch.ceil,
    "Cos": torch.cos,
    "Erf": torch.erf,
    "Exp": torch.exp,
    "Floor": torch.floor,
    "HardSwish": F.hardswish,
    "IsNaN": torch.isnan,
    "Log": torch.log,
    "Mish": F.mish,
    "Neg": torch.neg,
    "Not": torch.logical_not,
    "Reciprocal": torch.reciprocal,
    "Relu": torch.relu,
    "Round": torch.round,
    "Sigmoid": torch.sigmoid,
    "Sign": torch.sign,
    "Sin": torch.sin,
    "Softplus": F.softplus,
    "Softsign": F.softsign,
    "Sqrt": torch.sqrt,
    "Tanh": torch.tanh,
}

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": torch.add,
    "And": torch.logical_and,
    "Equal": torch.eq,
    "Greater": torch.gt,
    "GreaterOrEqual": torch.ge,
    "Less": torch.lt,
    "LessOrEqual": torch.le,
    "Mul": torch.mul,
    "Or": torch.logical_or,
    "Sub": torch.sub,
    "Xor": torch.logical_xor,
}

VARIADIC: dict[str, Callable[[Any, Any], Any]] = {"Max": torch.maximum, "Min": torch.minimum, "Sum": torch.add}


@operator(*UNARY)
def unary(node: Node, x: Any) -> Any:
    """A function of each value."""
    return UNARY[node.op](x)


@operator(*BINARY)
def binary(node: Node, a: Any, b: Any) -> Any:
    """A function of pairs of values, shapes broadcast as numpy does."""
    return BINARY[node.op](a, b)


@operator(*VARIADIC)
def variadic(node: Node, *values: Any) -> Any:
    """A function of any number of tensors, value by value."""
    return functools.reduce(VARIADIC[node.op], values)


@operator("Mean")
def mean(_node: Node, *values: Any) -> Any:
    """The mean of any number of tensors, value by value."""
    return functools.reduce(torch.add, values) / len(values)


@operator("Div")
def divide(_node: Node, a: Any, b: Any) -> Any:
    """The quotient; of whole numbers the whole part."""
    whole = not (a.is_floating_point() or b.is_floating_point())
    return torch.div(a, b, rounding_mode="trunc") if whole else a / b


@operator("Mod")
def modulo(node: Node, a: Any, b: Any) -> Any:
    """The remainder, with the sign of the divisor or (fmod) of the dividend."""
    return torch.fmod(a, b) if node.get("fmod", 0) else torch.remainder(a, b)


@operator("Pow")
def power(_node: Node, base: Any, exponent: Any) -> Any:
    """The power, in the type of its base."""
    if exponent.dim() == 0 or (exponent.numel() == 1 and base.dim() >= exponent.dim()):
        # A number: torch multiplies for 2 and takes the root for 0.5, which is many times as fast.
        return torch.pow(base, exponent.item()).to(base.dtype)
    return torch.pow(base, exponent).to(base.dtype)


@operator("Clip", plain=(1, 2))
def clip(node: Node, x: Any, low: Any = None, high: Any = None) -> Any:
    """Values within bounds, which were attributes before opset 11."""
    low, high = (node.get("min"), node.get("max")) if node.opset < 11 else (number(low), number(high))
    return x if low is None and high is None else torch.clamp(x, low, high)


@operator("LeakyRelu")
def leaky_relu(node: Node, x: Any) -> Any:
    """Negative values times alpha."""
    return F.leaky_relu(x, node.get("alpha", 0.01))


@operator("PRelu")
def prelu(_node: Node, x: Any, slope: Any) -> Any:
    """Negative values times a slope that is broadcast to them."""
    return torch.where(x < 0, x * slope, x)


@operator("ThresholdedRelu")
def thresholded_relu(node: Node, x: Any) -> Any:
    """Values above alpha, others 0."""
    return torch.where(x > node.get("alpha", 1.0), x, torch.zeros_like(x))


@operator("Elu")
def elu(node: Node, x: Any) -> Any:
    """Below 0: alpha (exp x - 1)."""
    return F.elu(x, node.get("alpha", 1.0))


@operator("Selu")
def selu(node: Node, x: Any) -> Any:
    """Elu times gamma."""
    return node.get("gamma", 1.0507010221481323) * F.elu(x, node.get("alpha", 1.6732631921768188))


@operator("Celu")
def celu(node: Node, x: Any) -> Any:
    """Below 0: alpha (exp (x / alpha) - 1)."""
    return F.celu(x, node.get("alpha", 1.0))


@operator("HardSigmoid")
def hard_sigmoid(node: Node, x: Any) -> Any:
    """The line alpha x + beta, within [0, 1]."""
    return torch.clamp(node.get("alpha", 0.2) * x + node.get("beta", 0.5), 0, 1)


@operator("Swish")
def swish(node: Node, x: Any) -> Any:
    """The product of x and sigmoid(alpha x)."""
    return x * torch.sigmoid(node.get("alpha", 1.0) * x)


@operator("Gelu")
def gelu(node: Node, x: Any) -> Any:
    """The product of x and the normal distribution function, or its approximation by tanh."""
    return F.gelu(x, approximate=node.get("approximate", "none"))


@operator("Softmax", "LogSoftmax")
def softmax(node: Node, x: Any) -> Any:
    """Along one axis; before opset 13 along that axis and all after it."""
    function = torch.softmax if node.op == "Softmax" else torch.log_softmax
    if node.opset >= 13:
        return function(x, node.get("axis", -1))
    axis = node.get("axis", 1) % max(x.dim(), 1)
    return function(x.flatten(axis), axis).reshape(x.shape)


@operator("Cast")
def cast(node: Node, x: Any) -> Any:
    """The values in another type."""
    if node.get("to") not in DTYPES:
        raise node.refuse(f"to={node.get('to')}")
    return x.to(DTYPES[node.get("to")])


@operator("CastLike")
def cast_like(_node: Node, x: Any, other: Any) -> Any:
    """The values in the type of another tensor."""
    return x.to(other.dtype)


@operator("Where")
def where(_node: Node, condition: Any, a: Any, b: Any) -> Any:
    """The first where the condition holds, the second elsewhere."""
    return torch.where(condition, a, b)


@operator("CumSum", plain=(1,))
def cumulative_sum(node: Node, x: Any, axis: Any) -> Any:
    """The sums of all values up to each along an axis, perhaps without itself, perhaps from the end."""
    places = [number(axis)]
    values = x.flip(places) if node.get("reverse", 0) else x
    sums = torch.cumsum(values, places[0])
    sums = sums - values if node.get("exclusive", 0) else sums
    return sums.flip(places) if node.get("reverse", 0) else sums


def _product(x: Any, axes: Sequence[int], keep: bool) -> Any:
    for axis in sorted((place % x.dim() for place in axes), reverse=True):
        x = torch.prod(x, axis, keep)
    return x


REDUCTIONS: dict[str, Callable[[Any, Sequence[int], bool], Any]] = {
    "ReduceL1": lambda x, axes, keep: torch.sum(torch.abs(x), axes, keep),
    "ReduceL2": lambda x, axes, keep: torch.linalg.vector_norm(x, 2, axes, keep),
    "ReduceLogSum": lambda x, axes, keep: torch.log(torch.sum(x, axes, keep)),
    "ReduceLogSumExp": torch.logsumexp,
    "ReduceMax": torch.amax,
    "ReduceMean": torch.mean,
    "ReduceMin": torch.amin,
    "ReduceProd": _product,
    "ReduceSum": torch.sum,
    "ReduceSumSquare": lambda x, axes, keep: torch.sum(x * x, axes, keep),
}


@operator(*REDUCTIONS, plain=(1,))
def reduce(node: Node, x: Any, axes: list[int] | None = None) -> Any:
    """One value for all along the axes, which are an input from opset 13 (sum) or 18 on."""
    axes = axes or node.get("axes")
    if not axes:
        if node.get("noop_with_empty_axes", 0):
            return x
        axes = list(range(x.dim()))
    return REDUCTIONS[node.op](x, axes, bool(node.get("keepdims", 1)))
