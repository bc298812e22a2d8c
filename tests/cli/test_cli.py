"""The commands as a person types them: whole stdout, exit code, and what is said on stderr."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from as_typed import oodometer
from oodometer.cli.main import VERBS
from oodometer.core.digests import digest_of

COLOURS = """
import numpy as np

COLOURS = np.array([(40, 60, 200), (40, 180, 60), (128, 128, 128), (210, 50, 40)], dtype=float)

def good(images):
    means = images.reshape(len(images), -1, 3).mean(axis=1)
    return -((means[:, None, :] - COLOURS) ** 2).sum(axis=2) / 1000

def worse(images):
    logits = good(images)
    logits[logits.argmax(axis=1) == 3, 2] += 1000
    return logits
"""


@pytest.fixture
def workplace(photos: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with photographs in val/ and two models in colour_models.py."""
    (photos.parent / "colour_models.py").write_text(COLOURS)
    monkeypatch.chdir(photos.parent)
    monkeypatch.syspath_prepend(str(photos.parent))
    return photos.parent


@pytest.fixture
def measured(workplace: Path) -> Path:
    result = oodometer("run", "--model", "callable:colour_models:good", "--model", "callable:colour_models:worse",
                       "--data", "val", "--size", "32", "--store", "runs")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    return workplace


def test_run_prints_scores_and_says_what_the_models_see(workplace: Path) -> None:
    words = ("run", "--model", "mine=callable:colour_models:worse", "--data", "val/", "--on", "clean", "--size", "32")
    result = oodometer(*words, "--store", "runs")
    # 10 of 40 pictures are red, and the model calls red grey; scipy.stats.binomtest(30, 40).proportion_ci()
    assert result.stdout == "mine  clean  top-1  0.7500 [0.5880, 0.8731]  n=40\n"
    assert result.exit_code == 0
    assert "mine: squash to 32x32 (bilinear)" in result.stderr
    again = oodometer(*words, "--store", "runs")
    assert again.stdout == result.stdout
    assert "nothing new to do" in again.stderr


def test_run_json_and_images(workplace: Path) -> None:
    words = ("--model", "callable:colour_models:good", "--data", "val", "--size", "32", "--images", "8", "--json")
    result = oodometer("run", *words)
    (row,) = json.loads(result.stdout)
    assert (row["data"], row["estimate"]["n"], row["estimate"]["value"]) == ("val[8, seed 0]", 8, 1.0)


def test_score_text_and_json_say_the_same(measured: Path) -> None:
    text = oodometer("score", "runs")
    assert text.stdout == (
        "good   clean  top-1  1.0000 [0.9119, 1.0000]  n=40\nworse  clean  top-1  0.7500 [0.5880, 0.8731]  n=40\n"
    )
    assert text.stderr == "intervals: clopper-pearson 95%\n"
    rows = json.loads(oodometer("score", "runs", "--json").stdout)
    assert [(row["model"], row["estimate"]["value"]) for row in rows] == [("good", 1.0), ("worse", 0.75)]
    assert rows[1]["estimate"]["interval"] == "clopper-pearson 95%"


def test_score_by_another_interval_and_drawn(measured: Path) -> None:
    result = oodometer("score", "runs", "--interval", "wilson", "--level", "0.9", "--plot")
    assert "●" in result.stdout
    assert result.stderr == "intervals: wilson 90%\n"
    assert oodometer("score", "runs", "--interval", "wilsen").stderr.endswith("did you mean wilson?\n")


def test_compare_and_its_exit_codes(measured: Path) -> None:
    result = oodometer("compare", "runs", "good", "worse")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "clean on val, top-1, the 40 images that both saw"
    assert "only good right 10, only worse right 0" in result.stdout
    assert "worse is worse" in result.stdout
    failed = oodometer("compare", "runs", "good", "worse", "--fail-if-worse", "0.01")
    assert failed.exit_code == 3
    assert failed.stdout.startswith(result.stdout)
    assert failed.stdout.splitlines()[-2:] == [
        "is worse more than 0.01 worse than good? 1 condition, 95% interval",
        "  worse       clean on val: -0.2500 [-0.4019, -0.1405]  n=40 lies below -0.01",
    ]
    assert failed.stderr.startswith("Error: worse is more than 0.01 worse than good on 1 of 1 conditions: clean on val")
    unsure = oodometer("compare", "runs", "good", "worse", "--fail-if-worse", "0.3")
    assert unsure.exit_code == 0
    assert unsure.stderr.startswith("warning: can't tell on 1 of 1 conditions: clean on val: -0.2500 [")
    strict = oodometer("compare", "runs", "good", "worse", "--fail-if-worse", "0.3", "--strict")
    assert strict.exit_code == 4
    assert strict.stderr.startswith("Error: worse may be more than 0.3 worse than good on 1 of 1 conditions")
    assert oodometer("compare", "runs", "worse", "good", "--fail-if-worse", "0", "--strict").exit_code == 0
    (row,) = json.loads(oodometer("compare", "runs", "good", "worse", "--fail-if-worse", "0.3", "--json").stdout)
    assert row["gate"]["answer"] == "can't tell"
    (row,) = json.loads(oodometer("compare", "runs", "good", "worse", "--json").stdout)
    assert row["difference"]["value"] == -0.25
    assert row["verdict"] == "worse is worse"


