"""numba, where it is installed: compiled when first used, kept on disk, without the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from oodometer.core.errors import MissingExtraError
from oodometer.core.talk import Tell

F = TypeVar("F", bound=Callable[..., object])


def jit(function: F) -> F:
    """The function, compiled by numba; the same result on any machine, so no fast-math."""
    try:
        import numba
    except ImportError as error:
        raise MissingExtraError("corruptions", "corruptions") from error
    with _cache_of_these_sources(numba.config):
        compiled: F = numba.njit(nogil=True, cache=True)(function)
    return compiled


@contextmanager
def _cache_of_these_sources(config: Any) -> Iterator[None]:
    """A cache that belongs to the kernels as they are now.

    numba's own cache asks only whether the file of a function has changed, not those of the functions that it calls:
    after an update it could go on with old kernels, and nobody would see it. Where the folder can't be written, numba
    falls back to its own.
    """
    own = config.CACHE_DIR
    config.CACHE_DIR = str(cache_folder(own))
    try:
        yield
    finally:
        config.CACHE_DIR = own


def cache_folder(own: str) -> Path:
    """Where these kernels are kept; ``own`` is the folder that the user has set for all of numba's, if any."""
    base = own or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "oodometer")
    return Path(base) / "kernels" / digest_of_sources()


def nothing_compiled() -> bool:
    """Whether the first use is still to come, which takes about half a minute to compile."""
    return not cache_folder(os.environ.get("NUMBA_CACHE_DIR", "")).exists()


@cache
def digest_of_sources() -> str:
    """The digest of all modules of the corruptions."""
    found = blake2b(digest_size=8)
    for file in sorted(Path(__file__).parent.rglob("*.py")):
        found.update(file.read_bytes())
    return found.hexdigest()


def tell_if_compiling(tell: Tell) -> None:
    """A line where kernels are still to be compiled, which is done when they are first used; then they are kept."""
    if nothing_compiled():
        tell("compiling the corruptions, this once: about half a minute")
