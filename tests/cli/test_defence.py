"""``oodometer run --defence``: the bare model and the defended one side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from as_typed import oodometer

COLOURS = """
import numpy as np

COLOURS = np.array([(40, 60, 200), (40, 180, 60), (128, 128, 128), (210, 50, 40)], dtype=float)

def good(images):
    means = images.reshape(len(images), -1, 3).mean(axis=1)
    return -((means[:, None, :] - COLOURS) ** 2).sum(axis=2) / 1000
"""


@pytest.fixture
def workplace(photos: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (photos.parent / "colour_models.py").write_text(COLOURS)
    monkeypatch.chdir(photos.parent)
    monkeypatch.syspath_prepend(str(photos.parent))
    return photos.parent


@pytest.mark.usefixtures("workplace")
def test_run_with_and_without_a_defence():
    words = ("run", "--model", "mine=callable:colour_models:good", "--data", "val", "--size", "32", "--store", "runs")
    result = oodometer(*words, "--defence", "none", "--defence", "ten-crop")
    assert result.exit_code == 0, result.stderr
    # Every photograph is of one colour, and so is every crop of it; scipy.stats.binomtest(40, 40).proportion_ci()
    assert result.stdout.splitlines() == [
        "mine           clean  top-1  1.0000 [0.9119, 1.0000]  n=40",
        "mine+ten-crop  clean  top-1  1.0000 [0.9119, 1.0000]  n=40",
    ]
    again = oodometer(*words, "--defence", "ten-crop")
    assert "nothing new to do" in again.stderr


@pytest.mark.usefixtures("workplace")
def test_run_crop_by_crop():
    words = ("run", "--model", "mine=callable:colour_models:good", "--data", "val", "--size", "32", "--store", "runs")
    result = oodometer(*words, "--defence", "each-crop")
    assert result.exit_code == 0, result.stderr
    names = {line.split()[0] for line in result.stdout.splitlines()}
    assert names == {f"mine+crop-{at}" for at in range(1, 11)}


@pytest.mark.usefixtures("workplace")
def test_what_is_no_defence_is_wrong_usage():
    words = ("run", "--model", "callable:colour_models:good", "--data", "val", "--size", "32")
    refused = oodometer(*words, "--defence", "ten-crops")
    assert refused.exit_code == 2
    assert "no defence named 'ten-crops'; did you mean ten-crop?" in refused.stderr
