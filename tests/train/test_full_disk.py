"""A training on a disk that is full or may not be written to: one line, and nothing half-written is left."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from oodometer.core.errors import ModelError
from oodometer.core.model import Compute
from oodometer.train.job import TrainingJob
from oodometer.train.recipe import Recipe
from oodometer.train.training import train
from real_disk import disk_in_memory


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """16 KiB of space: less than the checkpoint takes."""
    with disk_in_memory(tmp_path / "disk", "16k") as disk:
        yield disk


def job_on(disk: Path, dataset, net: str = "resnet8x0.25") -> TrainingJob:
    recipe = Recipe(net=net, epochs=1, batch=32, size=12)
    return TrainingJob(dataset, recipe, disk / "mine.onnx", compute=Compute(threads=1))


def failed(job: TrainingJob) -> str:
    with pytest.raises(ModelError) as caught:
        train(job)
    return str(caught.value)


END = "; make room or give another --out, and run the same command again"


def test_a_full_disk(tiny_disk: Path, make_quarters) -> None:
    job = job_on(tiny_disk, make_quarters())
    assert failed(job) == f"{job.checkpoint}: can't be written (No space left on device){END}"
    assert list(tiny_disk.iterdir()) == []


def test_a_folder_that_may_not_be_written_to(tiny_disk: Path, make_quarters) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    job = job_on(tiny_disk, make_quarters())
    assert failed(job) == f"{job.checkpoint}: can't be written (Read-only file system){END}"


def test_a_disk_that_fills_up_before_the_model_is_written(tmp_path: Path, make_quarters, monkeypatch) -> None:
    job = job_on(tmp_path, make_quarters(), net="nearest")  # which has no checkpoints

    def full(self: Path, content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert failed(job) == f"{job.out}: can't be written (No space left on device){END}"
    assert [path.name for path in tmp_path.iterdir()] == ["quarters.npz"]
