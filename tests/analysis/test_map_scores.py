"""mAP of several labels per image; scikit-learn is the reference."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import auc, average_precision_score, precision_recall_curve

from few_groups import stretched
from oodometer.analysis.average_precision import centred
from oodometer.analysis.metric_request import ScoreOptions
from oodometer.analysis.score import score
from oodometer.core.condition import Condition
from oodometer.core.errors import OodometerError, StoreError
from oodometer.core.labels import LabelSpace, mask
from oodometer.core.model import Input, Model
from oodometer.core.stored_answers import StoredAnswers
from oodometer.engine.run import RunOptions, run
from oodometer.metrics.average_precision import DFR_SHIFTS, mean_average_precisions
from oodometer.stats.bootstrap import Resampling, resample_counts

K = 6
CLOTHES = LabelSpace("clothes", ("coat", "dress", "shorts", "skirt", "top", "vest"))


@pytest.fixture
def make_clothes(make_dataset):
    """Images of one to three labels each, of which nobody wears the last; their labels as (N, K) bool."""

    def make(n: int = 60, seed: int = 0, name: str = "clothes", columns=None):
        rng = np.random.default_rng(seed)
        sets = [rng.choice(K - 1, rng.integers(1, 4), replace=False).tolist() for _ in range(n)]
        data = make_dataset(n, space=CLOTHES, labels=[some[0] for some in sets], name=name, columns=columns,
                            contents=[f"{seed} {i}".encode() for i in range(n)])  # fmt: skip
        targets = np.zeros((n, K), dtype=bool)
        for row, some in enumerate(sets):
            targets[row, some] = True
        return replace(data, other_labels=tuple(tuple(some[1:]) for some in sets)), targets

    return make


def answers(n: int = 60, seed: int = 1) -> np.ndarray:
    """Logits that survive being kept as float16."""
    return np.random.default_rng(seed).normal(size=(n, K)).astype(np.float16).astype(np.float32)


def model_of(logits: np.ndarray, space: LabelSpace = CLOTHES, name: str = "net") -> Model:
    """A model whose answer to the image of value i is row i."""
    digest = hashlib.md5(logits.tobytes()).hexdigest()
    return Model(name, "callable", digest, Input(), space, lambda compute: lambda images: logits[images[:, 0, 0, 0]])


def weighted(values: list[float], targets: np.ndarray) -> float:
    n = targets.sum(axis=0)
    return float(sum(v * m for v, m in zip(values, n, strict=True) if m) / n.sum())


def reference(logits: np.ndarray, targets: np.ndarray) -> float:
    has = targets.any(axis=0)
    return float(average_precision_score(targets[:, has], logits[:, has], average="weighted"))


def trapezoid(logits: np.ndarray, targets: np.ndarray) -> float:
    """As the published script computes it: sklearn's curve, area by trapezoids, weighted by positives."""
    areas = []
    for label in range(K):
        if not targets[:, label].any():
            areas.append(0.0)
            continue
        precision, recall, _ = precision_recall_curve(targets[:, label], logits[:, label])
        areas.append(auc(recall, precision))
    return weighted(areas, targets)


KEEP = RunOptions(keep="logits")


def test_the_weighted_mean_of_scikit_learn(tmp_path, make_clothes):
    (data, targets), logits = make_clothes(), answers()
    store = run([model_of(logits)], [Condition("clean", data)], store=str(tmp_path / "runs"), options=KEEP)
    one, other = score(store, metrics=["map", "map:trapezoid"]).rows
    assert (one.metric, other.metric, one.estimate.n, one.missing) == ("map", "map:trapezoid", 60, 0)
    assert one.estimate.value == pytest.approx(reference(logits, targets), abs=1e-12)
    assert other.estimate.value == pytest.approx(trapezoid(logits, targets), abs=1e-12)
    assert one.convention == (
        "average precision of each label; mean weighted by the images that have the label; 1 of 6 labels left out, "
        "which no image has"
    )


def test_the_interval_is_that_of_resampled_images(tmp_path, make_clothes):
    (data, targets), logits = make_clothes(30), answers(30)
    store = run([model_of(logits)], [Condition("clean", data)], store=str(tmp_path / "runs"), options=KEEP)
    (row,) = score(store, metrics=["map"], options=ScoreOptions(draws=100, seed=3)).rows
    draws = [
        reference(np.repeat(logits, times, axis=0), np.repeat(targets, times, axis=0))
        for block in resample_counts(30, Resampling(draws=100, seed=3))
        for times in block
    ]
    moved = np.array(draws) - np.mean(draws) + row.estimate.value
    assert (row.estimate.low, row.estimate.high) == pytest.approx(tuple(np.quantile(moved, [0.025, 0.975])), abs=1e-12)
    assert row.estimate.interval == "centred bootstrap 95%"


