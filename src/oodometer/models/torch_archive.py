"""Torch's zip archives made safe: what a stranger's file may contain, and nothing else, is copied to a new archive.

``torch.export.load`` and ``torch.jit.load`` are no fences. An exported program names the Python functions that it
calls (``torch.os.system`` is as good as any), its size expressions and guards are evaluated as Python, it may bring
compiled libraries, and where a safe unpickling fails an unsafe one follows. A script may write files
(``torch.save``). So the archive is read here, checked against lists of what is allowed, and written again.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from typing import Any

EXPORTED = re.compile(
    r"(models/model\.json|data/weights/(model_weights_config\.json|weight_\d+)"
    r"|data/constants/(model_constants_config\.json|tensor_\d+)|data/sample_inputs/model\.pt"
    r"|archive_format|archive_version|byteorder|version|\.data/(version|serialization_id))"
)
SCRIPT = re.compile(
    r"(code/[\w/]+\.py|data\.pkl|constants\.pkl|(data|constants)/\d+"
    r"|version|byteorder|\.data/(version|serialization_id))"
)
# Not needed to run a script, and not copied.
SCRIPT_LEFT_OUT = re.compile(r"(code/.*\.debug_pkl|traced_inputs(\.pkl|/.*)|extra/.*)")

OPERATOR = re.compile(
    r"torch\.ops\.((aten|prims|torchvision)\.(?!__)\w+\.(?!_)\w+"
    r"|higher_order\.wrap_with_(set_grad_enabled|autocast))",
    re.ASCII,
)
ARITHMETIC = {
    f"_operator.{name}"
    for name in (
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "neg",
        "pos",
        "abs",
        "pow",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "and_",
        "or_",
        "not_",
        "getitem",
    )
} | {"math.ceil", "math.floor", "math.trunc", "math.sqrt"}
# fmt: off
SHAPE_FUNCTIONS = {
    "Integer", "Rational", "Add", "Mul", "Pow", "Mod", "PythonMod", "FloorDiv", "ModularIndexing",
    "Max", "Min", "Abs", "Eq", "Ne", "Lt", "Le", "Gt", "Ge",
    "And", "Or", "Not", "CleanDiv", "CeilToInt", "FloorToInt", "TruncToInt", "RoundToInt", "IntTrueDiv",
    "FloatTrueDiv", "ToFloat", "PowByNatural", "FloatPow", "Identity", "True", "False", "oo", "int_oo",
}
# fmt: on
SIZE = re.compile(r"(zuf|zf|[suzf])\d+", re.ASCII)
SYMBOL = re.compile(r"Symbol\('(\w+)'(, \w+=(True|False))*\)", re.ASCII)
FILE_OPERATORS = re.compile(r"\b(save|from_file|debugprims|load_library)\b")
PLAIN = re.compile(r"[\w.+-]*", re.ASCII)
PYTREES = {"builtins.tuple", "builtins.list", "builtins.dict", "collections.OrderedDict"}


class UnsafeArchiveError(Exception):
    """The archive holds something that could run code, or that is not known to be harmless."""


def safe_exported_program(content: bytes) -> io.BytesIO:
    """The archive of an exported program, with only tensors and calls of tensor operators in it."""

    def clean(name: str, entry: bytes) -> bytes:
        if name == "models/model.json":
            return json.dumps(_program(json.loads(entry))).encode()
        if name.endswith("_config.json"):
            return json.dumps(_payload(json.loads(entry))).encode()
        return entry

    return _copy(content, EXPORTED, clean, left_out=re.compile("extra/.*"))


def safe_script(content: bytes) -> io.BytesIO:
    """The archive of a TorchScript module that calls no operator that touches files."""

    def clean(name: str, entry: bytes) -> bytes:
        if name.startswith("code/") and (found := FILE_OPERATORS.search(entry.decode())):
            raise UnsafeArchiveError(f"its code names {found[0]!r}, which can touch files")
        return entry

    return _copy(content, SCRIPT, clean, left_out=SCRIPT_LEFT_OUT)


def is_script(content: bytes) -> bool:
    """Whether this is an archive of TorchScript."""
    try:
        names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    except zipfile.BadZipFile:
        return False
    return any(name.partition("/")[2].startswith("code/") for name in names)


def _copy(
    content: bytes, allowed: re.Pattern[str], clean: Callable[[str, bytes], bytes], *, left_out: re.Pattern[str]
) -> io.BytesIO:
    """A new archive of the allowed entries; two readers of zip files can't disagree on it."""
    target = io.BytesIO()
    seen: set[str] = set()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(target, "w") as copy:
        entries = source.infolist()
        if not entries or min(entry.header_offset for entry in entries) != 0:
            # The end of a damaged archive can be that of a smaller one inside it.
            raise zipfile.BadZipFile("does not begin with an entry")
        for entry in entries:
            root, _, name = entry.filename.partition("/")
            if left_out.fullmatch(name):
                continue
            if not allowed.fullmatch(name) or name.lower() in seen or not PLAIN.fullmatch(root):
                raise UnsafeArchiveError(f"it contains {entry.filename!r}")
            seen.add(name.lower())
            copy.writestr(f"model/{name}", clean(name, source.read(entry)))
    target.seek(0)
    return target


