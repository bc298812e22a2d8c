"""Models of torch: an importable factory, an exported program, a TorchScript file."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import io
import logging
import os
import pickle
import threading
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from oodometer.core.errors import ModelError
from oodometer.core.extras import import_extra
from oodometer.core.labels import LabelSpace
from oodometer.core.model import Compute, Forward, Input, Model, batches
from oodometer.models.callable import current_directory_on_path, import_function
from oodometer.models.card import Declared, card_beside, default_view, preprocessing, space_of
from oodometer.models.files import file_digest, read_file
from oodometer.models.messages import one_line
from oodometer.models.session import MOST_IMAGES, images_per_call
from oodometer.models.torch_archive import UnsafeArchiveError, is_script, safe_exported_program, safe_script

# What training scripts wrap a state dict in, the best first (timm prefers averaged weights too).
WRAPPERS = ("state_dict_ema", "model_ema", "state_dict", "model")
_environment = threading.Lock()
_this_thread = threading.local()


@dataclass(frozen=True)
class Net:
    """A torch module and what is known of it.

    Args:
        module: A function of a float tensor (N, 3, H, W).
        name: What to call it, if the user doesn't say.
        digest: The digest of its weights.
        base: Its preprocessing, if the user declares none, and where that comes from.
        batch: The least and the largest number of images per call.
        fixed_size: The height and width of ``base`` can't be changed.
        move: Gives the module on a device.
        notes: What else should be shown.
        space: Its classes, if they are known.
    """

    module: Any
    name: str
    digest: str
    kind: str = "torch"
    base: tuple[Input, str] | None = None
    batch: tuple[int, int] = (1, MOST_IMAGES)
    fixed_size: bool = False
    move: Callable[[Any, str], Any] | None = None
    space: LabelSpace | None = None
    notes: Mapping[str, str] = field(default_factory=dict)


def load_torch(rest: str, declared: Declared, *, allow_pickle: bool) -> Model:
    """The model of ``package.module:function``, ``package.module:function@weights``, ``file.pt2`` or ``file.pt``."""
    import_torch()
    if ":" in rest:
        return to_model(_from_factory(rest, allow_pickle=allow_pickle), declared)
    path = Path(rest)
    content = read_file(path)
    declared = declared.over(card_beside(path))
    if path.suffix == ".pt2":
        net = _from_exported(path, content, allow_pickle=allow_pickle)
    elif is_script(content):
        net = _from_script(path, content, allow_pickle=allow_pickle)
    else:
        net = _from_pickle(path, content, allow_pickle=allow_pickle)
    return to_model(net, declared)


def import_torch() -> Any:
    """The torch package."""
    return import_extra("torch", extra="torch", what="torch models")


def to_model(net: Net, declared: Declared) -> Model:
    """The model of a module."""
    name = declared.name or net.name
    own = net.base or (Input(view=default_view(*(declared.size or (224, 224)))), "default")
    given, note = preprocessing(declared, *own)
    view = given.view
    fixed = own[0].view
    if net.fixed_size and (view.height, view.width) != (fixed.height, fixed.width):
        raise ModelError(f"model {name}: its input is fixed to {fixed.height}x{fixed.width} pixels")
    probe = np.zeros((1, view.height, view.width, 3), dtype=np.uint8)
    answer = _open(net, given, Compute(), name)(probe)
    if answer.ndim != 2:
        raise ModelError(f"model {name}: its output has shape {answer.shape} for one image; expected (1, K)")
    declared = declared.over(Declared(classes=net.space))
    return Model(
        name=name,
        kind=net.kind,
        digest=net.digest,
        input=given,
        space=space_of(declared, answer.shape[1], name),
        open=lambda compute: _open(net, given, compute, name),
        card=declared.card(),
        differentiable=lambda compute: normalised(_on_device(net, compute, name), given, compute, batch=net.batch),
        notes={**(declared.notes or {}), "input": note, **net.notes},
    )


def _open(net: Net, given: Input, compute: Compute, name: str) -> Forward:
    """The function from pixels to logits of a torch module."""
    import torch

    network = normalised(_on_device(net, compute, name), given, compute, batch=net.batch)
    least, most = net.batch
    size = min(max(images_per_call(given.view, compute), least), most)
    mixed = compute.precision == "mixed"

    def ask(images: np.ndarray) -> np.ndarray:
        if not images.flags.writeable:
            images = images.copy()  # torch shares memory, and warns of what it must not write
        pixels = torch.from_numpy(np.ascontiguousarray(images)).to(compute.device)
        # Not in inference mode: what a network remembers of that can't be part of a pass with gradients.
        with torch.no_grad(), torch.autocast(compute.device, enabled=mixed):
            logits = network(pixels.permute(0, 3, 1, 2).contiguous().float() / 255)
        answer: np.ndarray = logits.float().cpu().numpy()
        return answer

    def forward(images: np.ndarray) -> np.ndarray:
        _limit_threads(compute.threads)
        try:
            return np.concatenate([ask(images[rows]) for rows in batches(len(images), size)])
        except Exception as error:
            raise ModelError(f"model {name}: its forward pass failed ({one_line(error)})") from error

    return forward


def _limit_threads(threads: int) -> None:
    import torch

    if threads > 0 and getattr(_this_thread, "threads", None) != threads:
        torch.set_num_threads(threads)
        _this_thread.threads = threads


def check_device(compute: Compute, name: str) -> None:
    """Raise an error if this torch can't use the device."""
    import torch

    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not there[compute.device]:
        raise ModelError(f"model {name}: this torch has no device {compute.device}")


