"""Models in the ONNX format, run by onnxruntime."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from oodometer.core.errors import ModelError
from oodometer.core.extras import import_extra
from oodometer.core.model import Compute, Input, Model
from oodometer.models.card import Declared, card_beside, default_view, plain_preprocessing, preprocessing, space_of
from oodometer.models.files import read_file
from oodometer.models.onnx_to_torch import differentiable
from oodometer.models.session import MIN_OPSET, Network, open_session

ELEMENTS = {1: "float32", 10: "float16", 2: "uint8"}  # numbers of onnx.TensorProto.DataType


def load_onnx(rest: str, declared: Declared, *, allow_pickle: bool) -> Model:  # noqa: ARG001 - ONNX has no pickles
    """The model of an .onnx file; a .toml of the same name beside it is its card."""
    import_extra("onnxruntime", extra="onnx", what="ONNX models")
    path = Path(rest)
    content = read_file(path)
    declared = declared.over(card_beside(path))
    proto = _parse(content, path)
    name = declared.name or path.stem
    network, size = _inspect(proto, path)
    given, notes = _input(network, size, declared, name)
    if network.softmax:
        notes["output"] = "softmax"
    elif len(proto.graph.output) > 1:
        notes["output"] = f"{network.output} (the first of {len(proto.graph.output)} with a row of logits per image)"
    return Model(
        name=name,
        kind="onnx",
        digest=_digest(content, proto, path),
        input=given,
        space=space_of(declared, _n_classes(network, given, name), name),
        open=lambda compute: open_session(network, given, compute, name=name),
        card=declared.card(),
        differentiable=lambda compute: differentiable(network, given, compute, name=name),
        notes={**(declared.notes or {}), **notes},
    )


def _parse(content: bytes, path: Path) -> Any:
    onnx = import_extra("onnx", extra="onnx", what="ONNX models")
    try:
        proto = onnx.load_model_from_string(content)
    except Exception as error:  # protobuf's DecodeError has no public home
        raise ModelError(f"{path}: not an ONNX model, or a damaged one") from error
    if not proto.graph.node or not proto.graph.output:
        raise ModelError(f"{path}: not an ONNX model, or a damaged one")
    for one in proto.opset_import:
        if one.domain in ("", "ai.onnx") and one.version < MIN_OPSET:
            raise ModelError(
                f"{path}: opset {one.version} is too old (at least {MIN_OPSET} is needed); export the model again"
            )
    return proto


def _inspect(proto: Any, path: Path) -> tuple[Network, tuple[int | None, int | None]]:
    """How the network is asked and answers, and the height and width it fixes."""
    weights = {one.name for one in proto.graph.initializer}
    inputs = [one for one in proto.graph.input if one.name not in weights]
    if len(inputs) != 1:
        found = ", ".join(one.name for one in inputs) or "none"
        raise ModelError(f"{path}: expected one input for images; it has {len(inputs)} ({found})")
    tensor = inputs[0].type.tensor_type
    if tensor.elem_type not in ELEMENTS:
        raise ModelError(f"{path}: its input is neither float32, float16 nor uint8; export it with one of these")
    shape = [dim.dim_value if dim.HasField("dim_value") and dim.dim_value > 0 else None for dim in tensor.shape.dim]
    channels_last = _channels_last(shape, path)
    output = _output(proto, path)
    network = Network(
        proto=proto,
        input=inputs[0].name,
        output=output,
        element=ELEMENTS[tensor.elem_type],  # type: ignore[arg-type]
        channels_last=channels_last,
        batch=shape[0],
        softmax=any(node.op_type == "Softmax" and output in node.output for node in proto.graph.node),
        folder=path.resolve().parent if external_files(proto, path) else None,
    )
    return network, (shape[1], shape[2]) if channels_last else (shape[2], shape[3])


def _channels_last(shape: list[int | None], path: Path) -> bool:
    told = ", ".join("?" if one is None else str(one) for one in shape)
    if len(shape) != 4:
        raise ModelError(f"{path}: its input has shape ({told}); expected (N, 3, H, W) or (N, H, W, 3)")
    first, last = shape[1] == 3, shape[3] == 3
    if first == last:
        why = "both could be the channels" if first else "none is the 3 channels"
        raise ModelError(f"{path}: its input has shape ({told}): of axes 1 and 3 {why}; export it with fixed H and W")
    return last


def _output(proto: Any, path: Path) -> str:
    """The first output that can be logits, a row per image."""
    outputs = proto.graph.output
    if len(outputs) == 1:
        return str(outputs[0].name)
    for one in outputs:
        if len(one.type.tensor_type.shape.dim) == 2:
            return str(one.name)
    raise ModelError(
        f"{path}: none of its {len(outputs)} outputs is declared with shape (N, K); export only the logits"
    )


def _input(
    network: Network, size: tuple[int | None, int | None], declared: Declared, name: str
) -> tuple[Input, dict[str, str]]:
    wanted = declared.size or (224, 224)
    height, width = size[0] or wanted[0], size[1] or wanted[1]
    if declared.size is not None and declared.size != (height, width):
        told = f"{declared.size[0]}x{declared.size[1]}"
        raise ModelError(f"model {name}: its input is fixed to {height}x{width} pixels, but {told} is declared")
    view = default_view(height, width)
    if network.element == "uint8":
        given, note = plain_preprocessing(declared, view, name=name)
    else:
        given, note = preprocessing(declared, Input(view=view), "default")
    return given, {"input": note}


def _n_classes(network: Network, given: Input, name: str) -> int:
    """The number of logits, from the declared shape or by asking once."""
    output = next(one for one in network.proto.graph.output if one.name == network.output)
    dims = output.type.tensor_type.shape.dim
    shape = [dim.dim_value for dim in dims]
    if len(shape) in (2, 4) and shape[1] > 0 and all(one == 1 for one in shape[2:]):
        return int(shape[1])
    if shape and all(one > 0 for one in shape[1:]):
        raise ModelError(f"model {name}: its output has shape (N, {', '.join(map(str, shape[1:]))}); expected (N, K)")
    probe = np.zeros((1, given.view.height, given.view.width, 3), dtype=np.uint8)
    logits = open_session(network, given, Compute(), name=name)(probe)
    if logits.ndim != 2 or len(logits) != 1:
        raise ModelError(f"model {name}: its output has shape {logits.shape} for one image; expected (1, K)")
    return int(logits.shape[1])


def external_files(proto: Any, path: Path) -> list[Path]:
    """The files beside the model that hold weights, each once, in order of name."""
    from onnx.external_data_helper import _get_all_tensors, uses_external_data

    folder = path.resolve().parent
    names = {
        entry.value
        for tensor in _get_all_tensors(proto)
        if uses_external_data(tensor)
        for entry in tensor.external_data
        if entry.key == "location"
    }
    files = []
    for name in sorted(names):
        file = folder / name
        if not file.resolve().is_relative_to(folder):
            raise ModelError(f"{path}: its weights are said to lie at {name!r}, outside the model's folder")
        if not file.is_file():
            raise ModelError(f"{path}: its weights file {name} is missing")
        files.append(file)
    return files


def _digest(content: bytes, proto: Any, path: Path) -> str:
    total = hashlib.blake2b(content, digest_size=16)
    for file in external_files(proto, path):
        with file.open("rb") as stream:
            while block := stream.read(1 << 22):
                total.update(block)
    return total.hexdigest()
