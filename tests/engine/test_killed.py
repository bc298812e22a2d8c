"""Real processes that are really killed, interrupted, or run at the same time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import oodometer as odo
from oodometer.store.index import look
from watching import wait_for_parts

SLOW_MODEL = """
import time
import numpy as np

def answer(images):
    time.sleep(0.02 * len(images))
    means = images.reshape(len(images), -1, 3).mean(axis=1)
    return np.concatenate([means, means.mean(axis=1, keepdims=True)], axis=1)
"""


def start(photos: Path, store: Path, *more: str) -> subprocess.Popen[str]:
    (photos.parent / "slow_model.py").write_text(SLOW_MODEL)
    command = [sys.executable, "-m", "oodometer", "run", "--model", "callable:slow_model:answer", "--data", str(photos)]
    options = ["--size", "32", "--store", str(store), "--chunk", "2", *more]
    return subprocess.Popen(
        command + options,
        cwd=photos.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
        preexec_fn=heed_interrupts,
    )


def heed_interrupts() -> None:
    """What a shell starts in the background ignores interrupts, and so do its children: these tests may be such."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def finished(process: subprocess.Popen[str], code: int) -> tuple[str, str]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, err
    return out, err


def rows_of(store: Path) -> odo.Predictions:
    opened = odo.open_store(str(store))
    (cell,) = look(opened).cells
    return opened.read(cell)


def assert_same(one: Path, other: Path) -> None:
    left, right = rows_of(one), rows_of(other)
    for column in fields(odo.Predictions):
        np.testing.assert_array_equal(getattr(left, column.name), getattr(right, column.name))


@pytest.fixture
def undisturbed(photos: Path, tmp_path: Path) -> Path:
    finished(start(photos, tmp_path / "undisturbed"), 0)
    return tmp_path / "undisturbed"


@pytest.mark.slow
def test_killed_in_mid_run_the_same_command_finishes_with_the_same_result(
    photos: Path, tmp_path: Path, undisturbed: Path
) -> None:
    store = tmp_path / "runs"
    for parts in (3, 7):
        process = start(photos, store)
        wait_for_parts(store, parts)
        process.send_signal(signal.SIGKILL)
        finished(process, -signal.SIGKILL)
    done = sum(1 for _ in store.glob("cells/*/parts/*.parquet"))
    assert 7 <= done < 20
    out, _ = finished(start(photos, store), 0)
    assert "n=40" in out
    assert_same(store, undisturbed)
    assert not list(store.glob("**/parts")), "a finished cell has no parts left"


@pytest.mark.slow
def test_interrupted_it_says_how_to_go_on_and_does(photos: Path, tmp_path: Path, undisturbed: Path) -> None:
    store = tmp_path / "runs"
    process = start(photos, store)
    wait_for_parts(store, 3)
    process.send_signal(signal.SIGINT)
    _, err = finished(process, 130)
    assert "what is finished is kept: run the same command again" in err
    assert "Traceback" not in err
    finished(start(photos, store), 0)
    assert_same(store, undisturbed)


@pytest.mark.slow
def test_two_runs_at_once_write_one_store_without_harm(photos: Path, tmp_path: Path, undisturbed: Path) -> None:
    store = tmp_path / "runs"
    both = [start(photos, store), start(photos, store, "--chunk", "3")]
    for process in both:
        finished(process, 0)
    assert_same(store, undisturbed)
    finished(start(photos, store), 0)
    assert_same(store, undisturbed)
