"""Each operator in a graph of one node: values as of onnxruntime, gradients as numerical differences give them."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from oodometer.models.onnx_autograd.operators import UnsupportedError, operators
from oodometer.models.session import Network

torch = pytest.importorskip("torch")

from oodometer.models.onnx_autograd.graph import Graph  # noqa: E402 - it needs torch

ORT_TYPES = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "bool": TensorProto.BOOL}
STILL = settings(max_examples=40, deadline=None, derandomize=True)


@dataclass(frozen=True)
class Case:
    """A node: x is its first input, others are constants; None leaves an input out."""

    op: str
    x: Any
    others: tuple = ()
    opset: int = 17
    n_outputs: int = 1
    which: int = 0
    gradient: bool = True
    attributes: dict = field(default_factory=dict)

    def __str__(self) -> str:
        options = ",".join(f"{key}={value}" for key, value in self.attributes.items() if not hasattr(value, "dims"))
        return f"{self.op}-{self.opset}({options};{len(self.others)})"


def case(op: str, x: Any, *others: Any, opset: int = 17, n_outputs: int = 1, which: int = 0, **attributes: Any) -> Case:
    gradient = attributes.pop("gradient", True)
    return Case(op, x, others, opset, n_outputs, which, gradient, attributes)


def values_of(one: Case) -> np.ndarray:
    """An array as it is; for a shape, numbers around 0."""
    if isinstance(one.x, np.ndarray):
        return one.x
    rng = np.random.default_rng(zlib.crc32(str(one).encode()))
    return rng.normal(size=one.x).astype(np.float32)


def network_of(one: Case) -> Network:
    x = values_of(one)
    names = ["x", *("" if value is None else f"c{place}" for place, value in enumerate(one.others))]
    outputs = [f"y{place}" for place in range(one.n_outputs)]
    constants = [numpy_helper.from_array(np.asarray(v), f"c{p}") for p, v in enumerate(one.others) if v is not None]
    graph = helper.make_graph(
        [helper.make_node(one.op, names, outputs, **one.attributes)],
        "one",
        [helper.make_tensor_value_info("x", ORT_TYPES[x.dtype.name], x.shape)],
        [helper.make_empty_tensor_value_info(outputs[one.which])],
        constants,
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", one.opset)], ir_version=8)
    return Network(proto, input="x", output=outputs[one.which])


def by_onnxruntime(network: Network, x: np.ndarray) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(network.proto.SerializeToString(), options, ["CPUExecutionProvider"])
    return session.run([network.output], {"x": x})[0]


def check(one: Case) -> None:
    network, x = network_of(one), values_of(one)
    wanted = by_onnxruntime(network, x)
    graph = Graph(network)
    answer = graph(torch.from_numpy(x)).numpy()
    assert answer.shape == wanted.shape
    assert answer.dtype == wanted.dtype
    np.testing.assert_allclose(answer, wanted, rtol=2e-5, atol=1e-5)
    if one.gradient and wanted.dtype == np.float32 and x.dtype == np.float32:
        assert torch.autograd.gradcheck(
            graph.double(), torch.from_numpy(x).double().requires_grad_(True), fast_mode=True
        )


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def positive(*shape: int) -> np.ndarray:
    return np.abs(floats(*shape)) + np.float32(0.5)


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


X = (2, 3, 4, 5)
HALVES = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.2], dtype=np.float32)
BOOLS = np.array([[True, False], [False, True]])

ARITHMETIC = [
    *(
        case(op, X)
        for op in (
            *("Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "HardSwish", "Neg", "Relu", "Sigmoid", "Sign", "Sin"),
            *("Softplus", "Softsign", "Tanh"),
        )
    ),
    case("Mish", X, opset=18),
    case("Softplus", np.array([-200, -30, 30, 200], dtype=np.float32), gradient=False),
    *(case(op, positive(*X)) for op in ("Log", "Reciprocal", "Sqrt")),
    case("Round", HALVES, gradient=False),
    case("IsNaN", np.array([1, np.nan], dtype=np.float32)),
    case("Not", BOOLS),
    *(case(op, X, floats(5)) for op in ("Add", "Sub", "Mul", "Div")),
    *(case(op, X, floats(3, 1, 1), opset=7) for op in ("Add", "Sub", "Mul", "Div")),
    case("Add", X, floats(1)),
    case("Mul", (4, 1), floats(2, 1, 3)),
    *(case(op, ints(-7, 7, 9), ints(2, -2, 4)) for op in ("Add", "Sub", "Mul", "Div")),
    case("Mod", ints(-7, 7, 9), ints(2, -2, 4)),
    case("Mod", ints(-7, 7, 9), ints(2, -2, 4), fmod=1),
    case("Mod", X, np.float32(0.7), fmod=1),
    case("Pow", X, np.float32(2)),
    case("Pow", X, np.array([3], dtype=np.float32), opset=7),
    case("Pow", X, np.int64(3), opset=13),
    case("Pow", positive(3, 2), floats(2)),
    case("Pow", positive(2), np.full((1, 1), 2, np.float32)),
    case("Pow", ints(2, 3), ints(3, 2)),
    *(case(op, HALVES, np.float32(0.5), opset=9) for op in ("Equal", "Greater", "Less") if op != "Equal"),
    *(case(op, HALVES, np.float32(0.5)) for op in ("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual")),
    *(case(op, BOOLS, np.array([True, False])) for op in ("And", "Or", "Xor")),
    *(case(op, X, floats(5), floats(4, 1)) for op in ("Max", "Min", "Mean", "Sum")),
    *(case(op, X, floats(*X), opset=7) for op in ("Max", "Min", "Mean", "Sum")),
    case("Sum", X),
    case("Where", BOOLS, floats(2, 2), np.float32(3)),
    case("PRelu", X, floats(3, 1, 1), opset=7),
    case("PRelu", X, floats(1)),
    case("Clip", X, opset=7, min=-0.5, max=0.6),
    case("Clip", X, opset=10, max=0.6),
    case("Clip", X, opset=10),
    case("Clip", X, np.float32(-0.5), np.float32(0.6), opset=11),
    case("Clip", X, None, np.float32(0.6)),
    case("Clip", X, np.float32(0)),
    case("Clip", X, np.float32(0.6), np.float32(-0.5), opset=13),
    *(case(op, X) for op in ("LeakyRelu", "Elu", "Selu", "Celu", "HardSigmoid", "ThresholdedRelu")),
    *(case(op, X, alpha=0.3) for op in ("LeakyRelu", "Elu", "Selu", "Celu", "HardSigmoid", "ThresholdedRelu")),
    case("Selu", X, gamma=2.0),
    case("HardSigmoid", X, beta=0.1, opset=7),
    case("Gelu", X, opset=20),
    case("Gelu", X, opset=20, approximate="tanh"),
    *(case(op, X, opset=opset) for op in ("Softmax", "LogSoftmax") for opset in (7, 11, 13, 17)),
    *(case(op, X, opset=o, axis=a) for op in ("Softmax", "LogSoftmax") for o in (11, 13) for a in (0, 2, -1, -2)),
    *(case("Cast", HALVES, to=to) for to in (TensorProto.INT64, TensorProto.BOOL, TensorProto.INT32)),
    case("Cast", ints(1, 0), to=TensorProto.FLOAT),
    case("Cast", X, to=TensorProto.DOUBLE, gradient=False),
    *(case("CumSum", X, np.int64(axis), exclusive=e, reverse=r) for axis in (0, -2) for e in (0, 1) for r in (0, 1)),
    case("CastLike", ints(1, 0), floats(2)),
]

REDUCED = [
    *(
        case(op, positive(*X), opset=opset, axes=axes, keepdims=keep)
        for op in ("ReduceMean", "ReduceMax", "ReduceL2", "ReduceMin", "ReduceSum")
        for opset, axes, keep in ((7, [1], 1), (11, [-1, 2], 0), (12, [0, -1], 1))
    ),
    *(
        case(op, positive(*X), ints(*axes), opset=18, keepdims=keep)
        for op in ("ReduceMean", "ReduceMax", "ReduceL2", "ReduceMin", "ReduceSum", "ReduceL1", "ReduceSumSquare")
        for axes, keep in (((1,), 1), ((-1, 2), 0))
    ),
    *(case(op, positive(*X), ints(2, -1), opset=18) for op in ("ReduceProd", "ReduceLogSum", "ReduceLogSumExp")),
    case("ReduceSum", X, ints(-1), opset=13),
    case("ReduceSum", X, opset=13, keepdims=0),
    case("ReduceSum", X, np.zeros(0, np.int64), opset=13, noop_with_empty_axes=1),
    case("ReduceMean", X, opset=13),
    case("ReduceProd", ints(2, 3, 4), opset=13, keepdims=0),
]

LAYERS = [
    case("Gemm", (4, 3), floats(3, 5), floats(5), opset=7),
    case("Gemm", (3, 4), floats(5, 3), floats(4, 1), transA=1, transB=1, alpha=0.5, beta=0.25),
    case("Gemm", (4, 3), floats(3, 5), alpha=2.0),
    case("MatMul", (4, 3), floats(3)),
    case("MatMul", (3,), floats(3, 2)),
    case("MatMul", (2, 1, 4, 3), floats(5, 3, 2)),
    case("Einsum", (2, 3, 4), floats(4, 3), equation="b i j, j k -> b i k"),
    case("Einsum", (2, 3, 4), floats(2, 5, 4), equation="...ij,...kj->...ik"),
    *(case("BatchNormalization", X, positive(3), floats(3), floats(3), positive(3), opset=o) for o in (7, 9, 14, 15)),
    case("BatchNormalization", (4, 3), positive(3), floats(3), floats(3), positive(3), epsilon=0.1),
    case("LayerNormalization", X, floats(5), floats(5)),
    case("LayerNormalization", X, floats(4, 5), axis=2, epsilon=0.1),
    case("LayerNormalization", X, floats(3, 4, 5), floats(3, 4, 5), axis=-3),
    case("LayerNormalization", X, floats(5), floats(4, 5), axis=2),
    *(case("InstanceNormalization", X, floats(3), floats(3), opset=o, epsilon=0.01) for o in (7, 17)),
    case("InstanceNormalization", (2, 3, 6), floats(3), floats(3)),
    case("GroupNormalization", (2, 6, 3, 2), floats(6), floats(6), opset=21, num_groups=3, epsilon=0.01),
    *(case("LpNormalization", X, axis=a, p=p) for a in (1, -1) for p in (1, 2)),
    case("LpNormalization", X, opset=7),
    *(case("LRN", (2, 7, 3, 3), size=size, alpha=0.5, beta=0.6, bias=1.5) for size in (1, 3, 5)),
    case("LRN", (2, 7, 3, 3), size=5, opset=7),
    case("GlobalAveragePool", X, opset=7),
    case("GlobalAveragePool", (2, 3, 6)),
    case("GlobalMaxPool", X),
]

SHAPES = [
    case("Identity", X),
    case("Dropout", X, opset=7, ratio=0.5),
    case("Dropout", X, opset=10),
    case("Dropout", X, np.float32(0.5), opset=13),
    case("Dropout", X, np.float32(0.5), np.array(False)),
    case("Dropout", X, n_outputs=2, which=1),
    *(case("Flatten", X, axis=axis) for axis in (0, 1, 2, 4, -1, -3)),
    case("Flatten", X, opset=7),
    case("Reshape", X, ints(0, -1, 5), opset=7),
    case("Reshape", X, ints(5, 0, 8, -1), opset=14),
    case("Reshape", X, ints(-1)),
    case("Transpose", X),
    case("Transpose", X, opset=7, perm=[0, 2, 3, 1]),
    *(case("Concat", X, floats(*X), axis=axis) for axis in (0, 2, -1)),
    *(case("Split", (6, 4), n_outputs=3, which=w, opset=7) for w in (0, 2)),
    case("Split", (6, 5), n_outputs=2, which=1, opset=11, axis=-1, split=[2, 3]),
    case("Split", (6, 5), ints(2, 3), n_outputs=2, which=0, opset=13, axis=1),
    *(case("Split", (7, 2), n_outputs=3, which=w, opset=18, num_outputs=3) for w in (0, 1, 2)),
    case("Slice", X, opset=7, starts=[1, -3], ends=[3, 100], axes=[1, 2]),
    case("Slice", X, opset=9, starts=[1, 0], ends=[2, -1]),
    case("Slice", X, ints(1), ints(3), opset=10),
    case("Slice", X, ints(0, 4), ints(10, -100), ints(-2, -1), ints(2, -2), opset=11),
    case("Slice", X, ints(-1), ints(-(2**62)), ints(3), ints(-1), opset=13),
    case("Slice", X, ints(2), ints(2), ints(3)),
    case("Slice", X, ints(2), ints(2**63 - 1), ints(2)),
    case("Gather", X, np.int64(1), axis=1),
    case("Gather", (4,), np.int64(-1)),
    case("Gather", X, ints(2, 0, -1), axis=-1),
    case("Gather", X, np.array([[0, 3], [1, 1]]), axis=2, opset=11),
    case("Gather", X, np.array([1], dtype=np.int32), opset=7),
    case("GatherElements", (3, 4), np.array([[0, 1, 2, 0], [-1, 0, 0, 1]]), axis=0),
    case("GatherElements", (3, 4), np.array([[0, -4], [3, 1], [2, 2]]), axis=-1),
    case("Squeeze", (1, 3, 1, 2), opset=7, axes=[2]),
    case("Squeeze", (1, 3, 1, 2), opset=11, axes=[-2, 0]),
    case("Squeeze", (1, 3, 1, 2), ints(-2)),
    case("Squeeze", (1, 3, 1, 2)),
    case("Unsqueeze", (3, 2), opset=7, axes=[3, 0]),
    case("Unsqueeze", (3, 2), opset=11, axes=[-1, 1]),
    case("Unsqueeze", (3, 2), ints(0, -2)),
    case("Pad", X, opset=7, pads=[0, 0, 1, 2, 0, 1, 3, 0], value=1.5),
    case("Pad", X, opset=10, pads=[0, 0, 1, 2, 0, 0, 3, 0], mode="reflect"),
    case("Pad", X, ints(0, 0, 1, 2, 0, 1, 3, 0), np.float32(-2), opset=11),
    case("Pad", X, ints(0, 0, -1, 2, 0, 0, 0, -2), opset=13),
    case("Pad", X, ints(1, 2, 3, 0), np.float32(7), ints(-1, 1), opset=18),
    *(case("Pad", X, ints(0, 1, 2, 3, 1, 0, 3, 4), opset=19, mode=mode) for mode in ("reflect", "edge", "wrap")),
    case("Expand", (3, 1), ints(2, 1, 4)),
    case("Expand", (3, 4), ints(1)),
    case("Tile", (2, 3), ints(2, 1)),
    case("Tile", (2, 3), ints(1, 3), opset=7),
    case("Shape", X),
    case("Shape", X, start=1, end=-1),
    case("Shape", X, start=-2),
    case("Size", X),
    case("ConstantOfShape", ints(2, 3)),
    case("ConstantOfShape", ints(2), value=numpy_helper.from_array(ints(7))),
    case("Range", np.array(2), np.int64(11), np.int64(3)),
    case("Range", np.array(3), np.int64(-4), np.int64(-2)),
    *(case("DepthToSpace", (2, 8, 2, 3), blocksize=2, mode=mode) for mode in ("DCR", "CRD")),
    case("DepthToSpace", (2, 9, 2, 3), blocksize=3, opset=7),
    case("SpaceToDepth", (2, 3, 4, 6), blocksize=2),
]

WINDOWS = [
    *(
        case("Conv", (2, 4, 9, 8), floats(6, 2, 3, 3), floats(6), opset=opset, group=2, **more)
        for opset in (7, 11)
        for more in (
            {},
            {"pads": [1, 1, 1, 1], "strides": [2, 2]},
            {"pads": [0, 1, 2, 0], "strides": [2, 1], "kernel_shape": [3, 3]},
            {"dilations": [2, 1], "pads": [2, 1, 2, 1]},
            {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
            {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
            {"auto_pad": "SAME_LOWER", "strides": [1, 3]},
            {"auto_pad": "VALID", "strides": [2, 2]},
        )
    ),
    case("Conv", (2, 3, 9), floats(4, 3, 3), strides=[2], pads=[1, 0]),
    case("Conv", (1, 2, 5, 4, 6), floats(3, 2, 2, 3, 1), floats(3), pads=[1, 0, 0, 0, 0, 1]),
    *(
        case("ConvTranspose", (2, 4, 5, 4), floats(4, 3, 3, 3), floats(6), group=2, **more)
        for more in (
            {},
            {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]},
            {"strides": [2, 3], "pads": [0, 1, 1, 0]},
            {"strides": [3, 3], "output_padding": [2, 1]},
            {"dilations": [2, 1], "pads": [1, 0, 1, 0]},
            {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
            {"strides": [2, 2], "auto_pad": "SAME_LOWER"},
            {"strides": [2, 2], "auto_pad": "VALID"},
            {"strides": [2, 2], "output_shape": [10, 8]},
            {"strides": [2, 2], "output_shape": [10, 9], "auto_pad": "SAME_UPPER"},
        )
    ),
    case("ConvTranspose", (2, 2, 7), floats(2, 3, 4), strides=[2], pads=[1, 2]),
]

RESIZED = [
    case("Upsample", (1, 2, 3, 4), opset=7, mode="nearest", scales=[1.0, 1.0, 2.0, 3.0]),
    case("Upsample", (1, 2, 3, 4), np.array([1, 1, 2, 1.5], np.float32), opset=9, mode="linear"),
    case("Resize", (1, 2, 3, 4), np.array([1, 1, 2, 3], np.float32), opset=10, mode="nearest"),
    case("Resize", (1, 2, 3, 4), np.array([1, 1, 1.7, 0.6], np.float32), opset=10, mode="linear"),
    case("Resize", (1, 2, 6, 4), None, np.array([2, 0.5], np.float32), opset=18, mode="linear", axes=[3, 2]),
]

CASES = [*ARITHMETIC, *REDUCED, *LAYERS, *SHAPES, *WINDOWS, *RESIZED]


@pytest.mark.parametrize("one", CASES, ids=str)
def test_one_node(one):
    check(one)


# The rest of the table, which needs tests of another form.
ELSEWHERE = {"Constant", "MaxPool", "AveragePool", "Swish"}


def test_every_operator_has_a_case():
    assert set(operators()) == {case.op for case in CASES} | ELSEWHERE


sizes = st.integers(1, 3)


@STILL
@given(st.data(), st.sampled_from(["MaxPool", "AveragePool"]))
def test_pools(data, op):
    kernel, strides, image = (data.draw(st.tuples(a, a)) for a in (st.integers(1, 4), sizes, st.integers(4, 9)))
    padding = data.draw(st.sampled_from(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]))
    attributes: dict = {"kernel_shape": list(kernel), "strides": list(strides)}
    if padding == "NOTSET":
        ends = [data.draw(st.integers(0, k - 1)) for k in (*kernel, *kernel)]
        attributes |= {"pads": ends, "ceil_mode": data.draw(st.sampled_from([0, 1]))}
    else:
        # onnxruntime itself refuses SAME with windows that leave gaps
        assume(padding == "VALID" or all(k >= step for k, step in zip(kernel, strides, strict=True)))
        attributes["auto_pad"] = padding
    if op == "AveragePool":
        attributes["count_include_pad"] = data.draw(st.sampled_from([0, 1]))
    elif padding == "NOTSET":
        dilations = data.draw(st.tuples(st.integers(1, 2), st.integers(1, 2)))
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
        assume(all(one <= n for one, n in zip(reach, image, strict=True)))
        attributes["dilations"] = list(dilations)
    check(case(op, (2, 2, *image), opset=data.draw(st.sampled_from([11, 17])), **attributes))


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("opset", [7, 8, 10])
def test_pools_of_old(op, opset):
    check(case(op, (2, 3, 9, 9), opset=opset, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1]))
    check(case(op, (2, 3, 9), opset=opset, kernel_shape=[3]))


@STILL
@given(st.data())
def test_convolutions(data):
    kernel, strides, dilations = (data.draw(st.tuples(a, a)) for a in (sizes, sizes, st.integers(1, 2)))
    padding = data.draw(st.sampled_from(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]))
    attributes: dict = {"strides": list(strides), "dilations": list(dilations)}
    if padding == "NOTSET":
        attributes["pads"] = [data.draw(st.integers(0, 3)) for _ in range(4)]
    else:
        attributes["auto_pad"] = padding
    # onnxruntime itself refuses SAME with dilations
    assume(not padding.startswith("SAME") or dilations == (1, 1))
    group = data.draw(st.sampled_from([1, 2, 4]))
    weight = floats(4, 4 // group, *kernel)
    check(case("Conv", (2, 4, 7, 8), weight, group=group, opset=data.draw(st.sampled_from([7, 11, 17])), **attributes))


@STILL
@given(st.data())
def test_slices(data):
    shape = (5, 4, 6)
    axes = data.draw(st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=3, unique=True))
    bounds = st.integers(-9, 9)
    starts, ends = ([data.draw(bounds) for _ in axes] for _ in range(2))
    steps = [data.draw(st.sampled_from([-2, -1, 1, 2, 3])) for _ in axes]
    signed = [axis - data.draw(st.sampled_from([0, 3])) for axis in axes]
    check(case("Slice", shape, ints(*starts), ints(*ends), ints(*signed), ints(*steps), gradient=False))


@STILL
@given(st.data())
def test_pads(data):
    mode = data.draw(st.sampled_from(["constant", "reflect", "edge", "wrap"]))
    amounts = [data.draw(st.integers(0, 2)) for _ in range(6)]
    check(case("Pad", (3, 4, 5), ints(*amounts), opset=19, mode=mode))


@STILL
@given(st.data(), st.sampled_from(["nearest", "linear", "cubic"]), st.booleans())
def test_resizes(data, mode, by_size):
    rules = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
    attributes = {"mode": mode, "coordinate_transformation_mode": data.draw(st.sampled_from(rules))}
    if mode == "nearest":
        rounding = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
        attributes["nearest_mode"] = data.draw(st.sampled_from(rounding))
    image = data.draw(st.tuples(st.integers(2, 6), st.integers(2, 6)))
    nothing = np.zeros(0, dtype=np.float32)
    if by_size:
        asked = (nothing, nothing, ints(1, 2, *data.draw(st.tuples(st.integers(1, 13), st.integers(1, 13)))))
    else:
        scale = st.sampled_from([0.5, 0.6, 1.0, 1.3, 2.0, 3.0])
        asked = (nothing, np.array([1, 1, *data.draw(st.tuples(scale, scale))], dtype=np.float32))
        assume(all(int(n * s) >= 1 for n, s in zip(image, asked[1][2:], strict=True)))
    check(case("Resize", (1, 2, *image), *asked, opset=data.draw(st.sampled_from([11, 13, 18])), **attributes))


def test_group_normalization_by_group():
    # Opset 18, which onnxruntime does not run: scale and bias per group. reference: torch's layer, group by group
    one = case("GroupNormalization", (2, 6, 3, 2), floats(3), floats(3, seed=1), opset=18, num_groups=3)
    x = torch.from_numpy(values_of(one))
    wanted = torch.nn.functional.group_norm(x, 3).reshape(2, 3, 12) * torch.from_numpy(floats(3)).view(1, 3, 1)
    wanted = wanted + torch.from_numpy(floats(3, seed=1)).view(1, 3, 1)
    np.testing.assert_allclose(Graph(network_of(one))(x).numpy(), wanted.reshape(2, 6, 3, 2), atol=1e-5)


def test_batch_normalization_by_its_own_moments():
    # reference: the formula, with the mean and the variance of each channel
    one = case("BatchNormalization", X, positive(3), floats(3), floats(3), positive(3), training_mode=1, n_outputs=3)
    x = values_of(one)
    mean, variance = (moment((0, 2, 3), keepdims=True) for moment in (x.mean, x.var))
    wanted = (x - mean) / np.sqrt(variance + 1e-5) * positive(3)[:, None, None] + floats(3)[:, None, None]
    np.testing.assert_allclose(Graph(network_of(one))(torch.from_numpy(x)), wanted, atol=1e-5)


def test_swish():
    # Opset 24. reference: the formula, x / (1 + exp(-alpha x))
    one = case("Swish", X, opset=24, alpha=0.5)
    x = values_of(one)
    np.testing.assert_allclose(Graph(network_of(one))(torch.from_numpy(x)), x / (1 + np.exp(-0.5 * x)), atol=1e-5)


@pytest.mark.parametrize(
    ("attributes", "opset"),
    [
        ({"value": numpy_helper.from_array(floats(5))}, 7),
        ({"value_float": 2.5}, 13),
        ({"value_floats": [2.5, 1, 2, 3, 4]}, 13),
    ],
)
def test_constants(attributes, opset):
    graph = helper.make_graph(
        [helper.make_node("Constant", [], ["c"], **attributes), helper.make_node("Add", ["x", "c"], ["y"])],
        "constants",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, X)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, X)],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    network, x = Network(proto, input="x", output="y"), floats(*X)
    np.testing.assert_allclose(Graph(network)(torch.from_numpy(x)), by_onnxruntime(network, x), atol=1e-6)


@pytest.mark.parametrize(
    ("one", "message"),
    [
        (case("Dropout", X, np.float32(0.5), np.array(True)), "Dropout with training_mode=1"),
        (
            case("AveragePool", X, opset=19, kernel_shape=[2, 2], dilations=[2, 2]),
            r"AveragePool with dilations=\[2, 2\]",
        ),
        (
            case("Resize", X, None, None, ints(2, 3, 2, 2), opset=18, antialias=1, mode="linear"),
            "Resize with antialias or exclude_outside",
        ),
        (
            case("Resize", X, None, None, ints(2, 3, 2, 2), coordinate_transformation_mode="tf_crop_and_resize"),
            "Resize with coordinate_transformation_mode=tf_crop_and_resize",
        ),
        (case("MaxPool", X, n_outputs=2, which=1, kernel_shape=[2, 2]), "MaxPool with more than one output"),
        (case("Cast", X, to=TensorProto.STRING), "Cast with to=8"),
        (case("NonZero", X), "operator NonZero"),
        (
            case("QuantizeLinear", X, np.float32(0.1), np.uint8(0)),
            r"it is quantized \(QuantizeLinear\), and whole numbers have no gradients",
        ),
    ],
    ids=lambda one: str(one) if isinstance(one, Case) else "",
)
def test_what_is_refused(one, message):
    with pytest.raises(UnsupportedError, match=f"{message}$"):
        Graph(network_of(one))(torch.from_numpy(values_of(one)))
