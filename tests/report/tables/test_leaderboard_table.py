"""The leaderboard as a table: its numbers are those of the study."""

from __future__ import annotations

import json

import pytest

import oodometer as odo
from made_tables import bold_in, column_of, keys_of, models_of
from oodometer.analysis.compare import compare
from oodometer.analysis.origins import Origin
from oodometer.analysis.robustness import robustness
from oodometer.analysis.score import score
from oodometer.core.errors import UsageError
from oodometer.metrics.corruption_error import COMMON, alexnet
from oodometer.report.tables import TableOptions, leaderboard_table
from oodometer.store.store import open_store
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import study_of


def test_every_number_is_that_of_score_and_robustness(four):
    table = leaderboard_table(four)
    assert keys_of(table) == ["clean", "new", "rho:new"]
    known = {(one.model, one.condition): one.estimate for one in score(four.index).rows if one.metric == "top-1"}
    line = {
        one.model: one for one in robustness(four.index, "new", origins={m: Origin("standard") for m in "abcd"}).models
    }
    for model in "abcd":
        assert column_of(table, "clean")[model] == known[model, "iid"]
        assert column_of(table, "new")[model] == known[model, "new"]
        assert column_of(table, "rho:new")[model] == line[model].rho


def test_bold_only_where_the_best_is_told_from_all_others(four):
    table = leaderboard_table(four)
    # a and b: 950 and 800 of the same 1,000 images; 600 and 599.
    assert bold_in(table, "a") & {"clean", "new"} == {"clean"}
    assert not bold_in(table, "b")
    text = " ".join(table.footnotes)
    assert "Bold: better than all others (the interval of the difference excludes 0, or, where" in text
    assert "In the other columns none can be told to be." in text


def test_nothing_is_bold_where_nothing_can_be_told(study):
    table = leaderboard_table(study({"a": (90, 60), "b": (89, 59), "c": (88, 58), "d": (87, 57)}, n=100))
    assert not table.bold
    assert any(
        note.startswith("None is bold: in no column is one better than all others (needed: ")
        for note in table.footnotes
    )


def test_only_among_the_models_that_are_shown(four):
    table = leaderboard_table(four, TableOptions(models=("[cd]",)))
    assert models_of(table) == ["c", "d"]
    assert bold_in(table, "c") >= {"clean", "new"}  # 300 and 200 of the same 1,000


def test_models_without_a_number_are_named(filled, make_dataset, right):
    data = make_dataset(100)
    for model, condition in (("a", "clean"), ("b", "clean"), ("c", "sketch")):
        filled.add(data, right(50, 100), condition=condition, model=model, digest=model * 32)
    table = leaderboard_table(study_of(filled.store))
    assert models_of(table) == ["a", "b"]
    assert "left out, without any of these numbers: c" in table.notes


def test_sorted_as_asked(study):
    made = study({"a": (950, 200), "b": (800, 599), "c": (700, 300), "d": (600, 400)})
    assert models_of(leaderboard_table(made)) == ["a", "b", "c", "d"]
    assert models_of(leaderboard_table(made, TableOptions(sort="new"))) == ["b", "d", "c", "a"]
    assert models_of(leaderboard_table(made, TableOptions(sort="model"))) == ["a", "b", "c", "d"]
    with pytest.raises(UsageError, match=r"no column 'rho:now' to sort by; did you mean rho:new\?$"):
        leaderboard_table(made, TableOptions(sort="rho:now"))


def test_grouped_by_category_the_standard_ones_first(filled):
    clean = {"a": 0.95, "b": 0.99, "c": 0.7, "d": 0.6, "e": 0.5}
    write_table(filled.store, [Accuracy(model, "clean", share, 1000, "t.csv") for model, share in clean.items()])
    standard, more = Origin("standard"), Origin("more data", "a")
    made = study_of(filled.store, origins={"a": standard, "b": more, "c": standard, "d": more})
    table = leaderboard_table(made)
    assert table.groups == (("standard", 2), ("more data", 2), ("category unknown", 1))
    assert models_of(table) == ["a", "c", "b", "d", "e"]
    assert [row[1:3] for row in table.rows][2:] == [("more data", "a"), ("more data", "a"), ("", None)]
    apart = leaderboard_table(made, TableOptions(grouped=False))
    assert (apart.groups, models_of(apart)) == ((), ["b", "a", "c", "d", "e"])


def test_tau_is_the_difference_to_the_parent_with_or_without_a_line(study):
    made = study({"a": (900, 500), "b": (910, 560)}, origins={"b": Origin("more data", "a")})
    table = leaderboard_table(made, TableOptions(columns=("accuracy", "tau", "rho")))
    assert keys_of(table) == ["new", "tau:new"]  # two models make no line
    tau = column_of(table, "tau:new")
    assert tau["b"].value == pytest.approx(0.06, abs=1e-12)
    assert tau["b"].low > 0
    assert "tau:new" not in bold_in(table, "a") | bold_in(table, "b")
    assert any(note.startswith("no ρ under new: ") for note in table.notes)


