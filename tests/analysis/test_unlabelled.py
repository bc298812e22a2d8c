"""Estimates without labels from a store: against the functions on arrays, and what is said where they fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

import oodometer as odo
from known_stores import Filled
from made_unlabelled import MadeAnswers, made_answers
from oodometer.analysis.unlabelled_methods import METHODS
from oodometer.analysis.unlabelled_sides import sides_without_labels
from oodometer.core.dataset import Dataset
from oodometer.core.errors import StoreError, UsageError
from oodometer.core.predictions import Predictions, from_top_classes
from oodometer.core.sample import Sample
from oodometer.metrics.agreement import agreement_matrix
from oodometer.stats.agreement_line import aline_d, aline_s
from oodometer.stats.confidence_estimates import average_thresholded_confidence, difference_of_confidences
from oodometer.store.index import look

Make = Callable[..., Dataset]
K, N = 10, 400
SKILLS = np.linspace(0.0, 1.2, 6)


@dataclass(frozen=True)
class World:
    """A store with six models on ``val``, and what fills it further."""

    filled: Filled
    val: Dataset
    street: Dataset
    unlabelled: Dataset
    on_val: MadeAnswers
    on_street: MadeAnswers

    def put(self, data: Dataset, answers: MadeAnswers, *, models: range = range(6), **about: object) -> None:
        """The answers of these models."""
        for model in models:
            digest = f"{model:032x}"
            self.filled.put(data, answers.rows(model, data), model=f"m{model}", digest=digest, **about)

    @property
    def right(self) -> np.ndarray:
        """Whether each model is right on each image of ``val``."""
        return np.asarray(self.on_val.prediction == self.val.labels)

    @property
    def true_accuracy(self) -> np.ndarray:
        """On the images of ``street``."""
        return np.asarray((self.on_street.prediction == self.street.labels).mean(axis=1))

    def expected(self, method: str) -> np.ndarray:
        """What a method says, from the arrays."""
        if method in ("aline-s", "aline-d"):
            by = aline_s if method == "aline-s" else aline_d
            agreements = (agreement_matrix(answers.prediction) for answers in (self.on_val, self.on_street))
            return by(self.right.mean(axis=1), *agreements)
        name, sign = ("entropy", -1) if method == "atc-entropy" else ("confidence", 1)
        by_score = difference_of_confidences if method == "confidence-difference" else average_thresholded_confidence
        told = [
            by_score(
                sign * getattr(self.on_val.rows(model, self.val), name),
                self.right[model],
                sign * getattr(self.on_street.rows(model, self.street), name),
            )
            for model in range(6)
        ]
        return np.array([one if isinstance(one, float) else one.accuracy for one in told])


@pytest.fixture
def world(filled: Filled, make_dataset: Make) -> World:
    rng = np.random.default_rng(0)
    truths = rng.integers(K, size=(2, N))
    val = make_dataset(N, labels=truths[0])
    street = make_dataset(
        N,
        labels=truths[1],
        name="street",
        ids=[f"street-{place}" for place in range(N)],
        contents=contents_of("street"),
    )
    unlabelled = make_dataset(N, labels=np.full(N, -1), name="street", ids=street.ids, contents=contents_of("street"))
    made = World(
        filled,
        val,
        street,
        unlabelled,
        made_answers(truths[0], K, SKILLS, harder=0.0, seed=1),
        made_answers(truths[1], K, SKILLS, harder=0.6, seed=2),
    )
    made.put(val, made.on_val)
    return made


def contents_of(name: str) -> list[bytes]:
    return [f"{name}-{place}".encode().ljust(16, b"\0")[:16] for place in range(N)]


def by_method(found: odo.UnlabelledAccuracies, method: str) -> list[odo.UnlabelledAccuracy]:
    return [row for row in found.rows if row.method == method]


@pytest.mark.parametrize("method", METHODS)
def test_each_method_is_its_function_on_arrays(world: World, method: str) -> None:
    world.put(world.unlabelled, world.on_street)
    found = odo.estimate_without_labels(world.filled.store, "street", clean="val", methods=[method])
    assert [row.model for row in found.rows] == [f"m{model}" for model in range(6)]
    told = np.array([row.estimate.value for row in found.rows])
    assert told == pytest.approx(world.expected(method), abs=1e-6)
    assert [row.clean.value for row in found.rows] == pytest.approx(world.right.mean(axis=1))
    for row in found.rows:
        assert row.estimate.low < row.estimate.value < row.estimate.high
        assert (row.truth, row.expected_error, row.estimate.n) == (None, None, N)


def test_labels_on_the_shifted_images_change_no_estimate(world: World, make_dataset: Make) -> None:
    world.put(world.unlabelled, world.on_street)
    without = odo.estimate_without_labels(world.filled.store, "street")
    world.put(world.street, world.on_street, condition="elsewhere")
    with_labels = odo.estimate_without_labels(world.filled.store, "elsewhere", clean="val")
    assert [row.estimate for row in with_labels.rows] == [row.estimate for row in without.rows]
    assert [row.truth.value for row in by_method(with_labels, "aline-s")] == pytest.approx(world.true_accuracy)


@pytest.mark.parametrize("method", METHODS)
def test_where_labels_exist_the_error_is_that_of_the_other_models(world: World, method: str) -> None:
    world.put(world.street, world.on_street, condition="elsewhere")
    found = odo.estimate_without_labels(world.filled.store, "elsewhere", methods=[method])
    errors = world.expected(method) - world.true_accuracy
    for place, row in enumerate(found.rows):
        others = np.delete(errors, place)
        assert row.expected_error.here
        assert row.expected_error.n == 5
        assert row.model not in row.expected_error.models
        assert row.expected_error.value == pytest.approx(np.abs(others).mean(), abs=1e-6)
        assert row.expected_error.bias == pytest.approx(others.mean(), abs=1e-6)
        assert row.expected_error.largest == pytest.approx(np.abs(others).max(), abs=1e-6)


def test_where_none_exist_it_is_that_of_other_models_under_other_shifts(world: World) -> None:
    world.put(world.unlabelled, world.on_street)
    world.put(world.street, world.on_street, condition="elsewhere")
    found = odo.estimate_without_labels(world.filled.store, "clean@street", clean="val", methods=["aline-s"])
    errors = world.expected("aline-s") - world.true_accuracy
    for place, row in enumerate(found.rows):
        assert (row.expected_error.here, row.expected_error.shifts) == (False, ("elsewhere",))
        assert row.expected_error.value == pytest.approx(np.abs(np.delete(errors, place)).mean(), abs=1e-6)
    assert "5 models under 1 other shift" in str(found)
    # The same answers to the same images: the estimates are those of the shift with labels, and so is what is lost.
    most = (world.right.mean(axis=1) - world.true_accuracy).max()
    for row in found.rows:
        beyond = row.clean.value - row.estimate.value > most
        assert any(f"at most {100 * most:.1f} points are lost" in line for line in row.warnings) == beyond


def test_errors_under_milder_shifts_are_told_to_be_that(world: World) -> None:
    truth = world.val.labels
    mild = made_answers(truth, K, SKILLS, harder=0.1, seed=1)
    world.put(world.val, mild, condition="elsewhere")
    world.put(world.unlabelled, world.on_street)
    found = odo.estimate_without_labels(world.filled.store, "street", clean="val", methods=["aline-s"])
    most = (world.right.mean(axis=1) - (mild.prediction == truth).mean(axis=1)).max()
    line = f"aline-s: the expected error is that of milder shifts, where at most {100 * most:.1f} points are lost"
    assert line in found.warnings()


def test_of_one_model_its_own_errors_under_other_shifts_count(world: World) -> None:
    store = world.filled.store
    one = range(2, 3)
    world.put(world.unlabelled, world.on_street, models=one)
    world.put(world.street, world.on_street, condition="elsewhere", models=one)
    found = odo.estimate_without_labels(store, "clean@street", methods=["atc-confidence"])
    assert [row.model for row in found.rows] == ["m2"]
    assert found.rows[0].expected_error.models == ("m2",)
    assert any("left out, not run on" in note for note in found.notes)


def test_models_may_number_the_classes_in_their_own_order(world: World) -> None:
    order = np.random.default_rng(3).permutation(K)
    for data, answers in ((world.val, world.on_val), (world.unlabelled, world.on_street)):
        for model in range(6):
            rows = answers.rows(model, data)
            own = renumbered(rows, order) if model == 2 else rows
            world.filled.put(data, own, model=f"other{model}", digest=f"{model + 50:032x}", space=f"own {model == 2}")
    found = odo.estimate_without_labels(world.filled.store, "street", methods=["aline-s"])
    assert [row.estimate.value for row in found.rows] == pytest.approx(world.expected("aline-s"), abs=1e-9)
    assert any("other2: classes numbered in another order than by other0" in note for note in found.notes)


def renumbered(rows: Predictions, order: np.ndarray) -> Predictions:
    label = np.where(rows.label < 0, -1, order[rows.label])
    return replace(rows, label=label, prediction=order[rows.prediction])


def test_without_confidences_agreement_is_what_there_is(world: World, make_dataset: Make) -> None:
    for data, answers in ((world.val, world.on_val), (world.unlabelled, world.on_street)):
        for model in range(3):
            classes = answers.prediction[model][:, None]
            rows = from_top_classes(classes, data.labels, np.arange(N))
            digest = f"{model + 50:032x}"
            world.filled.put(data, rows, model=f"top{model}", digest=digest, known_classes=1)
    found = odo.estimate_without_labels(world.filled.store, "street")
    assert {row.method for row in found.rows} == {"aline-s", "aline-d"}
    assert "atc-confidence: no confidence of the answers is stored, only the classes" in found.left_out
    assert any("the pairs of 3 models only" in line for line in found.warnings())
    with pytest.raises(StoreError, match="no entropy of the answers is stored"):
        odo.estimate_without_labels(world.filled.store, "street", methods=["atc-entropy"])


def test_two_models_make_no_line(world: World) -> None:
    world.put(world.unlabelled, world.on_street, models=range(2))
    found = odo.estimate_without_labels(world.filled.store, "street")
    assert {row.method for row in found.rows} == {"atc-confidence", "atc-entropy", "confidence-difference"}
    assert found.line is None
    with pytest.raises(StoreError, match="2 models were run on both sides, and a line through agreements needs 3"):
        odo.estimate_without_labels(world.filled.store, "street", methods=["aline-s"])


def test_agreement_off_the_line_is_told(world: World) -> None:
    rng = np.random.default_rng(5)
    scattered = replace(world.on_street, prediction=world.on_street.prediction.copy())
    for model, share in enumerate((0.9, 0.0, 0.7, 0.1, 0.9, 0.0)):  # some models lose it all, good ones and bad
        lost = rng.random(N) < share
        scattered.prediction[model, lost] = rng.integers(K, size=int(lost.sum()))
    world.put(world.unlabelled, scattered)
    found = odo.estimate_without_labels(world.filled.store, "street")
    assert found.line.r2 < 0.95
    assert any("aline-s, aline-d: agreement is off the line: R² " in line for line in found.warnings())
    assert "(doubtful: see the warning)" in str(found)


def test_saturated_confidences_are_told(world: World) -> None:
    sure = replace(world.on_street, strength=np.full((6, N), 50.0))
    on_val = replace(world.on_val, strength=np.full((6, N), 50.0))
    for model in range(6):
        for data, answers in ((world.val, on_val), (world.unlabelled, sure)):
            world.filled.put(data, answers.rows(model, data), model=f"sure{model}", digest=f"{model + 50:032x}")
    found = odo.estimate_without_labels(world.filled.store, "street", methods=["atc-confidence"])
    assert any("saturated confidences: 100 % of those on clean images" in line for line in found.warnings())
    assert any("have the very score of the threshold" in line for line in found.warnings())
    # All are equally sure of everything: the clean accuracy is all that is known.
    assert [row.estimate.value for row in found.rows] == pytest.approx(world.right.mean(axis=1))


def test_a_model_beyond_the_line_is_told(world: World, make_dataset: Make) -> None:
    best = replace(world.on_val, prediction=world.on_val.prediction.copy())
    best.prediction[5] = np.where(np.arange(N) < 2, (world.val.labels + 1) % K, world.val.labels)
    for data, answers in ((world.val, best), (world.unlabelled, world.on_street)):
        for model in range(6):
            world.filled.put(data, answers.rows(model, data), model=f"b{model}", digest=f"{model + 50:032x}")
    found = odo.estimate_without_labels(world.filled.store, "street", methods=["aline-s"])
    assert [bool(row.warnings) for row in found.rows][-1]
    assert "beyond the line: the clean accuracy is far from" in found.rows[-1].warnings[0]


def test_under_an_attack_no_two_models_saw_the_same(world: World) -> None:
    attack = {"name": "pgd", "norm": "linf", "epsilon": 2.0}
    world.put(world.val, world.on_street, condition="pgd-linf-2", attack=attack)
    found = odo.estimate_without_labels(world.filled.store, "pgd-linf-2")
    assert {row.method for row in found.rows} == {"atc-confidence", "atc-entropy", "confidence-difference"}
    assert any("an attack changes images until the model is sure" in line for line in found.warnings())


def test_images_on_both_sides_leave_both_at_once(world: World) -> None:
    # Closed form: the same answers to the same images on both sides; whatever leaves, the estimate of the difference
    # of confidences is the accuracy, and its interval is that of the accuracy alone.
    world.put(world.val, world.on_val, condition="same", transform={"name": "nothing"})
    same = odo.estimate_without_labels(world.filled.store, "same", methods=["confidence-difference"])
    assert [row.estimate.value for row in same.rows] == pytest.approx(world.right.mean(axis=1))
    for row in same.rows:
        half = 1.96 * np.sqrt(row.clean.value * (1 - row.clean.value) / N)
        assert (row.estimate.high - row.estimate.low) / 2 == pytest.approx(half, rel=0.5)


def test_no_interval_where_a_run_was_stopped_by_what_it_saw(world: World) -> None:
    sample = Sample(50_000, "street", 0, "until", ((N, 0.05),))
    drawn = replace(world.street, sample=sample, subset="400 of 50000")
    for model in range(3):
        rows = world.on_street.rows(model, drawn)
        cell_of_sample(world, drawn, rows, model)
    found = odo.estimate_without_labels(world.filled.store, "elsewhere", methods=["atc-confidence"])
    assert {row.estimate.interval for row in found.rows} == {"none: how many images there are depends on what was seen"}
    assert all(row.truth.interval.startswith("betting") for row in found.rows)


def cell_of_sample(world: World, data: Dataset, rows: Predictions, model: int) -> None:
    from made_cells import made_cell

    cell = made_cell(data, model=f"m{model}", digest=f"{model:032x}", condition="elsewhere")
    condition = replace(cell.condition, data=replace(cell.condition.data, sample=data.sample))
    cell = replace(cell, condition=condition)
    world.filled.store.add_cell(cell, data)
    world.filled.store.write_part(cell.key, 0, len(data), rows)
    world.filled.store.seal(cell, keep_logits=False)


def test_the_only_set_without_labels_is_meant_unless_another_is_named(world: World, make_dataset: Make) -> None:
    store = world.filled.store
    with pytest.raises(UsageError, match="every image has a label; name a set with --shifted"):
        odo.estimate_without_labels(store)
    world.put(world.unlabelled, world.on_street)
    assert odo.estimate_without_labels(store, methods=["aline-s"]).shifted == "clean@street"
    lane = make_dataset(N, labels=[-1] * N, name="lane", ids=world.street.ids, contents=contents_of("lane"))
    world.put(lane, world.on_street)
    with pytest.raises(
        UsageError, match="several sets have no labels; say which with --shifted: clean@lane, clean@str"
    ):
        odo.estimate_without_labels(store)


def test_which_sides_are_meant(world: World, make_dataset: Make) -> None:
    store = world.filled.store
    world.put(world.unlabelled, world.on_street)
    found = odo.estimate_without_labels(store, "street", methods=["aline-s"])
    assert (found.clean, found.shifted) == ("clean@val", "clean@street")
    assert str(found).startswith("clean@street (n=400) without labels, from clean@val")
    with pytest.raises(UsageError, match="nothing was run on 'stret'; did you mean street"):
        odo.estimate_without_labels(store, "stret")
    with pytest.raises(UsageError, match="no method named 'atc'; did you mean"):
        odo.estimate_without_labels(store, "street", methods=["atc"])
    with pytest.raises(StoreError, match="the images of street have no labels; an estimate begins with accuracy on"):
        odo.estimate_without_labels(store, "val", clean="street")
    with pytest.raises(StoreError, match="nothing was run on 'vla'"):
        odo.estimate_without_labels(store, "street", clean="vla")
    other = make_dataset(N, labels=world.val.labels, name="other", contents=contents_of("other"))
    world.put(other, world.on_val)
    with pytest.raises(
        UsageError, match="several clean sets have the classes of street; say which: --clean 'other' or"
    ):
        odo.estimate_without_labels(store, "street")
    assert odo.estimate_without_labels(store, "street", clean="other", methods=["aline-s"]).clean == "clean@other"


def test_an_unfinished_model_takes_no_images_away(world: World) -> None:
    world.put(world.unlabelled, world.on_street, models=range(5))
    part = world.on_street.rows(5, world.unlabelled)
    half = Predictions(**{name: None if value is None else value[: N // 2] for name, value in vars(part).items()})
    world.filled.put(world.unlabelled, half, model="m5", digest=f"{5:032x}", finished=False)
    found = odo.estimate_without_labels(world.filled.store, "street", methods=["aline-s"])
    assert (len(found.rows), found.n) == (5, N)
    assert any("left out, unfinished: m5" in note for note in found.notes)


def test_images_of_no_class_are_not_estimated_unasked(world: World) -> None:
    world.put(world.unlabelled, world.on_street, condition="textures")
    world.put(world.unlabelled, world.on_street, condition="imagenet-o")
    assert sides_without_labels(look(world.filled.store)) == []
    found = odo.estimate_without_labels(world.filled.store, "textures", methods=["aline-s"])
    assert any("run as images of no class: if they are, no answer is right" in line for line in found.warnings())
    world.put(world.unlabelled, world.on_street)
    assert [side.shifted.data.name for side in sides_without_labels(look(world.filled.store))] == ["street"]


def test_an_empty_store_says_so(filled: Filled) -> None:
    with pytest.raises(StoreError, match="no predictions in it yet"):
        odo.estimate_without_labels(filled.store, "street")


def test_as_json_has_everything(world: World) -> None:
    world.put(world.street, world.on_street, condition="elsewhere")
    told = odo.estimate_without_labels(world.filled.store, "elsewhere", methods=["aline-s"]).as_json()
    assert told["rows"][0]["expected_error"]["n"] == 5
    assert told["line"]["n"] == 15
    assert set(told["rows"][0]) == {
        *("model", "weights", "method", "clean", "estimate", "expected_error", "truth", "warnings")
    }


def test_images_without_labels_stand_in_the_way_of_no_other_question(world: World) -> None:
    # reference: the same questions to the store before
    store = world.filled.store
    world.put(world.street, world.on_street, condition="textures")
    hardest, matrix = odo.hardest(store), odo.confusion(store, "m0", "clean")
    ood = odo.score(store, metrics=["auroc"], options=odo.ScoreOptions(ood="textures", draws=100))
    world.put(world.unlabelled, world.on_street)
    assert odo.hardest(store) == hardest
    assert odo.confusion(store, "m0", "clean").counts().tolist() == matrix.counts().tolist()
    after = odo.score(store, metrics=["auroc"], options=odo.ScoreOptions(ood="textures", draws=100))
    assert [row.estimate for row in after.rows] == [row.estimate for row in ood.rows]


def test_the_shifts_that_errors_come_from_are_named(world: World) -> None:
    world.put(world.unlabelled, world.on_street)
    world.put(world.street, world.on_street, condition="elsewhere")
    found = odo.estimate_without_labels(world.filled.store, "clean@street", clean="val", methods=["aline-s"])
    assert "expected errors are those under elsewhere, where labels exist" in found.notes


def test_images_of_several_labels_have_one_numbering(world: World) -> None:
    # The row of each model has the label that it ranks highest: other numbers, and no other order of the classes.
    rng = np.random.default_rng(7)
    for data, answers in ((world.val, world.on_val), (world.unlabelled, world.on_street)):
        for model in range(3):
            rows = answers.rows(model, data)
            wrong = (rows.rank > 0) & (rng.random(N) < 0.5)
            own = replace(rows, label=np.where(wrong, (rows.label + 1) % K, rows.label))
            about = {"model": f"s{model}", "digest": f"{model + 50:032x}", "answers": tuple(range(K))}
            world.filled.put(data, own if data is world.val else rows, **about)
    found = odo.estimate_without_labels(world.filled.store, "street", methods=["aline-s"])
    accuracy = world.right.mean(axis=1)[:3]
    agreements = (agreement_matrix(answers.prediction[:3]) for answers in (world.on_val, world.on_street))
    assert [row.estimate.value for row in found.rows] == pytest.approx(aline_s(accuracy, *agreements), abs=1e-9)


def test_of_many_shifts_some_are_learnt_from(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.put(world.unlabelled, world.on_street)
    for place in range(5):
        world.put(world.street, world.on_street, condition=f"shift{place}", transform={"name": f"t{place}"})
    asked = {"clean": "val", "methods": ["aline-s"]}
    assert len(odo.estimate_without_labels(world.filled.store, **asked).rows[0].expected_error.shifts) == 5
    monkeypatch.setattr("oodometer.analysis.unlabelled_errors.MOST_SHIFTS", 3)
    some = odo.estimate_without_labels(world.filled.store, **asked).rows[0].expected_error
    assert (some.shifts, some.n) == (("shift0", "shift2", "shift4"), 15)
    monkeypatch.setattr("oodometer.analysis.unlabelled_errors.MOST_COMPARISONS", 2 * 6**2 * N)
    assert odo.estimate_without_labels(world.filled.store, **asked).rows[0].expected_error.shifts == (
        "shift0",
        "shift4",
    )
