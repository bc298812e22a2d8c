"""Tensors from a torch checkpoint of the old format, read without torch and without running any code."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from oodometer.core.errors import ModelError

MAGIC = 0x1950A86A20F9469CFC6C  # torch.serialization.MAGIC_NUMBER
DTYPES = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}


@dataclass(frozen=True)
class _Storage:
    key: str
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class _Tensor:
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def _rebuild(storage: _Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: object) -> _Tensor:
    return _Tensor(storage, offset, tuple(shape), tuple(strides))


ALLOWED: Mapping[tuple[str, str], object] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild,
    **{("torch", name): dtype for name, dtype in DTYPES.items()},
}


class _Unpickler(pickle.Unpickler):
    """An unpickler that knows four names and refuses every other."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return ALLOWED[module, name]

    def persistent_load(self, pid: Any) -> _Storage:
        kind, dtype, key, *_ = pid
        if kind != "storage" or not isinstance(dtype, np.dtype):
            raise pickle.UnpicklingError("it holds something other than a tensor")
        return _Storage(str(key), dtype)


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """Name to array of a state dict."""
    with path.open("rb") as stream:
        try:
            return _read(stream)
        except (pickle.UnpicklingError, ValueError, TypeError, KeyError, EOFError, AttributeError, IndexError) as error:
            raise ModelError(f"{path}: not a plain checkpoint of tensors ({error})") from error


def _read(stream: IO[bytes]) -> dict[str, np.ndarray]:
    if _Unpickler(stream).load() != MAGIC:
        raise ValueError("not written by torch.save in its old format")
    _Unpickler(stream).load()  # the version of the protocol
    _Unpickler(stream).load()  # sizes of the writer's C types
    tensors: Mapping[str, _Tensor] = _Unpickler(stream).load()
    keys: list[str] = _Unpickler(stream).load()
    dtypes = {tensor.storage.key: tensor.storage.dtype for tensor in tensors.values()}
    storages = {key: _storage(stream, dtypes[key]) for key in keys}
    return {name: _view(storages[tensor.storage.key], tensor) for name, tensor in tensors.items()}


def _storage(stream: IO[bytes], dtype: np.dtype[Any]) -> np.ndarray:
    n = int.from_bytes(stream.read(8), "little")
    content = stream.read(n * dtype.itemsize)
    if len(content) != n * dtype.itemsize:
        raise ValueError("the file ends too early")
    return np.frombuffer(content, dtype=dtype)


def _view(storage: np.ndarray, tensor: _Tensor) -> np.ndarray:
    """A copy of the tensor; one that reaches beyond its storage is refused."""
    if len(tensor.shape) != len(tensor.strides) or min((tensor.offset, *tensor.shape, *tensor.strides)) < 0:
        raise ValueError("a tensor of impossible shape")
    last = tensor.offset + sum((side - 1) * step for side, step in zip(tensor.shape, tensor.strides, strict=True))
    if 0 in tensor.shape or last >= len(storage):
        raise ValueError("a tensor reaches beyond its storage")
    strides = tuple(step * storage.itemsize for step in tensor.strides)
    return np.lib.stride_tricks.as_strided(storage[tensor.offset :], tensor.shape, strides, writeable=False).copy()
