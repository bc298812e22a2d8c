"""``compare`` of many models and ``plan``: what they print, where, and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import oodometer as odo
from numbered_images import Knowing, damaged_family, numbered_images
from oodometer.cli.main import main

SKILLS = {"good": 0.9, "fair": 0.8, "same": 0.8}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    address = str(tmp_path_factory.mktemp("compared") / "runs")
    data = numbered_images(600)
    models = [Knowing(name, skill, 0.5).model for name, skill in SKILLS.items()]
    odo.run(models, [odo.clean(data), *damaged_family(data, ["fog"], (1, 2))], store=address)
    return address


def oodometer(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def test_all_models_are_compared_where_none_is_named(store: str) -> None:
    result = oodometer("compare", store)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "clean (clean): 3 models, top-1"
    assert lines[2].split()[:3] == ["1", "a", "good"]
    assert "damage/fog (corruption, the mean of 2 conditions): 3 models, top-1" in lines
    assert lines[-1].startswith("exact McNemar, paired t; 6 comparisons corrected after Holm, 95%")
    assert oodometer("compare", store, "good", "fair", "same").stdout == result.stdout


def test_json_of_many_is_that_of_python(store: str) -> None:
    words = ("--test", "mid-p", "--correct", "benjamini-hochberg", "--level", "0.9", "--json")
    found = json.loads(oodometer("compare", store, *words).stdout)
    options = odo.CompareOptions("mid-p", "benjamini-hochberg", 0.9)
    assert found == json.loads(json.dumps(odo.compare_many(store, options=options).as_json()))


def test_pairs_are_told_or_not(store: str) -> None:
    assert "separated" in oodometer("compare", store, "--pairs").stdout
    assert "separated" not in oodometer("compare", store, "--no-pairs").stdout


def test_two_models_with_another_test(store: str) -> None:
    text = oodometer("compare", store, "good", "fair", "--test", "mid-p").stdout
    assert text.count("mid-p McNemar p ") == 3
    assert text.count("corrected after Holm, 3 comparisons: fair is worse") == 3
    assert "corrected" not in oodometer("compare", store, "good", "fair", "--correct", "none").stdout
    assert "corrected" not in oodometer("compare", store, "good", "fair", "--on", "clean").stdout
    resampled = oodometer("compare", store, "good", "fair", "--on", "clean", "--test", "bootstrap", "--draws", "500")
    assert "paired bootstrap 95%" in resampled.stdout


def test_a_gate_is_about_two(store: str) -> None:
    refused = oodometer("compare", store, "--fail-if-worse", "0.01")
    assert refused.exit_code == 2
    assert "name two models" in refused.stderr
    assert oodometer("compare", store, "good", "fair", "--fail-if-worse", "0.01").exit_code == 3
    assert oodometer("compare", store, "good").exit_code == 1


def test_too_few_draws_are_told_on_stderr(store: str) -> None:
    result = oodometer("compare", store, "--test", "bootstrap", "--draws", "100")
    assert "100 draws can't tell anything apart in 6 comparisons" in result.stderr


def test_plan_prints_what_python_gives(store: str) -> None:
    result = oodometer("plan", store, "good", "fair", "--detect", "0.01", "--on", "clean")
    assert result.exit_code == 0
    found = odo.plan(store, "good", "fair", options=odo.PlanOptions(0.01), on=["clean"])
    assert result.stdout == f"{found}\n"
    shown = json.loads(oodometer("plan", store, "--detect", "0.01", "--power", "0.9", "--json").stdout)
    assert len(shown["pairs"]) == 6
    assert shown["options"]["power"] == 0.9


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("good", "--detect", "0.01"), 2, "name two models, or none for all of the store"),
        (("--detect", "0"), 2, "is not in the range 0<x<1"),
        (("--detect", "0.01", "--power", "2"), 2, "must lie between 0 and 1"),
        ((), 2, "Missing option '--detect'"),
        (("good", "nobody", "--detect", "0.01"), 2, "no predictions of a model named 'nobody'"),
    ],
)
def test_what_plan_refuses(store: str, words: tuple[str, ...], code: int, said: str) -> None:
    result = oodometer("plan", store, *words)
    assert result.exit_code == code
    assert said in result.stderr


def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    for verb in (("compare",), ("plan", "--detect", "0.1")):
        result = oodometer(verb[0], str(tmp_path / "none"), *verb[1:])
        assert (result.exit_code, "no store there" in result.stderr) == (1, True)


def test_ranks_beside_the_scores(store: str) -> None:
    result = oodometer("score", store, "--metrics", "top-1", "--ranks")
    ranks = {tuple(line.split()[:2]): line.split()[-1] for line in result.stdout.splitlines()}
    sides = odo.compare_many(store, on=["clean"]).sides
    told = {model.model: (model.best_rank, model.worst_rank) for model in sides[0].models}
    for name, (best, worst) in told.items():
        assert ranks[name, "clean"] == (str(best) if best == worst else f"{best}-{worst}")
    assert "ranks: of top-1, those that a model may have" in result.stderr
    # a condition by McNemar's test, as compare has it
    assert "(exact McNemar tests of all pairs on a condition, corrected after Holm)" in result.stderr
    rows = json.loads(oodometer("score", store, "--metrics", "top-1", "--ranks", "--json").stdout)
    assert {row["rank"] for row in rows} >= {"1"}
    assert "rank" not in json.loads(oodometer("score", store, "--metrics", "top-1", "--json").stdout)[0]


def test_ranks_of_imported_accuracies_are_those_of_compare_and_of_leaderboards(store: str, tmp_path: Path) -> None:
    table = tmp_path / "theirs.csv"
    table.write_text("model,clean\ntheirs,0.5\nothers,0.4\nlast,0.1\n")
    address = str(tmp_path / "runs")
    odo.import_table(str(table), store=address, n=100)
    from oodometer.analysis.point_standing import standings_of
    from oodometer.analysis.score_ranks import with_ranks

    found = with_ranks(address, odo.score(address, metrics=["top-1"]))
    assert {row.model: row.rank for row in found.rows} == {"theirs": "1-2", "others": "1-2", "last": "3"}
    assert "(unpaired z tests of all pairs" in found.ranks
    values = {row.model: row.estimate for row in found.rows}
    of_table = standings_of(values, None, level=0.95)
    assert {name: rank.replace("–", "-") for name, rank in of_table.ranks.items()} == {
        row.model: row.rank for row in found.rows
    }
    assert of_table.how == "unpaired z tests of all pairs, corrected after Holm"
