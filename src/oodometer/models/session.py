"""An onnxruntime session that takes uint8 pixels: the normalisation is part of its graph."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from oodometer.core.errors import ModelError
from oodometer.core.extras import import_extra
from oodometer.core.limits import MAX_IMAGE_SECONDS, MAX_OPENING_SECONDS
from oodometer.core.messages import one_line
from oodometer.core.model import Compute, Forward, Input, batches
from oodometer.core.preprocessing import Geometry
from oodometer.models.patience import Pending

PIXELS = "oodometer/pixels"
# Two 224 px images stay in a core's cache: EfficientNet-Lite0 takes 4.8 ms per image with 2 images per call, 5.2 with
# 1, 5.6 with 8, 9.8 with 32 (two threads calling, one core each). A GPU wants many.
CPU_PIXELS = 2 * 224 * 224
MOST_IMAGES = 64
PROVIDERS: Mapping[str, str] = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "mps": "CoreMLExecutionProvider",
}
QUICK_SECONDS = 1.0
"""Most networks are open by then. A pass that took less is not watched the next time: that would cost a thread."""
FATAL = 4
MIN_OPSET = 7  # the first whose Mul and Add broadcast by themselves


@dataclass(frozen=True)
class Network:
    """An ONNX model and how its one input and its logits look.

    Args:
        proto: The ``onnx.ModelProto``.
        input: Name of the input for images.
        output: Name of the output for logits.
        element: What the input holds.
        channels_last: (N, H, W, 3) instead of (N, 3, H, W).
        batch: The fixed number of images per call, or None.
        softmax: The output is probabilities.
        folder: Where the external data files lie.
    """

    proto: Any
    input: str
    output: str
    element: Literal["float32", "float16", "uint8"] = "float32"
    channels_last: bool = False
    batch: int | None = None
    softmax: bool = False
    folder: Path | None = None


def open_session(network: Network, preprocessing: Input, compute: Compute, *, name: str) -> Forward:
    """The function from pixels to logits of an ONNX network."""
    runtime = import_extra("onnxruntime", extra="onnx", what="ONNX models")
    provider = _provider(runtime, compute, name)
    content = with_pixels(network, preprocessing.in_order).SerializeToString()
    options = _options(runtime, network, compute)
    size = network.batch or images_per_call(preprocessing.view, compute)

    def opened() -> Any:
        try:
            session = runtime.InferenceSession(content, options, providers=[provider])
        except Exception as error:  # onnxruntime raises a dozen classes of its own, without a common one
            raise ModelError(f"model {name}: onnxruntime can't open it ({one_line(error)})") from error
        if session.get_providers()[0] != provider:  # it falls back to the CPU without a word
            raise ModelError(f"model {name}: onnxruntime could not start {provider} for device {compute.device}")
        return session

    opening = Pending(opened)
    opening.look(QUICK_SECONDS)  # most are open by then, or can't be opened
    return Session(network, name, size, is_bgr=preprocessing.is_bgr, opened=opening)


class Session:
    """The function from pixels to logits; a pass that may take long can be stopped, and does not take for ever."""

    def __init__(self, network: Network, name: str, size: int, *, is_bgr: bool, opened: Pending[Any]) -> None:
        self._network, self._name, self._size, self._is_bgr = network, name, size, is_bgr
        self._opened = opened
        self._passes: set[Pending[np.ndarray]] = set()
        self._is_quick = False

    def __call__(self, images: np.ndarray) -> np.ndarray:
        """Logits of pixels."""
        if self._is_bgr:
            images = np.ascontiguousarray(images[..., ::-1])
        session = self._opened.result(MAX_OPENING_SECONDS, self._late("not ready", MAX_OPENING_SECONDS))
        parts = [self._answer(session, images[rows]) for rows in batches(len(images), self._size)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def stop(self) -> None:
        """Wait for nothing any more."""
        self._opened.stop()
        for waiting in list(self._passes):
            waiting.stop()

    def _answer(self, session: Any, images: np.ndarray) -> np.ndarray:
        if self._is_quick:
            return self._pass(session, images, None)
        begun = time.monotonic()
        logits = self._watched(session, images)
        self._is_quick = time.monotonic() - begun < QUICK_SECONDS
        return logits

    def _watched(self, session: Any, images: np.ndarray) -> np.ndarray:
        """A pass that ends in an error where it takes too long: whatever its graph says, nobody waits for ever."""
        import onnxruntime

        options = onnxruntime.RunOptions()
        options.log_severity_level = FATAL
        asked = Pending(lambda: self._pass(session, images, options))
        self._passes.add(asked)
        n = max(len(images), self._network.batch or 1)
        try:
            return asked.result(
                n * MAX_IMAGE_SECONDS,
                self._late(f"no answer about {n} image{'s' if n > 1 else ''}", n * MAX_IMAGE_SECONDS),
            )
        finally:
            self._passes.discard(asked)
            options.terminate = True  # before its next node, if it is still at work

    def _pass(self, session: Any, images: np.ndarray, options: Any) -> np.ndarray:
        try:
            return _run(session, self._network, images, options)
        except Exception as error:
            raise ModelError(f"model {self._name}: its forward pass failed ({one_line(error)})") from error

    def _late(self, what: str, seconds: float) -> ModelError:
        return ModelError(
            f"model {self._name}: {what} after {seconds:g} seconds; is it whole, or this machine too busy?"
        )


def images_per_call(view: Geometry, compute: Compute) -> int:
    """How many images one call should take.

    >>> images_per_call(Geometry(224, 224), Compute()), images_per_call(Geometry(32, 32), Compute())
    (2, 64)
    """
    if compute.device != "cpu":
        return MOST_IMAGES
    return max(1, min(MOST_IMAGES, CPU_PIXELS // (view.height * view.width)))


def _run(session: Any, network: Network, images: np.ndarray, options: Any) -> np.ndarray:
    n = len(images)
    if network.batch and n < network.batch:
        padding = np.zeros((network.batch - n, *images.shape[1:]), dtype=np.uint8)
        images = np.concatenate([images, padding])
    logits = np.asarray(session.run([network.output], {PIXELS: images}, options)[0], dtype=np.float32)
    if logits.ndim == 4 and logits.shape[2:] == (1, 1):
        logits = logits[:, :, 0, 0]
    if network.softmax:
        # log p differs from the logits by a constant per image, which no softmax sees.
        logits = np.log(np.maximum(logits, np.finfo(np.float32).tiny))
    return logits[:n]


def _provider(runtime: Any, compute: Compute, name: str) -> str:
    provider = PROVIDERS[compute.device]
    if provider not in runtime.get_available_providers():
        more = "; pip install onnxruntime-gpu" if compute.device == "cuda" else ""
        raise ModelError(f"model {name}: this onnxruntime can't use device {compute.device} (no {provider}){more}")
    if compute.precision == "mixed":
        raise ModelError(f"model {name}: an ONNX model runs in the precision of its file; leave --precision out")
    return provider


def _options(runtime: Any, network: Network, compute: Compute) -> Any:
    options = runtime.SessionOptions()
    options.intra_op_num_threads = compute.threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if compute.threads == 1:
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if network.folder is not None:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(network.folder))
    return options


def with_pixels(network: Network, preprocessing: Input) -> Any:
    """A copy of the ONNX model whose input is pixels, (N, H, W, 3) uint8; everything else stays as it was."""
    import onnx

    proto = onnx.ModelProto()
    proto.CopyFrom(network.proto)
    graph = proto.graph
    old = next(value for value in graph.input if value.name == network.input)
    dims = old.type.tensor_type.shape.dim
    batch = network.batch or dims[0].dim_param or "N"
    view = preprocessing.view
    pixels = onnx.helper.make_tensor_value_info(PIXELS, onnx.TensorProto.UINT8, [batch, view.height, view.width, 3])
    nodes = _normalisation(network)
    graph.input.remove(old)
    graph.input.insert(0, pixels)
    rest = list(graph.node)
    del graph.node[:]
    graph.node.extend([*nodes, *rest])
    graph.initializer.extend(_constants(preprocessing, network.channels_last) if network.element != "uint8" else [])
    if not any(opset.domain in ("", "ai.onnx") for opset in proto.opset_import):
        proto.opset_import.append(onnx.helper.make_opsetid("", 13))
    return proto


def _normalisation(network: Network) -> list[Any]:
    """The nodes from pixels to the network's input, under the name that the network knows."""
    import onnx

    steps: list[tuple[str, list[str], dict[str, Any]]] = []
    if not network.channels_last:
        # On bytes first: moving a quarter of the memory.
        steps.append(("Transpose", [], {"perm": [0, 3, 1, 2]}))
    if network.element != "uint8":
        steps.append(("Cast", [], {"to": onnx.TensorProto.FLOAT}))
        steps.append(("Mul", ["oodometer/scale"], {}))
        steps.append(("Add", ["oodometer/shift"], {}))
    if network.element == "float16":
        steps.append(("Cast", [], {"to": onnx.TensorProto.FLOAT16}))
    if not steps:
        steps.append(("Identity", [], {}))
    names = [PIXELS, *(f"oodometer/step{index}" for index in range(1, len(steps))), network.input]
    return [
        onnx.helper.make_node(op, [names[index], *others], [names[index + 1]], name=f"oodometer/{op}{index}", **options)
        for index, (op, others, options) in enumerate(steps)
    ]


def _constants(preprocessing: Input, channels_last: bool) -> list[Any]:
    """(pixel / 255 - mean) / std as one product and one sum per channel."""
    import onnx

    mean, std = (np.array(values, dtype=np.float64) for values in (preprocessing.mean, preprocessing.std))
    shape = (1, 1, 1, 3) if channels_last else (1, 3, 1, 1)
    return [
        onnx.numpy_helper.from_array(values.astype(np.float32).reshape(shape), f"oodometer/{name}")
        for name, values in (("scale", 1 / (255 * std)), ("shift", -mean / std))
    ]
