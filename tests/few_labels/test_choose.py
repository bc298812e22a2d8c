"""Which images are chosen: by the design that is asked for, from answers alone, the same again with the same seed."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

import oodometer as odo
from known_stores import Filled
from made_cells import made_cell
from oodometer.core.errors import StoreError, UsageError
from oodometer.core.predictions import from_top_classes
from oodometer.core.sample import Sample
from oodometer.few_labels.pool import _check_alike
from oodometer.few_labels.proxies import agreement_with_others
from oodometer.metrics.agreement import agreement_matrix
from oodometer.stats.unequal_sample import FLOOR
from oodometer.store.index import index_at
from street_store import MODELS, N_SHIFTED, Streets


def rows_of_table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_images_without_labels_are_chosen_where_models_disagree(streets: Streets):
    chosen = odo.choose_images_to_label(streets.store, "street", 150)
    assert len(set(chosen.ids)) == len(chosen) == 150
    assert set(chosen.labels) == {""}
    # reference: Neyman's allocation written down again, from the answers themselves
    votes = np.array([[(column == one).sum() for one in column] for column in streets.shifted.answers.T])
    share = votes / (len(MODELS) + 1)  # the model itself is the one vote more
    size = np.maximum(np.sqrt((share * (1 - share)).mean(axis=1)), FLOOR)
    expected = dict(zip(streets.ids, 150 * size / size.sum(), strict=True))
    assert chosen.probabilities == pytest.approx([expected[one] for one in chosen.ids])
    assert np.ptp(chosen.probabilities) > 0.01


def test_the_same_seed_chooses_the_same_and_another_others(streets: Streets):
    first, again, other = (odo.choose_images_to_label(streets.store, "street", 50, seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert set(first.ids) != set(other.ids)
    assert list(first.ids) != sorted(first.ids), "in a random order, so that the first of them are a sample too"


def test_uniform_is_as_likely_for_all(streets: Streets):
    chosen = odo.choose_images_to_label(streets.store, "street", 50, design="uniform")
    assert set(chosen.probabilities) == {50 / N_SHIFTED}
    assert rows_of_table(chosen.csv)[0] == {
        "id": chosen.ids[0],
        "label": "",
        "inclusion_probability": repr(50 / N_SHIFTED),
        "design": "uniform",
        "pool_size": str(N_SHIFTED),
        "pool": chosen.design.pool,
    }


def test_few_are_chosen_uniformly_unless_somebody_says_otherwise(streets: Streets):
    designs = [odo.choose_images_to_label(streets.store, "street", n).design.name for n in (99, 100)]
    assert designs == ["uniform", "neyman"]
    assert odo.choose_images_to_label(streets.store, "street", 20, design="neyman").design.name == "neyman"


def test_a_trial_fills_in_the_labels_that_there_are(streets: Streets):
    chosen = odo.choose_images_to_label(streets.store, "road", 50, trial=True)
    assert list(chosen.labels) == [streets.name_of(one) for one in chosen.ids]
    with pytest.raises(UsageError, match="street: not all images have labels"):
        odo.choose_images_to_label(streets.store, "street", 50, trial=True)


def test_one_model_may_be_asked_for(streets: Streets):
    every, one = (odo.choose_images_to_label(streets.store, "street", 100, models=some) for some in ((), ("six",)))
    assert every.probabilities != one.probabilities


def test_data_are_found_by_their_name(streets: Streets):
    assert odo.choose_images_to_label(streets.store, "val", 20).design.pool_size == 3000


@pytest.mark.parametrize(
    ("shifted", "budget", "more", "said"),
    [
        ("stret", 20, {}, "did you mean street"),
        ("street", 5000, {}, "5000 of 2,000 images: choose at least 1 and at most all"),
        ("street", 20, {"design": "best"}, "no design 'best'"),
        ("street", 20, {"models": ("seven",)}, "'seven'"),
    ],
)
def test_wrong_uses_say_what_to_do(streets: Streets, shifted, budget, more, said):
    with pytest.raises(UsageError, match=said):
        odo.choose_images_to_label(streets.store, shifted, budget, **more)


def test_groups_of_images_and_several_labels_are_refused(filled: Filled, make_dataset):
    data = make_dataset(6, k=3, columns={"video": np.repeat(["a", "b"], 3)})
    filled.add(data, [0] * 6, condition="several", answers=(0, 1, 2))
    with pytest.raises(StoreError, match="several labels each"):
        odo.choose_images_to_label(filled.store, "several", 2)
    cell = replace(made_cell(data, condition="frames"), n_units=2)
    with pytest.raises(StoreError, match="groups of images are judged as one"):
        _check_alike(index_at(filled.store), [cell], "frames")


def test_of_a_sample_it_is_said_that_it_is_one(filled: Filled, make_dataset):
    sample = Sample(5000, "val", 0, "within", ((40, 0.1),))
    data = make_dataset(40, k=3).as_sample(sample)
    cell = made_cell(data, condition="street")
    cell = replace(cell, condition=replace(cell.condition, data=replace(cell.condition.data, sample=sample)))
    filled.store.add_cell(cell, data)
    rows = from_top_classes(data.labels[:, None], data.labels, np.arange(40))
    filled.store.write_part(cell.key, 0, 40, rows)
    filled.store.seal(cell, keep_logits=False)
    chosen = odo.choose_images_to_label(filled.store, "street", 10)
    assert "the images are themselves a sample of 5,000: all that is told is about these alone" in chosen.notes


def test_agreement_is_counted():
    # reference: a loop over pairs
    answers = np.random.default_rng(0).integers(4, size=(5, 30))
    slow = np.zeros((5, 30))
    for model in range(5):
        others = [other for other in range(5) if other != model]
        for at in range(30):
            slow[model, at] = np.mean([answers[other, at] == answers[model, at] for other in others])
    np.testing.assert_allclose(agreement_with_others(answers), slow)
    # the mean over images is that of the pairs, as the agreement between models is counted
    of_pairs = (agreement_matrix(answers).sum(axis=1) - 1) / 4
    np.testing.assert_allclose(agreement_with_others(answers).mean(axis=1), of_pairs)
