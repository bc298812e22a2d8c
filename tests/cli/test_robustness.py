"""``oodometer robustness`` as a person types it, on small tables and on the testbed's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from scipy.special import expit, logit

from as_typed import oodometer
from made_cells import made_cell
from oodometer.core.dataset import Dataset
from oodometer.core.predictions import from_logits
from oodometer.store.store import open_store
from shared_data import shared
from six_models import CATEGORIES, TABLE
from small_testbed import ABOVE, BELOW, LINES, STANDARD, write_small_testbed

X, Y = np.array([0.6, 0.65, 0.7, 0.75, 0.8, 0.7]), np.array([0.47, 0.53, 0.58, 0.64, 0.71, 0.62])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small table, categories and sizes."""
    monkeypatch.chdir(tmp_path)
    Path("grid.csv").write_text(TABLE)
    Path("cats.csv").write_text(CATEGORIES)
    Path("sizes.csv").write_text("condition,n\nval,50000\nv2,10000\n")
    return tmp_path


def on_table(*words: str) -> Result:
    return oodometer("robustness", "--table", "grid.csv", "--categories", "cats.csv", "--x", "val", *words)


def test_the_text() -> None:
    result = on_table("--y", "v2")
    assert result.exit_code == 0, result.stderr
    slope, intercept = np.polyfit(logit(X[:5]), logit(Y[:5]), 1)  # reference: numpy
    rho = Y[5] - expit(slope * logit(X[5]) + intercept)
    lines = result.stdout.splitlines()
    assert lines[0] == "v2 (y) against val (x)"
    assert lines[1] == "line on the logit scale through 5 models"
    assert lines[2].startswith(f"  slope      {slope:+.4f} [")
    assert lines[3].startswith(f"  intercept  {intercept:+.4f} [")
    assert lines[10].split()[:5] == ["robust", "robust_intervention", "0.7000", "0.6200", f"{rho:+.4f}"]
    assert lines[-2:] == ["model   made from  y       τ", "robust  c          0.6200  +0.0400 [no interval]"]
    assert result.stderr == "* in the line; x, y, ρ, τ are shares; intervals of ρ: line only 95%\n"
    assert "●" not in result.stdout
    assert on_table("--shift", "v2").stdout == result.stdout


def test_bars_are_drawn_when_asked_for() -> None:
    plain, drawn = on_table("--y", "v2", "--no-plot"), on_table("--y", "v2", "--plot")
    assert plain.stdout == on_table("--y", "v2").stdout
    assert drawn.stdout.count("●") == 6


@pytest.mark.parametrize(("words", "n"), [(("--n", "2000"), 2000), (("--sizes", "sizes.csv"), 10_000)])
def test_numbers_of_images_carry_the_images(words: tuple[str, ...], n: int) -> None:
    result = on_table("--y", "v2", *words, "--json")
    found = json.loads(result.stdout)
    assert {(one["rho"]["n"], one["rho"]["interval"]) for one in found["models"]} == {(n, "line and images 95%")}
    assert {one["drop"]["n"] for one in found["models"]} == {n}


def test_text_and_json_say_the_same() -> None:
    words = ("--y", "v2", "--n", "1000", "--level", "0.9", "--draws", "300", "--seed", "5", "--scale", "probit")
    found = json.loads(on_table(*words, "--json").stdout)
    text = on_table(*words).stdout
    assert (found["fitted"]["scale"], found["level"]) == ("probit", 0.9)
    for one in found["models"]:
        rho = one["rho"]
        assert f"{rho['value']:+.4f} [{rho['low']:+.4f}, {rho['high']:+.4f}]" in text
        assert rho["interval"] == "line and images 90%"
    assert json.loads(on_table(*words, "--json").stdout) == found


def test_the_baseline_is_any_category() -> None:
    every = json.loads(on_table("--y", "v2", "--baseline", "all", "--json").stdout)
    assert every["fitted"]["n"] == 6
    some = on_table("--y", "v2", "--baseline-above", "0.65", "--leave-out", "b*", "--leave-out", "zzz", "--json")
    assert [one["model"] for one in json.loads(some.stdout)["models"] if one["in_baseline"]] == ["c", "d", "e"]
    assert some.stderr == "--leave-out zzz: fits no model here\n"
    wrong = on_table("--y", "v2", "--baseline", "robust_interventions")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert wrong.stderr.endswith("; did you mean robust_intervention?\n")
    few = on_table("--y", "v2", "--baseline", "robust_intervention")
    assert few.exit_code == 1
    assert few.stderr == (
        "Error: the baseline (1 model of category 'robust_intervention'): a line needs at least 3; add models\n"
    )


