"""``oodometer testset duplicates``, on images that were made and copied."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from PIL import Image

from as_typed import oodometer
from made_duplicates import KINDS
from made_testset import ClassEntry
from oodometer.build.testset.project.project import new_project
from oodometer.build.testset.stored_contamination import read_duplicates
from oodometer.core.random import rng_for
from oodometer.corruptions.sample_image import sample_image

N = 12


@pytest.fixture
def sets(tmp_path):
    """A pool of 12 pictures, and a training set of 12 others and a copy of each kind of the first five."""
    for name, seed in (("pool", 0), ("train", 500)):
        (tmp_path / name / "owl").mkdir(parents=True)
        for place in range(N):
            pixels = sample_image(64, 80, seed=seed + place)
            Image.fromarray(pixels).save(tmp_path / name / "owl" / f"{place:02}.png")
    for place, (kind, make) in enumerate(KINDS.items()):
        copy = make(sample_image(64, 80, seed=place), rng_for("copy", place))
        Image.fromarray(np.ascontiguousarray(copy)).save(tmp_path / "train" / "owl" / f"{kind}.png")
    return tmp_path


@pytest.fixture
def project(sets):
    new_project(sets / "birds", classes=[ClassEntry("owl", "owl")], name="birds").close()
    assert oodometer("testset", "add", sets / "birds", sets / "pool").exit_code == 0
    return sets / "birds"


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


EXPECTED = {(f"owl/{place:02}", f"owl/{kind}") for place, kind in enumerate(KINDS)}  # by construction


def test_a_search_judging_by_table_and_what_it_is_good_for(project, sets):
    table = sets / "pairs.csv"
    result = oodometer("testset", "duplicates", project, "--against", sets / "train", "--pairs", table)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "5 of 5 pairs of images below a threshold are to be looked at"
    assert "next: oodometer testset serve" in result.stderr
    rows = rows_of(table)
    copies = {second for _, second in EXPECTED}
    assert {row["second"] for row in rows} >= copies
    for row in rows:
        row["verdict"] = "duplicate" if row["second"] in copies else "different"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    result = oodometer("testset", "duplicates", project, "--verdicts", table, "--json")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert (told["to look at"], "found" in told) == (0, False)
    assert sum(counts.get("duplicate", 0) for counts in told["verdicts"].values()) >= 5
    assert len(read_duplicates(str(table))) == len(EXPECTED)


def test_a_second_search_adds_nothing_and_keeps_what_people_said(project, sets):
    words = ("testset", "duplicates", project, "--against", sets / "train")
    first = json.loads(oodometer(*words, "--json").stdout)
    assert first["added"] > 0
    table = sets / "pairs.csv"
    assert oodometer(*words[:3], "--judge", "1=different", "--pairs", table).exit_code == 0
    again = json.loads(oodometer(*words, "--json").stdout)
    assert again["added"] == 0
    assert again["found"] == first["found"]
    assert {row["verdict"] for row in rows_of(table) if row["pair"] == "1"} == {"different"}
    assert again["to look at"] == first["to look at"] - 1


def test_a_threshold_of_the_project_says_how_many_are_looked_at(project, sets):
    assert oodometer("testset", "duplicates", project, "--against", sets / "train").exit_code == 0
    for radius, n in ((1e-9, 1), (0, 0)):  # the mirrored copy is the same to the last bit; 0 leaves every pair in
        given = [f"--threshold={metric}={radius}" for metric in ("structure", "crops", "pixels")]
        result = oodometer("testset", "duplicates", project, *given, "--json")
        assert json.loads(result.stdout)["to look at"] == n


def test_any_two_data_sets(sets):
    table = sets / "pairs.csv"
    result = oodometer("testset", "duplicates", sets / "pool", "--against", sets / "train", "--pairs", table, "--json")
    assert result.exit_code == 0
    close = {
        (row["first"], row["second"])
        for row in rows_of(table)
        if float(row["distance"]) <= {"pixels": 0.05, "structure": 0.2828, "crops": 0.3}[row["metric"]]
    }
    assert close == EXPECTED
    assert {row["against"] for row in rows_of(table)} == {str(sets / "train")}
    assert not any(row["verdict"] for row in rows_of(table))


def test_inside_one_data_set_by_one_metric_within_a_radius(sets):
    result = oodometer("testset", "duplicates", sets / "train", "--metrics", "pixels", "--within", "0.01")
    assert result.exit_code == 0
    assert result.stdout == "itself: 0 by pixels\n0 pairs of images\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--metrics", "pixel"], "did you mean pixels"),
        (["--neighbours", "0"], "--neighbours 0: at least 1"),
        (["--within", "-1"], "a distance is a number of at least 0"),
        (["--within", "nan"], "a distance is a number of at least 0"),
        (["--judge", "1"], "expected the number of a pair and a verdict, such as 12=duplicate"),
        (["--judge", "1=same"], "no verdict 'same'"),
        (["--judge", "9999=duplicate"], "pair 9999: there is no such pair"),
        (["--threshold", "pixels"], "expected a metric and a distance"),
        (["--threshold", "pixles=0.1"], "did you mean pixels"),
        (["--judge", "1=duplicate", "--neighbours", "3"], "give them without a search"),
        (["--against", "nowhere"], "nowhere: no such file or folder"),
    ],
)
def test_what_is_typed_wrongly(project, words, message):
    result = oodometer("testset", "duplicates", project, *words)
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert result.stdout == ""


def test_verdicts_without_a_project_are_an_error(sets):
    result = oodometer("testset", "duplicates", sets / "pool", "--judge", "1=duplicate")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "are for a project" in result.stderr


def test_a_table_that_says_two_things_of_a_pair_changes_nothing(project, sets):
    assert oodometer("testset", "duplicates", project, "--against", sets / "train").exit_code == 0
    (sets / "said.csv").write_text("pair,verdict\n1,duplicate\n1,different\n")
    result = oodometer("testset", "duplicates", project, "--verdicts", sets / "said.csv")
    assert result.exit_code != 0
    assert "line 3: pair 1 is duplicate and different" in result.stderr
    left = json.loads(oodometer("testset", "duplicates", project, "--threshold", "pixels=0.05", "--json").stdout)
    assert left["to look at"] == 5
