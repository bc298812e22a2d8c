"""``oodometer score`` as a person types it: stdout, stderr and exit code."""

from __future__ import annotations

import json

import numpy as np
import pytest

from as_typed import oodometer
from made_cells import made_cell
from oodometer.core.predictions import Predictions, from_logits, from_top_classes
from oodometer.metrics.corruption_error import COMMON, SEVERITIES
from oodometer.store.store import Store, open_store

N, K = 40, 10


def put(store: Store, data, condition: str, rows, *, model: str = "mine", k: int = K) -> None:
    cell = made_cell(data, model=model, condition=condition, n_classes=k)
    store.add_cell(cell, data)
    store.write_part(cell.key, 0, len(data), rows)
    store.seal(cell, keep_logits=False)


@pytest.fixture
def data(make_dataset):
    return make_dataset(N, k=K)


def rows_with(data, n_wrong: int) -> Predictions:
    said = np.where(np.arange(N) < n_wrong, (data.labels + 1) % K, data.labels)
    surely = (3 + np.arange(N) / 50)[:, None]
    return from_logits(surely * np.eye(K)[said], data.labels, np.arange(N))


@pytest.fixture
def small(tmp_path, monkeypatch, data) -> Store:
    """A model on clean images, of which a quarter is wrong."""
    monkeypatch.chdir(tmp_path)
    store = open_store("runs", create=True)
    put(store, data, "clean", rows_with(data, 10), k=1000)
    return store


@pytest.fixture
def measured(small, data) -> Store:
    """The same model on all of ImageNet-C too, with more wrong at each severity."""
    for name in COMMON:
        for severity in SEVERITIES:
            put(small, data, f"imagenet-c/{name}/{severity}", rows_with(data, 10 + 4 * severity), k=1000)
    return small


def test_one_metric_as_text(measured):
    result = oodometer("score", "runs", "--metrics", "mean-corruption-error", "--draws", "200")
    # (14 + 18 + 22 + 26 + 30) / 5 of 40 images are wrong
    assert result.stdout.startswith("mine  imagenet-c  mean-corruption-error  0.5500 [")
    assert result.stdout.endswith("]  n=40\n")
    assert result.stderr == (
        "mean-corruption-error: mean error over 15 corruptions x 5 severities, not normalised\n"
        "intervals: bootstrap 95%\n"
    )
    assert result.exit_code == 0


def test_all_as_text_and_json(measured):
    text = oodometer("score", "runs", "--metrics", "all,per-class", "--draws", "100")
    assert text.exit_code == 0
    assert "left out: pm-k: no data with the columns anchor and offset" in text.stderr
    assert text.stderr.count("per-class:") == 1
    result = oodometer("score", "runs", "--metrics", "all,per-class", "--draws", "100", "--json")
    rows = json.loads(result.stdout)
    assert len(rows) == len(text.stdout.splitlines())
    assert {row["metric"] for row in rows} >= {"top-1", "nll", "mce", "relative-mce", "per-class[3]"}
    assert "left out: pm-k" in result.stderr
    assert result.stdout.startswith("[\n")


def test_options_reach_the_metrics(measured):
    words = ("score", "runs", "--metrics", "top-1", "--json")
    (first, *_) = json.loads(oodometer(*words, "--interval", "bootstrap", "--draws", "100", "--seed", "3").stdout)
    (other, *_) = json.loads(oodometer(*words, "--interval", "bootstrap", "--draws", "100", "--seed", "4").stdout)
    assert first["estimate"]["interval"] == "bootstrap 95%"
    assert first["estimate"]["value"] == other["estimate"]["value"] == 0.75
    assert (first["estimate"]["low"], first["estimate"]["high"]) != (
        other["estimate"]["low"],
        other["estimate"]["high"],
    )
    # clean has one wrong image in each class, so that all draws are equal; severity 1 has not
    (_, grouped, *_) = json.loads(oodometer(*words, "--by", "class", "--level", "0.9").stdout)
    assert grouped["estimate"]["interval"] == "cluster bootstrap 90%"


def test_names_may_have_spaces_around_them(small):
    result = oodometer("score", "runs", "--metrics", " top-1 , error,", "--json")
    assert {row["metric"] for row in json.loads(result.stdout)} == {"top-1", "error"}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--metrics", "top1"), 2, "no metric named 'top1'; did you mean top-1?"),
        (("--metrics", ","), 2, "no metric is named; known: adaptive-ece, "),
        (("--metrics", "pm-k"), 1, "pm-k: no data with the columns anchor and offset"),
        (("--metrics", "aupr"), 1, "aupr: say which condition is out of distribution, with --ood CONDITION"),
        (("--metrics", "top-1:any"), 1, "top-1:any: need the acceptable labels of each image; give --label-sets FILE"),
        (("--metrics", "all", "--label-sets", "none.json"), 1, "none.json: can't be read"),
        (("--metrics", "all", "--ood", "clena"), 2, "--ood clena: nothing was run on it"),
        (("--temperature", "clen"), 2, "--temperature clen: nothing was run on it; did you mean clean?"),
        (("--metrics", "nll", "--temperature", "clean"), 1, "run it again with --keep logits"),
        (("--metrics", "all", "--normaliser", "alexnet"), 2, "no predictions of a model named 'alexnet'"),
        (("--by", "video"), 2, "--by video: no data here have such a column; known: class"),
        (("--draws", "10", "--metrics", "nll"), 2, "10 draws: a 95% bootstrap needs 100 or more"),
        (("--level", "95"), 2, "level 95.0: must lie between 0 and 1"),
        (("--interval", "bcaa"), 2, "no interval named 'bcaa'; did you mean bca?"),
    ],
)
def test_mistakes_get_one_clear_line(small, words, code, message):
    result = oodometer("score", "runs", *words)
    assert message in result.stderr
    assert result.stderr.splitlines()[-1].startswith("Error: ")
    assert result.exit_code == code, result.stderr
    assert result.stdout == ""


def test_imported_classes_and_logits_stand_side_by_side(small, data):
    rows = from_top_classes(((data.labels + np.arange(N) % 2) % K)[:, None], data.labels, np.arange(N))
    put(small, data, "clean", rows, model="imported")
    result = oodometer("score", "runs", "--metrics", "nll,balanced", "--json")
    rows = json.loads(result.stdout)
    assert {row["metric"] for row in rows if row["model"] == "imported"} == {"balanced"}
    assert result.stderr.splitlines()[-1] == (
        "left out: nll: needs label_log_probability, but only the best classes of these answers are known "
        "(imported on clean)"
    )
