"""An import that is killed between writing and sealing: the same import again seals what is there."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import oodometer as odo

IMPORT = """
import os, signal, sys
import numpy as np
import oodometer as odo
from oodometer.core.stored_answers import StoredAnswers
from oodometer.store.store import Store

folder, killed, keep = sys.argv[1], sys.argv[2] == "killed", sys.argv[3] == "logits"
if killed:
    Store.seal = lambda *some, **more: os.kill(os.getpid(), signal.SIGKILL)
rng = np.random.default_rng(0)
answers = StoredAnswers("mine", "d" * 32, tuple("abcd"), rng.normal(size=(4, 3)), "logits")
odo.import_predictions(answers, np.array([0, 1, 2, 0]), store=folder, keep_logits=keep)
"""


def run(folder: Path, *words: str) -> int:
    return subprocess.run([sys.executable, "-c", IMPORT, str(folder), *words], check=False, timeout=120).returncode


@pytest.mark.parametrize("keep", ["summary", "logits"])
def test_a_killed_import_is_sealed_by_the_next(tmp_path: Path, keep: str) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    assert run(killed, "killed", keep) == -signal.SIGKILL
    store = odo.open_store(str(killed))
    (cell,) = store.cells()
    assert not store.is_sealed(cell)
    assert list(killed.glob("cells/*/parts/*.parquet"))
    assert run(killed, "again", keep) == run(whole, "undisturbed", keep) == 0
    assert store.is_sealed(cell)
    assert not list(killed.glob("cells/*/parts"))
    other = odo.open_store(str(whole))
    logits = keep == "logits"
    assert store.read(cell, logits=logits).rank.tolist() == other.read(cell, logits=logits).rank.tolist()
    assert store.has_logits(cell) == logits


def test_a_sealed_import_is_left_as_it_is(tmp_path: Path) -> None:
    assert run(tmp_path / "runs", "undisturbed", "logits") == 0
    times = {file: file.stat().st_mtime_ns for file in (tmp_path / "runs").rglob("*") if file.is_file()}
    assert run(tmp_path / "runs", "again", "logits") == 0
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "runs").rglob("*") if file.is_file()} == times
