"""Ways to damage the bytes of a file: blindly, and where it hurts (numbers, array headers, members of archives)."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable

import numpy as np

from oodometer.core.reading import unwarned

Rng = np.random.Generator
NPY = re.compile(rb"\x93NUMPY(.)\x00(..)", re.DOTALL)
SHAPES = (
    "()", "(0,)", "(-1,)", "(10**8,)", "(100000000, 32, 32, 3)", "(9223372036854775807,)", "(99999999999999999999, 2)",
    "(4,", "None", "(4.5,)", "(" * 90, "(4, 3)", "[4]", "(True,)", "(2147483648, 2147483648)",
)  # fmt: skip
DTYPES = ("'|O'", "'<U1000000000'", "'|V0'", "'<M8[s]'", "'<f16'", "'|S0'", "[('a', '<i4')]", "'<c16'", "'x'", "None")
NUMBERS = (b"-1", b"0", b"9" * 20, b"9" * 400, b"1e999", b"nan", b"2000000000", b"2147483648", b"1.5", b"")
PIECES = (
    b"\xff\xfe",
    b"\x00",
    b"\n",
    b'"',
    b",",
    b"[" * 5000,
    b'{"a":' * 5000,
    b"\xf0\x9f\x98\x80",
    b"../",
    b"/dev/zero",
)


def flip(content: bytes, rng: Rng) -> bytes:
    """A few bits."""
    changed = bytearray(content)
    for place in rng.integers(len(content), size=rng.integers(1, 9)):
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def overwrite(content: bytes, rng: Rng) -> bytes:
    """A few bytes, by those that sizes and signs are made of."""
    changed = bytearray(content)
    for place in rng.integers(len(content), size=rng.integers(1, 5)):
        changed[place] = int(rng.choice([0, 1, 0x7F, 0x80, 0xFF]))
    return bytes(changed)


def cut(content: bytes, rng: Rng) -> bytes:
    """The end is missing."""
    return content[: rng.integers(len(content))]


def _span(content: bytes, rng: Rng) -> tuple[int, int]:
    start = int(rng.integers(len(content)))
    return start, min(len(content), start + int(rng.integers(1, 65)))


def zero(content: bytes, rng: Rng) -> bytes:
    """A block of zeros."""
    start, stop = _span(content, rng)
    return content[:start] + bytes(stop - start) + content[stop:]


def double(content: bytes, rng: Rng) -> bytes:
    """A block is there twice."""
    start, stop = _span(content, rng)
    return content[:stop] + content[start:]


def drop(content: bytes, rng: Rng) -> bytes:
    """A block is missing."""
    start, stop = _span(content, rng)
    return content[:start] + content[stop:]


def insert(content: bytes, rng: Rng) -> bytes:
    """Something strange in between."""
    start = int(rng.integers(len(content)))
    piece = rng.bytes(int(rng.integers(1, 65))) if rng.random() < 0.3 else PIECES[rng.integers(len(PIECES))]
    return content[:start] + piece + content[start:]


def renumber(content: bytes, rng: Rng) -> bytes:
    """Another number in the place of one that is written out."""
    numbers = list(re.finditer(rb"\d+", content))
    if not numbers:
        return flip(content, rng)
    chosen = numbers[rng.integers(len(numbers))]
    return content[: chosen.start()] + NUMBERS[rng.integers(len(NUMBERS))] + content[chosen.end() :]


BLIND = (flip, overwrite, cut, zero, double, drop, insert, renumber)


def edit_header(content: bytes, rng: Rng) -> bytes:
    """Another header of a ``.npy`` file, of the right length."""
    match = NPY.match(content)
    end = 10 + int.from_bytes(match[2], "little") if match else 0
    if match is None or not content[10:end]:
        return flip(content, rng)
    header = content[10:end].decode("latin-1")
    choice = rng.integers(3)
    if choice == 0:
        header = re.sub(r"'shape': \([^)]*\)", lambda _: f"'shape': {SHAPES[rng.integers(len(SHAPES))]}", header)
    elif choice == 1:
        header = re.sub(r"'descr': '[^']*'", lambda _: f"'descr': {DTYPES[rng.integers(len(DTYPES))]}", header)
    else:
        header = BLIND[rng.integers(len(BLIND))](header.encode("latin-1"), rng).decode("latin-1")
    edited = header.encode("latin-1")[:60000]
    return content[:8] + len(edited).to_bytes(2, "little") + edited + content[end:]


def edit_members(content: bytes, rng: Rng) -> bytes:
    """An archive whose checksums are right, and one of its members, or the name of one, is not."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [(info, archive.read(info)) for info in archive.infolist()]
    except Exception:
        members = []
    if not members:
        return flip(content, rng)
    chosen, rename, target = int(rng.integers(len(members))), rng.random() < 0.1, io.BytesIO()
    with unwarned(), zipfile.ZipFile(target, "w") as archive:  # of two members of one name
        for place, (info, inside) in enumerate(members):
            name = info.filename
            if place == chosen and rename:
                name = ("x" * 300, "../a.npy", "/", "images.npy\udc80".encode("utf-8", "replace").decode())[
                    rng.integers(4)
                ]
            changed = damaged(inside, rng) if place == chosen and not rename and inside else inside
            archive.writestr(name, changed, compress_type=info.compress_type)
    return target.getvalue()


def edit_graph(content: bytes, rng: Rng) -> bytes:
    """A network whose graph says another number somewhere: a shape, an attribute, a small weight."""
    import onnx

    try:
        proto = onnx.load_model_from_string(content)
    except Exception:
        return flip(content, rng)
    lists = [tensor.dims for tensor in proto.graph.initializer]
    lists += [given.ints for node in proto.graph.node for given in node.attribute if given.ints]
    dims = [dim for value in (*proto.graph.input, *proto.graph.output) for dim in value.type.tensor_type.shape.dim]
    whole = [tensor for tensor in proto.graph.initializer if tensor.data_type == onnx.TensorProto.INT64]
    number = int(rng.choice([-1, 0, 7, 1000, 65536, 10**6, 10**9, 2**31, 2**62]))
    choice = rng.integers(3)
    if choice == 0 and lists:
        chosen = lists[rng.integers(len(lists))]
        chosen[rng.integers(len(chosen))] = number
    elif choice == 1 and dims:
        dims[rng.integers(len(dims))].dim_value = number
    elif whole:
        tensor = whole[rng.integers(len(whole))]
        values = np.frombuffer(tensor.raw_data, dtype="<i8").copy()
        values[rng.integers(len(values))] = number
        tensor.raw_data = values.tobytes()
    return proto.SerializeToString()


def damaged(content: bytes, rng: Rng) -> bytes:
    """The content with one damage, or two."""
    for _ in range(int(rng.integers(1, 3))):
        if content:
            content = _ways(content)[rng.integers(len(_ways(content)))](content, rng)
    return content


def _ways(content: bytes) -> tuple[Callable[[bytes, Rng], bytes], ...]:
    if content.startswith(b"\x93NUMPY"):
        return (*BLIND, *[edit_header] * 8)
    if content.startswith(b"PK\x03\x04"):
        return (*BLIND, *[edit_members] * 8)
    return (*BLIND, *[edit_graph] * 8) if content.startswith(b"\x08\x08:") or b"Conv" in content else BLIND