def _payload(config: Any) -> Any:
    """A table of tensors; pickled objects are refused."""
    for one in config["config"].values():
        if one["use_pickle"] or not re.fullmatch(r"(weight|tensor)_\d+", one["path_name"]):
            raise UnsafeArchiveError("it contains a pickled object")
    _check(config, "")
    return config


def _program(program: Any) -> Any:
    """The program without its guards (Python text that would be executed) and without its history."""
    program["guards_code"] = []
    _drop_metadata(program)
    _check(program, "")
    return program


def _drop_metadata(value: Any) -> None:
    if isinstance(value, dict):
        if isinstance(value.get("metadata"), dict):
            value["metadata"] = {}
        for below in value.values():
            _drop_metadata(below)
    elif isinstance(value, list):
        for below in value:
            _drop_metadata(below)


def _check(value: Any, key: str) -> None:
    """Refuse every text that torch could take for more than a name."""
    if isinstance(value, dict):
        for name, below in value.items():
            _check_text(name, "")
            _check(below, name)
    elif isinstance(value, list):
        for below in value:
            _check(below, key)
    elif isinstance(value, str):
        _check_text(value, key)


def _check_text(text: str, key: str) -> None:
    if key == "expr_str":
        harmless = _is_shape(text)
    elif key in ("in_spec", "out_spec"):
        harmless = _is_pytree(text)
    elif key in ("as_custom_obj", "class_fqn"):
        harmless = False
    elif key in ("target", "as_operator"):
        harmless = text in ARITHMETIC or bool(OPERATOR.fullmatch(text) and not FILE_OPERATORS.search(text))
    else:
        harmless = bool(PLAIN.fullmatch(text)) and not text.startswith("torch.")
    if not harmless:
        raise UnsafeArchiveError(f"it contains {text[:60]!r}" + (f" as {key}" if key else ""))


def _is_shape(text: str) -> bool:
    """Whether this is an expression over sizes, as sympy writes it.

    >>> _is_shape("Mul(Integer(2), Symbol('s77', positive=True, integer=True)) + Mod(u0, 4)")
    True
    >>> _is_shape("exec(chr(49))"), _is_shape("s0.evalf"), _is_shape("Symbol('s0').evalf")
    (False, False, False)
    """
    text = SYMBOL.sub(r"\1", text)
    if not re.fullmatch(r"[\w\s+\-*/%(),<>=~&|.]*", text, re.ASCII) or re.search(r"\.\s*[^\W\d]", text):
        return False
    called = set(re.findall(r"([^\W\d]\w*)\s*\(", text))
    names = set(re.findall(r"[^\W\d]\w*", text))
    return called <= SHAPE_FUNCTIONS and all(one in SHAPE_FUNCTIONS or SIZE.fullmatch(one) for one in names)


def _is_pytree(text: str) -> bool:
    """Whether this describes tuples, lists and dicts only."""
    return text == "" or _only_plain_trees(json.loads(text))


def _only_plain_trees(spec: Any) -> bool:
    if isinstance(spec, list):
        return all(_only_plain_trees(one) for one in spec)
    if isinstance(spec, dict):
        known = spec.get("type") is None or spec["type"] in PYTREES
        return known and all(_only_plain_trees(below) for below in spec.values())
    return not isinstance(spec, str) or bool(re.fullmatch(r'[\w.\[\]", ]*', spec, re.ASCII))
