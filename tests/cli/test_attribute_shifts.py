"""Attribute shifts as a person types them: from flags, and by the names of the presets."""

from __future__ import annotations

import csv
import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.stats import binomtest
from sklearn.metrics import average_precision_score

from as_typed import oodometer
from oodometer.metrics.average_precision import DFR_SHIFTS
from oodometer.published.tables import read_table

MODELS = """
import numpy as np

def grey(images):
    return images.reshape(len(images), -1).mean(axis=1)

def two(images):
    light = grey(images) > 100
    return np.stack([~light, light], axis=1).astype(np.float32)

def storefronts(images):
    bank, gym = 2, 12  # in the published order of the classes
    return (np.where(grey(images) > 100, gym, bank)[:, None] == np.arange(20)).astype(np.float32)

def thirteen(images):
    return np.stack([np.cos(grey(images) * (k + 1)) for k in range(13)], axis=1).astype(np.float16)

def other(images):
    return np.stack([np.sin(grey(images) * (k + 2)) for k in range(13)], axis=1).astype(np.float16)

def third(images):
    return np.stack([np.cos(grey(images) * (k + 3)) for k in range(13)], axis=1).astype(np.float16)
"""


@pytest.fixture
def workplace(tmp_path, monkeypatch) -> Path:
    (tmp_path / "attribute_models.py").write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def picture(path: Path, grey: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (4, 4), (grey,) * 3).save(path)


def share(hits: int, n: int) -> str:
    low, high = binomtest(hits, n).proportion_ci()
    return f"{hits / n:.4f} [{low:.4f}, {high:.4f}] n={n}"


