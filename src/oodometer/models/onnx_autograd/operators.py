"""The operators of ONNX graphs that can be computed with gradients: a table, filled by one function per operator.

A function takes the node and its inputs, tensors of torch, and gives back the output. Every operator follows the
specification of opset 7 and later, where an attribute became an input or changed its meaning.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

MODULES = ("arithmetic", "layers", "pools", "shapes", "resize")


class UnsupportedError(Exception):
    """An operator, or a use of it, that can't be computed with gradients here; the message says which."""


@dataclass(frozen=True)
class Node:
    """What an operator knows of its place in the graph.

    Args:
        op: The operator's name.
        opset: The version of the specification that the graph was written for.
        attributes: Plain values; tensors are torch's.
        n_outputs: How many outputs the node has.
    """

    op: str
    opset: int
    attributes: Mapping[str, Any] = field(default_factory=dict)
    n_outputs: int = 1

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute, or what the specification says where it is missing."""
        return self.attributes.get(name, default)

    def refuse(self, why: str) -> UnsupportedError:
        """The error for a use of this operator that is not supported."""
        return UnsupportedError(f"no gradients are known of {self.op} with {why}")


@dataclass(frozen=True)
class Operator:
    """How an operator is computed.

    Args:
        function: From the node and its inputs to the output, or to a tuple of all outputs.
        plain: Positions of the inputs that are wanted as plain numbers and lists (shapes, axes, bounds).
        several: It gives all its outputs; others give the first alone.
    """

    function: Callable[..., Any]
    plain: frozenset[int] = frozenset()
    several: bool = False


_table: dict[str, Operator] = {}


def operator(
    *names: str, plain: tuple[int, ...] = (), several: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function into the table under the names of the operators that it computes."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            _table[name] = Operator(function, frozenset(plain), several)
        return function

    return enter


def operators() -> Mapping[str, Operator]:
    """The whole table; needs torch."""
    for module in MODULES:
        importlib.import_module(f"oodometer.models.onnx_autograd.{module}")
    return MappingProxyType(_table)


def number(value: Any) -> Any:
    """The number in a plain value, since exporters write a list of one as well.

    >>> number(6.0), number([6.0]), number(None)
    (6.0, 6.0, None)
    """
    return value[0] if isinstance(value, list) and value else value
