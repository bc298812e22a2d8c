"""Names for things: built in, registered by the user, or brought by an installed package."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from oodometer.core.errors import OodometerError, UsageError, did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """A table of names whose entries are imported when they are first asked for.

    Args:
        noun: What an entry is, for error messages.
        builtin: Name to ``module:attribute``, so that listing the names imports nothing.
        group: The entry-point group under which installed packages add names.

    >>> shapes = Registry("shape", {"sqrt": "math:sqrt"}, group="example.shapes")
    >>> shapes.get("sqrt")(9.0)
    3.0
    >>> shapes.get("sqr")
    Traceback (most recent call last):
    oodometer.core.errors.UsageError: no shape named 'sqr'; did you mean sqrt?
    """

    def __init__(self, noun: str, builtin: Mapping[str, str], *, group: str) -> None:
        self.noun = noun
        self.group = group
        self._addresses = dict(builtin)
        self._loaded: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        """A decorator that adds its function under a name, once."""

        def add(entry: T) -> T:
            if name in self._addresses or self._loaded.get(name, entry) is not entry:
                raise UsageError(f"there is a {self.noun} named {name!r} already; choose another name")
            self._loaded[name] = entry
            return entry

        return add

    def get(self, name: str) -> T:
        """The entry of that name; installed packages are asked only when the name is unknown here."""
        if name not in self._loaded:
            self._loaded[name] = self._find(name)
        return self._loaded[name]

    def names(self) -> list[str]:
        """All names, of installed packages too, in alphabetical order."""
        return sorted({*self._addresses, *self._loaded, *self._installed})

    @cached_property
    def _installed(self) -> frozenset[str]:
        """The names of installed packages; looked up once, because all that is installed is read for it."""
        return frozenset(entry_points(group=self.group).names)

    def _find(self, name: str) -> T:
        if name in self._addresses:
            module, _, attribute = self._addresses[name].partition(":")
            entry: T = getattr(importlib.import_module(module), attribute)
            return entry
        for point in entry_points(group=self.group, name=name):
            try:
                loaded: T = point.load()
            except Exception as error:
                raise OodometerError(
                    f"{self.noun} {name!r} of an installed package can't be loaded from {point.value} "
                    f"({type(error).__name__}: {error})"
                ) from error
            return loaded
        raise UsageError(f"no {self.noun} named {name!r}{did_you_mean(name, self.names())}")
