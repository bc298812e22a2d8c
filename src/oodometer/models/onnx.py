"""Models in the ONNX format, run by onnxruntime."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from oodometer.core.errors import ModelError, UsageError
from oodometer.core.extras import import_extra
from oodometer.core.limits import MAX_CLASSES
from oodometer.core.model import Compute, Input, Model
from oodometer.core.reading import reading
from oodometer.models.card import Declared, card_beside, default_view, plain_preprocessing, preprocessing, space_of
from oodometer.models.described import Place, described
from oodometer.models.files import read_file
from oodometer.models.onnx_bounds import check_bounds
from oodometer.models.onnx_open import OpenGradients, OpenSession
from oodometer.models.parameter_count import onnx_parameters
from oodometer.models.session import MIN_OPSET, Network, open_session

ELEMENTS = {1: "float32", 10: "float16", 2: "uint8"}  # numbers of onnx.TensorProto.DataType


@dataclass(frozen=True)
class OnnxFile:
    """The place of a network: a file."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def read(self) -> tuple[Network, str]:
        """The network of the file, and the digest of it and of the files beside it that hold weights."""
        return read_onnx(self.path)


def load_onnx(rest: str, declared: Declared, *, allow_pickle: bool) -> Model:  # noqa: ARG001 - ONNX has no pickles
    """The model of an .onnx file; a .toml of the same name beside it is its card."""
    path = Path(rest)
    return from_file(path, declared, place=OnnxFile(path.absolute()))


def from_file(path: Path, declared: Declared, *, place: Place[Network]) -> Model:
    """The model of an .onnx file that other processes find at a place."""
    import_extra("onnxruntime", extra="onnx", what="ONNX models")
    network, digest = read_onnx(path)
    declared = declared.over(card_beside(path)).over(Declared(parameters=onnx_parameters(network.proto)))
    name = declared.name or path.stem
    given, note = _input(network, declared, name)
    with reading(str(path), "ONNX model", ModelError):
        check_bounds(network, given.view, name=name)
    description = described(name, place, network, digest)
    return Model(
        name=name,
        kind="onnx",
        digest=digest,
        input=given,
        space=space_of(declared, _n_classes(network, given, name), name),
        open=OpenSession(description, given),
        card=declared.card(),
        differentiable=OpenGradients(description, given),
        notes={**(declared.notes or {}), "input": note, **_output_note(network)},
    )


def read_onnx(path: Path) -> tuple[Network, str]:
    """The network of a file, and the digest of it and of the files beside it that hold weights."""
    content = read_file(path)
    with reading(str(path), "ONNX model", ModelError):
        proto = _parse(content, path)
        return _inspect(proto, path), _digest(content, proto, path)


def _output_note(network: Network) -> dict[str, str]:
    n_outputs = len(network.proto.graph.output)
    if network.softmax:
        return {"output": "softmax"}
    if n_outputs > 1:
        return {"output": f"{network.output} (the first of {n_outputs} with a row of logits per image)"}
    return {}


def _parse(content: bytes, path: Path) -> Any:
    onnx = import_extra("onnx", extra="onnx", what="ONNX models")
    try:
        proto = onnx.load_model_from_string(content)
    except Exception as error:  # protobuf's DecodeError has no public home
        raise ModelError(f"{path}: not an ONNX model, or a damaged one") from error
    if not proto.graph.node or not proto.graph.output:
        raise ModelError(f"{path}: not an ONNX model, or a damaged one")
    for opset in proto.opset_import:
        if opset.domain in ("", "ai.onnx") and opset.version < MIN_OPSET:
            raise ModelError(
                f"{path}: opset {opset.version} is too old (at least {MIN_OPSET} is needed); export the model again"
            )
    return proto


