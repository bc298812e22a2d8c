"""The sizes that an exported program of torch writes as expressions: torch evaluates them, so they are read before.

Torch hands them to ``eval``. A file that may run code need not be one that computes 9**9**9**9 by mistake.
"""

from __future__ import annotations

import ast
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from oodometer.core.errors import ModelError
from oodometer.core.reading import why

MAX_LETTERS = 10_000
MAX_POWERS, MAX_EXPONENT = 4, 16
"""Sizes are sums and products, with a square at times."""
PLAIN = (ast.Expression, ast.Call, ast.keyword, ast.Name, ast.Load, ast.Constant, ast.BinOp, ast.UnaryOp)
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.USub)
# fmt: off
NAMES = frozenset({
    "Symbol", "Integer", "Float", "Rational", "Add", "Mul", "Pow", "Max", "Min", "Mod", "Abs", "ceiling", "floor",
    "Eq", "Ne", "Equality", "Unequality", "Gt", "Ge", "Lt", "Le", "StrictGreaterThan", "GreaterThan",
    "StrictLessThan", "LessThan", "And", "Or", "Not", "Piecewise", "ExprCondPair", "Tuple", "true", "false", "oo",
    "True", "False", "FloorDiv", "ModularIndexing", "Where", "PythonMod", "CleanDiv", "CeilToInt", "FloorToInt",
    "CeilDiv", "IntTrueDiv", "FloatTrueDiv", "LShift", "RShift", "IsNonOverlappingAndDenseIndicator",
    "TruncToFloat", "TruncToInt", "RoundToInt", "RoundDecimal", "ToFloat", "FloatPow", "PowByNatural", "Identity",
})
# fmt: on
"""What sympy and torch write sizes with."""
POWERS = frozenset({"Pow", "PowByNatural", "FloatPow", "LShift"})


def check_sizes(content: bytes, path: Path) -> None:
    """An error where an expression of the program is more than arithmetic on sizes."""
    try:
        bad = next((text for text in _sizes(content) if not _is_plain(text)), None)
    except Exception as error:  # zipfile, json and ast raise a dozen kinds
        raise ModelError(f"{path}: not an exported program, or a damaged one ({why(error)})") from error
    if bad is not None:
        raise ModelError(f"{path}: not an exported program, or a damaged one (a size of {bad[:60]!r})")


def _sizes(content: bytes) -> Iterator[str]:
    """The expressions of all programs in an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(member.file_size for member in archive.infolist()) > len(content):
            raise ValueError("torch never compresses them")
        for name in archive.namelist():
            if name.endswith(".json") and "models/" in name:
                yield from _expressions(json.loads(archive.read(name)))


def _expressions(value: Any) -> Iterator[str]:
    """Whatever stands as ``expr_str`` anywhere."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, dict) and isinstance(value.get("expr_str"), str):
        yield value["expr_str"]
    for part in inner:
        yield from _expressions(part)


def _is_plain(text: str) -> bool:
    """Whether an expression is arithmetic on sizes whose value has a bound.

    >>> _is_plain("Pow(Symbol('s0', integer=True), Integer(2))"), _is_plain("9**9**9**9"), _is_plain("exit()")
    (True, False, False)
    """
    if len(text) > MAX_LETTERS:
        return False
    nodes = list(ast.walk(ast.parse(text, mode="eval")))
    exponents = [node.args[1:] for node in nodes if isinstance(node, ast.Call) and _name(node.func) in POWERS]
    return (
        all(isinstance(node, (*PLAIN, *OPERATORS)) for node in nodes)
        and all(_is_known(node.id) for node in nodes if isinstance(node, ast.Name))
        and all(_is_bounded(node) for node in nodes)
        and len(exponents) <= MAX_POWERS
        and all(len(given) == 1 and _is_small(given[0]) for given in exponents)
    )


def _name(function: ast.expr) -> str:
    return function.id if isinstance(function, ast.Name) else ""


def _is_known(name: str) -> bool:
    """Functions, and the names that torch gives to sizes: s0, u1, zuf3."""
    return name in NAMES or name.rstrip("0123456789") in ("s", "u", "zf", "zuf")


def _is_bounded(node: ast.AST) -> bool:
    """A number of 64 bits, a function by its name, or no text times a number."""
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, int) or node.value < 2**64
    if isinstance(node, ast.BinOp):
        return not any(
            isinstance(side, ast.Constant) and isinstance(side.value, str) for side in (node.left, node.right)
        )
    return not isinstance(node, ast.Call) or bool(_name(node.func))


def _is_small(power: ast.expr) -> bool:
    """A written number, maybe as Integer(2) or Integer(-1)."""
    inner = list(ast.walk(power))
    numbers = [node.value for node in inner if isinstance(node, ast.Constant)]
    calls = [node for node in inner if isinstance(node, ast.Call | ast.BinOp)]
    return len(calls) <= 1 and all(isinstance(value, int) and value <= MAX_EXPONENT for value in numbers)