def test_scores_besides_accuracies(four):
    table = leaderboard_table(four, TableOptions(columns=("ece", "calibration", "aurra"), sort="calibration:new"))
    assert keys_of(table) == [
        "ece:clean", "calibration:clean", "aurra:clean", "ece:new", "calibration:new", "aurra:new",
    ]  # fmt: skip
    known = {
        (one.model, one.condition, one.metric): one.estimate
        for one in score(four.index, metrics=["ece", "rms-calibration", "aurra"]).rows
    }
    for model in "abcd":
        assert column_of(table, "ece:new")[model] == known[model, "new", "ece"]
        assert column_of(table, "calibration:new")[model] == known[model, "new", "rms-calibration"]
        assert column_of(table, "aurra:clean")[model].value == known[model, "iid", "aurra"].value
    values = [one.value for one in column_of(table, "calibration:new").values()]
    assert values == sorted(values)  # the least error first
    assert any(note.startswith("RMS cal.: ") for note in table.footnotes)
    assert any(note.startswith("ECE: L1, 15 bins") for note in table.footnotes)


def test_what_is_not_there_is_said_in_one_line(four):
    with pytest.raises(UsageError, match=r"no column 'roh'; did you mean rho\?$"):
        leaderboard_table(four, TableOptions(columns=("roh",)))
    with pytest.raises(UsageError, match=r"no model is like 'z\*'"):
        leaderboard_table(four, TableOptions(models=("z*",)))
    with pytest.raises(UsageError, match=r"no shift named 'now'; did you mean new\?"):
        leaderboard_table(four, TableOptions(shifts=("now",)))
    with pytest.raises(UsageError, match="nothing is known of mce; ask for other --columns"):
        leaderboard_table(four, TableOptions(columns=("mce",)))


def test_few_shifts_unless_asked_and_the_others_are_named(filled, make_dataset, right):
    data = make_dataset(100)
    for model in "ab":
        for place, name in enumerate(["clean", *(f"s{one}" for one in range(6))]):
            filled.add(data, right(90 - 5 * place, 100), model=model, digest=model * 32, condition=name)
    made = study_of(filled.store)
    table = leaderboard_table(made)
    assert len(keys_of(table)) == 5  # the clean set and four shifts
    assert "not in the table, ask for them with --shift: s4, s5" in table.notes
    assert len(keys_of(leaderboard_table(made, TableOptions(most=None)))) == 7


def test_as_json_in_full(four):
    found = json.loads(json.dumps(leaderboard_table(four).as_json(), allow_nan=False))
    assert found["models"][0]["values"]["clean"] == {
        "value": 0.95,
        "low": four.conditions[0].accuracies["a"].low,
        "high": four.conditions[0].accuracies["a"].high,
        "n": 1000,
        "interval": "clopper-pearson 95%",
        "best": True,
    }
    rho = found["columns"][2]
    assert (rho["id"], rho["title"], rho["over"], rho["unit"], rho["better"]) == (
        "rho:new",
        "ρ",
        "new",
        "points",
        "high",
    )
    assert rho["about"].startswith("Effective robustness on new: ")


def test_accuracies_of_a_table_without_n_have_no_interval_and_no_best(tmp_path):
    (tmp_path / "t.csv").write_text("model,val,imagenetv2\na,0.9,0.8\nb,0.5,0.4\n")
    odo.import_table(str(tmp_path / "t.csv"), store=str(tmp_path / "runs"))
    table = leaderboard_table(study_of(str(tmp_path / "runs")))
    assert [one.value for one in column_of(table, "clean").values()] == [0.9, 0.5]
    assert not table.bold


def test_one_model_on_the_clean_set_alone(filled, make_dataset, right):
    filled.add(make_dataset(10), right(5, 10))
    table = leaderboard_table(study_of(filled.store))
    assert table.caption == "Top-1 accuracy of each model in per cent."
    assert (column_of(table, "clean")["mine"].value, table.bold) == (0.5, frozenset())
    assert table.footnotes == ("n = 10 images.", "Intervals: clopper-pearson 95%.")


def test_the_same_images_tell_more_than_two_intervals(study):
    # Right on the same images but for 20: the intervals of 72 % and 70 % overlap, that of the difference excludes 0.
    made = study({"a": (720, 620), "b": (700, 600)})
    table = leaderboard_table(made, TableOptions(columns=("clean", "accuracy")))
    for key in ("clean", "new"):
        values = column_of(table, key)
        assert values["a"].low < values["b"].high
    assert (bold_in(table, "a"), bold_in(table, "b")) == ({"clean", "new"}, set())
    (compared,) = compare(made.index, "b", "a", on="iid")
    assert compared.difference.low > 0


