"""The section about interventions: its numbers are those of ``compare``, or counted by plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, t

from oodometer.analysis.compare import compare
from oodometer.analysis.origins import Origin
from oodometer.core.errors import StoreError
from oodometer.document.section import Words
from oodometer.report.html.sections.interventions import section
from oodometer.stats.effective_robustness import tau_from_counts
from oodometer.store.tables import parse_table, write_table
from oodometer.study import interventions, study_of

PARENTS = {"better": Origin("more data", "base"), "worse": Origin("robust intervention", "base")}
HITS = {
    "base": {"clean": 60, "v2": 40},
    "better": {"clean": 62, "v2": 60},
    "worse": {"clean": 50, "v2": 20},
}


def ranks(n: int, hits: int, seed: int) -> np.ndarray:
    """0 for so many images, chosen by chance, and 1 for the others."""
    found = np.ones(n, dtype=np.int64)
    found[np.random.default_rng(seed).permutation(n)[:hits]] = 0
    return found


@pytest.fixture
def store(filled, make_dataset):
    """A model and two that were made from it, on 80 clean images and 80 others."""
    sets = {"clean": make_dataset(80), "v2": make_dataset(80, name="v2", ids=[f"o{at}" for at in range(80)])}
    for seed, (model, hits) in enumerate(HITS.items()):
        for condition, data in sets.items():
            filled.add(data, ranks(80, hits[condition], seed), model=model, condition=condition, digest=model * 8)
    return filled.store


def rows_of(found) -> dict:
    table = next(one for one in found.parts if getattr(one, "id", "") == "interventions-table")
    titles = [column.title for column in table.columns]
    return {(row[0], row[3]): dict(zip(titles, row, strict=True)) for row in table.rows}


@pytest.mark.parametrize("model", ["better", "worse"])
def test_differences_are_those_of_compare(store, model):
    rows = rows_of(section(study_of(store, origins=PARENTS)))
    assert len(rows) == 4
    for one in compare(store, "base", model):
        row = rows[model, one.condition]
        assert (row["parent's accuracy"], row["accuracy"]) == (one.accuracy_a, one.accuracy_b)
        assert (row["difference"], row["p"], row["n"]) == (one.difference, one.p_value, 80)
        assert (row["only parent right"], row["only model right"]) == (one.counts.only_a, one.counts.only_b)
        # scipy's test, from the counts of this row alone
        differ = row["only parent right"] + row["only model right"]
        assert row["p"] == pytest.approx(binomtest(row["only parent right"], differ).pvalue)


def test_the_plot_has_the_largest_gain_first_and_the_same_numbers(store):
    found = section(study_of(store, origins=PARENTS))
    (shift,) = found.parts[0].data["shifts"]
    assert (shift["name"], shift["clean"]) == ("v2", "clean")
    assert [row["model"] for row in shift["rows"]] == ["better", "worse"]
    rows = rows_of(found)
    for drawn in shift["rows"]:
        for side, condition in (("clean", "clean"), ("shifted", "v2")):
            told = rows[drawn["model"], condition]
            difference = told["difference"]
            assert drawn[side] == {"difference": [difference.value, difference.low, difference.high], "p": told["p"]}
        assert drawn["category"] == PARENTS[drawn["model"]].category


def test_the_lead_tells_who_beat_its_parent(store):
    lead = section(study_of(store, origins=PARENTS)).lead
    assert lead[0].startswith("2 models were made from others that were measured too. On v2 1 of 2 beat their parent")
    assert "beyond chance, 1 lost to it. better comes out best: +25.0 points [" in lead[0]  # 60 and 40 of 80
    assert "Both are judged on the same images" in lead[1]


def test_over_a_family_it_is_the_mean_over_its_conditions(filled, make_dataset):
    data = make_dataset(50)
    right = {}
    for seed, (model, hits) in enumerate((("base", 30), ("better", 36))):
        filled.add(data, ranks(50, 40, seed), model=model, digest=model * 8)
        for severity in (1, 2):
            found = ranks(50, hits - severity, seed + 10 * severity)
            filled.add(data, found, model=model, condition=f"mine-c/fog/{severity}", digest=model * 8)
            right.setdefault(model, []).append(found == 0)
    row = rows_of(section(study_of(filled.store, origins=PARENTS)))["better", "mine-c/fog"]
    per_image = np.mean(right["better"], axis=0) - np.mean(right["base"], axis=0)
    assert row["difference"].value == pytest.approx(per_image.mean())
    # Student's interval, by its formula
    half = t.ppf(0.975, 49) * per_image.std(ddof=1) / np.sqrt(50)
    assert row["difference"].high == pytest.approx(per_image.mean() + half)
    assert row["p"] is None


def test_of_a_table_differences_are_not_paired(filled):
    table = "model,val,imagenet-sketch\nbase,76.1,40.0\nbetter,77.0,45.0\n"
    write_table(filled.store, parse_table(table, source="t.csv", n=10_000))
    found = section(study_of(filled.store, origins=PARENTS))
    row = rows_of(found)["better", "imagenet-sketch"]
    assert row["difference"] == tau_from_counts(0.45, 0.40, 10_000, 10_000)
    assert row["difference"].interval == "newcombe 95%"
    assert row["p"] is None
    assert rows_of(found)["better", "val"]["difference"].value == pytest.approx(0.009)
    assert "nobody knows on which images two models agree" in found.lead[1]
    assert "same images:" not in found.lead[1]


def test_without_parents_there_is_no_section(store):
    assert section(study_of(store)) is None
    assert section(study_of(store, origins={"better": Origin("more data", "not here")})) is None


def test_a_parent_that_is_not_here_is_told(store):
    origins = {**PARENTS, "worse": Origin("robust intervention", "not here")}
    found = section(study_of(store, origins=origins))
    assert {model for model, _ in rows_of(found)} == {"better"}
    (note,) = [one for one in found.parts if isinstance(one, Words)]
    assert note.lines == (
        "No comparison of worse: the parent (not here) is not here, or there are several of that name.",
    )


def test_what_the_card_says_was_done_is_told(store):
    rows = rows_of(section(study_of(store, origins=PARENTS)))
    assert rows["better", "v2"]["intervention"] == "more data"  # the card is silent: its category


def test_the_number_of_tests_is_told(store):
    table = section(study_of(store, origins=PARENTS)).parts[1]
    assert table.caption.endswith("4 p-values, not corrected for their number.")  # 5 % of 4 are none


def test_of_many_tests_some_are_below_the_level_by_chance(filled, make_dataset):
    data = make_dataset(20)
    origins = {f"m{at}": Origin("more data", "base") for at in range(10)}
    for seed, model in enumerate(("base", *origins)):
        for condition in ("clean", "v2"):
            filled.add(data, ranks(20, 10, seed), model=model, condition=condition, digest=model * 8)
    table = section(study_of(filled.store, origins=origins)).parts[1]
    # 10 models on two conditions, 5 % of 20
    assert "20 p-values, not corrected for their number: without any difference up to about 1 would" in table.caption


def test_one_intervention_is_told_as_one(store):
    lead = section(study_of(store, origins={"better": PARENTS["better"]})).lead
    assert lead[0].startswith("1 model was made from another that was measured too. On v2 1 of 1 beat")


def test_a_pair_that_can_not_be_compared_is_noted(store, monkeypatch):
    def refused(index, a, b):
        raise StoreError(f"{b.model_name} saw other images")

    monkeypatch.setattr(interventions, "counts_of_pair", refused)
    found = interventions.interventions_of(study_of(store, origins=PARENTS))
    assert found.found == ()
    assert found.notes == (
        "better against base on v2 is left out: better saw other images",
        "worse against base on v2 is left out: worse saw other images",
    )


def test_without_n_nobody_is_said_to_be_better_by_more_than_chance(filled):
    table = "model,val,imagenet-sketch\nbase,76.1,40.0\nbetter,77.0,45.0\n"
    write_table(filled.store, parse_table(table, source="t.csv"))
    lead = section(study_of(filled.store, origins=PARENTS)).lead
    assert lead[0].endswith(
        "On imagenet-sketch better comes out best: +5.0 points (no interval), and +0.9 points (no interval) on val."
    )