def _on_device(net: Net, compute: Compute, name: str) -> Any:
    check_device(compute, name)
    if compute.device == "cpu":
        return net.module
    # A copy: the model on the CPU stays where it is.
    return net.move(net.module, compute.device) if net.move else copy.deepcopy(net.module).to(compute.device)


def normalised(module: Any, given: Input, compute: Compute, *, batch: tuple[int, int]) -> Any:
    """The module with its normalisation, on pixels in [0, 1], (N, 3, H, W).

    Args:
        batch: The least and the largest number of images that the module takes at once; its caller may have any.
    """
    import torch

    least, most = batch

    class Normalised(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.network = module
            for key, values in (("mean", given.mean), ("std", given.std)):
                self.register_buffer(key, torch.tensor(values, dtype=torch.float32).view(1, 3, 1, 1))

        def forward(self, pixels: Any) -> Any:
            _limit_threads(compute.threads)
            shown = (pixels - self.mean) / self.std
            parts = [self._some(shown[rows]) for rows in batches(len(shown), most)]
            return parts[0] if len(parts) == 1 else torch.cat(parts)

        def _some(self, images: Any) -> Any:
            n = len(images)
            if n >= least:
                return _logits(self.network(images))
            more = images.new_zeros(least - n, *images.shape[1:])
            return _logits(self.network(torch.cat([images, more])))[:n]

    network = Normalised()
    network.training = False
    network.mean, network.std = network.mean.to(compute.device), network.std.to(compute.device)
    return network


def _logits(answer: Any) -> Any:
    """The logits in what a network gives back: a tensor, a tuple that begins with it, or an object that names it."""
    if isinstance(answer, Mapping) and "logits" in answer:
        return answer["logits"]
    if isinstance(answer, (tuple, list)):
        return answer[0]
    return getattr(answer, "logits", answer)


def _from_factory(rest: str, *, allow_pickle: bool) -> Net:
    address, _, weights = rest.partition("@")
    factory = import_function(address)
    try:
        with current_directory_on_path():
            module = factory()
    except Exception as error:
        raise ModelError(f"{address}: the factory failed ({one_line(error)})") from error
    module = _eval(module, address)
    if weights:
        fit_weights(module, read_state(Path(weights), allow_pickle=allow_pickle), Path(weights))
    name = Path(weights).stem if weights else address.rpartition(":")[2]
    return Net(module, name=name, digest=state_digest(module, address))


def _eval(module: Any, where: str) -> Any:
    import torch

    if not isinstance(module, torch.nn.Module):
        raise ModelError(f"{where}: expected a torch.nn.Module, got {type(module).__name__}")
    module = module.float().eval()
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    return module


def state_digest(module: Any, architecture: str) -> str:
    """The digest of a module's weights: names, types, shapes and bytes, and the name of what they are put into."""
    total = hashlib.blake2b(architecture.encode(), digest_size=16)
    for key, tensor in module.state_dict().items():
        values = tensor.detach().cpu().contiguous()
        total.update(f"\0{key}\0{values.dtype}\0{tuple(values.shape)}\0".encode())
        total.update(memoryview(values.flatten().view(_bytes_of(values)).numpy()))
    return total.hexdigest()


def _bytes_of(values: Any) -> Any:
    import torch

    # numpy does not know bfloat16; bytes it does.
    return torch.uint8 if values.numel() else values.dtype


def fit_weights(module: Any, state: Mapping[str, Any], path: Path) -> None:
    """Put the weights of a file into a module; every name must match."""
    try:
        module.load_state_dict(state, strict=True)
    except (RuntimeError, TypeError, AttributeError) as error:
        raise ModelError(f"{path}: these weights do not fit the network ({one_line(error)})") from error


def read_state(path: Path, *, allow_pickle: bool) -> dict[str, Any]:
    """The state dict in a file of weights."""
    content = read_file(path)
    if path.suffix == ".safetensors":
        safetensors = import_extra("safetensors.torch", extra="timm", what="safetensors files")
        try:
            state: Any = safetensors.load(content)
        except Exception as error:
            raise ModelError(f"{path}: not a safetensors file, or a damaged one") from error
    else:
        state = _unpickle(path, content, allow_pickle=allow_pickle)
    for key in WRAPPERS:
        if isinstance(state, Mapping) and isinstance(state.get(key), Mapping):
            state = state[key]
            break
    if not isinstance(state, Mapping):
        raise ModelError(f"{path}: expected a state dict, got {type(state).__name__}")
    return {str(key).removeprefix("module."): value for key, value in state.items()}


def _unpickle(path: Path, content: bytes, *, allow_pickle: bool) -> Any:
    """What torch.save wrote; anything but tensors and plain values only if the user allows it."""
    import torch

    try:
        return torch.load(io.BytesIO(content), map_location="cpu", weights_only=not allow_pickle)
    except Exception as error:
        if allow_pickle:  # then it is often a class that can't be imported from here
            raise ModelError(f"{path}: torch can't load it ({one_line(error)})") from error
        if isinstance(error, pickle.UnpicklingError) and _is_pickle(content):
            raise ModelError(
                f"{path}: refused, since it is a pickle of more than tensors and could run code of its own; "
                "if you trust it, add --allow-pickle"
            ) from error
        raise ModelError(f"{path}: not a file of torch, or a damaged one") from error


def _is_pickle(content: bytes) -> bool:
    return content[:2] == b"PK" or content[:1] == b"\x80"


def _from_pickle(path: Path, content: bytes, *, allow_pickle: bool) -> Net:
    if path.suffix == ".safetensors":
        raise ModelError(f"{path}: weights without a network; give torch:package.module:function@{path}")
    module = _unpickle(path, content, allow_pickle=allow_pickle)
    if isinstance(module, Mapping):
        raise ModelError(f"{path}: weights without a network; give torch:package.module:function@{path}")
    return Net(_eval(module, str(path)), name=path.stem, digest=file_digest(content))


def _from_script(path: Path, content: bytes, *, allow_pickle: bool) -> Net:
    import torch

    archive = io.BytesIO(content) if allow_pickle else _safe(path, content, safe_script)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*torch.jit", category=DeprecationWarning)
            module = torch.jit.load(archive, map_location="cpu")
    except Exception as error:
        raise ModelError(f"{path}: not a TorchScript file, or a damaged one ({one_line(error)})") from error
    return Net(_eval(module, str(path)), name=path.stem, digest=file_digest(content))


def _safe(path: Path, content: bytes, check: Callable[[bytes], io.BytesIO]) -> io.BytesIO:
    try:
        return check(content)
    except UnsafeArchiveError as error:
        raise ModelError(
            f"{path}: refused, since it could run code of its own ({error}); if you trust it, add --allow-pickle"
        ) from error
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError, AttributeError, EOFError, RecursionError) as error:
        raise ModelError(f"{path}: not a model file of torch, or a damaged one") from error


