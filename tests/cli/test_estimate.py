"""``oodometer estimate``: what it prints, as text and as JSON, and how it fails."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from PIL import Image

import oodometer as odo
from made_unlabelled import made_answers
from oodometer.cli.main import main

K, N = 5, 300


def filled(folder: Path, n_models: int, *, only_classes: bool = False) -> str:
    """A store with labelled answers on ``val``, and answers on ``street`` whose labels nobody knows."""
    where, rng = str(folder / "runs"), np.random.default_rng(0)
    for seed, (name, harder) in enumerate((("val", 0.0), ("street", 0.6))):
        truth = rng.integers(K, size=N)
        made = made_answers(truth, K, np.linspace(0.0, 1.0, n_models), harder=harder, seed=seed)
        (folder / "labels.txt").write_text("\n".join(str(label if name == "val" else -1) for label in truth))
        (folder / "ids.txt").write_text("\n".join(f"{name}-{place}" for place in range(N)))
        for model in range(n_models):
            logits = np.zeros((N, K))
            logits[np.arange(N), made.prediction[model]] = made.strength[model]
            np.save(folder / f"m{model}.npy", made.prediction[model][:, None] if only_classes else logits)
        about = ("--labels", f"{folder}/labels.txt", "--ids", f"{folder}/ids.txt", "--n-classes", str(K))
        result = run("import", f"{folder}/m*.npy", *about, "--data", name, "--store", where)
        assert result.exit_code == 0, result.stderr
    return where


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


@pytest.fixture
def store(tmp_path: Path) -> str:
    return filled(tmp_path, 6)


def test_a_line_for_each_model_and_method(store: str) -> None:
    result = run("estimate", store, "--clean", "val", "--shifted", "street")
    assert result.exit_code == 0, result.stderr
    head, columns, *lines = result.stdout.splitlines()
    assert head == "clean@street (n=300) without labels, from clean@val"
    assert columns.split() == ["model", "clean", "method", "estimate", "expected", "error"]
    assert len(lines) == 6 * 5
    assert lines[0].split()[0] == "m0"
    assert [line.split()[0] for line in lines[1:5]] == [
        "aline-d",
        "atc-confidence",
        "atc-entropy",
        "confidence-difference",
    ]
    assert all("not known" in line for line in lines)  # no other shift with labels tells how far off they are
    assert "intervals are over images: they hold what a method would say of very many" in result.stderr


def test_json_is_the_same_as_in_python(store: str) -> None:
    result = run("estimate", store, "--shifted", "street", "--method", "aline-s", "--json")
    assert json.loads(result.stdout) == json.loads(
        json.dumps(odo.estimate_without_labels(store, "street", methods=["aline-s"]).as_json())
    )
    assert result.exit_code == 0


def test_only_the_methods_that_are_asked_for(store: str) -> None:
    result = run("estimate", store, "--shifted", "street", "--method", "atc-entropy", "--method", "aline-d", "--json")
    assert [row["method"] for row in json.loads(result.stdout)["rows"]] == ["atc-entropy", "aline-d"] * 6


def test_classes_alone_leave_agreement(tmp_path: Path) -> None:
    result = run("estimate", filled(tmp_path, 3, only_classes=True), "--shifted", "street")
    assert result.exit_code == 0
    assert "left out: atc-confidence: no confidence of the answers is stored, only the classes" in result.stderr
    assert "warning: aline-s, aline-d: the line goes through the pairs of 3 models only" in result.stderr
    assert len(result.stdout.splitlines()) == 2 + 3 * 2


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (("--shifted", "strasse"), 2, "nothing was run on 'strasse'; known: street, val"),
        (("--shifted", "street", "--method", "doc"), 2, "no method named 'doc'; known: aline-d, aline-s"),
        (("--shifted", "street", "--method", "aline-s"), 1, "2 models were run on both sides, and a line through"),
        (("--shifted", "street", "--clean", "street"), 1, "the images of street have no labels"),
        (("--shifted", "street", "--level", "95"), 2, "level 95.0: must lie between 0 and 1"),
    ],
)
def test_errors_are_one_line(tmp_path: Path, words: tuple[str, ...], code: int, line: str) -> None:
    result = run("estimate", filled(tmp_path, 2), *words)
    assert result.exit_code == code
    assert result.stdout == ""
    assert line in result.stderr
    assert len([one for one in result.stderr.splitlines() if one.startswith("Error: ")]) == 1


def test_images_without_labels_are_run_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(4):
        Image.new("RGB", (32, 32), (60 * number, 0, 0)).save(tmp_path / f"{number}.png")
    (tmp_path / "sees_red.py").write_text(
        "import numpy as np\ndef red(images):\n    return np.eye(3, dtype=np.float32)[[0] * len(images)]\n"
    )
    words = ("--model", "callable:sees_red:red", "--size", "32", "--store", str(tmp_path / "runs"))
    result = run("run", *words, "--data", str(tmp_path), "--data-kind", "images")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    title = tmp_path.name
    assert f"left out: {title}: no labels, so no accuracy; 'estimate --shifted {title}' estimates it" in result.stderr
