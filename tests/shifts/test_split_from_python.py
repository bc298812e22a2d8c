"""A manifest cut from Python: the same files and the same table as by the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

import oodometer as odo
from as_typed import oodometer

BASE, SHIFT = "country=us", "country=fr"


@pytest.fixture
def manifest(tmp_path, monkeypatch) -> str:
    """Twenty images of the base, ten of each class, and four of France."""
    monkeypatch.chdir(tmp_path)
    lines = ["path,label,country"]
    for n in range(24):
        Image.new("RGB", (4, 4), (n,) * 3).save(f"{n}.png")
        lines.append(f"{n}.png,{'gym' if n % 2 else 'bank'},{'fr' if n >= 20 else 'us'}")
    Path("shops.csv").write_text("\n".join(lines) + "\n")
    return "shops.csv"


def test_the_same_as_the_command(manifest, capsys):
    typed = oodometer("split", manifest, "--base", BASE, "--shift", SHIFT, "--out", "typed")
    files = odo.split(manifest, base=BASE, shifts=[SHIFT], out="made")
    assert (typed.exit_code, typed.stdout) == (0, f"{files}\n")
    assert {file.set: file.images for file in files.files} == {"train": 10, "iid": 10, "country=fr": 4}
    for file in files.files:
        assert Path("made", file.file).read_bytes() == Path("typed", file.file).read_bytes()
    again = oodometer("split", manifest, "--base", BASE, "--shift", SHIFT, "--out", "typed", "--json")
    assert json.loads(again.stdout) == files.as_json()
    assert capsys.readouterr() == ("", "")


def test_options(manifest, photos):
    options = odo.SplitOptions(test_share=0.5, check=True)
    files = odo.split(manifest, base=BASE, shifts=[SHIFT], out="half", options=options)
    assert {file.set: file.images for file in files.files} == {"train": 10, "iid": 10, "country=fr": 4}
    with pytest.raises(odo.UsageError, match="no manifest"):
        odo.split(str(photos), base=BASE, shifts=[SHIFT], out="none")
