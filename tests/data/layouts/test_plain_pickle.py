"""Pickled files of strangers: arrays are read as NumPy would, and nothing else ever happens."""

from __future__ import annotations

import os
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest

from oodometer.core.errors import DataError
from oodometer.data.layouts.plain_pickle import read_plain_pickle, texts_of

PIXELS = np.random.default_rng(0).integers(0, 256, (3, 3072), dtype=np.uint8)


def of_python_2(pixels: np.ndarray) -> bytes:
    """A batch as Python 2 with protocol 2 wrote it, which is how CIFAR is published: its texts are byte strings."""

    def number(value: int) -> bytes:
        return b"J" + struct.pack("<i", value)

    array = (
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01"
        + number(pixels.shape[0]) + number(pixels.shape[1]) + b"\x86"
        + b"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNN" + number(-1) + number(-1) + b"K\x00tb"
        + b"\x89T" + struct.pack("<I", pixels.nbytes) + pixels.tobytes() + b"tb"
    )  # fmt: skip
    labels = b"](" + b"".join(b"K" + bytes([label]) for label in (3, 8, 0)) + b"e"
    return b"\x80\x02}(U\x04data" + array + b"U\x06labels" + labels + b"U\x0bbatch_labelU\x14testing batch 1 of 1u."


def test_a_batch_of_python_2(tmp_path: Path) -> None:
    path = tmp_path / "test_batch"
    path.write_bytes(of_python_2(PIXELS))
    # reference: pickle and NumPy themselves
    reference = pickle.loads(path.read_bytes(), encoding="bytes")
    found = read_plain_pickle(str(path))
    np.testing.assert_array_equal(found["data"], reference[b"data"])
    np.testing.assert_array_equal(found["data"], PIXELS)
    assert found["data"].dtype == np.uint8
    assert found["labels"] == reference[b"labels"] == [3, 8, 0]
    assert found["batch_label"] == b"testing batch 1 of 1"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("array", [PIXELS, np.asfortranarray(PIXELS), PIXELS.astype(">i4"), PIXELS[0].astype("<f8")])
def test_batches_that_this_numpy_writes(tmp_path: Path, protocol: int, array: np.ndarray) -> None:
    path = tmp_path / "batch"
    path.write_bytes(pickle.dumps({"data": array, "names": ["a", "b"], b"raw": b"\xff\x00"}, protocol=protocol))
    found = read_plain_pickle(str(path))
    np.testing.assert_array_equal(found["data"], array)
    assert found["data"].dtype == array.dtype
    assert texts_of(found["names"]) == ("a", "b")
    assert found["raw"] == b"\xff\x00"


def test_names_of_the_first_protocol(tmp_path: Path) -> None:
    path = tmp_path / "batches.meta"
    path.write_bytes(
        b"(dp1\nS'num_cases_per_batch'\np2\nI10000\nsS'label_names'\np3\n(lp4\nS'airplane'\np5\naS'bird'\np6\nas."
    )
    found = read_plain_pickle(str(path))
    assert found["num_cases_per_batch"] == 10_000
    assert texts_of(found["label_names"]) == ("airplane", "bird")
    assert texts_of([b"a", 3]) == texts_of(None) == ()


class Evil:
    """What an attacker pickles."""

    def __init__(self, *call: object) -> None:
        self.call = call

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return self.call[0], self.call[1:]


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_file_that_wants_to_run_something_is_refused_in_one_line(tmp_path: Path, protocol: int) -> None:
    proof = tmp_path / "proof"
    path = tmp_path / "test_batch"
    for call in ((os.mkdir, str(proof)), (eval, f"open({str(proof)!r}, 'w')"), (os.system, f"touch {proof}")):
        path.write_bytes(pickle.dumps({"data": Evil(*call), "labels": [0]}, protocol=protocol))
        with pytest.raises(DataError) as caught:
            read_plain_pickle(str(path))
        line = str(caught.value)
        assert line.startswith(f"{path}: not a plain pickled file of arrays (it asks for ")
        assert line.endswith("nothing in it was run")
        assert "\n" not in line
        assert not proof.exists()


HOSTILE = {
    "nothing": b"",
    "cut short": of_python_2(PIXELS)[:2000],
    "a list": pickle.dumps([1, 2]),
    "a key that is no text": pickle.dumps({(1, 2): 3}),
    "objects": pickle.dumps({"data": np.array([{}], dtype=object)}),
    "fields": pickle.dumps({"data": np.zeros(2, dtype=[("a", "u1")])}),
    "too few bytes": of_python_2(PIXELS).replace(b"J" + struct.pack("<i", 3072), b"J" + struct.pack("<i", 4096)),
    "a negative side": of_python_2(PIXELS).replace(b"J" + struct.pack("<i", 3), b"J" + struct.pack("<i", -3)),
    "a name within a name": b"\x80\x04\x8c\x05numpy\x8c\x0ddtype.__new__\x93.",
    "a line break in a name": b"\x80\x04\x8c\x03a\nb\x8c\x01c\x93.",
    "a change of what stands for NumPy": b"\x80\x02cnumpy.core.multiarray\n_reconstruct\n"
    b"N}X\x08\x00\x00\x00__call__K\x01s\x86b}.",
    "a change of the class": b"\x80\x02cnumpy\ndtype\n}X\x08\x00\x00\x00__init__K\x01sb}.",
    "another encoding": b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x05\x00\x00\x00rot13\x86R.",
    "something outside the file": b"\x80\x02}U\x01aK\x01Qs.",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_and_damaged_files_are_one_line(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "test_batch"
    path.write_bytes(HOSTILE[kind])
    with pytest.raises(DataError, match="not a plain pickled file of arrays") as caught:
        read_plain_pickle(str(path))
    assert "\n" not in str(caught.value)
    path.write_bytes(of_python_2(PIXELS))  # and they have changed nothing for those who come after
    np.testing.assert_array_equal(read_plain_pickle(str(path))["data"], PIXELS)
