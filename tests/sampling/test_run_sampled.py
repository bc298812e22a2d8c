"""Runs that ask about some of the images: as many as planned, or until they are sure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import oodometer as odo
from numbered_images import Knowing, damaged_family, numbered_images, other_images
from oodometer.analysis.accuracy_pairs import pairs_of
from oodometer.analysis.asked_shifts import asked_shift
from oodometer.analysis.explain import ALMOST_SURE, DEFAULT, explain, explain_points
from oodometer.analysis.explain_text import points as drop_in_points
from oodometer.analysis.family_apart import covariances_apart, judged_on_each, p_values_apart
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.metric_request import ScoreOptions
from oodometer.analysis.sampled import stopped
from oodometer.core.condition import Condition
from oodometer.core.errors import StoreError, UsageError
from oodometer.report.html.sections.summary import best_sentence, measured_sentences
from oodometer.sampling.aim import Aim
from oodometer.sampling.plan import plan_sampling
from oodometer.sampling.run import run_sampled
from oodometer.stats.bootstrap import Resampling
from oodometer.store.index import index_at
from oodometer.study.findings import best_under
from oodometer.study.ranking import ranking_of

N = 4000
CORRUPTIONS = ("fog", "snow", "blur")


def half(estimate: odo.Estimate) -> float:
    assert estimate.low is not None
    assert estimate.high is not None
    return (estimate.high - estimate.low) / 2


def holds(estimate: odo.Estimate, truth: float) -> bool:
    return estimate.low <= truth <= estimate.high


def score_of(source, metric: str, *, model: str | None = None, **options) -> odo.Score:
    rows = odo.score(source, metrics=[metric], options=ScoreOptions(**options)).rows
    (row,) = [row for row in rows if model in (None, row.model)]
    return row


def clean_of(n: int = N) -> list[Condition]:
    return [odo.clean(numbered_images(n))]


def test_a_planned_run_asks_about_as_many_as_its_interval_needs(tmp_path):
    model = Knowing("a", 0.5)
    run = run_sampled([model.model], clean_of(), Aim(0.05, "within"), store=str(tmp_path / "runs"))
    row = score_of(run, "top-1")
    assert model.asked == row.estimate.n == 402  # test_images_for_width.py has the reference of this number
    assert half(row.estimate) <= 0.05
    assert row.data == "numbers[402 of 4000 at random, seed 0]"
    assert row.estimate.interval == "clopper-pearson 95%"


def test_a_small_data_set_is_measured_whole(tmp_path):
    model = Knowing("a", 0.8)
    run = run_sampled([model.model], clean_of(300), Aim(0.05, "within"), store=str(tmp_path / "runs"))
    (row,) = odo.score(run, metrics=["top-1"]).rows
    assert (row.data, row.estimate.n, row.estimate.value) == ("numbers", 300, model.right()[:300].mean())


def test_a_run_until_it_is_sure_stops_then_and_says_how(tmp_path):
    model = Knowing("a", 0.8)
    run = run_sampled([model.model], clean_of(), Aim(0.04, "until"), store=str(tmp_path / "runs"))
    row = score_of(run, "top-1")
    assert model.asked == row.estimate.n < 1200
    assert 0.02 < half(row.estimate) <= 0.04
    assert holds(row.estimate, model.right()[:N].mean())
    assert row.estimate.interval == "betting, of 4000 images, 95%"
    sample = stopped(run.cells[0])
    assert sample is not None
    assert (sample.rule, sample.of, sample.seed, sample.aims) == ("until", N, 0, ((N, 0.04),))


def test_a_later_run_with_a_narrower_aim_goes_on_from_there(tmp_path):
    store, model = str(tmp_path / "runs"), Knowing("a", 0.8)
    run_sampled([model.model], clean_of(), Aim(0.05, "until"), store=store)
    before = model.asked
    run = run_sampled([model.model], clean_of(), Aim(0.03, "until"), store=store)
    row = score_of(run, "top-1")
    assert model.asked == row.estimate.n > before, "nothing is asked twice"
    assert half(row.estimate) <= 0.03
    assert stopped(run.cells[0]).aims == ((before, 0.05), (N, 0.03)), "how was bet before is remembered"
    assert len(index_at(store).cells) == 1, "what an earlier look had is in the new sample"
    again = run_sampled([model.model], clean_of(), Aim(0.03, "until"), store=store)
    assert (model.asked, score_of(again, "top-1").estimate) == (row.estimate.n, row.estimate)


def test_a_run_on_all_images_takes_what_a_sample_has(tmp_path):
    store, model = str(tmp_path / "runs"), Knowing("a", 0.8)
    run_sampled([model.model], clean_of(), Aim(0.05, "within"), store=store)
    odo.run([model.model], clean_of(), store=store)
    assert model.asked == N
    sampled = Knowing("a", 0.8)
    run_sampled([sampled.model], clean_of(), Aim(0.03, "until"), store=store)
    assert sampled.asked == 0, "and a sample takes what is there of all"


def test_single_conditions_share_their_images_so_that_they_can_be_compared(tmp_path):
    data, model = numbered_images(N), Knowing("a", 0.9)
    (shift,) = damaged_family(data, ["fog"], [3])
    run = run_sampled([model.model], [shift], Aim(0.05, "until"), store=str(tmp_path / "runs"))
    (gap,) = odo.gaps(run).rows
    clean, fog = (index_at(run).images(cell).ids.tolist() for cell in run.cells)
    assert clean[: min(len(clean), len(fog))] == fog[: min(len(clean), len(fog))]
    assert gap.paired
    assert holds(gap.gap, model.right()[:N].mean() - model.right(30)[:N].mean())
    assert gap.gap.interval.startswith("betting")


@pytest.mark.parametrize("rule", ["within", "until"])
def test_a_family_is_known_from_few_images_of_each_condition(tmp_path, rule):
    data, model = numbered_images(N), Knowing("a", 0.9)
    shifts = damaged_family(data, CORRUPTIONS, range(1, 6))
    run = run_sampled([model.model], shifts, Aim(0.03, rule), store=str(tmp_path / "runs"))
    row = score_of(run, "mean-corruption-error")
    truth = 1 - np.mean([model.right(10 * s + c)[:N].mean() for c in range(3) for s in range(1, 6)])
    assert holds(row.estimate, truth)
    assert half(row.estimate) <= 0.032  # of a planned one the bootstrap's half width varies by a few per cent
    corrupted = [cell for cell in run.cells if cell.condition_name != "clean"]
    images = [set(index_at(run).images(cell).ids.tolist()) for cell in corrupted]
    assert len({len(some) for some in images}) == 1
    assert len(images[0] & images[1]) < len(images[0]) / 2, "each condition has images of its own"
    assert all(len(some) < 200 for some in images)
    (gap,) = odo.gaps(run).rows
    assert holds(gap.gap, model.right()[:N].mean() - (1 - truth))


def test_two_models_are_compared_on_the_images_of_each_condition(tmp_path):
    data, a, b = numbered_images(N), Knowing("a", 0.9, shared=0.8), Knowing("b", 0.8, shared=0.8)
    shifts = damaged_family(data, CORRUPTIONS)
    run = run_sampled([a.model, b.model], shifts, Aim(0.03, "within"), store=str(tmp_path / "runs"))
    (compared,) = odo.compare(run, "a", "b", on="damage")
    amounts = [10 * severity + place for place in range(3) for severity in (1, 2, 3)]
    truth = np.mean([b.right(amount)[:N].mean() - a.right(amount)[:N].mean() for amount in amounts])
    assert holds(compared.difference, truth)
    assert half(compared.difference) < 0.05
    assert compared.verdict == "b is worse"


def test_a_control_that_answered_everything_saves_images(tmp_path):
    data, control, model = numbered_images(N), Knowing("control", 0.8, shared=0.9), Knowing("a", 0.8, shared=0.9)
    shifts, store = damaged_family(data, CORRUPTIONS, range(1, 6)), str(tmp_path / "runs")
    odo.run([control.model], shifts, store=store)
    plain = plan_sampling([model.model], shifts, Aim(0.02, "within"), timed=False)
    run = run_sampled([model.model], shifts, Aim(0.02, "within", control="control"), store=store)
    n_each = min(cell.n_images for cell in run.cells)
    assert n_each < plain.numbers[1].images
    rows = odo.score(store, metrics=["mean-corruption-error"], options=ScoreOptions(control="control")).rows
    (row,) = [row for row in rows if row.model == "a"]
    amounts = [10 * severity + place for place in range(3) for severity in range(1, 6)]
    truth = 1 - np.mean([model.right(amount)[:N].mean() for amount in amounts])
    assert holds(row.estimate, truth)
    assert half(row.estimate) <= 0.025
    assert row.convention.endswith("with the answers of control to all images")


def test_a_control_that_has_not_answered_everything_is_an_error_before_anything_is_asked(tmp_path):
    data, model = numbered_images(N), Knowing("a", 0.8)
    store, aim = str(tmp_path / "runs"), Aim(0.05, "within", control="control")
    odo.run([Knowing("control", 0.8).model], clean_of(), store=store)
    shifts = damaged_family(data, ["fog"], range(1, 6))
    with pytest.raises(StoreError, match="control control has not answered all 4000 images of damage/fog/1"):
        run_sampled([model.model], shifts, aim, store=store)
    with pytest.raises(StoreError, match="control control has not answered all 4000 images of damage/fog/1"):
        plan_sampling([model.model], shifts, aim, store=store, timed=False)
    with pytest.raises(UsageError, match="over all five severities of a corruption, and damage/fog is asked about"):
        run_sampled([model.model], shifts[:3], aim, store=store)
    with pytest.raises(UsageError, match="a family of corruptions alone; leave it out"):
        run_sampled([model.model], clean_of(), aim, store=store)
    assert model.asked == 0


def test_an_interval_that_was_not_looked_at_says_so(tmp_path):
    run = run_sampled([Knowing("a", 0.8).model], clean_of(), Aim(0.05, "until"), store=str(tmp_path / "runs"))
    row = score_of(run, "nll")
    assert row.estimate.interval.endswith(", as if n had been fixed")


def test_the_plan_says_what_will_be_asked_and_known():
    shifts = damaged_family(numbered_images(N), CORRUPTIONS)
    plan = plan_sampling([Knowing("a", 0.8).model, Knowing("b", 0.8).model], shifts, Aim(0.05, "within"), timed=False)
    clean, family = plan.numbers
    assert family.metric == "mean accuracy", "three of five severities: what 'gaps' tells, and no mean corruption error"
    assert (clean.name, clean.metric, clean.images, clean.of) == ("clean", "top-1", 402, N)
    # 1.96² · 0.25 / 0.05² answers, shared by nine conditions
    assert (family.name, family.conditions, family.images) == ("damage", 9, int(np.ceil(1.96**2 * 0.25 / 0.0025 / 9)))
    assert plan.passes == 2 * (402 + 9 * family.images)
    assert f"2 models: {plan.passes:,} forward passes of 80,000" in str(plan)
    assert plan.as_json()["numbers"][1]["passes"] == 9 * family.images


def test_the_time_of_a_plan_is_estimated_from_some_images():
    model = Knowing("a", 0.8)
    plan = plan_sampling([model.model], clean_of(), Aim(0.05, "within"))
    assert plan.seconds is not None
    assert plan.seconds > 0
    assert model.asked <= 33


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Aim(0.0, "within"), "must lie between 0 and 0.5"),
        (lambda: Aim(0.7, "until"), "must lie between 0 and 0.5"),
        (lambda: Aim(0.01, "until", control="a"), "not with --until"),
    ],
)
def test_what_makes_no_sense_is_refused(make, said):
    with pytest.raises(UsageError, match=said):
        make()


def test_images_that_are_no_whole_data_set_are_refused(tmp_path):
    few = odo.clean(odo.stratified(numbered_images(N), 3000))
    with pytest.raises(UsageError, match="leave out --images"):
        run_sampled([Knowing("a", 0.8).model], [few], Aim(0.05, "within"), store=str(tmp_path / "runs"))


@pytest.mark.parametrize("rule", ["within", "until"])
def test_all_images_of_a_family_are_read_where_a_sample_was_drawn_before(tmp_path, rule):
    store, model = str(tmp_path / "runs"), Knowing("a", 0.9)
    shifts = damaged_family(numbered_images(N), CORRUPTIONS, range(1, 6))
    run_sampled([model.model], shifts, Aim(0.03, rule), store=store)
    odo.run([model.model], shifts, store=store)
    truth = 1 - np.mean([model.right(10 * s + c)[:N].mean() for c in range(3) for s in range(1, 6)])
    whole, sample = sorted(odo.score(store, metrics=["mean-corruption-error"]).rows, key=lambda row: row.data)
    assert (whole.data, whole.estimate.n) == ("numbers", N)
    assert whole.estimate.value == pytest.approx(truth)
    assert holds(sample.estimate, truth)


def test_models_that_differ_are_told_apart_on_the_first_screen(tmp_path):
    data, store = numbered_images(N), str(tmp_path / "runs")
    models = [Knowing("a", 0.95, shared=0.8), Knowing("b", 0.94, shared=0.8), Knowing("c", 0.7, shared=0.8)]
    shifts = damaged_family(data, CORRUPTIONS, range(1, 6))
    run_sampled([model.model for model in models], shifts, Aim(0.02, "within"), store=store)
    ranking = ranking_of(odo.study_of(store))
    assert ranking is not None
    assert ranking.how == "paired z tests over images drawn apart of all pairs, corrected after Holm"
    study = odo.study_of(store)
    planned = int(np.ceil(1.96**2 * 0.25 / 0.02**2 / len(shifts)))
    assert f"({planned} images of each condition)" in " ".join(measured_sentences(study))
    (shift,) = study.shifts
    assert f"of {planned} images under each" in best_sentence(shift, best_under(shift, study.options.resampling.level))
    assert ranking.models[2] == "c"
    assert ranking.standing.rank_of(2) == (3, 3)


def test_the_variance_of_a_difference_is_that_over_samples(tmp_path):
    # simulation: the spread of the difference of two models over 3,000 samples against what one sample says of it
    rng = np.random.default_rng(0)
    total, n = 3000, 60
    common, own = rng.random((8, total)), rng.random((2, 8, total))
    skill = np.linspace(0.5, 0.9, 8)[:, None]
    right = np.where(rng.random((2, 8, total)) < 0.7, common, own) < skill
    said, seen = [], []
    for _ in range(3000):
        chosen = rng.integers(total, size=(8, n))
        sample = [right[:, at, chosen[at]] for at in range(8)]
        found = covariances_apart(sample)
        said.append(found[0, 0] + found[1, 1] - 2 * found[0, 1])
        seen.append(np.mean([one[0].mean() - one[1].mean() for one in sample]))
    assert np.mean(said) == pytest.approx(np.var(seen), rel=0.1)  # ± 2.6 % at one standard deviation


def test_a_family_is_sampled_where_so_few_clean_images_are_all_asked_about(tmp_path):
    data, model = numbered_images(1000), Knowing("a", 0.9)
    shifts = damaged_family(data, CORRUPTIONS, range(1, 6))
    run = run_sampled([model.model], shifts, Aim(0.02, "within"), store=str(tmp_path / "runs"))
    assert {cell.n_images for cell in run.cells if cell.condition_name == "clean"} == {1000}
    row = score_of(run, "mean-corruption-error")
    assert holds(
        row.estimate, 1 - np.mean([model.right(10 * s + c)[:1000].mean() for c in range(3) for s in range(1, 6)])
    )
    (gap,) = odo.gaps(run).rows
    assert half(gap.gap) < 0.06


def test_all_pairs_at_once_have_the_p_values_of_each():
    rng = np.random.default_rng(2)
    right = [rng.random((4, n)) < np.array([[0.5], [0.6], [0.8], [0.8]]) for n in (40, 60, 50)]
    p_values = p_values_apart(right)
    for a in range(4):
        for b in range(4):
            expected = judged_on_each([(one[a], one[b]) for one in right], None).p_value
            assert p_values[a, b] == pytest.approx(expected)


def test_models_that_stopped_at_other_numbers_of_images_are_of_one_shift(tmp_path):
    data, store = numbered_images(N), str(tmp_path / "runs")
    shifts = damaged_family(data, CORRUPTIONS, range(1, 6))
    models = [Knowing("a", 0.95, shared=0.8), Knowing("b", 0.9, shared=0.8), Knowing("c", 0.7, shared=0.8)]
    run_sampled([model.model for model in models[:2]], shifts, Aim(0.04, "until"), store=store)
    run_sampled([models[0].model], shifts, Aim(0.03, "until"), store=store)
    run_sampled([models[2].model], shifts, Aim(0.04, "until"), store=store)
    numbers = {(cell.model_name, cell.n_images) for cell in index_at(store).cells if cell.condition_name == "clean"}
    assert len({n for _, n in numbers}) > 1
    assert len(numbers) == 3, "one sample of each model"
    found = odo.gaps(store)
    assert [row.model for row in found.rows] == ["a", "b", "c"]
    assert {row.shift for row in found.rows} == {"damage"}
    for row, model in zip(found.rows, models, strict=True):
        truth = model.right()[:N].mean() - np.mean(
            [model.right(10 * s + c)[:N].mean() for c in range(3) for s in range(1, 6)]
        )
        assert holds(row.gap, truth)
    ranking = ranking_of(odo.study_of(store))
    assert ranking is not None
    assert ranking.models == ("a", "b", "c")
    assert list(index_at(store).conditions) == [
        "clean",
        *(f"damage/{name}/{s}" for name in sorted(CORRUPTIONS) for s in range(1, 6)),
    ]
    (compared,) = odo.compare(store, "a", "c", on="damage")
    assert compared.verdict == "c is worse"
    assert len(odo.table(store).rows) == 3


@pytest.mark.parametrize("rule", ["within", "until"])
def test_what_is_almost_sure_of_a_drop_has_a_wider_interval(tmp_path, rule):
    shifts = damaged_family(numbered_images(N), ("fog", "snow"))
    run = run_sampled(
        [Knowing(name, 0.8).model for name in "ab"], shifts, Aim(0.04, rule), store=str(tmp_path / "runs")
    )
    found = explain(run, "damage")
    surest = explain(run, "damage", options=replace(DEFAULT, resampling=Resampling(20_001, ALMOST_SURE)))
    assert len(found.models) == 3
    for one, at_once in zip(found.models, surest.models, strict=True):
        assert one.drop_almost_surely == at_once.drop, "as if that level had been asked for"
        assert half(one.drop_almost_surely) > 1.4 * half(one.drop)
    assert f"at 99.99 % ({drop_in_points(found.models[0].drop_almost_surely)})" in str(found)


@pytest.mark.parametrize("rule", ["within", "until"])
def test_without_the_accuracies_at_that_level_nothing_is_almost_sure(tmp_path, rule):
    shifts = damaged_family(numbered_images(N), ("fog", "snow"))
    run = run_sampled([Knowing("a", 0.8).model], shifts, Aim(0.04, rule), store=str(tmp_path / "runs"))
    index = index_at(run)
    found = explain_points(pairs_of(index, asked_shift(index, "damage"), origins={}, how=IntervalOptions()))
    assert found.models[0].drop.low is not None
    assert found.models[0].drop_almost_surely.low is None
    assert "at 99.99 %" not in str(found)


def test_a_gap_to_other_images_that_were_stopped_is_of_both_confidence_sequences(tmp_path):
    models = [Knowing("a", 0.7), Knowing("b", 0.75)]
    run = run_sampled([model.model for model in models], other_images(6000), Aim(0.04, "until"), store=str(tmp_path))
    accuracy = {(row.model, row.condition): row.estimate for row in odo.score(run, metrics=["top-1"]).rows}
    for gap in odo.gaps(run).rows:
        clean, other = accuracy[gap.model, "clean"], accuracy[gap.model, "other"]
        assert (gap.gap.low, gap.gap.high) == pytest.approx(
            (
                gap.gap.value - np.hypot(clean.value - clean.low, other.high - other.value),
                gap.gap.value + np.hypot(clean.high - clean.value, other.value - other.low),
            )
        )
        assert gap.gap.interval == "newcombe of confidence sequences 95%"
    mean, *_ = explain(run, "other").models
    assert half(mean.drop_almost_surely) > 1.4 * half(mean.drop)


def test_two_models_are_compared_on_a_sampled_family_as_one(tmp_path):
    data, models = numbered_images(N), [Knowing("a", 0.9, shared=0.8), Knowing("b", 0.8, shared=0.8)]
    shifts, store = damaged_family(data, CORRUPTIONS), str(tmp_path / "runs")
    run_sampled([model.model for model in models], shifts, Aim(0.03, "within"), store=store)
    assert [one.condition for one in odo.compare(store, "a", "b")] == ["damage", "clean"]