def _inspect(proto: Any, path: Path) -> Network:
    """How the network is asked and answers."""
    weights = {tensor.name for tensor in proto.graph.initializer}
    inputs = [value for value in proto.graph.input if value.name not in weights]
    if len(inputs) != 1:
        names = ", ".join(value.name for value in inputs) or "none"
        raise ModelError(f"{path}: expected one input for images; it has {len(inputs)} ({names})")
    element = inputs[0].type.tensor_type.elem_type
    if element not in ELEMENTS:
        raise ModelError(f"{path}: its input is neither float32, float16 nor uint8; export it with one of these")
    shape = _shape(inputs[0])
    output = _output(proto, path)
    return Network(
        proto=proto,
        input=inputs[0].name,
        output=output,
        element=ELEMENTS[element],  # type: ignore[arg-type]
        channels_last=_channels_last(shape, path),
        batch=shape[0],
        softmax=any(node.op_type == "Softmax" and output in node.output for node in proto.graph.node),
        folder=path.resolve().parent if external_files(proto, path) else None,
    )


def _shape(value: Any) -> list[int | None]:
    """The shape of a graph's input, None for what is not fixed."""
    dims = value.type.tensor_type.shape.dim
    return [dim.dim_value if dim.HasField("dim_value") and dim.dim_value > 0 else None for dim in dims]


def _fixed_size(network: Network) -> tuple[int | None, int | None]:
    """The height and width that the network fixes."""
    shape = _shape(next(value for value in network.proto.graph.input if value.name == network.input))
    return (shape[1], shape[2]) if network.channels_last else (shape[2], shape[3])


def _channels_last(shape: list[int | None], path: Path) -> bool:
    text = ", ".join("?" if side is None else str(side) for side in shape)
    if len(shape) != 4:
        raise ModelError(f"{path}: its input has shape ({text}); expected (N, 3, H, W) or (N, H, W, 3)")
    first, last = shape[1] == 3, shape[3] == 3
    if first == last:
        why = "both could be the channels" if first else "none is the 3 channels"
        raise ModelError(f"{path}: its input has shape ({text}): of axes 1 and 3 {why}; export it with fixed H and W")
    return last


def _output(proto: Any, path: Path) -> str:
    """The first output that can be logits, a row per image."""
    outputs = proto.graph.output
    if len(outputs) == 1:
        return str(outputs[0].name)
    for output in outputs:
        if len(output.type.tensor_type.shape.dim) == 2:
            return str(output.name)
    raise ModelError(
        f"{path}: none of its {len(outputs)} outputs is declared with shape (N, K); export only the logits"
    )


def _input(network: Network, declared: Declared, name: str) -> tuple[Input, str]:
    """The preprocessing, and a note on its origin."""
    size, wanted = _fixed_size(network), declared.size or (224, 224)
    height, width = size[0] or wanted[0], size[1] or wanted[1]
    if declared.size is not None and declared.size != (height, width):
        other = f"{declared.size[0]}x{declared.size[1]}"
        raise ModelError(f"model {name}: its input is fixed to {height}x{width} pixels, but {other} is declared")
    try:
        view = default_view(height, width)
    except UsageError as error:
        raise ModelError(f"model {name}: {error}") from error
    if network.element == "uint8":
        return plain_preprocessing(declared, view, name=name)
    return preprocessing(declared, Input(view=view), "default")


def _n_classes(network: Network, given: Input, name: str) -> int:
    """The number of logits, from the declared shape or by asking once."""
    output = next(value for value in network.proto.graph.output if value.name == network.output)
    dims = output.type.tensor_type.shape.dim
    shape = [dim.dim_value for dim in dims]
    if len(shape) in (2, 4) and shape[1] > MAX_CLASSES:
        raise ModelError(
            f"model {name}: it declares {shape[1]:,} outputs; at most {MAX_CLASSES:,} classes are possible"
        )
    if len(shape) in (2, 4) and shape[1] > 0 and all(side == 1 for side in shape[2:]):
        return int(shape[1])
    if shape and all(side > 0 for side in shape[1:]):
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
