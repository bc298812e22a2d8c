"""Networks of torch and where they are read from: an importable factory, an exported program, a TorchScript file."""

from __future__ import annotations

import contextlib
import hashlib
import io
import logging
import pickle
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from oodometer.core.errors import ModelError
from oodometer.core.extras import import_extra
from oodometer.core.labels import LabelSpace
from oodometer.core.messages import one_line
from oodometer.core.model import Input
from oodometer.models.callable import code_of_the_user, import_function
from oodometer.models.card import default_view
from oodometer.models.exported_sizes import check_sizes
from oodometer.models.files import file_digest, read_file
from oodometer.models.pickle_texts import check_pickles
from oodometer.models.session import MOST_IMAGES

# What training scripts wrap a state dict in, the best first (timm prefers averaged weights too).
WRAPPERS = ("state_dict_ema", "model_ema", "state_dict", "model")


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

    def read(self) -> tuple[Net, str]:
        """The net as its own place: a module that was given from Python is sent as it is."""
        return self, self.digest


def import_torch() -> Any:
    """The torch package."""
    return import_extra("torch", extra="torch", what="torch models")


@dataclass(frozen=True)
class Factory:
    """The place of a network: a function that makes it, and a file of weights.

    Args:
        address: The function, ``package.module:function``.
        folder: A folder whose modules can be imported too.
        weights: A file of weights to put into what the function makes.
        allow_pickle: That file may run code.
    """

    address: str
    folder: str
    weights: Path | None
    allow_pickle: bool

    def __str__(self) -> str:
        return f"{self.address}@{self.weights}" if self.weights else f"{self.address} (without a file of weights)"

    def anywhere(self) -> Factory:
        """The same place, said so that it does not depend on the current folder."""
        return replace(self, weights=self.weights.absolute() if self.weights else None)

    def read(self) -> tuple[Net, str]:
        """The network with its weights, and their digest."""
        function = import_function(self.address, self.folder)
        try:
            with code_of_the_user(self.folder):
                made = function()
        except Exception as error:
            raise ModelError(f"{self.address}: the factory failed ({one_line(error)})") from error
        module = _eval(made, self.address)
        if self.weights:
            fit_weights(module, read_state(self.weights, allow_pickle=self.allow_pickle), self.weights)
        name = self.weights.stem if self.weights else self.address.rpartition(":")[2]
        net = Net(module, name=name, digest=state_digest(module, self.address))
        return net, net.digest


@dataclass(frozen=True)
class TorchFile:
    """The place of a network: a file of torch's that holds all of it."""

    path: Path
    allow_pickle: bool

    def __str__(self) -> str:
        return str(self.path)

    def anywhere(self) -> TorchFile:
        """The same place, said so that it does not depend on the current folder."""
        return replace(self, path=self.path.absolute())

    def read(self) -> tuple[Net, str]:
        """The network of the file, and the file's digest."""
        content = read_file(self.path)
        if self.path.suffix == ".safetensors":
            raise _only_weights(self.path)
        if not self.allow_pickle:
            raise _refused(self.path)
        if self.path.suffix == ".pt2":
            net = _from_exported(self.path, content)
        elif _is_script(content):
            net = _from_script(self.path, content)
        else:
            net = _from_pickle(self.path, content)
        return net, net.digest


def _refused(path: Path) -> ModelError:
    """Torch has no safe way to read a network: programs and scripts name what they call, pickles run it at once."""
    return ModelError(
        f"{path}: refused, since a torch file of a whole network can run code of its own; export the network to ONNX, "
        f"or give its weights (safetensors or a plain state dict) as torch:MODULE:FUNCTION@FILE; if you trust this "
        "file, add --allow-pickle"
    )


def _only_weights(path: Path) -> ModelError:
    return ModelError(f"{path}: weights without a network; give torch:MODULE:FUNCTION@{path}")


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

    if not allow_pickle:
        check_pickles(content, path)
    try:
        return torch.load(io.BytesIO(content), map_location="cpu", weights_only=not allow_pickle)
    except Exception as error:
        if allow_pickle:  # then it is often a class that can't be imported from here
            raise ModelError(f"{path}: torch can't load it ({one_line(error)})") from error
        if isinstance(error, pickle.UnpicklingError) and _is_pickle(content):
            raise ModelError(
                f"{path}: refused, since it is a pickle of more than tensors and could run code of its own; "
                "save the state dict alone, best as safetensors, or, if you trust it, add --allow-pickle"
            ) from error
        raise ModelError(f"{path}: not a file of torch, or a damaged one") from error


def _is_pickle(content: bytes) -> bool:
    return content[:2] == b"PK" or content[:1] == b"\x80"


def _from_pickle(path: Path, content: bytes) -> Net:
    module = _unpickle(path, content, allow_pickle=True)
    if isinstance(module, Mapping):
        raise _only_weights(path)
    return Net(_eval(module, str(path)), name=path.stem, digest=file_digest(content))


def _is_script(content: bytes) -> bool:
    """Whether this is an archive of TorchScript."""
    try:
        names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    except Exception:  # a damaged directory makes zipfile raise almost anything, UnicodeDecodeError for one
        return False
    return any(name.partition("/")[2].startswith("code/") for name in names)


def _from_script(path: Path, content: bytes) -> Net:
    import torch

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*torch.jit", category=DeprecationWarning)
            module = torch.jit.load(io.BytesIO(content), map_location="cpu")
    except Exception as error:
        raise ModelError(f"{path}: not a TorchScript file, or a damaged one ({one_line(error)})") from error
    return Net(_eval(module, str(path)), name=path.stem, digest=file_digest(content))


def _from_exported(path: Path, content: bytes) -> Net:
    import torch
    from torch.export.passes import move_to_device_pass

    check_sizes(content, path)
    try:
        with _quiet("torch.export"):
            program = torch.export.load(io.BytesIO(content))
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
    height, width = (side if isinstance(side, int) else None for side in shape[2:])
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
def _quiet(logger: str) -> Iterator[None]:
    """Without the tracebacks that torch logs before it raises."""
    log = logging.getLogger(logger)
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before
