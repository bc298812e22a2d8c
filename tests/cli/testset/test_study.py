"""``oodometer testset splits`` and ``study``, with models that are really trained."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from as_typed import oodometer
from made_study import Studied, studied_birds
from oodometer.build.testset.release.write import ReleaseOptions, write_release


@pytest.fixture(scope="module")
def birds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studied]:
    with studied_birds(tmp_path_factory.mktemp("study")) as studied:
        yield studied


def test_the_tables_of_a_project(birds, tmp_path):
    words = ("testset", "study", birds.project.folder, "--store", birds.store)
    found = oodometer(*words, "--discriminator", "pixels", "--hardest", 3, "--shares", tmp_path / "shares.csv")
    assert found.exit_code == 0, found.stderr
    heads = [line for line in found.stdout.splitlines() if line and not line.startswith(" ")]
    for caption in (
        "Accuracy on original (45 images) and birds, revision 4 (24 images)",
        "What the last revision of each sampling strategy loses; mean selection frequency of the original images 0.99",
        "Accuracy at each revision",
        "Accuracy by selection frequency: birds, revision 4",
        "Accuracy by selection frequency: original",
        "How often a classifier tells birds, revision 4 from original",
        "The hardest images: birds, revision 4",
        "The hardest images: original",
    ):
        assert caption in heads
    assert f"{tmp_path / 'shares.csv'}: for oodometer testset quiz" in found.stderr
    said = json.loads(oodometer(*words, "--json").stdout)
    assert [one["strategy"] for one in said["strategies"]][:2] == ["matched-frequency", "threshold"]
    assert said["drops"][0]["change"]["interval"] == "newcombe 95%"


def test_errors_say_what_to_do(birds):
    refused = oodometer("testset", "study", birds.project.folder, "--store", birds.store, "--original", birds.val)
    assert refused.exit_code == 2
    assert "--original is for a release; a project has its original images" in refused.stderr
    neither = oodometer("testset", "splits", birds.val, "-o", "out")
    assert neither.exit_code == 2
    assert "give --half or --folds K, one of the two" in neither.stderr
    without = oodometer("testset", "splits", birds.val, "-o", "out", "--folds", 2)
    assert "--folds needs the original test set: --original ADDRESS" in without.stderr


@pytest.mark.slow
def test_training_on_splits(birds, tmp_path, monkeypatch):
    """From a release to splits, trained models, a run on what is held out, and the table."""
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    write_release(birds.project, tmp_path / "v1", ReleaseOptions(allow_simulated=True))
    written = oodometer("testset", "splits", "v1", "--half", "--draws", 1, "--train", birds.val, "-o", "splits")
    assert written.stdout == "half-1: 57 images to train on, 12 held out\n"
    assert "oodometer train splits/half-1-train.csv --net NET -o half-1.onnx" in written.stderr
    for data, out in (("splits/half-1-train.csv", "half-1.onnx"), (birds.val, "before.onnx")):
        trained = oodometer("train", data, "--net", "linear", "--epochs", 2, "--size", 16, "-o", out)
        assert trained.exit_code == 0, trained.stderr
    models = ("--model", "half-1.onnx", "--model", "before.onnx")
    ran = oodometer(*("run", *models, "--data", "splits/half-1-test.csv", "--store", "runs", "--accept-preflight"))
    assert ran.exit_code == 0, ran.stderr
    oodometer(*("run", *models, "--data", "v1", "--store", "runs", "--accept-preflight"))
    found = oodometer(
        *("testset", "study", "v1", "--store", "runs", "--splits", "splits", "--models", "before", "--json")
    )
    assert found.exit_code == 0, found.stderr
    rows = json.loads(found.stdout)["held_out"]["rows"]
    assert [(row["split"], row["model"], row["trained_on_it"]) for row in rows] == [
        ("half-1", "before", False),
        ("half-1", "half-1", True),
    ]
    assert {row["accuracy"]["n"] for row in rows} == {12}
    table = oodometer("testset", "study", "v1", "--store", "runs", "--splits", "splits")
    assert "Accuracy on held-out images" in table.stdout
    assert Path("splits/splits.json").exists()