def test_families_patterns_knees_and_planes() -> None:
    for y in ("c", "c/fog", "c/*"):
        found = json.loads(on_table("--y", y, "--json").stdout)
        assert found["conditions"] == ["c/fog/1", "c/fog/2"]
        assert found["models"][0]["y"]["value"] == pytest.approx(0.35)
    plane = json.loads(on_table("--x", "v2", "--y", "c/fog/2", "--json").stdout)
    assert (plane["x"], plane["fitted"]["kind"], len(plane["fitted"]["pieces"][0]["slopes"])) == (
        ["val", "v2"], "plane", 2,
    )  # fmt: skip
    Path("grid.csv").write_text(f"{TABLE}f,85,78,70,60\n")
    for knee in ("c", "0.7"):
        bent = json.loads(on_table("--y", "v2", "--baseline", "all", "--knee", knee, "--json").stdout)
        assert (bent["fitted"]["knee"], [one["n"] for one in bent["fitted"]["pieces"]]) == (0.7, [4, 3])


def test_a_knee_with_too_few_models_above() -> None:
    result = on_table("--y", "v2", "--baseline", "all", "--knee", "c")
    assert result.exit_code == 1
    assert "above the knee at 0.7: 2 models: a line needs at least 3" in result.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--y", "v2"), 2, "give a STORE or --table CSV, one of the two"),
        (("runs", "--table", "grid.csv", "--y", "v2"), 2, "give a STORE or --table CSV, one of the two"),
        (("--table", "grid.csv"), 2, "Missing option '--shift'"),
        (("--table", "none.csv", "--y", "v2"), 1, "none.csv: no such table"),
        (("--table", ".", "--y", "v2"), 1, ".: a folder, not a file; give a regular file"),
        (("--table", "grid.csv", "--x", "clean", "--y", "v2"), 2, "the table: nothing was measured on 'clean'"),
        (("--table", "grid.csv", "--y", "v2"), 2, "no categories are known: give --categories CSV"),
        (("--table", "grid.csv", "--x", "val", "--y", "v2"), 2, "no categories are known: give --categories CSV"),
        (("--table", "grid.csv", "--x", "val", "--y", "v2", "--categories", "no.csv"), 1, "no.csv: no such table of"),
        (("--table", "grid.csv", "--x", "val", "--y", "v2", "--sizes", "no.csv"), 1, "no.csv: no such table of sizes"),
        (("--table", "grid.csv", "--x", "val", "--y", "v2", "--level", "95"), 2, "level 95"),
        (("--table", "grid.csv", "--x", "val", "--y", "v2", "--draws", "5"), 2, "5 draws: a 95% bootstrap needs 100"),
        (("--table", "grid.csv", "--x", "val", "--y", "v2", "--baseline-above", "55"), 2, "'--baseline-above'"),
        (("none", "--y", "v2"), 1, "none: no store there"),
    ],
)
def test_errors(words: tuple[str, ...], code: int, message: str) -> None:
    result = oodometer("robustness", *words)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_a_store_of_predictions(make_dataset) -> None:
    data: Dataset = make_dataset(300, k=5)
    rng = np.random.default_rng(0)
    store = open_store("runs", create=True)
    for place in range(5):
        card = {"category": "standard"} if place < 4 else {"category": "more data", "parent": "m3"}
        for condition, share in (("clean", 0.6 + 0.06 * place), ("imagenet-c/fog/3", 0.4 + 0.05 * place)):
            wrong = rng.random(300) >= share
            cell = made_cell(data, model=f"m{place}", digest=str(place) * 32, condition=condition, card=card)
            store.add_cell(cell, data)
            logits = np.eye(5)[(data.labels + wrong) % 5]
            store.write_part(cell.key, 0, 300, from_logits(logits, data.labels, np.arange(300)))
            store.seal(cell, keep_logits=False)
    result = oodometer("robustness", "runs", "--shift", "imagenet-c/fog/3", "--draws", "200")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[1] == "line on the logit scale through 4 models"
    assert result.stdout.splitlines()[-1].split()[:2] == ["m4", "m3"]
    assert result.stderr == (
        "* in the line; x, y, ρ, τ are shares; intervals of ρ: bootstrap over images and models 95%\n"
    )
    found = json.loads(oodometer("robustness", "runs", "--shift", "imagenet-c", "--draws", "200", "--json").stdout)
    assert (found["same_images"], found["conditions"]) == (True, ["imagenet-c/fog/3"])


# The testbed


