"""``oodometer run --within``, ``--until`` and ``--plan`` as a person types them, and killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import oodometer as odo
from as_typed import oodometer
from oodometer.store.index import index_at, look
from watching import wait_for_parts

N = 2000
MODELS = """
import time
import numpy as np

def half(images):
    "Right on 70 of 100 images: those whose second pixel says so."
    logits = np.zeros((len(images), 4), dtype=np.float32)
    said = (images[:, 0, 0, 0].round() + (images[:, 0, 1, 0] >= 70)).astype(int) % 4
    logits[np.arange(len(images)), said] = 1
    return logits

def slow(images):
    time.sleep(0.004 * len(images))
    return half(images)
"""


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with 2,000 images in numbers.npz, and models in sampled_models.py."""
    images = np.zeros((N, 8, 8, 3), dtype=np.uint8)
    labels = np.arange(N) % 4
    images[:, 0, 0] = labels[:, None]
    images[:, 0, 1] = np.random.default_rng(0).integers(100, size=(N, 1))
    images[:, 1, 0], images[:, 1, 1] = np.arange(N)[:, None] % 256, np.arange(N)[:, None] // 256
    np.savez(tmp_path / "numbers.npz", images=images, labels=labels)
    (tmp_path / "sampled_models.py").write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def words_for(model: str, *more: str) -> tuple[str, ...]:
    return "run", "--model", f"callable:sampled_models:{model}", "--data", "numbers.npz", "--size", "8", *more


def value_in(text: str) -> tuple[float, float, float, int]:
    """Value, interval and n of a printed line."""
    _, value, low, high, n = text.replace("[", "").replace("]", "").replace(",", "").rsplit(maxsplit=4)
    return float(value), float(low), float(high), int(n.removeprefix("n="))


def test_a_planned_run_says_what_it_measured(workplace: Path) -> None:
    result = oodometer(*words_for("half", "--within", "0.05", "--store", "runs"))
    assert result.exit_code == 0, result.stderr
    value, low, high, n = value_in(result.stdout)
    assert n == 402  # as tests/stats/test_images_for_width.py has it
    assert (high - low) / 2 <= 0.05
    assert abs(value - 0.7) < 0.08
    assert look(odo.open_store("runs")).cells[0].data.title == "numbers[402 of 2000 at random, seed 0]"


def test_a_run_until_it_is_sure_goes_on_where_it_was(workplace: Path) -> None:
    first = value_in(oodometer(*words_for("half", "--until", "0.06", "--store", "runs")).stdout)
    second = oodometer(*words_for("half", "--until", "0.04", "--store", "runs"))
    _, low, high, n = value_in(second.stdout)
    assert n > first[3]
    assert (high - low) / 2 <= 0.04
    assert low <= 0.7 + 0.03
    assert high >= 0.7 - 0.03
    assert "nothing new" not in second.stderr
    assert "nothing new" in oodometer(*words_for("half", "--until", "0.04", "--store", "runs")).stderr
    score = json.loads(oodometer("score", "runs", "--json").stdout)
    assert score[0]["estimate"]["interval"] == "betting, of 2000 images, 95%"


def test_a_plan_is_told_before_anything_is_asked(workplace: Path) -> None:
    result = oodometer(*words_for("half", "--within", "0.05", "--plan", "--store", "runs"))
    assert result.exit_code == 0, result.stderr
    assert "402 of 2,000" in result.stdout
    assert "1 model: 402 forward passes of 2,000, about" in result.stdout
    assert "± 0.05 at 95 %" in result.stdout
    assert not Path("runs").exists()
    plan = json.loads(oodometer(*words_for("half", "--until", "0.05", "--plan", "--json")).stdout)
    assert (plan["rule"], plan["width"], plan["models"]) == ("until", 0.05, 1)
    assert 402 < plan["numbers"][0]["images"] < 1200, "looking at any time has its price"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--within", "0.05", "--until", "0.05"), "--within and --until: give one of them"),
        (("--plan",), "--plan goes with --within WIDTH or --until WIDTH"),
        (("--control", "a"), "--control goes with --within WIDTH or --until WIDTH"),
        (("--within", "0.05", "--images", "100"), "--images: how many there are is what --within and --until decide"),
        (("--within", "5"), "an interval of ± 5: must lie between 0 and 0.5"),
        (("--until", "0.05", "--control", "a"), "a control goes with an interval that is planned"),
    ],
)
def test_flags_that_contradict_each_other_are_refused(workplace: Path, flags: tuple[str, ...], said: str) -> None:
    result = oodometer(*words_for("half", *flags, "--store", "runs"))
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.slow
def test_killed_between_two_looks_the_same_command_ends_with_the_same_sample(workplace: Path) -> None:
    words = [sys.executable, "-m", "oodometer", *words_for("slow", "--until", "0.05", "--chunk", "40")]
    subprocess.run([*words, "--store", "undisturbed"], check=True, capture_output=True)
    for parts in (2, 5):
        process = subprocess.Popen([*words, "--store", "runs"], env=os.environ, stderr=subprocess.DEVNULL)
        wait_for_parts(Path("runs"), parts)
        process.send_signal(signal.SIGKILL)
        assert process.wait() != 0
    subprocess.run([*words, "--store", "runs"], check=True, capture_output=True)
    (one,), (other,) = index_at("undisturbed").cells, index_at("runs").cells
    assert (one.data, one.n_images) == (other.data, other.n_images)
    assert index_at("undisturbed").images(one).ids.tolist() == index_at("runs").images(other).ids.tolist()
    scores = [odo.score(store, metrics=["top-1"]).rows[0].estimate for store in ("undisturbed", "runs")]
    assert scores[0] == scores[1]


def test_the_report_says_how_to_draw_the_sample_again(workplace: Path) -> None:
    oodometer(*words_for("half", "--until", "0.06", "--seed", "3", "--store", "runs"))
    result = oodometer("report", "runs", "-o", "report.html")
    assert result.exit_code == 0, result.stderr
    page = Path("report.html").read_text()
    assert "--until 0.06" in page
    assert "--seed 3" in page