@pytest.mark.slow
def test_the_interval_of_the_mean_over_eight_shifts_covers():
    """By simulation: a model that knows a little, 60 images a shift; percentiles of the plain draws cover 1 in 3."""
    rng = np.random.default_rng(0)

    def sampled() -> tuple[np.ndarray, np.ndarray]:
        targets = np.eye(K, dtype=bool)[rng.integers(0, K, 60)]
        return rng.normal(size=targets.shape) + targets, targets

    once = np.ones((1, 60), dtype=np.int64)
    truth = np.mean([mean_average_precisions(*sampled(), once)[0] for _ in range(4000)])
    covered, n = 0, 100
    for seed in range(n):
        shifts = [sampled() for _ in range(8)]
        value = float(np.mean([mean_average_precisions(*one, once)[0] for one in shifts]))
        draws = np.mean(
            [
                np.concatenate([mean_average_precisions(*one, block)
                                for block in resample_counts(60, Resampling(draws=200, seed=8 * seed + place))])
                for place, one in enumerate(shifts)
            ],
            axis=0,
        )  # fmt: skip
        low, high = np.quantile(centred(draws, value), [0.025, 0.975])
        covered += low <= truth <= high
    assert binomtest(covered, n, 0.95).pvalue > 0.001, covered


def test_groups_of_images_are_resampled_together(tmp_path, make_clothes):
    shops = np.arange(40) // 4
    (data, targets), logits = make_clothes(40, columns={"shop": shops}), answers(40)
    store = run([model_of(logits)], [Condition("clean", data)], store=str(tmp_path / "runs"), options=KEEP)
    (row,) = score(store, metrics=["map"], options=ScoreOptions(draws=100, by="shop")).rows
    draws = [
        reference(np.repeat(logits, times[shops], axis=0), np.repeat(targets, times[shops], axis=0))
        for block in resample_counts(10, Resampling(draws=100))
        for times in block
    ]
    moved = np.array(draws) - np.mean(draws) + row.estimate.value
    ends = stretched(np.quantile(moved, [0.025, 0.975]), row.estimate.value, 10)
    assert (row.estimate.low, row.estimate.high) == pytest.approx(ends, abs=1e-12)
    assert row.estimate.interval == "centred cluster bootstrap 95%"
    (by_class,) = score(store, metrics=["map"], options=ScoreOptions(draws=100, by="class")).rows
    assert by_class.estimate.value == row.estimate.value


def test_a_model_may_order_its_classes_otherwise(tmp_path, make_clothes):
    (data, targets), logits = make_clothes(), answers()
    order = [3, 0, 5, 1, 4, 2]
    other = model_of(logits[:, order], LabelSpace("mine", tuple(CLOTHES.classes[one] for one in order)), "other")
    store = run([model_of(logits), other], [Condition("clean", data)], store=str(tmp_path / "runs"), options=KEEP)
    one, two = score(store, metrics=["map"]).rows
    found = [(row.estimate.value, row.estimate.low, row.estimate.high) for row in (one, two)]
    assert found[0] == pytest.approx(found[1], abs=1e-12)
    assert one.estimate.value == pytest.approx(reference(logits, targets), abs=1e-12)


def test_a_mask_answers_fewer_classes_in_its_order(tmp_path, make_clothes):
    """The labels are those of five classes; a model of six is asked about these alone."""
    (data, targets), logits = make_clothes(), answers()
    kept = mask("worn", CLOTHES, ["top", "skirt", "shorts", "dress", "coat"])
    store = run([model_of(logits)], [Condition("worn", data, kept)], store=str(tmp_path / "runs"), options=KEEP)
    (row,) = score(store, metrics=["map"]).rows
    assert row.estimate.value == pytest.approx(reference(logits[:, :5], targets[:, :5]), abs=1e-12)
    assert "left out" not in row.convention


def test_answers_from_elsewhere(tmp_path, make_clothes):
    (data, targets), logits = make_clothes(), answers()
    theirs = StoredAnswers("theirs", "d" * 32, data.ids, logits, "logits")
    store = run([theirs], [Condition("clean", data)], store=str(tmp_path / "runs"), options=KEEP)
    (row,) = score(store, metrics=["map"]).rows
    assert row.estimate.value == pytest.approx(reference(logits, targets), abs=1e-12)


