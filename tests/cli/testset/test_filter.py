"""``oodometer testset pool`` and ``filter``: from a pool to a shortlist, with models that are run on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from as_typed import oodometer
from made_testset import made_project
from oodometer.build.testset.project.exclusions import exclusions
from oodometer.build.testset.project.project import open_project

MODEL = """
import numpy as np

WEIGHTS = np.random.default_rng(5).normal(0, 3, (27, 3))


def sometimes(images):
    parts = images[:, :27, :27].reshape(-1, 3, 9, 3, 9, 3).mean(axis=(2, 4)).reshape(-1, 27) / 255
    return ((parts - 0.6) @ WEIGHTS).astype(np.float32)
"""
N = 60
RUN = ("run", "--model", "net=callable:pool_models:sometimes", "--size", "28", "--resize", "squash", "--store", "runs")


@pytest.fixture
def birds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "pool_models.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    made_project(tmp_path / "birds", candidates=N // 3, originals=1).close()
    return "birds"


def test_from_a_pool_to_a_shortlist(birds: str):
    written = oodometer("testset", "pool", birds)
    assert written.stdout == f"birds/pool.csv: {N} candidates\n"
    assert "oodometer run --data birds/pool.csv --defence each-crop" in written.stderr
    ran = oodometer(*RUN, "--data", "birds/pool.csv", "--defence", "each-crop")
    assert ran.exit_code == 0, ran.stderr

    found = oodometer("testset", "filter", birds, "--store", "runs", "--rule", "imagenet-a", "--per-confusion", 5)
    assert found.exit_code == 0, found.stderr
    lines = found.stdout.splitlines()
    assert lines[0] == "imagenet-a, by net:"
    assert lines[1].split() == [str(N), "candidates"]
    n_left = int(lines[-2].split()[0])
    assert lines[-1] == f"{N - n_left} taken out now, 0 taken back"
    with open_project(birds) as project:
        assert len(exclusions(project)) == N - n_left
    undone = oodometer("testset", "filter", birds, "--undo")
    assert undone.stdout == f"imagenet-a: {N - n_left} candidates are in again\nimagenet-o: 0 candidates are in again\n"
    oodometer("testset", "filter", birds, "--store", "runs", "--rule", "imagenet-a", "--per-confusion", 5)
    without = oodometer("testset", "filter", birds, "--store", "runs")
    assert (without.exit_code, "say by which rule" in without.stderr) == (2, True)

    again = oodometer("testset", "filter", birds, "--store", "runs", "--rule", "imagenet-a", "--per-confusion", 5)
    assert again.stdout.splitlines()[-1] == "nothing new"
    near = oodometer("testset", "filter", birds, "--store", "runs", "--rule", "imagenet-a", "--groups", "0.2")
    assert near.exit_code == 1
    assert "--groups 0.2 needs answers about the original images" in near.stderr
    told = oodometer("testset", "filter", birds, "--store", "runs", "--rule", "imagenet-a", "--json")
    said = json.loads(told.stdout)
    assert said["funnel"][0] == ["candidates", N]
    assert (len(said["left"]), said["by_crop"]) == (said["funnel"][-1][1], ["net"])
    undone = oodometer("testset", "filter", birds, "--rule", "imagenet-a", "--undo")
    assert undone.stdout == f"imagenet-a: {N - len(said['left'])} candidates are in again\n"


def test_images_of_no_known_class(birds: str, photos: Path):
    oodometer("testset", "pool", birds)
    (photos / "red").rename(photos.parent / "red")  # the model has three classes
    ran = oodometer(*RUN, "--data", "val", "--ood", "birds/pool.csv")
    assert ran.exit_code == 0, ran.stderr
    words = ("testset", "filter", birds, "--store", "runs", "--rule", "imagenet-o")
    refused = oodometer(*words)
    assert refused.exit_code == 2
    assert "imagenet-o needs to know what counts as confident: --at-least" in refused.stderr
    found = json.loads(oodometer(*words, "--at-least", "0.7", "--json").stdout)
    assert 0 < found["funnel"][-1][1] < N
    unlabelled = oodometer("testset", "filter", birds, "--store", "runs", "--rule", "imagenet-a")
    assert unlabelled.exit_code == 1
    assert "without its class" in unlabelled.stderr
