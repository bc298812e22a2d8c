"""Models that are plain Python functions from pixels to logits."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from oodometer.core.digests import digest_of
from oodometer.core.errors import ModelError
from oodometer.core.model import Compute, Forward, Model
from oodometer.models.card import Declared, default_view, plain_preprocessing, space_of
from oodometer.models.messages import one_line


def load_callable(rest: str, declared: Declared, *, allow_pickle: bool) -> Model:  # noqa: ARG001 - nothing is unpickled
    """The model that is the function ``package.module:function``."""
    return from_function(import_function(rest), declared)


def from_function(function: Callable[[np.ndarray], np.ndarray], declared: Declared) -> Model:
    """A model that asks a function, (N, H, W, 3) uint8 -> (N, K).

    The digest is that of the function's source text and qualified name. What the function calls or reads is not
    seen: after a change there, give another ``version``. One thread calls it at a time unless it is declared
    ``thread_safe``.
    """
    qualified = getattr(function, "__qualname__", type(function).__qualname__)
    name = declared.name or str(getattr(function, "__name__", type(function).__name__))
    view = default_view(*(declared.size or (224, 224)))
    given, note = plain_preprocessing(declared, view, name=name)
    lock = None if declared.thread_safe else threading.Lock()
    forward = functools.partial(_ask, function, name, lock)
    n_classes = forward(np.zeros((1, given.view.height, given.view.width, 3), dtype=np.uint8)).shape[1]

    def open_(compute: Compute) -> Forward:
        if compute.device != "cpu":
            raise ModelError(f"model {name}: a Python function chooses its device itself; leave --device out")
        return forward

    return Model(
        name=name,
        kind="callable",
        digest=_digest(function, qualified, name, declared.version),
        input=given,
        space=space_of(declared, n_classes, name),
        open=open_,
        card=declared.card(),
        notes={"input": note},
    )


def _ask(
    function: Callable[[np.ndarray], np.ndarray], name: str, lock: threading.Lock | None, images: np.ndarray
) -> np.ndarray:
    try:
        if lock is None:
            answer = function(images)
        else:
            with lock:
                answer = function(images)
        logits = np.asarray(answer, dtype=np.float32)
    except Exception as error:
        raise ModelError(f"model {name}: the function failed ({one_line(error)})") from error
    if logits.ndim != 2 or len(logits) != len(images):
        raise ModelError(
            f"model {name}: the function answers with shape {logits.shape} for {len(images)} images; "
            f"expected ({len(images)}, K)"
        )
    return logits


def _digest(function: Callable[..., Any], qualified: str, name: str, version: str | None) -> str:
    if version is not None:
        return digest_of({"function": qualified, "version": version})
    try:
        source = inspect.getsource(function if inspect.isroutine(function) else type(function))
        if getattr(getattr(function, "__code__", None), "co_filename", "") == "<string>":
            # From Python 3.13 on, exec and python -c share this name: the text found may be another's.
            raise OSError("made by exec")
    except (OSError, TypeError) as error:
        raise ModelError(f"model {name}: the function has no source text to tell it by; give a version") from error
    return digest_of({"function": qualified, "source": hashlib.blake2b(source.encode()).hexdigest()})


@contextlib.contextmanager
def current_directory_on_path() -> Iterator[None]:
    """While this holds, modules of the current directory can be imported, as with python -m."""
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):  # the import may have changed the path itself
            sys.path.remove(folder)


def import_function(address: str) -> Callable[..., Any]:
    """The function that ``package.module:function`` names; the current directory is on the path, as with python -m."""
    module_name, _, attribute = address.partition(":")
    if not module_name or not attribute:
        raise ModelError(f"{address!r}: expected package.module:function")
    try:
        with current_directory_on_path():
            found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise ModelError(f"{address}: no module named {module_name!r} can be imported from here") from error
        raise ModelError(f"{address}: importing {module_name} failed ({one_line(error)})") from error
    except Exception as error:
        raise ModelError(f"{address}: importing {module_name} failed ({one_line(error)})") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ModelError(f"{address}: {module_name} has no function {attribute!r}")
        found = getattr(found, part)
    if not callable(found):
        raise ModelError(f"{address}: {attribute} is not a function")
    return found  # type: ignore[no-any-return]
