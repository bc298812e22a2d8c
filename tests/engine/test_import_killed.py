"""An import that is killed between writing and sealing: the same import again seals what is there."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import oodometer as odo
from oodometer.store.index import look

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
    (cell,) = look(store).cells
    assert not look(store).is_complete(cell)
    assert list(killed.glob("cells/*/parts/*.parquet"))
    assert run(killed, "again", keep) == run(whole, "undisturbed", keep) == 0
    assert look(store).is_complete(cell)
    assert not list(killed.glob("cells/*/parts"))
    other = odo.open_store(str(whole))
    logits = keep == "logits"
    assert store.read(cell, logits=logits).rank.tolist() == other.read(cell, logits=logits).rank.tolist()
    assert look(store).entry(cell).has_logits == logits


def test_a_sealed_import_is_left_as_it_is(tmp_path: Path) -> None:
    assert run(tmp_path / "runs", "undisturbed", "logits") == 0
    times = times_of(tmp_path / "runs")
    assert run(tmp_path / "runs", "again", "logits") == 0
    assert times_of(tmp_path / "runs") == times


def times_of(store: Path) -> dict[Path, int]:
    """When each file was written; the index is not part of what is kept."""
    files = [file for file in store.rglob("*") if file.is_file() and not file.name.startswith("index.")]
    return {file: file.stat().st_mtime_ns for file in files}
