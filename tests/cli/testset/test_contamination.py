"""``oodometer testset contamination``: of any data set, and of a project in which pairs were judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from as_typed import oodometer
from made_testset import made_project
from oodometer.build.testset.project.close_pairs import find_duplicates, judge_pair
from oodometer.build.testset.project.pair_list import PairFilter, listed_pairs
from oodometer.build.testset.project.pool import pool_images
from oodometer.build.testset.project.project import open_project

MODEL = """
import numpy as np

COLOURS = np.array([(40, 60, 200), (40, 180, 60), (128, 128, 128), (210, 50, 40)], dtype=float)


def good(images):
    means = images.reshape(len(images), -1, 3).mean(axis=1)
    return -((means[:, None, :] - COLOURS) ** 2).sum(axis=2) / 1000


def three(images):
    return good(images)[:, :3]
"""
RUN = ("run", "--size", "32", "--resize", "squash", "--store", "runs", "--accept-preflight")


@pytest.fixture
def workplace(photos: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (photos.parent / "four_colours.py").write_text(MODEL)
    monkeypatch.chdir(photos.parent)
    monkeypatch.syspath_prepend(str(photos.parent))
    return photos.parent


def test_of_any_data(workplace: Path):
    oodometer(*RUN, "--model", "mine=callable:four_colours:good", "--data", "val")
    (workplace / "pairs.csv").write_text("id,other\nred/1,train/5\nblue/3,train/9\ngreen/99,train/9\n")
    words = ("testset", "contamination", "val", "--store", "runs", "--duplicates", "pairs.csv")
    found = oodometer(*words)
    assert found.exit_code == 0, found.stderr
    assert found.stdout.splitlines()[0] == "2 of 40 images have a near-duplicate"
    # scipy.stats.binomtest(40, 40).proportion_ci(): [91.2, 100.0]; (38, 38): [90.7, 100.0]
    assert "mine  100.0 [91.2, 100.0]  100.0 [90.7, 100.0]" in found.stdout
    assert "1 images with a duplicate are not in val, such as green/99" in found.stderr
    said = json.loads(oodometer(*words, "--json").stdout)
    assert said["models"][0]["found"]["over_others"]["n"] == 38
    refused = oodometer("testset", "contamination", "val", "--store", "runs")
    assert refused.exit_code == 2
    assert "--duplicates: give a table of pairs (CSV), or a project" in refused.stderr


def test_of_a_project(workplace: Path):
    with made_project(workplace / "birds", candidates=8, originals=2) as project:
        train = workplace / "train" / "owl"
        train.mkdir(parents=True)
        for one in [one for one in pool_images(project, role="candidate") if one.class_name == "owl"][:3]:
            (train / f"{one.key}.png").write_bytes((project.folder / "images" / one.file).read_bytes())
        find_duplicates(project, [str(workplace / "train")], metrics=["pixels"])
    oodometer("testset", "pool", "birds")
    ran = oodometer(*RUN, "--model", "three=callable:four_colours:three", "--data", "birds/pool.csv")
    assert ran.exit_code == 0, ran.stderr
    words = ("testset", "contamination", "birds", "--store", "runs", "--json")
    nobody = oodometer(*words)
    assert nobody.exit_code == 1
    assert "no pair with another set was judged a near-duplicate" in nobody.stderr
    with open_project("birds") as project:
        pairs, _ = listed_pairs(project, PairFilter(metric="pixels"))
        for pair in pairs:
            if pair.against and pair.distances["pixels"] == 0:
                judge_pair(project, pair.id, "duplicate", by="somebody")
    found = json.loads(oodometer(*words).stdout)
    assert (found["n_images"], found["n_duplicates"]) == (24, 3)
    assert found["models"][0]["model"] == "three"
    wrong = oodometer(*words, "--against", "elsewhere")
    assert "no pair with elsewhere was judged a near-duplicate; there are pairs with" in wrong.stderr