def test_ls_shows_cells_and_names(measured: Path) -> None:
    lines = oodometer("ls", "runs").stdout.splitlines()
    assert lines[0].split() == ["model", "weights", "condition", "data", "rows", "images", "state", "logits"]
    assert lines[1].split()[0] == "good"
    assert lines[1].split()[2:] == ["clean", "val", "40", "40", "complete", "-"]
    cells = json.loads(oodometer("ls", "runs", "--json").stdout)
    assert cells[0]["input"]["view"]["height"] == 32
    assert "clean" in oodometer("ls", "conditions").stdout.splitlines()
    assert "zoo:efficientnet-lite0" in oodometer("ls", "models").stdout.splitlines()
    assert "folder" in oodometer("ls", "data").stdout.splitlines()


def test_import_a_table_and_predictions(workplace: Path) -> None:
    (workplace / "table.csv").write_text("model,val,sketch\nresnet50,76.13,\nvit,85.1,41.0\n")
    result = oodometer("import", "table.csv", "--store", "runs", "--n", "50000")
    assert result.stderr == "3 accuracies of 2 models on 2 conditions, kept in runs\n"
    np.save("mine.npy", np.array([[0, 1], [2, 1], [1, 0]]))
    (workplace / "ids.txt").write_text("a\nb\nc\n")
    (workplace / "labels.txt").write_text("0\n1\n1\n")
    words = ("import", "mine.npy", "--ids", "ids.txt", "--labels", "labels.txt", "--store", "runs", "--model", "mine")
    result = oodometer(*words, "--n-classes", "3", "--category", "standard")
    assert result.stderr == "3 predictions of mine on clean, kept in runs\n"
    # 2 of 3 right; scipy.stats.binomtest(2, 3).proportion_ci(); the table's: binomtest(38065, 50000)
    assert oodometer("score", "runs").stdout.splitlines()[:2] == [
        "mine      clean   top-1  0.6667 [0.0943, 0.9916]  n=3",
        "resnet50  val     top-1  0.7613 [0.7575, 0.7650]  n=50000  (imported)",
    ]


def test_import_without_n_says_that_there_is_no_interval(workplace: Path) -> None:
    (workplace / "table.csv").write_text("model,condition,accuracy\nresnet50,val,0.7613\n")
    result = oodometer("import", "table.csv", "--store", "runs")
    assert "without n, so without interval" in result.stderr
    assert oodometer("score", "runs").stdout == "resnet50  val  top-1  0.7613 [no interval]  n=?  (imported)\n"
    (workplace / "sizes.csv").write_text("condition,n\nval,50000\n")
    oodometer("import", "table.csv", "--store", "other", "--sizes", "sizes.csv")
    assert "n=50000" in oodometer("score", "other").stdout


def test_import_with_the_sizes_of_the_published_sets(workplace: Path) -> None:
    """As many images as the papers say: 50,000, 10,000 and 7,500; what the table says itself counts more."""
    (workplace / "wide.csv").write_text("model,val,imagenetv2-matched-frequency-format-val,mine\na,70,60,50\n")
    (workplace / "long.csv").write_text("model,condition,accuracy,n\na,imagenet-a,0.5,\nb,imagenet-a,0.5,100\n")
    for table in ("wide.csv", "long.csv"):
        result = oodometer("import", table, "--sizes", "published", "--store", "runs")
        assert result.exit_code == 0, result.stderr
    rows = json.loads(oodometer("ls", "runs", "--json").stdout)
    assert {(row["model"], row["condition"]): row["images"] for row in rows} == {
        ("a", "val"): 50_000,
        ("a", "imagenetv2-matched-frequency-format-val"): 10_000,
        ("a", "mine"): None,
        ("a", "imagenet-a"): 7_500,
        ("b", "imagenet-a"): 100,
    }


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("scor", "runs"), 2, "no command named 'scor'; did you mean score?"),
        (("score", "nowhere"), 1, "nowhere: no store there"),
        (("score", "val"), 1, "val: no store there"),
        (("ls", "nowhere"), 1, "no store there"),
        (("run", "--data", "val"), 2, "Missing option '--model'"),
        (("run", "--model", "onx:a.onnx", "--data", "val"), 2, "did you mean onnx?"),
        (("run", "--model", "callable:colour_models:god", "--data", "val"), 1, "god"),
        (("run", "--model", "callable:colour_models:good", "--data", "vall"), 1, "vall"),
        (("run", "--model", "callable:colour_models:good", "--data", "val", "--on", "clen"), 2, "did you mean clean?"),
        (("run", "--model", "callable:colour_models:good", "--data", "val", "--store", "val"), 1, "is not a store"),
        (("run", "--model", "callable:colour_models:good", "--data", "val", "--precision", "mixed"), 2, "for a GPU"),
        (("run", "--model", "callable:colour_models:good", "--data", "val", "--mean", "1,2"), 2, "three numbers"),
        (("run", "--model", "onnx:none.onnx", "--data", "val"), 1, "none.onnx"),
        (("import", "none.csv"), 1, "none.csv: no such table"),
        (("import", "none.npy", "--labels", "x"), 1, "none.npy: no such file"),
        (("import", "none.npy"), 2, "--labels"),
        (("compare", "nowhere", "a", "b"), 1, "no store there"),
        (("quickstart", "--data", "nowhere"), 1, "nowhere"),
    ],
)
def test_mistakes_get_one_clear_line(workplace: Path, words: tuple[str, ...], code: int, message: str) -> None:
    result = oodometer(*words)
    assert message in result.stderr
    assert result.exit_code == code, result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_another_store_format_is_refused(measured: Path) -> None:
    mark = {"format": 99, "version": "9.1"}
    (measured / "runs" / "oodometer.json").write_text(json.dumps({**mark, "check": digest_of(mark)}))
    for words in (("score", "runs"), ("ls", "runs"), ("compare", "runs", "good", "worse")):
        result = oodometer(*words)
        assert "runs: a store of format 99, and this version of oodometer reads format 3; " in result.stderr
        assert "use the version that wrote it (oodometer 9.1), or another folder" in result.stderr
        assert result.exit_code == 1


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_has_help(verb: str) -> None:
    result = oodometer(verb, "--help")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: main {verb}")


