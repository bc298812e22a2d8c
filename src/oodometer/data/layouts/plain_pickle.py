"""Dictionaries of numbers and texts out of pickled files, without running anything that is in them."""

from __future__ import annotations

import io
import pickle
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from oodometer.core.errors import DataError
from oodometer.data import addresses

_NUMBERS = re.compile(r"[uif][1248]")


class _Dtype:
    """The type of an array's numbers, noted as it is written; NumPy never sees what a stranger says about it."""

    __slots__ = ("code", "order")

    def __init__(self, code: object, *_: object) -> None:
        self.code = code.decode("ascii") if isinstance(code, bytes) else str(code)
        self.order = "="

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        order = state[1]
        self.order = order.decode("ascii") if isinstance(order, bytes) else str(order)

    def numpy(self) -> np.dtype[Any]:
        """The plain type of numbers that it names."""
        if not _NUMBERS.fullmatch(self.code) or self.order not in ("<", ">", "|", "="):
            raise pickle.UnpicklingError(f"it holds an array of {self.code!r}, which is no plain number")
        return np.dtype(self.order + self.code)


class _Array:
    """An array as it is written: shape, type, order and bytes."""

    __slots__ = ("state",)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.state = state[-4:]  # the newer files have a version in front

    def numpy(self) -> np.ndarray:
        """The array; its bytes must be as many as its shape wants."""
        shape, dtype, fortran, content = self.state
        if not isinstance(dtype, _Dtype) or not isinstance(content, (bytes, bytearray)):
            raise pickle.UnpicklingError("it holds an array of something other than numbers")
        sides = tuple(int(side) for side in shape)
        if min(sides, default=0) < 0:
            raise pickle.UnpicklingError(f"it holds an array of the shape {sides}")
        return np.frombuffer(content, dtype=dtype.numpy()).reshape(sides, order="F" if fortran else "C")


# Callable values without attributes: unlike functions, nothing in a file can change them.
class _Reconstruct:
    __slots__ = ()

    def __call__(self, *_: object) -> _Array:
        return _Array()


class _FromBuffer:
    __slots__ = ()

    def __call__(self, content: object, dtype: object, shape: object, order: object) -> _Array:
        array = _Array()
        array.__setstate__((shape, dtype, order == "F", content))
        return array


class _Encode:
    __slots__ = ()

    def __call__(self, text: str, encoding: str = "latin1") -> bytes:
        if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
            raise pickle.UnpicklingError("it holds a text in an odd encoding")
        return text.encode("latin1")


_ALLOWED: Mapping[tuple[str, str], object] = {
    ("numpy", "ndarray"): object(),
    ("numpy", "dtype"): _Dtype,
    ("_codecs", "encode"): _Encode(),  # how Python 3 writes bytes for Python 2
    **{
        (f"numpy.{core}.{module}", name): made
        for core in ("core", "_core")  # before and since NumPy 2
        for module, name, made in (
            ("multiarray", "_reconstruct", _Reconstruct()),
            ("numeric", "_frombuffer", _FromBuffer()),
        )
    },
}


class _Unpickler(pickle.Unpickler):
    """An unpickler that knows arrays, by stand-ins of its own, and refuses every other name."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return _ALLOWED[module, name]


def read_plain_pickle(address: str) -> dict[str, Any]:
    """The pickled dictionary of a file: arrays of numbers, and what Python knows by itself (lists, texts, numbers).

    Texts of Python 2 come back as bytes, keys as texts.
    """
    try:
        found = _Unpickler(io.BytesIO(addresses.read_bytes(address)), encoding="bytes").load()
        if not isinstance(found, dict):
            raise pickle.UnpicklingError(f"it holds a {type(found).__name__}, not a dictionary")
        return {_text(key): value.numpy() if isinstance(value, _Array) else value for key, value in found.items()}
    except DataError:
        raise
    except Exception as error:  # a damaged or hostile file can make the unpickler raise almost anything
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise DataError(f"{address}: not a plain pickled file of arrays ({reason}); nothing in it was run") from error


def texts_of(values: object) -> tuple[str, ...]:
    """A list of texts, of Python 2 or 3; empty where it is none."""
    if not isinstance(values, list) or not all(isinstance(one, (str, bytes)) for one in values):
        return ()
    return tuple(_text(one) for one in values)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    raise pickle.UnpicklingError(f"it names something by a {type(value).__name__}")
