"""``oodometer consistency`` as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from as_typed import oodometer
from known_stores import *  # noqa: F403


@pytest.fixture
def store(filled, make_dataset) -> str:
    data, rng = make_dataset(100, k=3), np.random.default_rng(0)
    for number in range(3):
        filled.add(data, (rng.random(100) < 0.3).astype(int), model=f"m{number}", digest=f"{number}" * 32)
    return str(filled.store)


def test_text_and_json_say_the_same(store: str, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("image,Ann\n" + "".join(f"{at:04d},{at % 3 if at % 5 else '-'}\n" for at in range(40)))
    result = oodometer("consistency", store, "--people", str(people))
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("clean on val: 3 models and 1 person, 100 images that all models saw\n")
    assert result.stderr == "intervals of pairs: bootstrap over images 95%, each by itself\n"
    found = json.loads(oodometer("consistency", store, "--people", str(people), "--json").stdout)
    assert len(found["pairs"]) == 6
    for pair in found["pairs"]:
        kappa = pair["kappa"]
        assert f"{kappa['value']:.4f} [{kappa['low']:.4f}, {kappa['high']:.4f}]" in result.stdout
    assert found["raters"][3] == {
        "name": "Ann", "is_person": True, "accuracy": found["raters"][3]["accuracy"],
    }  # fmt: skip
    assert found["raters"][3]["accuracy"]["value"] == 0.8


def test_errors(store: str) -> None:
    wrong = oodometer("consistency", store, "--on", "fog")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    wrong = oodometer("consistency", store, "--people", "nothing.csv")
    assert wrong.exit_code == 1
    assert wrong.stderr.startswith("Error: nothing.csv")
