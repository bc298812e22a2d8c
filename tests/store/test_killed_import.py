"""Imports that are really killed, at any moment: the same import finishes them, and no byte differs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from oodometer.store.files import ASIDE

pytestmark = pytest.mark.slow

N_KILLS, SEED = 20, 3
N_IMAGES, N_CLASSES = 20_000, 100
MODELS, CONDITIONS = 60, 30


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """Predictions whose logits are 4 MB as float16, and a table of 1,800 accuracies."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "answers.npy", rng.normal(0, 1, (N_IMAGES, N_CLASSES)).astype(np.float32))
    np.save(tmp_path / "labels.npy", rng.integers(0, N_CLASSES, N_IMAGES))
    (tmp_path / "ids.txt").write_text("\n".join(f"image-{number:06d}" for number in range(N_IMAGES)))
    lines = [
        f"m{model},c{condition},{rng.uniform():.4f},5000" for model in range(MODELS) for condition in range(CONDITIONS)
    ]
    (tmp_path / "table.csv").write_text("\n".join(["model,condition,accuracy,n", *lines]))
    return tmp_path


PREDICTIONS = ("answers.npy", "--labels", "labels.npy", "--ids", "ids.txt", "--model", "elsewhere", "--keep", "logits")
TABLE = ("table.csv",)


def start(workplace: Path, store: Path, what: tuple[str, ...]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "oodometer", "import", *what, "--store", str(store)]
    return subprocess.Popen(command, cwd=workplace, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def seconds_of_writing(process: subprocess.Popen[bytes], store: Path) -> float:
    """From the store's first file to the end; the process is waited for."""
    wait_for_store(process, store)
    begun = time.perf_counter()
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    return time.perf_counter() - begun


def wait_for_store(process: subprocess.Popen[bytes], store: Path) -> None:
    while not store.exists() and process.poll() is None:
        time.sleep(0.0005)


def kept(store: Path) -> dict[str, bytes]:
    """The bytes of every file; what was left aside by a kill is not part of the store, nor is a cache."""
    files = [path for path in sorted(store.rglob("*")) if path.is_file() and path.parent.name != ASIDE]
    return {path.relative_to(store).as_posix(): path.read_bytes() for path in files if "index" not in path.name}


@pytest.mark.parametrize("what", [PREDICTIONS, TABLE], ids=["predictions", "table"])
def test_a_killed_import_is_finished_by_the_same_import(workplace: Path, what: tuple[str, ...]) -> None:
    undisturbed = workplace / "undisturbed"
    seconds = seconds_of_writing(start(workplace, undisturbed, what), undisturbed)
    rng, n_unfinished = np.random.default_rng(SEED), 0
    for number in range(N_KILLS // 2):
        store = workplace / f"runs-{number}"
        process = start(workplace, store, what)
        wait_for_store(process, store)
        time.sleep(rng.uniform(0, seconds))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        n_unfinished += kept(store) != kept(undisturbed)
        again = start(workplace, store, what)
        _, stderr = again.communicate(timeout=120)
        assert again.returncode == 0, stderr
        assert kept(store) == kept(undisturbed), f"kill {number}"
    assert os.path.exists(undisturbed / "oodometer.json")
    assert n_unfinished >= 2, "most kills came too late to prove anything"