def _from_exported(path: Path, content: bytes, *, allow_pickle: bool) -> Net:
    import torch
    from torch.export.passes import move_to_device_pass

    archive = io.BytesIO(content) if allow_pickle else _safe(path, content, safe_exported_program)
    try:
        with contextlib.nullcontext() if allow_pickle else _only_weights(), _quiet("torch.export"):
            program = torch.export.load(archive)
        shape = _input_shape(program)
        module = program.module()
    except Exception as error:
        raise ModelError(f"{path}: not an exported program, or a damaged one ({one_line(error)})") from error
    if len(shape) != 4 or shape[1] != 3:
        raise ModelError(f"{path}: its input has shape {shape}; expected (N, 3, H, W)")
    if _in_training(program):
        raise ModelError(
            f"{path}: exported in training mode, so that its answers depend on chance or on the batch; "
            "call .eval() on the network and export it again"
        )
    height, width = (one if isinstance(one, int) else None for one in shape[2:])
    fixed = height is not None and width is not None
    return Net(
        module,
        name=path.stem,
        digest=file_digest(content),
        base=(Input(view=default_view(height, width)), "default") if height and width else None,
        batch=_batch_range(program, shape[0]),
        fixed_size=fixed,
        move=lambda _, device: move_to_device_pass(program, device).module(),
    )


