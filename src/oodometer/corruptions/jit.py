"""numba, where it is installed: compiled when first used, kept on disk, without the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from oodometer.core.errors import MissingExtraError

F = TypeVar("F", bound=Callable[..., object])


def jit(function: F) -> F:
    """The function, compiled by numba; the same result on any machine, so no fast-math."""
    try:
        from numba import njit
    except ImportError as error:
        raise MissingExtraError("corruptions", "corruptions") from error
    compiled: F = njit(nogil=True, cache=True)(function)
    return compiled
