"""Whole networks: logits and gradients of the exported graph are those of the network in torch that it came from."""

from __future__ import annotations

import io
import warnings

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from oodometer.core.model import IMAGENET_MEAN, IMAGENET_STD, Compute, Input
from oodometer.core.preprocessing import Geometry
from oodometer.models.load import load_model
from oodometer.models.onnx_autograd.convert import differentiable, probes
from oodometer.models.session import Network
from oodometer.models.zoo import ZOO, weights_of

torch = pytest.importorskip("torch")


def logits_and_gradients(network, images: np.ndarray):
    """The logits, and the gradients of a weighted sum of all of them."""
    pixels = torch.from_numpy(images).permute(0, 3, 1, 2).double() / 255
    pixels.requires_grad_(True)
    logits = network(pixels)
    weights = torch.linspace(-1, 1, logits.shape[1], dtype=logits.dtype)
    (logits * weights).sum().backward()
    return logits.detach().double().numpy(), pixels.grad.double().numpy()


def assert_same(ours, reference, images: np.ndarray, *, kinks: float = 0) -> None:
    """In double precision, where an activation at its kink can't fall to either side by rounding.

    ``kinks`` is the share of pixels that may differ all the same, where the weights themselves are rounded.
    """
    logits, gradients = logits_and_gradients(ours.double(), images)
    wanted, wanted_gradients = logits_and_gradients(reference, images)
    np.testing.assert_allclose(logits, wanted, atol=1e-5 * np.abs(wanted).max(), rtol=0)
    largest = np.abs(wanted_gradients).max()
    assert largest > 0
    apart = np.abs(gradients - wanted_gradients)
    assert (apart > 1e-5 * largest).mean() <= kinks
    assert apart.max() <= (0.02 if kinks else 1e-5) * largest


# reference: the package efficientnet_lite_pytorch, which made the weights' names, in torch
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name.endswith("0") else pytest.mark.slow) for name in ZOO]
)
def test_the_zoo(name, capsys):
    package = pytest.importorskip("efficientnet_lite_pytorch")
    entry = ZOO[name]
    network = package.EfficientNet.from_pretrained(name, weights_path=str(weights_of(entry))).double().eval()
    capsys.readouterr()
    images = probes(entry.scale.size, entry.scale.size)[:1]
    ours = load_model(f"zoo:{name}").differentiable(Compute(threads=1))
    # Batch norms are folded into float32 weights.
    assert_same(ours, lambda pixels: network((pixels * 255 - 127) / 128), images, kinks=0.05)


def exported(network, size: int, opset: int) -> Network:
    """The network as torch's own exporter writes it, with any number of images."""
    target = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of tracing, and of the newer exporter
        torch.onnx.export(
            network,
            (torch.zeros(2, 3, size, size),),
            target,
            dynamo=False,
            opset_version=opset,
            input_names=["x"],
            output_names=["y"],
            dynamic_axes={"x": {0: "n"}, "y": {0: "n"}},
        )
    return Network(onnx.load_model_from_string(target.getvalue()), input="x", output="y")


def normalised(network):
    mean, std = (torch.tensor(values, dtype=torch.float64).view(1, 3, 1, 1) for values in (IMAGENET_MEAN, IMAGENET_STD))
    return lambda pixels: network((pixels - mean) / std)


SMALL = [
    ("test_vit", 160, 17),
    ("mobilenetv3_small_050", 64, 11),
    ("convnext_atto", 64, 13),
    ("mobilevit_xxs", 64, 17),
    ("ghostnet_050", 64, 9),
]
LARGER = [
    ("resnet18", 64, 9),
    ("densenet121", 64, 12),
    ("tf_efficientnet_b0", 64, 17),  # pads by what it computes from the shape
    ("eca_nfnet_l0", 64, 17),  # standardises its weights in the graph
    ("inception_v3", 96, 13),
    ("levit_128s", 224, 14),
    ("swin_tiny_patch4_window7_224", 224, 17),
    ("pvt_v2_b0", 64, 17),
]


# reference: the network itself, with random weights
@pytest.mark.parametrize(
    ("name", "size", "opset"), [*SMALL, *(pytest.param(*case, marks=pytest.mark.slow) for case in LARGER)]
)
def test_networks_of_timm(timm, name, size, opset):
    torch.manual_seed(5)
    network = timm.create_model(name, pretrained=False, num_classes=7).eval().requires_grad_(False)
    given = Input(view=Geometry(size, size))
    ours = differentiable(exported(network, size, opset), given, Compute(threads=1), name=name)
    for n in (1, 2):
        assert_same(ours, normalised(network.double()), probes(size, size)[:n])
    network.float()


class Attention(torch.nn.Module):
    """A head of attention whose scale is computed from the shape, as newer exporters write it."""

    def __init__(self):
        super().__init__()
        generator = np.random.default_rng(3)
        self.weight = torch.from_numpy(generator.normal(size=(3, 12)))
        self.head = torch.from_numpy(generator.normal(size=(4, 6)))

    def forward(self, images):
        tokens = images.flatten(2).transpose(1, 2)
        queries, keys, values = (tokens @ self.weight).split(4, dim=2)
        mixed = torch.nn.functional.scaled_dot_product_attention(queries, keys, values)
        return mixed.mean(1) @ self.head


def attention_graph(network: Attention) -> Network:
    nodes = [
        helper.make_node("Shape", ["x"], ["n"], start=0, end=1),
        helper.make_node("Concat", ["n", "channels_and_rest"], ["flat_shape"], axis=0),
        helper.make_node("Reshape", ["x", "flat_shape"], ["flat"]),
        helper.make_node("Transpose", ["flat"], ["tokens"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["tokens", "weight"], ["all"]),
        helper.make_node("Split", ["all", "fours"], ["q", "k", "v"], axis=-1),
        helper.make_node("Shape", ["q"], ["length"], start=-1),
        helper.make_node("Cast", ["length"], ["dimensions"], to=TensorProto.FLOAT),
        helper.make_node("Sqrt", ["dimensions"], ["root"]),
        helper.make_node("Transpose", ["k"], ["keys"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "keys"], ["products"]),
        helper.make_node("Div", ["products", "root"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["attention"], axis=-1),
        helper.make_node("MatMul", ["attention", "v"], ["mixed"]),
        helper.make_node("ReduceMean", ["mixed"], ["mean"], axes=[1], keepdims=0),
        helper.make_node("MatMul", ["mean", "head"], ["y"]),
    ]
    constants = {
        "channels_and_rest": np.array([3, -1]),
        "fours": np.array([4, 4, 4]),
        "weight": network.weight.numpy().astype(np.float32),
        "head": network.head.numpy().astype(np.float32),
    }
    graph = helper.make_graph(
        nodes,
        "attention",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 6, 5])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 6])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return Network(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), input="x", output="y"
    )


def test_attention():
    network = Attention()
    ours = differentiable(attention_graph(network), Input(view=Geometry(6, 5)), Compute(threads=1), name="attention")
    assert_same(ours, normalised(network), probes(6, 5))


@pytest.mark.parametrize("n", [1, 2])
def test_the_parts_meet_on_another_device(n):
    # "meta" computes shapes alone, and like a GPU refuses to mix its tensors with those of the CPU.
    ours = differentiable(
        attention_graph(Attention()), Input(view=Geometry(6, 5)), Compute(threads=1), name="attention"
    )
    answer = ours.network.to("meta")(torch.zeros(n, 3, 6, 5, device="meta"))
    assert (answer.device.type, tuple(answer.shape)) == ("meta", (n, 6))