TRAINING = {"aten.dropout.default": 2, "aten.batch_norm.default": 5}
"""The place of the argument that says whether it is training."""


def _in_training(program: Any) -> bool:
    """Whether dropout or batch norm does in a program what it does in training; an exported program has no eval()."""
    calls = [(TRAINING[str(node.target)], node.args) for node in program.graph.nodes if str(node.target) in TRAINING]
    return any(len(given) > place and given[place] is True for place, given in calls)


def _batch_range(program: Any, size: Any) -> tuple[int, int]:
    """The least and the largest number of images that a program takes at once."""
    if isinstance(size, int):
        return size, size
    limits = program.range_constraints.get(size.node.expr)
    if limits is None:
        return 1, MOST_IMAGES
    # Without a limit the upper end is infinite, which no int can hold.
    return max(1, int(limits.lower)), int(min(limits.upper, MOST_IMAGES))


def _input_shape(program: Any) -> tuple[Any, ...]:
    names = program.graph_signature.user_inputs
    if len(names) != 1:
        raise ValueError(f"it has {len(names)} inputs; expected one, for images")
    node = next(node for node in program.graph.nodes if node.op == "placeholder" and node.name == names[0])
    return tuple(node.meta["val"].shape)


@contextlib.contextmanager
def _only_weights() -> Iterator[None]:
    """While this holds, torch.load unpickles nothing but tensors, whatever its caller says.

    ``torch.export.load`` needs it: where unpickling with ``weights_only=True`` fails, it tries without.
    """
    key = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"
    with _environment:
        before = os.environ.get(key)
        os.environ[key] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[key]
            else:
                os.environ[key] = before


@contextlib.contextmanager
def _quiet(logger: str) -> Iterator[None]:
    """Without the tracebacks that torch logs before it raises."""
    one = logging.getLogger(logger)
    before, one.disabled = one.disabled, True
    try:
        yield
    finally:
        one.disabled = before