def test_what_a_model_prints_is_no_result(workplace: Path) -> None:
    source = "\nprint('loaded')\n\ndef loud(images):\n    print('asked')\n    return good(images)\n"
    (workplace / "loud_models.py").write_text(COLOURS + source)
    result = oodometer("run", "--model", "callable:loud_models:loud", "--data", "val", "--size", "32", "--json")
    assert [row["model"] for row in json.loads(result.stdout)] == ["loud"]
    assert "loaded" in result.stderr
    assert "asked" in result.stderr


def test_ls_metrics_has_a_line_for_every_metric() -> None:
    from oodometer.analysis.metric_request import group_scores
    from oodometer.metrics.metric import metrics

    told = json.loads(oodometer("ls", "metrics", "--json").stdout)
    assert set(told) >= {*metrics.names(), *group_scores.names()}
    assert all(told[name] for name in set(told) if not name.startswith("own"))
    lines = oodometer("ls", "metrics").stdout.splitlines()
    assert any(line.split("  ")[0] == "mce" for line in lines)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("score", "runs", "--metrics", "accuracy"), "no metric named 'accuracy'; did you mean top-1?"),
        (("score", "runs", "--metrics", "ACC"), "no metric named 'ACC'; did you mean top-1?"),
        (("score", "runs", "--metrics", "zzz"), "no metric named 'zzz'; 'oodometer ls metrics' lists them"),
        (("compare", "runs", "GOOD", "worse"), "runs: no predictions of a model named 'GOOD'; did you mean good?"),
        (("reproduce", "hendrycks2021"),
         "no paper named 'hendrycks2021'; did you mean many_faces2021 or natural_adversarial2021?"),
    ],
)  # fmt: skip
def test_what_is_probably_meant(measured: Path, words: tuple[str, ...], line: str) -> None:
    result = oodometer(*words)
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (2, f"Error: {line}")


def test_any_folder_of_images_is_out_of_distribution(workplace: Path) -> None:
    from PIL import Image

    for number in range(6):
        folder = workplace / "noise" / ("a" if number % 2 else ".")
        folder.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (number * 40,) * 3).save(folder / f"{number}.png")
    words = ("run", "--model", "callable:colour_models:good", "--data", "val", "--size", "32", "--store", "runs")
    result = oodometer(*words, "--ood", "noise")
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 1), result.stderr  # no accuracy of no class
    rows = json.loads(oodometer("score", "runs", "--metrics", "auroc", "--ood", "noise", "--json").stdout)
    assert {(row["condition"], row["estimate"]["n"]) for row in rows} == {("noise", 46)}
    assert "6 OOD images are positive, 40 of clean negative" in rows[0]["convention"]
    named = workplace / "clean"
    (workplace / "noise").rename(named)
    assert "rename the folder" in oodometer(*words, "--ood", "clean").stderr


def test_made_noise_is_out_of_distribution_and_its_rows_say_which(workplace: Path) -> None:
    words = ("run", "--model", "callable:colour_models:good", "--data", "val", "--size", "32", "--store", "runs")
    asked = ("--ood", "noise:blobs,size=32,n=30", "--ood", "noise:uniform", "--images", "20")
    result = oodometer(*words, *asked)
    assert result.exit_code == 0, result.stderr
    shown = ("score", "runs", "--metrics", "auroc", "--ood", "noise:blobs,size=32", "--json")
    rows = json.loads(oodometer(*shown).stdout)
    assert {(row["condition"], row["data"]) for row in rows} == {
        ("noise:blobs,size=32", "noise:blobs,size=32[20, seed 0]")
    }
    assert "nothing new to do" in oodometer(*words, *asked).stderr
    twice = oodometer(*words, "--ood", "noise:blobs", "--ood", "noise:blobs")
    assert "--ood noise:blobs: two conditions would have this name" in twice.stderr