def on_testbed(folder: Path, *words: str) -> dict:
    result = oodometer(
        "robustness", "--table", folder / "robustness_top1s.csv", "--categories", folder / "model_categories.csv",
        "--baseline-above", "0.55", "--leave-out", "*aws*", "--leave-out", "*batch64*", "--leave-out", "*subsample*",
        "--draws", "200", "--json", *words,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """The small table in the testbed's layout whose lines and knee are known beforehand."""
    return write_small_testbed(tmp_path / "made")


@pytest.mark.parametrize("setting", ["imagenet-r", "objectnet-1.0-beta", "ytbb-robust_pm0", "imagenet-sketch"])
def test_the_lines_of_a_made_table_come_out(made: Path, setting: str) -> None:
    line = LINES[setting]
    found = on_testbed(made, "--x", line.x, "--y", setting)
    fitted = found["fitted"]
    # reference: how the column was made
    assert (fitted["slope"]["value"], fitted["intercept"]["value"]) == pytest.approx(
        (line.slope, line.intercept), abs=1e-9
    )
    assert fitted["n"] == len(STANDARD)
    assert {model["model"] for model in found["models"] if model["in_baseline"]} == set(STANDARD)


# Fits of the table made apart from this code: slope, intercept and R² on the logit scale, printed to three digits.
@pytest.mark.parametrize(
    ("x", "y", "n", "numbers"),
    [
        ("val", "imagenetv2-matched-frequency-format-val", 85, (0.923, -0.498, 0.996)),
        ("val", "imagenetv2-matched-frequency", 85, (0.911, -0.481, 0.996)),
        ("val-on-objectnet-classes", "objectnet-1.0-beta", 85, (0.981, -1.928, 0.953)),
        ("val-on-vid-robust-classes", "imagenet-vid-robust_pm0", 85, (0.534, -1.462, 0.949)),
        ("val-on-ytbb-robust-classes", "ytbb-robust_pm0", 84, (0.339, -1.112, 0.830)),
        ("val", "imagenet-sketch", 85, (1.071, -2.370, 0.869)),
        ("val-on-imagenet-r-classes", "imagenet-r", 80, (0.637, -2.108, 0.889)),
    ],
)
def test_the_reference_fits_of_the_testbed(x: str, y: str, n: int, numbers: tuple[float, ...]) -> None:
    fitted = on_testbed(shared("testbed"), "--x", x, "--y", y)["fitted"]
    assert fitted["n"] == n
    found = (fitted["slope"]["value"], fitted["intercept"]["value"], fitted["r2"])
    assert found == pytest.approx(numbers, abs=0.0005)


def test_the_headline_rho_of_the_testbed() -> None:
    found = on_testbed(shared("testbed"), "--x", "val", "--y", "imagenetv2-matched-frequency-format-val")
    rho = {one["model"]: 100 * one["rho"]["value"] for one in found["models"]}
    # the reference numbers of the table; Taori et al. 2020, Section 4.1, has 2.1, 1.1 and -0.23
    assert rho["resnet152-imagenet11k"] == pytest.approx(2.12, abs=0.005)
    assert rho["efficientnet-l2-noisystudent"] == pytest.approx(1.11, abs=0.005)
    assert rho["google_resnet101_jft-300M"] == pytest.approx(-0.21, abs=0.005)
    assert len(found["models"]) == 335
    assert found["notes"][0].startswith("left out, not measured on val and imagenetv2-matched-frequency-format-val: ")
    assert {one["category"] for one in found["models"]} >= {"", "standard", "lp_adversarial", "robust_intervention"}


def test_imagenet_a_has_a_knee_at_a_model_that_has_nothing_right(made: Path) -> None:
    words = ("--x", "val-on-imagenet-a-classes", "--y", "imagenet-a")
    bent, straight = (on_testbed(made, *words, "--knee", knee) for knee in ("resnet50", "none"))
    assert on_testbed(made, *words)["fitted"] == bent["fitted"]  # as the catalogue says
    below, above = bent["fitted"]["pieces"]
    (filtering,) = [one for one in bent["models"] if one["model"] == "resnet50"]
    assert (filtering["y"]["value"], filtering["x"][0]["value"]) == (0.0, bent["fitted"]["knee"])
    assert (bent["fitted"]["left_out"], below["left_out"], above["left_out"]) == (1, 1, 0)
    assert filtering["rho"]["low"] <= filtering["rho"]["value"] < 0
    # reference: the two pieces by which the column was made
    slopes = (below["slopes"][0]["value"], above["slopes"][0]["value"])
    assert slopes == pytest.approx((BELOW, ABOVE), abs=1e-9)
    assert bent["fitted"]["r2"] > straight["fitted"]["r2"]


def test_several_clean_sets_of_the_testbed() -> None:
    testbed = shared("testbed")
    found = on_testbed(testbed, "--x", "val", "--x", "imagenet-sketch", "--y", "imagenet-r")
    one = on_testbed(testbed, "--x", "val", "--y", "imagenet-r")
    assert (found["fitted"]["kind"], len(found["fitted"]["pieces"][0]["slopes"])) == ("plane", 2)
    assert found["fitted"]["r2"] > one["fitted"]["r2"]
    assert {model["rho"]["interval"] for model in found["models"]} == {"plane only 95%"}
