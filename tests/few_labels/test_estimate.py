"""From a store and a file of labels to numbers: the same as on arrays, whatever the file looks like."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import oodometer as odo
from known_stores import Filled
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError
from oodometer.core.labels import LabelSpace
from oodometer.document.comma_separated import FORMULA
from oodometer.few_labels.evidence import check_one_draw
from oodometer.few_labels.label_studio import write_for_label_studio
from oodometer.few_labels.label_table import NONE, Design, table_text
from oodometer.few_labels.options import line_from
from oodometer.few_labels.pool import pool_of
from oodometer.few_labels.proxies import agreement_with_others
from oodometer.stats.finite_share import finite_share_of
from oodometer.stats.prediction_powered import labelled_images, mean_from_few
from oodometer.stats.unequal_sample import FLOOR, draw, inclusion_probabilities
from oodometer.store.index import index_at
from oodometer.store.store import Store
from street_store import MODELS, N_SHIFTED, NAMES, K, Streets


def filled_in(streets: Streets, chosen: odo.ChosenImages, n: int | None = None) -> odo.FewLabels:
    """The labels that a person who knows them would give to the first n."""
    n = len(chosen) if n is None else n
    ids = chosen.ids[:n]
    return odo.FewLabels(
        "few.csv",
        ids,
        tuple(streets.name_of(one) for one in ids),
        chosen.probabilities[:n],
        chosen.design,
        len(chosen),
    )


def test_the_numbers_are_those_on_arrays(streets: Streets):
    chosen = odo.choose_images_to_label(streets.store, "street", 200)
    options = odo.FewLabelOptions(proxies=("agreement",))
    found = odo.estimate_from_labels(streets.store, "street", filled_in(streets, chosen), options=options)
    places = np.array([streets.ids.index(one) for one in chosen.ids])
    labelled = labelled_images(places, N_SHIFTED, np.array(chosen.probabilities))
    agreement = agreement_with_others(streets.shifted.answers)
    right = streets.shifted.right[:, places]
    assert [one.model for one in found.models] == sorted(MODELS)
    for one in found.models:
        at = MODELS.index(one.model)
        expected = mean_from_few(right[at], agreement[at], labelled)
        assert one.accuracy.estimate == expected.estimate
        assert one.accuracy.worth == pytest.approx(expected.worth)
        assert one.accuracy.why_not == ""
        assert one.all_labels is None
        gap = streets.shifted.confidences[at].mean() - expected.estimate.value
        assert one.confidence_gap.value == pytest.approx(gap, abs=1e-6)
        assert one.confidence_gap.low == pytest.approx(gap + expected.estimate.value - expected.estimate.high, abs=1e-6)


def test_all_proxies_are_used_and_rho_is_told(streets: Streets):
    found = odo.estimate_from_labels(streets.store, "street", filled_in(streets, choose(streets)))
    assert found.proxies == ("agreement", "confidence", "atc")
    assert all(one.rho is not None and one.clean is not None for one in found.models)
    assert "a line through 6 models against clean, logit scale" in str(found)
    assert not found.notes


def choose(streets: Streets, n: int = 200) -> odo.ChosenImages:
    return odo.choose_images_to_label(streets.store, "street", n)


def test_a_trial_tells_what_all_labels_say(streets: Streets):
    chosen = odo.choose_images_to_label(streets.store, "road", 200, trial=True)
    labels = odo.FewLabels("few.csv", chosen.ids, chosen.labels, chosen.probabilities, chosen.design, 200)
    found = odo.estimate_from_labels(streets.store, "road", labels)
    truth = streets.shifted.right.mean(axis=1)
    for one in found.models:
        assert one.all_labels == pytest.approx(truth[MODELS.index(one.model)])
    assert "inside" in str(found)


def test_a_model_is_compared_with_the_others(streets: Streets):
    labels = filled_in(streets, choose(streets))
    options = odo.FewLabelOptions(against="one", proxies=("agreement",))
    found = odo.estimate_from_labels(streets.store, "street", labels, options=options)
    by_name = {one.model: one for one in found.models}
    assert by_name["one"].difference is None
    truth = streets.shifted.right.mean(axis=1)
    six = by_name["six"].difference.estimate
    assert six.low <= truth[5] - truth[0] <= six.high
    assert six.high - six.low < 0.2


def test_a_table_without_probabilities_is_a_plain_sample(streets: Streets, tmp_path):
    places = np.random.default_rng(0).permutation(N_SHIFTED)[:120]
    lines = [f"{streets.ids[at]},{streets.shifted.labels[at]}" for at in places]  # by number
    (tmp_path / "own.csv").write_text("\n".join(["filename,label", *lines]))
    found = odo.estimate_from_labels(streets.store, "street", str(tmp_path / "own.csv"))
    assert any("taken for a plain random sample" in note for note in found.notes)
    right = streets.shifted.right[:, places]
    for one in found.models:
        assert one.accuracy.plain == finite_share_of(int(right[MODELS.index(one.model)].sum()), 120, of=N_SHIFTED)


def test_images_that_nobody_labelled_yet_are_told(streets: Streets):
    chosen = choose(streets)
    found = odo.estimate_from_labels(streets.store, "street", filled_in(streets, chosen, 120))
    assert found.n == 120
    assert any("80 of 200 chosen images have no label yet" in note for note in found.notes)


@pytest.mark.parametrize(("n", "helped"), [(60, False), (200, True)])
def test_help_is_claimed_only_where_there_was_some(streets: Streets, n: int, helped: bool):
    found = odo.estimate_from_labels(streets.store, "street", filled_in(streets, choose(streets, n)))
    assert ("with the help of" in str(found)) == helped
    assert ("from the labels alone, fewer than 100 labels: 6 models" in str(found)) == (not helped)


def test_an_image_may_show_no_class(streets: Streets):
    labels = filled_in(streets, choose(streets))
    none = replace(labels, labels=(NONE,) * len(labels.labels))
    found = odo.estimate_from_labels(streets.store, "street", none)
    assert {one.accuracy.estimate.value for one in found.models} == {0.0}
    assert all(one.accuracy.why_not for one in found.models)


def store_with_classes(filled: Filled, make_dataset: Callable[..., Dataset], *names: str) -> Store:
    """One in which two models are right on all of 40 images."""
    data = replace(make_dataset(40, k=len(names)), space=LabelSpace("kinds", names))
    for at, model in enumerate(("one", "two")):
        filled.add(data, [0] * 40, model=model, digest=f"{at:032x}", condition="street")
    return filled.store


def test_a_class_may_be_called_none(filled: Filled, make_dataset, tmp_path):
    store = store_with_classes(filled, make_dataset, "cat", "none", "dog")
    chosen = odo.choose_images_to_label(store, "street", 20, trial=True)
    assert "a class is called 'none': write 'none of these' where an image shows no class" in chosen.notes
    tasks, _ = write_for_label_studio(chosen, tmp_path / "out", images_at="https://example.org")
    offered = [one["value"] for one in json.loads(tasks.read_text("utf-8"))[0]["data"]["choices"]]
    assert offered == ["cat", "dog", "none", NONE]
    for word, right in (("none", chosen.labels.count("none") / 20), (NONE, 0)):
        given = odo.FewLabels("few.csv", chosen.ids, (word,) * 20, chosen.probabilities, chosen.design, 20)
        found = odo.estimate_from_labels(store, "street", given)
        assert {one.accuracy.plain.value for one in found.models} == {right}
    with pytest.raises(DataError, match="no class 'None'"):
        odo.estimate_from_labels(store, "street", replace(given, labels=("None",) * 20))


@pytest.mark.parametrize("word", ["none", "None", NONE])
def test_where_no_class_is_called_so_none_will_do(filled: Filled, make_dataset, word):
    store = store_with_classes(filled, make_dataset, "cat", "dog")
    chosen = odo.choose_images_to_label(store, "street", 20)
    given = odo.FewLabels("few.csv", chosen.ids, (word,) * 20, chosen.probabilities, chosen.design, 20)
    assert {one.accuracy.plain.value for one in odo.estimate_from_labels(store, "street", given).models} == {0}


def test_a_class_that_is_called_like_no_class_is_refused(filled: Filled, make_dataset):
    store = store_with_classes(filled, make_dataset, "cat", "None of these")
    with pytest.raises(DataError, match="a class is called 'none of these'"):
        odo.choose_images_to_label(store, "street", 20)
    given = odo.FewLabels("few.csv", (str(pool_of(index_at(store), "street").ids[0]),), ("cat",))
    with pytest.raises(DataError, match="give it another name"):
        odo.estimate_from_labels(store, "street", given)


def test_a_line_can_be_given(streets: Streets):
    labels = filled_in(streets, choose(streets))
    options = odo.FewLabelOptions(line=line_from("1,0,linear"))
    found = odo.estimate_from_labels(streets.store, "street", labels, options=options)
    for one in found.models:
        assert one.rho.estimate.value == pytest.approx(one.accuracy.estimate.value - one.clean.value)
    assert "the line that is given" in found.line


def test_without_clean_images_what_can_be_had_is_told(streets: Streets):
    index = index_at(streets.store)
    alone = index.only([cell for cell in index.cells if cell.condition_name == "street"])
    labels = replace(filled_in(streets, choose(streets)), labels=("3",) * 200)  # names are known from labelled data
    found = odo.estimate_from_labels(alone, "street", labels)
    assert found.proxies == ("agreement", "confidence")
    assert any("without the proxy atc: no clean images with labels" in note for note in found.notes)
    assert any("no effective robustness: no clean images with labels" in note for note in found.notes)
    with pytest.raises(UsageError, match="no proxy atc: no clean images"):
        odo.estimate_from_labels(alone, "street", labels, options=odo.FewLabelOptions(proxies=("atc",)))
    with pytest.raises(UsageError, match="no labelled answers on 'nowhere'"):
        odo.estimate_from_labels(index, "street", labels, clean="nowhere")


def test_json_has_what_was_saved(streets: Streets):
    found = odo.estimate_from_labels(streets.store, "street", filled_in(streets, choose(streets))).as_json()
    one = found["models"][0]["accuracy"]
    assert one["factor"] == pytest.approx(one["worth"] / 200)
    assert one["saved"] == max(round(one["worth"]) - 200, 0)
    assert found["design"]["name"] == "neyman"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"labels": ("kind 99",) * 200}, "no class 'kind 99'; did you mean"),
        ({"labels": (str(K),) * 200}, f"no class '{K}'"),
        ({"ids": tuple(f"x{at}" for at in range(200)), "design": None}, "none of street, for example 'x0'"),
    ],
)
def test_labels_that_mean_nothing_are_errors(streets: Streets, change, said):
    labels = replace(filled_in(streets, choose(streets)), **change)
    with pytest.raises(DataError, match=said):
        odo.estimate_from_labels(streets.store, "street", labels)


@pytest.mark.parametrize(("design", "n", "more"), [("uniform", 50, 80), ("uniform", 60, 60), ("neyman", 100, 200)])
def test_two_draws_are_not_joined(streets: Streets, design: str, n: int, more: int):
    draws = [
        odo.choose_images_to_label(streets.store, "street", size, design=design, seed=seed)
        for seed, size in enumerate((n, more))
    ]
    chance_of = {one: chance for drawn in draws for one, chance in zip(drawn.ids, drawn.probabilities, strict=True)}
    labels = tuple(streets.name_of(one) for one in chance_of)
    joined = odo.FewLabels("few.csv", tuple(chance_of), labels, tuple(chance_of.values()), draws[0].design, n + more)
    with pytest.raises(DataError, match="several draws, which can't be joined"):
        odo.estimate_from_labels(streets.store, "street", joined)


@pytest.mark.parametrize("often", [0.02, 0.1, 0.33, 0.8])
@pytest.mark.parametrize("n", [2, 5, 20, 200])
def test_one_draw_is_never_taken_for_two(n: int, often: float):
    # the designs whose probabilities differ most: some images at the floor, all others as unsure as can be
    rng = np.random.default_rng(n)
    chances = inclusion_probabilities(np.where(rng.random(1000) < often, FLOOR, 0.5), n)
    for _ in range(500):
        found = chances[draw(chances, rng)]
        ids = tuple(map(str, range(n)))
        check_one_draw(odo.FewLabels("few.csv", ids, ids, tuple(found.tolist()), Design("neyman", 1000, "x"), n))


def test_labels_of_other_images_are_refused(streets: Streets):
    labels = filled_in(streets, odo.choose_images_to_label(streets.store, "street", 100))
    with pytest.raises(DataError, match="chosen from others than those of road"):
        odo.estimate_from_labels(streets.store, "road", labels)


def test_a_written_table_is_read_again(streets: Streets, tmp_path):
    chosen = odo.choose_images_to_label(streets.store, "street", 100)
    labels = [streets.name_of(one) if at < 60 else "" for at, one in enumerate(chosen.ids)]
    (tmp_path / "few.csv").write_text(table_text(chosen.ids, labels, chosen.probabilities, chosen.design))
    read = odo.read_few_labels(str(tmp_path / "few.csv"))
    assert read == replace(filled_in(streets, chosen, 60), source=str(tmp_path / "few.csv"))


def test_what_strangers_named_is_no_formula_in_the_table_and_comes_back(streets: Streets, tmp_path):
    ids, labels = ("=1+1", "'=1", "'tis", "@a"), ("=HYPERLINK(A2)", "-1", "'+1", "duck")
    (tmp_path / "few.csv").write_text(table_text(ids, labels, (0.5,) * 4, Design("uniform", 8, "x")))
    fields = [field for row in csv.reader((tmp_path / "few.csv").read_text("utf-8").splitlines()) for field in row]
    assert not [field for field in fields if field.startswith(FORMULA)]
    read = odo.read_few_labels(str(tmp_path / "few.csv"))
    assert (read.ids, read.labels) == (ids, labels)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,label\n", "no image has a label yet"),
        ("id,label\na,\n", "no image has a label yet"),
        ("name,label\na,1\n", "expected the columns id and label, found name, label"),
        ("id,label\na,1\na,2\n", "the image 'a' is there twice"),
        ("id,label\na\n", "line 2 has 1 columns instead of 2"),
        ("id,label,inclusion_probability\na,1,2\n", "'2' is no inclusion_probability"),
        ("id,label,design,pool_size,pool\na,1,neyman,5,x\nb,1,uniform,5,x\n", "chosen in several ways"),
        ("id,label,design,pool_size,pool\na,1,odd,5,x\n", "no design 'odd'"),
    ],
)
def test_tables_that_mean_nothing_are_errors(tmp_path, text, said):
    (tmp_path / "few.csv").write_text(text)
    with pytest.raises(DataError, match=said):
        odo.read_few_labels(str(tmp_path / "few.csv"))


def test_names_are_those_of_the_data(streets: Streets):
    assert streets.name_of(streets.ids[0]) in NAMES


@pytest.mark.parametrize("text", ["1,2", "a,0,probit", "1,0,log", "1,0,probit,3"])
def test_a_line_that_is_none_is_an_error(text):
    with pytest.raises(UsageError, match="expected SLOPE,INTERCEPT,SCALE"):
        line_from(text)
