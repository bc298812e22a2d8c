"""Corrupted files from Python: the same bytes as by the command, silently, and only what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

import oodometer as odo
from as_typed import oodometer


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_as_the_command(photos, tmp_path, capsys):
    told, counted = [], []
    written = odo.corrupt_files(
        photos,
        tmp_path / "made",
        corruptions="contrast",
        severities="1,3",
        options=odo.CorruptOptions(size=32),
        progress=lambda done, total: counted.append((done, total)),
        tell=told.append,
    )
    assert str(written) == f"80 images written to {tmp_path / 'made'}"
    assert written.as_json() == {"target": str(tmp_path / "made"), "n_written": 80}
    assert (counted[0], counted[-1], len(counted)) == ((0, 80), (80, 80), 41)
    assert capsys.readouterr() == ("", "")
    words = ("--corruptions", "contrast", "--severities", "1,3", "--size", "32")
    assert oodometer("corrupt", photos, tmp_path / "typed", *words).exit_code == 0
    assert contents(tmp_path / "made") == contents(tmp_path / "typed")
    again = odo.corrupt_files(
        photos, tmp_path / "made", corruptions="contrast", severities="1,3", options=odo.CorruptOptions(size=32)
    )
    assert (again.n_written, str(again)) == (
        0,
        f"nothing new to do: everything is in {tmp_path / 'made'} already",
    )


def test_an_error_stops_the_others_and_comes_out(photos, tmp_path):
    (photos / "blue" / "0.jpg").write_bytes(b"no image")
    with pytest.raises(odo.DataError):
        odo.corrupt_files(photos, tmp_path / "made", corruptions="contrast", options=odo.CorruptOptions(size=32))