@pytest.mark.parametrize(
    ("columns", "caption"),
    [
        (("clean", "accuracy"), "Top-1 accuracy of each model in per cent, clean and under shift."),
        (("accuracy", "rho"), "Top-1 accuracy of each model in per cent, under shift."),
        (("clean",), "Top-1 accuracy of each model in per cent."),
        (("rho",), "Effective robustness ρ of each model in points."),
        (("ece",), "Expected calibration error of each model in per cent, clean and under shift."),
        (("rho", "drop"), "Effective robustness ρ and drop of accuracy under shift of each model in points."),
    ],
)
def test_the_caption_says_what_the_numbers_are(four, columns, caption):
    assert leaderboard_table(four, TableOptions(columns=columns)).caption == caption


def test_a_table_of_corruption_errors_is_not_called_accuracy(filled):
    rows = [
        Accuracy("a", f"imagenet-c/{name}/{severity}", 0.5, 1000, "t.csv")
        for name in COMMON
        for severity in range(1, 6)
    ]
    write_table(filled.store, [*rows, Accuracy("a", "val", 0.7, 1000, "t.csv")])
    table = leaderboard_table(study_of(filled.store), TableOptions(columns=("mce",)))
    assert table.caption == "Mean corruption error of each model in per cent."
    # reference: the errors of AlexNet that are published with ImageNet-C
    assert column_of(table, "mce:imagenet-c")["a"].value == pytest.approx(
        (0.5 * 5 / alexnet().errors.sum(axis=1)).mean()
    )


def test_a_model_that_was_never_asked_about_the_clean_set_stands_there_too(four, filled, make_dataset, right):
    shifted = make_dataset(1000, name="new", ids=[f"n{at}" for at in range(1000)])
    filled.add(shifted, right(700, 1000), condition="new", model="e", digest="e" * 32)
    table = leaderboard_table(study_of(filled.store), TableOptions(columns=("clean", "accuracy")))
    assert column_of(table, "new")["e"].value == 0.7
    assert "e" not in column_of(table, "clean")


def test_ranks_are_those_that_a_model_may_have(four):
    """By tests of all pairs on the images: statsmodels' McNemar and Holm."""
    from itertools import combinations

    from statsmodels.stats.contingency_tables import mcnemar
    from statsmodels.stats.multitest import multipletests

    table = leaderboard_table(four)
    models = ["a", "b", "c", "d"]  # in order: 950, 800, 300 and 200 of the same 1,000
    pairs = list(combinations(models, 2))
    counts = [compare(four.index, *pair, on="iid")[0].counts for pair in pairs]
    p = [mcnemar([[one.both, one.only_a], [one.only_b, one.neither]], exact=True).pvalue for one in counts]
    apart = dict(zip(pairs, multipletests(p, method="holm")[0], strict=True))
    for at, name in enumerate(models):
        better = sum(apart[other, name] for other in models[:at])
        worse = sum(apart[name, other] for other in models[at + 1 :])
        best, last = 1 + better, 4 - worse
        assert column_of(table, "rank")[name] == (str(best) if best == last else f"{best}–{last}")
    (said,) = [line for line in table.footnotes if line.startswith("Ranks: by clean")]
    assert said.endswith("(exact McNemar tests of all pairs, corrected after Holm).")


def test_ranks_follow_the_column_that_sorts(four):
    by_new = leaderboard_table(four, TableOptions(sort="new"))
    assert any(line.startswith("Ranks: by new") for line in by_new.footnotes)
    assert column_of(by_new, "rank")["a"] == column_of(by_new, "rank")["b"] == "1–2"
    by_rho = leaderboard_table(four, TableOptions(sort="rho:new"))
    assert "rank" not in [column.key for column in by_rho.columns]


def test_what_can_not_be_tested_is_no_tie(tmp_path):
    rows = [
        Accuracy(name, on, 0.9 - at / 10 - shift, n, "t.csv")
        for at, (name, n) in enumerate([("a", 1000), ("b", 1000), ("c", None)])
        for on, shift in (("val", 0.0), ("imagenet-sketch", 0.3))
    ]
    store = open_store(str(tmp_path / "runs"), create=True)
    write_table(store, rows)
    table = leaderboard_table(study_of(store))
    assert column_of(table, "rank") == {"a": "1–2?", "b": "2–3?", "c": "1–3?"}
    assert any("?: not all pairs can be tested (2 can't)" in line for line in table.footnotes)
