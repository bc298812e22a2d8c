"""Models that are plain Python functions from pixels to logits."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import inspect
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from oodometer.core.digests import digest_of
from oodometer.core.errors import ModelError
from oodometer.core.messages import one_line
from oodometer.core.model import Compute, Forward, Input, Model
from oodometer.models.card import Declared, default_view, plain_preprocessing, space_of
from oodometer.models.described import Described, Place, described

Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class FunctionAt:
    """The place of a function: its address, and the folder whose modules can be imported beside the installed ones."""

    address: str
    folder: str
    version: str | None = None

    def __str__(self) -> str:
        return self.address

    def read(self) -> tuple[Function, str]:
        """The function of that address, and its digest."""
        function = import_function(self.address, self.folder)
        return function, digest_of_function(function, self.version)


@dataclass(frozen=True)
class FunctionItself:
    """The place of a function that was given from Python; pickle sends it by its name, where it has one."""

    function: Function
    version: str | None = None

    def __str__(self) -> str:
        return f"the function {_qualified(self.function)}"

    def read(self) -> tuple[Function, str]:
        """The function, and its digest."""
        return self.function, digest_of_function(self.function, self.version)

    def __getstate__(self) -> dict[str, Any]:
        try:
            pickle.dumps(self.function)
        except Exception as error:  # PicklingError, AttributeError, TypeError, or any of the function's own
            raise ModelError(
                f"{self} can't be sent to another process ({one_line(error)}); put it into a module and give "
                "callable:MODULE:FUNCTION"
            ) from error
        return vars(self)


@dataclass(frozen=True)
class OpenFunction:
    """Gives the function from pixels to logits, with its answers checked."""

    described: Described[Function]
    input: Input
    thread_safe: bool

    def __call__(self, compute: Compute) -> Forward:
        """The function; it chooses its device itself."""
        name = self.described.name
        if compute.device != "cpu":
            raise ModelError(f"model {name}: a Python function chooses its device itself; leave --device out")
        return self._forward

    @cached_property
    def _forward(self) -> Forward:
        # One lock for all who ask, however often the model is opened.
        lock = None if self.thread_safe else threading.Lock()
        ask = functools.partial(_ask, self.described.network, self.described.name, lock)
        return (lambda images: ask(np.ascontiguousarray(images[..., ::-1]))) if self.input.is_bgr else ask

    def __getstate__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}


def load_callable(rest: str, declared: Declared, *, allow_pickle: bool) -> Model:  # noqa: ARG001 - nothing is unpickled
    """The model that is the function ``package.module:function``."""
    return _model(FunctionAt(rest, os.getcwd(), declared.version), import_function(rest), declared)


def from_function(function: Function, declared: Declared) -> Model:
    """A model that asks a function, (N, H, W, 3) uint8 -> (N, K).

    The digest is that of the function's source text and qualified name. What the function calls or reads is not
    seen: after a change there, give another ``version``. One thread calls it at a time unless it is declared
    ``thread_safe``.
    """
    return _model(FunctionItself(function, declared.version), function, declared)


def _model(place: Place[Function], function: Function, declared: Declared) -> Model:
    name = declared.name or str(getattr(function, "__name__", type(function).__name__))
    view = default_view(*(declared.size or (224, 224)))
    given, note = plain_preprocessing(declared, view, name=name)
    probe = np.zeros((1, given.view.height, given.view.width, 3), dtype=np.uint8)
    n_classes = _ask(function, name, None, probe).shape[1]
    digest = digest_of_function(function, declared.version)
    return Model(
        name=name,
        kind="callable",
        digest=digest,
        input=given,
        space=space_of(declared, n_classes, name),
        open=OpenFunction(described(name, place, function, digest), given, bool(declared.thread_safe)),
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


def digest_of_function(function: Callable[..., Any], version: str | None) -> str:
    """The digest of a function's qualified name and its source text, or its version."""
    qualified = _qualified(function)
    if version is not None:
        return digest_of({"function": qualified, "version": version})
    try:
        source = inspect.getsource(function if inspect.isroutine(function) else type(function))
        if getattr(getattr(function, "__code__", None), "co_filename", "") == "<string>":
            # From Python 3.13 on, exec and python -c share this name: the text may be another's.
            raise OSError("made by exec")
    except (OSError, TypeError) as error:
        raise ModelError(f"the function {qualified} has no source text to tell it by; give a version") from error
    return digest_of({"function": qualified, "source": hashlib.blake2b(source.encode()).hexdigest()})


def _qualified(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def current_directory_on_path() -> contextlib.AbstractContextManager[None]:
    """While this holds, modules of the current directory can be imported, as with python -m."""
    return folder_on_path(os.getcwd())


@contextlib.contextmanager
def folder_on_path(folder: str) -> Iterator[None]:
    """While this holds, modules of the folder can be imported."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):  # the import may have changed the path itself
            sys.path.remove(folder)


@contextlib.contextmanager
def code_of_the_user(folder: str) -> Iterator[None]:
    """While this holds, modules of the folder can be imported, and what they print goes to stderr.

    Training code likes to print what it builds; stdout is for results, which another program may read.
    """
    with folder_on_path(folder), contextlib.redirect_stdout(sys.stderr):
        yield


def import_function(address: str, folder: str | None = None) -> Callable[..., Any]:
    """The function that ``package.module:function`` names; a folder is on the path, by default the current one."""
    module_name, _, attribute = address.partition(":")
    if not module_name or not attribute:
        raise ModelError(f"{address!r}: expected package.module:function")
    try:
        with code_of_the_user(folder or os.getcwd()):
            target: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise ModelError(f"{address}: no module named {module_name!r} can be imported from here") from error
        raise ModelError(f"{address}: importing {module_name} failed ({one_line(error)})") from error
    except Exception as error:
        raise ModelError(f"{address}: importing {module_name} failed ({one_line(error)})") from error
    for part in attribute.split("."):
        if not hasattr(target, part):
            raise ModelError(f"{address}: {module_name} has no function {attribute!r}")
        target = getattr(target, part)
    if not callable(target):
        raise ModelError(f"{address}: {attribute} is not a function")
    return target  # type: ignore[no-any-return]
