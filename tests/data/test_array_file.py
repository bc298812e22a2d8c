"""Files of arrays: what is in them, and that no damaged or lying file does more than give one line."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from oodometer.core.errors import DataError
from oodometer.data.array_file import names_in_npz, read_npy, read_npz


def header_of(shape: str, descr: str = "'<i8'") -> bytes:
    """A .npy header that claims a shape, by the published format (NEP 1, version 1.0)."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    padded = text + " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode()


def message_of(call) -> str:
    with pytest.raises(DataError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("array", [np.arange(6).reshape(2, 3), np.eye(2, dtype="<f2"), np.array(["a", "bc"])])
def test_arrays_come_back_as_they_were(tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "a.npy", array)
    np.savez(tmp_path / "a.npz", ids=np.arange(2), values=array)
    np.testing.assert_array_equal(read_npy(tmp_path / "a.npy"), array)
    assert names_in_npz(tmp_path / "a.npz") == ("ids", "values")
    ids, values = read_npz(tmp_path / "a.npz", ["ids", "values"])
    assert ids.tolist() == [0, 1]
    np.testing.assert_array_equal(values, array)


def test_the_columns_first_order_is_read_too(tmp_path: Path) -> None:
    array = np.asfortranarray(np.arange(6).reshape(2, 3))
    np.save(tmp_path / "a.npy", array)
    np.testing.assert_array_equal(read_npy(tmp_path / "a.npy"), array)


@pytest.mark.parametrize(
    ("shape", "descr", "why"),
    [
        ("(100000000, 1000)", "'<i8'", "it claims the shape (100000000, 1000), 800,000,000,000 bytes, but holds 500"),
        (f"({10**30},)", "'<i8'", "but holds 500; is it whole?"),
        ("(-1, 5)", "'<i8'", "not a readable array (a shape of (-1, 5))"),
        ("(2,)", "'|O'", "it holds Python objects, which are never loaded"),
        ("(1000000000000,)", "'<U0'", "expected numbers or texts, not <U0"),
        ("(2,)", "[('a', '<i8')]", "expected numbers or texts, not [('a', '<i8')]"),
        ("(2", "'<i8'", "not a readable array"),
        ("(((", "'<i8'", "not a readable array"),
    ],
)
def test_claims_of_a_header_are_checked_before_anything_is_loaded(tmp_path, shape, descr, why) -> None:
    (tmp_path / "a.npy").write_bytes(header_of(shape, descr) + bytes(500))
    assert why in message_of(lambda: read_npy(tmp_path / "a.npy"))
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("values.npy", header_of(shape, descr) + bytes(500))
    assert why in message_of(lambda: read_npz(tmp_path / "a.npz", ["values"]))


def test_a_small_archive_of_a_huge_array_is_refused(tmp_path: Path) -> None:
    whole = 300_000_000
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("v.npy", "w") as file:
        file.write(header_of(f"({whole},)", "'|i1'"))
        for _ in range(30):
            file.write(bytes(whole // 30))
    assert (tmp_path / "a.npz").stat().st_size < 1_000_000
    assert "bytes that unpack to 300,000," in message_of(lambda: read_npz(tmp_path / "a.npz", ["v"]))


def test_what_is_not_there(tmp_path: Path) -> None:
    assert message_of(lambda: read_npy(tmp_path / "a.npy")).endswith("a.npy: no such array; check the path")
    np.savez(tmp_path / "a.npz", x=np.arange(2))
    assert "no item named 'y.npy'" in message_of(lambda: read_npz(tmp_path / "a.npz", ["y"]))


def mutations(content: bytes, n: int) -> list[bytes]:
    """The content cut, with single bytes changed, and with a piece doubled; the same in every run."""
    rng = np.random.default_rng(0)
    made = []
    for _ in range(n):
        changed = bytearray(content)
        # Half of the changes in the first 200 bytes, where the headers are.
        places = rng.integers(0, [200, len(content)], size=(3, 2)).ravel() % len(content)
        kind = rng.integers(3)
        if kind == 0:
            del changed[int(places[1]) :]
        elif kind == 1:
            for place in places[: rng.integers(1, 6)]:
                changed[place] = rng.integers(256)
        else:
            changed[places[0] : places[0]] = content[places[0] : places[0] + 20]
        made.append(bytes(changed))
    return made


def good_files() -> dict[str, bytes]:
    values, ids = np.arange(40).reshape(20, 2), np.array([f"image{row}" for row in range(20)])
    files: dict[str, bytes] = {}
    for name, save in (("a.npy", np.save), ("stored.npz", np.savez), ("packed.npz", np.savez_compressed)):
        buffer = io.BytesIO()
        save(buffer, values) if name == "a.npy" else save(buffer, ids=ids, classes=values)
        files[name] = buffer.getvalue()
    return files


@pytest.mark.parametrize("name", ["a.npy", "stored.npz", "packed.npz"])
def test_damaged_files_give_one_line_or_an_array(tmp_path: Path, name: str) -> None:
    refused = []
    for content in mutations(good_files()[name], 400):
        file = tmp_path / name
        file.write_bytes(content)
        try:
            arrays = [read_npy(file)] if name == "a.npy" else read_npz(file, ["ids", "classes"])
            assert all(isinstance(array, np.ndarray) for array in arrays)
        except DataError as error:
            refused.append(str(error))
    assert len(refused) > 100
    assert all("\n" not in line for line in refused)