def test_perfect_and_the_other_way_round(tmp_path, make_clothes):
    data, targets = make_clothes()
    perfect, worst = model_of(targets.astype(np.float32), name="a"), model_of(-targets.astype(np.float32), name="b")
    store = run([perfect, worst], [Condition("clean", data)], store=str(tmp_path / "runs"), options=KEEP)
    best, other = (row.estimate for row in score(store, metrics=["map"]).rows)
    assert (best.value, best.low, best.interval) == (1.0, None, "none: all bootstrap draws are equal")
    # Two scores only: all images are tied but for the positives, which come last; sklearn counts ties as one step.
    assert other.value == pytest.approx(reference(-targets.astype(float), targets), abs=1e-12)


def test_logits_must_be_kept_and_labels_be_several(tmp_path, make_clothes, make_dataset):
    (data, _), logits = make_clothes(), answers()
    store = run([model_of(logits)], [Condition("clean", data)], store=str(tmp_path / "runs"))
    with pytest.raises(OodometerError) as caught:
        score(store, metrics=["map"])
    assert str(caught.value) == (
        "map: clean of clothes: the logits were not kept, and mAP ranks the images by them; run it with --keep logits"
    )
    plain = run([model_of(logits)], [Condition("clean", make_dataset(9, space=CLOTHES))], store=str(tmp_path / "plain"))
    with pytest.raises(OodometerError) as caught:
        score(plain, metrics=["map"])
    assert str(caught.value) == "map: no data with several labels per image (in a manifest, the column labels)"


def eight(make_clothes, names=DFR_SHIFTS):
    made = {name: make_clothes(20 + place, seed=place, name=f"dfr/{name}") for place, name in enumerate(names)}
    return made, [Condition(f"dfr/{name}", data) for name, (data, _) in made.items()]


def test_the_mean_over_the_eight_shifts(tmp_path, make_clothes):
    made, conditions = eight(make_clothes)
    iid, _ = make_clothes(50, seed=9, name="dfr/iid")
    logits = answers()
    store = run(
        [model_of(logits)], [Condition("dfr/iid", iid), *conditions], store=str(tmp_path / "runs"), options=KEEP
    )
    found = score(store, metrics=["map", "map-ood", "map-ood:trapezoid"], options=ScoreOptions(draws=100))
    rows = {(row.condition, row.metric): row for row in found.rows}
    each = [reference(logits[: len(data)], targets) for data, targets in made.values()]
    mean = rows["dfr", "map-ood"]
    assert mean.estimate.value == pytest.approx(np.mean(each), abs=1e-12)
    assert (mean.estimate.n, mean.data, mean.missing) == (sum(20 + place for place in range(8)), "dfr", 0)
    by_trapezoids = [trapezoid(logits[: len(data)], targets) for data, targets in made.values()]
    assert rows["dfr", "map-ood:trapezoid"].estimate.value == pytest.approx(np.mean(by_trapezoids), abs=1e-12)
    draws = []  # each shift with a seed of its own; the mAP of a draw is compared with scikit-learn's above
    for place, (data, targets) in enumerate(made.values()):
        times = np.concatenate(list(resample_counts(len(data), Resampling(draws=100, seed=place))))
        draws.append(mean_average_precisions(logits[: len(data)], targets, times))
    means = np.mean(draws, axis=0)
    bounds = np.quantile(means - means.mean() + mean.estimate.value, [0.025, 0.975])
    assert (mean.estimate.low, mean.estimate.high) == pytest.approx(tuple(bounds), abs=1e-12)
    assert len([row for row in found.rows if row.metric == "map"]) == 9


def test_seven_shifts_have_no_mean(tmp_path, make_clothes):
    _, conditions = eight(make_clothes, DFR_SHIFTS[:7])
    store = run([model_of(answers())], conditions, store=str(tmp_path / "runs"), options=KEEP)
    with pytest.raises(OodometerError) as caught:
        score(store, metrics=["map-ood"])
    assert str(caught.value) == "map-ood: the mean is over eight shifts, run with --on dfr; missing: zoom_large"
    assert len(score(store, metrics=["map"], options=ScoreOptions(draws=100)).rows) == 7


def test_a_shift_on_two_data_sets(tmp_path, make_clothes):
    _, conditions = eight(make_clothes)
    more = Condition("dfr/size_small", make_clothes(15, seed=99)[0])
    store = run([model_of(answers())], [*conditions, more], store=str(tmp_path / "runs"), options=KEEP)
    with pytest.raises((OodometerError, StoreError), match="dfr/size_small was run on 2 data sets"):
        score(store, metrics=["map-ood"])