@pytest.fixture
def shops(workplace) -> Path:
    """20 base images that the model knows; 10 of France, of which it knows 6; each grey is used once."""
    with (workplace / "shops.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "label", "country", "year"])
        for n in range(30):
            gym, france = n % 2, n >= 20
            wrong = france and n >= 26
            picture(workplace / "pictures" / f"{n:02d}.png", n + (150 if gym != wrong else 0))
            writer.writerow([f"pictures/{n:02d}.png", ("bank", "gym")[gym], "fr" if france else "us", 2019])
    return workplace / "shops.csv"


RUN = ("run", "--model", "light=callable:attribute_models:two", "--size", "4", "--store", "runs")


def test_base_and_shift(shops):
    result = oodometer(*RUN, "--data", "shops.csv", "--base", "country=us,year=2019", "--shift", "country=fr")
    assert result.exit_code == 0, result.stderr
    _, heading, line = result.stdout.splitlines()
    assert heading == "country=fr (n=10) against iid (n=10)"
    # 1.0 on the ten IID images less 0.6 on the ten of France
    assert line.split("  ")[1:4] == ["light", share(10, 10).partition(" n=")[0], share(6, 10).partition(" n=")[0]]
    assert line.split("  ")[4].startswith("0.4000 [")
    assert result.stderr.splitlines()[1:] == [
        "iid is 10 of 20 base images, by id with seed 0; the others are train",
        "few images: iid 10, country=fr 10; an accuracy on fewer than 30 says little",
        "light: its category is unknown, so that no line will go through it; --category standard (or another) says it",
    ]
    assert oodometer("score", "runs", "--metrics", "top-1").stdout.splitlines() == [
        f"light  country=fr  shops/country=fr  top-1  {share(6, 10)}".replace(" n=", "  n="),
        f"light  iid         shops/iid         top-1  {share(10, 10)}".replace(" n=", "  n="),
    ]


def test_a_run_shows_its_own_gaps_alone(shops):
    """Another share makes another IID test, of 5 images, under the same name in the same store."""
    words = (*RUN, "--data", "shops.csv", "--base", "country=us", "--shift", "country=fr")
    assert oodometer(*words).exit_code == 0
    result = oodometer(*words, "--test-share", "0.25")
    _, heading, line = result.stdout.splitlines()
    assert heading.endswith("against iid (n=5)")
    assert share(5, 5).partition(" n=")[0] in line
    result = oodometer(*words, "--test-share", "0.25", "--json")
    (gap,) = [row for row in json.loads(result.stdout) if row["metric"] == "gap"]
    assert share(5, 5) in gap["convention"].replace("  n=", " n=")


def test_sides_of_other_classes_are_never_compared_without_a_word(shops):
    """France without a gym: the gap would be that of the classes too."""
    lines = shops.read_text().splitlines()
    shops.write_text("\n".join(line for line in lines if ",gym,fr," not in line))
    run = oodometer(*RUN, "--data", "shops.csv", "--base", "country=us", "--shift", "country=fr")
    assert "country=fr: 1 class (gym) of iid not in it; the two are not over the same classes" in run.stderr
    (row,) = json.loads(oodometer("gaps", "runs", "--json").stdout)
    said = "the two sides are not over the same classes: gym only in the standard images"
    assert row["warnings"] == [said]
    assert f"warning: light on country=fr: {said}" in oodometer("gaps", "runs").stderr
    # Once, whoever says it and for however many models.
    other = [word.replace("light=", "again=") for word in RUN]
    run = oodometer(*other, "--data", "shops.csv", "--base", "country=us", "--shift", "country=fr")
    assert run.exit_code == 0, run.stderr
    told = [line for line in oodometer("gaps", "runs").stderr.splitlines() if "classes" in line]
    assert told == [f"warning: again, light on country=fr: {said}"]


def test_a_model_of_unknown_category_is_told_where_a_line_could_go_through_it(shops):
    words = (*RUN, "--data", "shops.csv")
    said = (
        "light: its category is unknown, so that no line will go through it; --category standard (or another) says it"
    )
    of_shift = ("--base", "country=us", "--shift", "country=fr")
    assert oodometer(*words, *of_shift).stderr.splitlines().count(said) == 1
    assert said not in oodometer(*words).stderr
    assert said not in oodometer(*words, *of_shift, "--category", "standard", "--store", "others").stderr


def test_the_accuracy_of_each_value_of_a_column(shops):
    assert oodometer(*RUN, "--data", "shops.csv").exit_code == 0
    result = oodometer("score", "runs", "--metrics", "top-1", "--by-value", "country,country+year")
    lines = [line.split("  ") for line in result.stdout.splitlines()]
    # Four values: the exact intervals at 1 - 0.05 / 4 = 98.75 %, by scipy.
    france, us = (binomtest(hits, n).proportion_ci(0.9875) for hits, n in ((6, 10), (20, 20)))
    told = {line[2]: " ".join(line[3:]).strip() for line in lines}
    assert told["top-1[country=fr]"] == f"0.6000 [{france.low:.4f}, {france.high:.4f}] n=10"
    assert told["top-1[country=us,year=2019]"] == f"1.0000 [{us.low:.4f}, {us.high:.4f}] n=20"
    assert list(told) == [
        "top-1", "top-1[country=fr]", "top-1[country=us]", "top-1[country=fr,year=2019]", "top-1[country=us,year=2019]",
    ]  # fmt: skip
    assert "intervals corrected for 4 values (Bonferroni)" in result.stderr
    rows = json.loads(oodometer("score", "runs", "--by-value", "country", "--json").stdout)
    assert [row["estimate"]["interval"] for row in rows] == ["clopper-pearson 95%", *["clopper-pearson 97.5%"] * 2]
    wrong = oodometer("score", "runs", "--by-value", "contry")
    assert (wrong.exit_code, wrong.stderr.splitlines()[-1]) == (
        2, "Error: --by-value contry: no data here have such a column; did you mean country?",
    )  # fmt: skip


def test_few_groups_are_warned_of(shops):
    assert oodometer(*RUN, "--data", "shops.csv").exit_code == 0
    said = "--by country: 2 groups in shops; a bootstrap of fewer than 10 groups is often too narrow"
    assert f"warning: {said}" in oodometer("score", "runs", "--metrics", "top-1", "--by", "country").stderr
    assert oodometer(*RUN, "--data", "shops.csv", "--base", "country=us", "--shift", "country=fr").exit_code == 0
    assert "--by class: 2 groups in shops/iid" in oodometer("gaps", "runs", "--by", "class").stderr


def test_the_gap_of_each_data_set_names_its_own(shops):
    words = (*RUN, "--data", "shops.csv", "--base", "country=us", "--shift", "country=fr")
    assert oodometer(*words).exit_code == 0
    assert oodometer(*words, "--images", "4").exit_code == 0
    rows = json.loads(oodometer("score", "runs", "--metrics", "gap", "--json").stdout)
    assert {row["data"]: row["estimate"]["n"] for row in rows} == {
        "shops/country=fr": 10,
        "shops/country=fr[4, seed 0]": 4,
    }


def test_images_without_labels_have_no_gap(shops):
    lines = shops.read_text().splitlines()
    shops.write_text("\n".join(",".join([one.split(",")[0], *one.split(",")[2:]]) for one in lines))
    words = (*RUN, "--data", "shops.csv", "--base", "country=us", "--shift", "country=fr")
    result = oodometer(*words)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "left out: country=fr: images without labels have no accuracy" in result.stderr


def test_what_split_writes_is_what_run_runs_on(shops):
    base = ("--base", "country=us,year=2019", "--shift", "country=fr")
    assert oodometer("split", "shops.csv", *base, "--out", "sets").exit_code == 0
    assert oodometer(*RUN, "--data", "shops.csv", *base).exit_code == 0
    assert oodometer(*RUN, "--data", "sets/iid.csv").exit_code == 0
    from oodometer.store.index import index_at

    index = index_at("runs")
    ids = {cell.condition_name: set(index.images(cell).ids.tolist()) for cell in index.cells}
    assert ids["clean"] == ids["iid"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--base", "country=us"), "--base alone is half a shift; give the other half, for example --shift country=fr"),
        (("--shift", "country=us"),
         "--shift alone is half a shift; give the other half, for example --base country=us"),
        (("--base", "country=us", "--shift", "year=2017"),
         "shift year=2017: the base does not say which year it has; add year=... to --base"),
        (("--base", "country=us", "--shift", "country=de"),
         "shift country=de: no image of shops has country=de; its values are fr, us"),
        (("--base", "country=us", "--shift", "country=fr,year=2017"),
         "--shift country=fr,year=2017: one attribute at a time; give --shift once for each"),
        (("--base", "country=us", "--shift", "country=fr", "--test-share", "0"),
         "a test share of 0: expected a number between 0 and 1, for example 0.1"),
        (("--test-share", "0.5"), "--test-share is that of an attribute shift; give --base and --shift too"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line(shops, words, line):
    result = oodometer(*RUN, "--data", "shops.csv", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1] == f"Error: {line}"


def deepfashion2(root: Path) -> dict[tuple[int, ...], list[tuple[int, list[int]]]]:
    """Ten images of each set, of one or two items; by attributes the grey and the categories of each."""
    rng = np.random.default_rng(0)
    base = (2, 2, 2, 1)
    sets = [
        base,
        *((*base[:k], value, *base[k + 1 :]) for k, value in product(range(4), (1, 2, 3)) if base[k] != value),
    ]
    names = ("scale", "occlusion", "viewpoint", "zoom_in")
    found: dict[tuple[int, ...], list[tuple[int, list[int]]]] = {}
    for number, attributes in enumerate(one for one in sets for _ in range(10)):
        labels = sorted(rng.choice(13, rng.integers(1, 3), replace=False).tolist())
        items = {f"item{k}": {"category_id": label + 1, **dict(zip(names, attributes, strict=True))}
                 for k, label in enumerate(labels, start=1)}  # fmt: skip
        stem = root / "deepfashion2" / "validation"
        picture(stem / "image" / f"{number:06d}.png", number)
        (stem / "annos").mkdir(exist_ok=True)
        about = {"source": "user", "pair_id": number, **items}
        (stem / "annos" / f"{number:06d}.json").write_text(json.dumps(about))
        found.setdefault(attributes, []).append((number, labels))
    return found


def expected_map(images: list[tuple[int, list[int]]], wave=np.cos, first: float = 1.0) -> float:
    scores = np.array([[wave(grey * (k + first)) for k in range(13)] for grey, _ in images]).astype(np.float16)
    targets = np.zeros(scores.shape, dtype=bool)
    for row, (_, labels) in enumerate(images):
        targets[row, labels] = True
    has = targets.any(axis=0)
    return float(average_precision_score(targets[:, has], scores[:, has].astype(float), average="weighted"))


PLACES = dict(zip(DFR_SHIFTS, ((1, 2, 2, 1), (3, 2, 2, 1), (2, 1, 2, 1), (2, 3, 2, 1), (2, 2, 1, 1), (2, 2, 3, 1),
                               (2, 2, 2, 2), (2, 2, 2, 3)), strict=True))  # fmt: skip
"""The attributes of the images of each shift."""


def test_deepfashion_remixed_by_name(workplace):
    """Every mAP is that of scikit-learn on the numbers that the model is known to give."""
    made = deepfashion2(workplace / "data")
    words = ("run", "--model", "net=callable:attribute_models:thirteen", "--size", "4", "--store", "runs")
    result = oodometer(*words, "--data-root", "data", "--partial", "--on", "dfr", "--keep", "logits")
    assert result.exit_code == 0, result.stderr
    result = oodometer("score", "runs", "--metrics", "map,map-ood", "--draws", "100", "--json")
    assert result.exit_code == 0, result.stderr
    found = {(row["condition"], row["metric"]): row["estimate"] for row in json.loads(result.stdout)}
    each = {name: expected_map(made[attributes]) for name, attributes in PLACES.items()}
    assert {name: found[f"dfr/{name}", "map"]["value"] for name in DFR_SHIFTS} == pytest.approx(each, abs=1e-9)
    assert found["dfr/iid", "map"]["value"] == pytest.approx(expected_map(made[2, 2, 2, 1]), abs=1e-9)
    assert found["dfr", "map-ood"]["value"] == pytest.approx(np.mean(list(each.values())), abs=1e-9)
    assert found["dfr", "map-ood"]["n"] == 80


def test_map_as_text(workplace):
    made = deepfashion2(workplace / "data")
    words = ("run", "--model", "net=callable:attribute_models:thirteen", "--size", "4", "--store", "runs")
    oodometer(*words, "--data-root", "data", "--partial", "--on", "dfr/size_small", "--keep", "logits")
    result = oodometer("score", "runs", "--metrics", "map", "--draws", "100")
    assert result.exit_code == 0, result.stderr
    values = [expected_map(made[one]) for one in ((2, 2, 2, 1), (1, 2, 2, 1))]
    shown = [line.split()[:5] for line in result.stdout.splitlines()]
    assert shown == [
        ["net", f"dfr/{name}", f"deepfashion-remixed/{name}", "map", f"{value:.4f}"]
        for name, value in zip(("iid", "size_small"), values, strict=True)
    ]
    assert "map: average precision of each label; mean weighted by the images that have the label" in result.stderr


def test_every_command_judges_by_map(workplace):
    """Three models whose mAP scikit-learn tells; none of these numbers is a top-1 accuracy."""
    made = deepfashion2(workplace / "data")
    models = {"thirteen": (np.cos, 1.0), "other": (np.sin, 2.0), "third": (np.cos, 3.0)}
    words = [word for name in models for word in ("--model", f"{name}=callable:attribute_models:{name}")]
    result = oodometer("run", *words, "--size", "4", "--store", "runs", "--data-root", "data", "--partial",
                       "--on", "dfr/size_small")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "dfr/size_small (mAP, n=10) against dfr/iid (n=10)" in result.stdout
    expected = {name: [expected_map(made[place], *wave) for place in ((2, 2, 2, 1), (1, 2, 2, 1))]
                for name, wave in models.items()}  # fmt: skip

    gaps = json.loads(oodometer("gaps", "runs", "--json").stdout)
    assert {row["measure"] for row in gaps} == {"map"}
    assert {
        row["model"]: [row[key]["value"] for key in ("accuracy_standard", "accuracy_shifted", "gap")] for row in gaps
    } == {name: pytest.approx([x, y, x - y], abs=1e-9) for name, (x, y) in expected.items()}
    assert all(row["gap"]["low"] < row["gap"]["value"] < row["gap"]["high"] for row in gaps)
    scored = json.loads(oodometer("score", "runs", "--metrics", "map", "--json").stdout)
    shown = {(row["model"], row["condition"]): row["estimate"] for row in scored}
    for row in gaps:
        assert shown[row["model"], "dfr/iid"] == row["accuracy_standard"]
        assert shown[row["model"], "dfr/size_small"] == row["accuracy_shifted"]
    (convention,) = {
        row["convention"].partition(" on ")[0]
        for row in json.loads(oodometer("score", "runs", "--metrics", "gap", "--json").stdout)
    }
    assert convention == "map"

    line = oodometer("robustness", "runs", "--shift", "dfr/size_small", "--baseline", "all", "--json")
    assert line.exit_code == 0, line.stderr
    found = json.loads(line.stdout)
    assert found["measure"] == "map"
    assert any(note.startswith("judged by mAP") for note in found["notes"])
    for model in found["models"]:
        x, y = expected[model["model"]]
        assert [model["x"][0]["value"], model["y"]["value"]] == pytest.approx([x, y], abs=1e-9)
        assert model["rho"]["n"] == 10
        assert model["rho"]["low"] < model["rho"]["value"] < model["rho"]["high"]
    table = oodometer("table", "runs")
    assert table.exit_code == 0, table.stderr
    assert "By mAP, not top-1: dfr/size_small." in table.stdout


def test_the_table_of_deepfashion_remixed(workplace):
    """The columns of table 3 of Hendrycks et al. 2021, by mAP; each value is that of scikit-learn."""
    made = deepfashion2(workplace / "data")
    models = {"thirteen": (np.cos, 1.0), "other": (np.sin, 2.0)}
    words = [word for name in models for word in ("--model", f"{name}=callable:attribute_models:{name}")]
    assert oodometer("run", *words, "--size", "4", "--store", "runs", "--data-root", "data", "--partial",
                     "--on", "dfr").exit_code == 0  # fmt: skip
    result = oodometer("table", "runs", "--shift", "dfr", "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    iid, mean, *parts = read_table("hendrycks2021_dfr").columns
    assert (iid, mean) == ("iid_map", "ood_mean_map")
    assert [column["id"] for column in told["columns"]] == ["clean", "mean", *(f"dfr/{part}" for part in parts)]
    assert [column["over"] for column in told["columns"][2:4]] == ["size", "size"]
    assert [column["title"] for column in told["columns"][:4]] == ["iid", "mean", "small", "large"]
    assert told["caption"] == "mAP of each model in per cent under each shift of dfr."
    scored = json.loads(oodometer("score", "runs", "--metrics", "map-ood", "--json").stdout)
    means = {row["model"]: row["estimate"] for row in scored}
    for row in told["models"]:
        wave = models[row["model"]]
        each = {f"dfr/{name}": expected_map(made[place], *wave) for name, place in PLACES.items()}
        expected = {"clean": expected_map(made[2, 2, 2, 1], *wave), "mean": np.mean(list(each.values())), **each}
        assert {name: cell["value"] for name, cell in row["values"].items()} == pytest.approx(expected, abs=1e-9)
        assert {**row["values"]["mean"], "best": None} == {**means[row["model"]], "best": None}
    assert json.loads(oodometer("table", "runs", "--shift", "deepfashion-remixed", "--json").stdout) == told

    gaps = json.loads(oodometer("table", "runs", "--what", "gaps", "--shift", "dfr", "--json").stdout)
    assert [column["id"] for column in gaps["columns"]] == [f"dfr/{part}" for part in parts]
    lost = {row["model"]: row["values"]["dfr/zoom_large"]["value"] for row in gaps["models"]}
    assert lost["other"] == pytest.approx(
        expected_map(made[2, 2, 2, 1], np.sin, 2.0) - expected_map(made[2, 2, 2, 3], np.sin, 2.0), abs=1e-9
    )

    usual = oodometer("table", "runs")
    assert "not in the table, ask for them with --shift: dfr\n" in usual.stderr
    assert usual.stdout.startswith("mAP of each model")
    # not the top-1 accuracy of the same images
    assert f"{100 * expected_map(made[2, 2, 2, 1]):.1f} [" in usual.stdout


def test_the_table_of_some_of_deepfashion_remixed_has_no_mean(workplace):
    deepfashion2(workplace / "data")
    assert oodometer("run", "--model", "net=callable:attribute_models:thirteen", "--size", "4", "--store", "runs",
                     "--data-root", "data", "--partial", "--on", "dfr/zoom_large", "--on", "dfr/size_small"
                     ).exit_code == 0  # fmt: skip
    result = oodometer("table", "runs", "--shift", "dfr", "--json")
    assert [column["id"] for column in json.loads(result.stdout)["columns"]] == [
        "clean", "dfr/size_small", "dfr/zoom_large",
    ]  # fmt: skip
    assert "no mean of net: the mean is over eight shifts, run with --on dfr; missing: size_large" in result.stderr


def test_the_table_of_storefronts(workplace):
    """The columns of table 2 of Hendrycks et al. 2021, which has no mean; the model knows what is light."""
    folder = workplace / "data" / "streetview-storefronts"
    grid = list(product(("bank", "gym"), ("us", "fr"), (2017, 2018, 2019), ("new", "old"), range(3)))
    folder.mkdir(parents=True)
    with (folder / "manifest.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "label", "country", "year", "camera", "split"])
        for number, (label, country, year, camera, copy) in enumerate(grid):
            # one of three images of France looks like the other class
            light = (label == "gym") != (country == "fr" and copy == 0)
            picture(folder / f"{number:03d}.png", number + (150 if light else 0))
            writer.writerow([f"{number:03d}.png", label, country, year, camera, "test"])
    result = oodometer("run", "--model", "net=callable:attribute_models:storefronts", "--size", "4", "--store",
                       "runs", "--data-root", "data", "--partial", "--on", "svsf")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    told = json.loads(oodometer("table", "runs", "--shift", "svsf", "--json").stdout)
    iid, *parts = read_table("hendrycks2021_svsf").columns
    assert iid == "iid_error"
    assert [column["id"] for column in told["columns"]] == ["clean", *(f"svsf/{part}" for part in parts)]
    assert told["caption"] == "Top-1 accuracy of each model in per cent under each shift of svsf."
    values = {name: cell["value"] for name, cell in told["models"][0]["values"].items()}
    # as it was made: all right, but for a third in France
    assert values == pytest.approx({name: 2 / 3 if name == "svsf/country_france" else 1.0 for name in values})
