"""The hypotheses on stores whose numbers are known: every gain is counted by hand or by plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.hypotheses import Hypotheses, HypothesisOptions, Question, hypotheses_in
from oodometer.analysis.origins import Origin
from oodometer.core.errors import StoreError, UsageError
from oodometer.store.store import open_store
from oodometer.store.tables import parse_table, write_table

N = 1000


def ranks(hits: int, seed: int) -> np.ndarray:
    """0 for so many images, chosen by chance, and 1 for the others."""
    wrong = np.ones(N, dtype=np.int64)
    wrong[np.random.default_rng(seed).permutation(N)[:hits]] = 0
    return wrong


def question(judged: Hypotheses, hypothesis: str, shift: str) -> Question:
    (only,) = [one for one in judged.questions if (one.hypothesis, one.shift) == (hypothesis, shift)]
    return only


@pytest.fixture
def fill(filled, make_dataset):
    """``fill({model: (hits clean, hits shifted, card)}, condition="v2", same=False)``: a store of these answers."""

    def make(models: dict, *, condition: str = "imagenet-r", same: bool = False):
        clean = make_dataset(N)
        ids = None if same else [f"o{at}" for at in range(N)]
        shifted = make_dataset(N, name=condition, ids=ids)
        for place, (name, (on_clean, on_shifted, card)) in enumerate(models.items()):
            about = {"model": name, "digest": f"{place:032d}", "card": card}
            filled.add(clean, ranks(on_clean, 2 * place), condition="clean", **about)
            filled.add(shifted, ranks(on_shifted, 2 * place + 1), condition=condition, **about)
        return filled.store

    return make


AUGMIX = {"category": "robust intervention", "parent": "base", "interventions": ("augmix",)}
NOISE = {"category": "robust intervention", "parent": "base", "interventions": ("speckle",)}


def test_a_gain_is_counted_in_the_gap_where_both_sides_have_one_unit(fill):
    judged = hypotheses_in(fill({"base": (700, 300, {}), "mixed": (720, 520, AUGMIX)}))
    one = question(judged, "diverse_data_augmentation", "imagenet-r")
    assert one.counted == "gap in accuracy"
    assert one.value.value == pytest.approx(0.400 - 0.200)  # 70 - 30 points lost, then 72 - 52
    assert (one.verdict, len(one.pairs)) == ("+", 1)
    assert one.pairs[0].gain == one.value


def test_the_interval_of_a_gain_is_that_of_paired_differences(fill):
    store = fill({"base": (700, 300, {}), "mixed": (720, 520, AUGMIX)})
    one = question(hypotheses_in(store), "diverse_data_augmentation", "imagenet-r")
    right = [[ranks(hits, seed) == 0 for hits, seed in row] for row in (((700, 0), (300, 1)), ((720, 2), (520, 3)))]
    clean, shifted = (right[1][side].astype(float) - right[0][side] for side in (0, 1))
    # By the plain formula: the variance of a difference of two means over other images; the half image that is added in
    # either direction changes the third digit of its root.
    variance = clean.var(ddof=1) / N + shifted.var(ddof=1) / N
    assert (one.value.high - one.value.low) / 2 == pytest.approx(1.962 * np.sqrt(variance), rel=0.003)


def test_what_is_chosen_by_mistakes_is_counted_by_its_result(fill):
    judged = hypotheses_in(fill({"base": (700, 100, {}), "mixed": (600, 180, AUGMIX)}, condition="imagenet-a"))
    one = question(judged, "diverse_data_augmentation", "imagenet-a")
    assert (one.counted, one.value.value) == ("accuracy", pytest.approx(0.08))


@pytest.mark.parametrize(("shifted", "verdict"), [(520, "+"), (400, "+"), (318, "undecided"), (200, "-")])
def test_verdicts_are_beyond_the_threshold_on_either_side_or_undecided(fill, shifted, verdict):
    """Answers by chance: the gain has a standard error of 2 points, so that only 1.8 is too near to 1.5 to be told."""
    judged = hypotheses_in(fill({"base": (700, 300, {}), "mixed": (700, shifted, AUGMIX)}, condition="imagenet-a"))
    one = question(judged, "diverse_data_augmentation", "imagenet-a")
    assert one.value.value == pytest.approx((shifted - 300) / N)
    assert one.verdict == verdict


def test_noise_is_a_control_and_no_evidence_about_diverse_data(fill):
    judged = hypotheses_in(fill({"base": (700, 300, {}), "noisy": (700, 520, NOISE)}))
    one = question(judged, "diverse_data_augmentation", "every shift")
    assert (one.verdict, one.value, one.why) == ("undefined", None, "no two models differ in this alone")
    synthetic = question(judged, "synthetic_not_natural", "imagenet-r")
    assert synthetic.value.value == pytest.approx(0.22)
    assert synthetic.verdict == "-"  # a synthetic intervention helps here: against the hypothesis


def test_all_questions_are_corrected_together(fill):
    models = {"base": (700, 300, {}), "mixed": (700, 360, AUGMIX), "noisy": (700, 300, NOISE)}
    store = fill(models)
    plain = hypotheses_in(store, options=HypothesisOptions(correct="none"))
    holm = hypotheses_in(store)
    p_values = sorted(one.p_value for one in plain.answered)
    assert len(p_values) == 2  # diverse augmentation, and synthetic interventions
    assert [one.p_corrected for one in plain.answered] == [one.p_value for one in plain.answered]
    smallest = min(holm.answered, key=lambda one: one.p_value)
    assert smallest.p_corrected == pytest.approx(min(1, 2 * p_values[0]))
    assert "2 questions, corrected after Holm" in holm.rule


def test_texture_bias_is_the_gain_beyond_other_natural_shifts(filled, make_dataset):
    """On renditions the gain is 20 points, on a new test set 4, in the gap with the same clean answers."""
    sets = {
        "clean": make_dataset(N),
        "imagenet-r": make_dataset(N, name="r", ids=[f"r{at}" for at in range(N)]),
        "imagenetv2-matched-frequency": make_dataset(N, name="v2", ids=[f"v{at}" for at in range(N)]),
    }
    hits = {"base": (700, 300, 600), "mixed": (700, 500, 640)}
    for place, model in enumerate(hits):
        for at, (condition, data) in enumerate(sets.items()):
            card = AUGMIX if model == "mixed" else {}
            about = {"model": model, "digest": f"{place:032d}", "condition": condition, "card": card}
            filled.add(data, ranks(hits[model][at], 3 * place + at), **about)
    judged = hypotheses_in(filled.store)
    one = question(judged, "texture_bias", "imagenet-r")
    assert one.value.value == pytest.approx(0.20 - 0.04)
    assert one.verdict == "+"
    assert one.counted == "gap in accuracy, beyond 1 other natural shift"
    parts = [question(judged, "diverse_data_augmentation", name).value for name in list(sets)[1:]]
    widths = [(part.high - part.low) / 2 for part in parts]
    # the shifts are taken as independent: squares of standard errors add up (Student's t is the same for all)
    assert (one.value.high - one.value.low) / 2 == pytest.approx(np.hypot(*widths), rel=1e-3)


TABLE = "model,val,imagenetv2-matched-frequency,imagenet-r\n" + "\n".join(
    f"m{at},{60 + 2 * at},{47 + 2.2 * at},{30 + 1.5 * at}" for at in range(8)
)


def table_store(tmp_path, more: str):
    store = open_store(str(tmp_path / "table"), create=True)
    write_table(store, parse_table(f"{TABLE}\n{more}\n", source="made", n=10_000))
    return store


def origins_of(**others: Origin) -> dict[str, Origin]:
    return {f"m{at}": Origin("standard") for at in range(8)} | others


def test_models_far_from_the_line_speak_against_only_iid_accuracy(tmp_path):
    # 20 points above the line that goes through the others (exactly linear here), on the new test set
    store = table_store(tmp_path, "far,70,78,37.5")
    judged = hypotheses_in(store, origins=origins_of(far=Origin("robust intervention")))
    one = question(judged, "only_iid_accuracy_matters", "imagenetv2-matched-frequency")
    assert one.value.value == pytest.approx(0.20, abs=0.01)
    assert (one.verdict, one.models) == ("-", ("far",))
    assert not one.for_if_above


def test_a_model_on_the_line_does_not(tmp_path):
    store = table_store(tmp_path, "near,70,58,37.5")
    judged = hypotheses_in(store, origins=origins_of(near=Origin("robust intervention")))
    one = question(judged, "only_iid_accuracy_matters", "imagenetv2-matched-frequency")
    assert one.value.value < 0.005
    assert one.verdict in ("+", "undecided")


def test_a_table_alone_gives_wider_gains(tmp_path):
    store = table_store(tmp_path, "mixed,60,57,45")
    mixed = Origin("robust intervention", "m0", None, ("augmix",))
    one = question(hypotheses_in(store, origins=origins_of(mixed=mixed)), "diverse_data_augmentation", "imagenet-r")
    assert one.value.value == pytest.approx(0.15)  # 45 - 30 at the same clean accuracy
    assert one.value.low < 0.15 < one.value.high


def test_one_number_or_several(tmp_path):
    rng = np.random.default_rng(0)
    robust = rng.normal(0, 6, (12, 2))
    lines = [f"r{at},70,{58 + a:.3f},{37.5 + b:.3f}" for at, (a, b) in enumerate(robust)]
    store = table_store(tmp_path, "\n".join(lines))
    origins = origins_of(**{f"r{at}": Origin("robust intervention") for at in range(12)})
    one = question(hypotheses_in(store, origins=origins), "multivariate", "natural shifts together")
    r = abs(np.corrcoef(robust.T)[0, 1])
    assert one.value.value == pytest.approx((1 + r) / 2, abs=0.02)  # of two columns, by hand
    assert one.threshold == 0.9
    assert one.verdict == "+"
    same = [f"r{at},70,{58 + a:.3f},{37.5 + 0.8 * a:.3f}" for at, (a, _) in enumerate(robust)]
    alike = hypotheses_in(table_store(tmp_path / "other", "\n".join(same)), origins=origins)
    assert question(alike, "multivariate", "natural shifts together").verdict == "-"


def test_what_is_undefined_says_why(fill):
    judged = hypotheses_in(fill({"base": (700, 300, {}), "mixed": (700, 520, AUGMIX)}))
    why = {(one.hypothesis): one.why for one in judged.questions if one.value is None}
    assert why["larger_models"] == "no two models differ in this alone"
    assert why["texture_bias"] == "no other natural shift was measured"
    assert why["only_iid_accuracy_matters"].startswith("no line says what to expect: ")
    assert why["multivariate"] == "0 natural shifts have a line: two or more are needed"


def test_the_table_has_a_line_for_each_question_and_pair(fill):
    judged = hypotheses_in(fill({"base": (700, 300, {}), "mixed": (720, 520, AUGMIX)}))
    text = judged.table(pairs=True)
    assert "Diverse Data Augmentation: training on diversely changed images makes a model more robust" in text
    assert "    base → mixed" in text
    assert "+20.0 [" in text
    assert "    base → mixed" not in str(judged)
    assert "  every shift: undefined, no two models differ in this alone" in text
    told = judged.as_json()
    assert told["questions"][2]["value"]["value"] == pytest.approx(0.2)


def test_a_store_without_shifts_and_options_that_can_not_be_say_so(filled, make_dataset):
    filled.add(make_dataset(N), ranks(500, 0))
    with pytest.raises(StoreError, match="no shift was run on both sides"):
        hypotheses_in(filled.store)
    with pytest.raises(UsageError, match="did you mean holm"):
        HypothesisOptions(correct="hollm")
    with pytest.raises(UsageError, match=r"such as 0\.015"):
        HypothesisOptions(threshold=1.5)
