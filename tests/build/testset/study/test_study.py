"""What a test set shows about itself, against counts that are made here from the same images."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

import oodometer as odo
from made_study import SEEDS, SIDE, SPACE, Studied, made_model
from made_testset import made_project
from oodometer.build.testset.likeness import Pictures
from oodometer.build.testset.project.annotated import candidates_with_frequencies
from oodometer.build.testset.project.kept_pictures import KeptPictures
from oodometer.build.testset.project.pool import pool_images
from oodometer.build.testset.project.quiz import hardest_images as hardest_of_quiz
from oodometer.build.testset.project.revisions import chosen_of, take_sample
from oodometer.build.testset.project.sample_request import SampleRequest
from oodometer.build.testset.project.simulate import Simulation, simulate_answers
from oodometer.build.testset.project.tasks import Layout, make_tasks
from oodometer.build.testset.release.chosen import revision_of
from oodometer.build.testset.release.write import ReleaseOptions, write_release
from oodometer.build.testset.study.by_frequency import MEAN
from oodometer.build.testset.study.by_revision import accuracy_by_revision, original_frequency
from oodometer.build.testset.study.image_sets import of_release
from oodometer.build.testset.study.of_project import frequency_by_key, of_project
from oodometer.build.testset.study.rights import Rights
from oodometer.build.testset.study.study import StudyRequest, study_of
from oodometer.core.errors import DataError, StoreError, UsageError
from oodometer.core.preprocessing import Geometry
from oodometer.data.load import load_data
from oodometer.stats.intervals import clopper_pearson, mean_of


def rights(pictures: Pictures, classes: Sequence[str]) -> dict[str, np.ndarray]:
    """Which images each model gets right, asked here."""
    views = np.stack([pictures.views(at, [Geometry(SIDE, SIDE)])[0] for at in range(len(pictures))])
    truth = np.array([SPACE.classes.index(name) for name in classes])
    return {name: made_model(name, seed).logits(views).argmax(axis=1) == truth for name, seed in SEEDS.items()}


def rights_of_pool(birds: Studied, keys: set[str]) -> dict[str, np.ndarray]:
    """Of these candidates, in the order of their keys."""
    images = [one for one in pool_images(birds.project, role="candidate") if one.key in keys]
    pictures = KeptPictures(birds.project.folder, tuple(one.file for one in images))
    return rights(pictures, [one.class_name for one in images])


def rights_of_val(birds: Studied) -> dict[str, np.ndarray]:
    data = load_data(birds.val)
    return rights(data, [data.space.classes[label] for label in data.labels])


def test_accuracy_by_revision_and_what_each_strategy_loses(birds):
    found = study_of(str(birds.project.folder), birds.store)
    assert [(one.number, one.strategy, one.n_images) for one in found.revisions] == [
        (1, "matched-frequency", 24),
        (2, "threshold", 24),
        (3, "top-images", 24),
        (4, "uniform", 24),
    ]
    candidates, originals = candidates_with_frequencies(birds.project)
    frequency = dict(zip(candidates.ids, candidates.frequency.tolist(), strict=True))
    old = rights_of_val(birds)
    for record, lost in zip(found.revisions, found.strategies, strict=True):
        keys = {one.key for one in chosen_of(birds.project, record.number)}
        right = rights_of_pool(birds, keys)
        assert record.frequency.value == pytest.approx(np.mean([frequency[key] for key in keys]))
        for name, of_model in right.items():
            hits = int(of_model.sum())
            assert record.accuracies[name].value == hits / 24
            assert (record.accuracies[name].low, record.accuracies[name].high) == clopper_pearson(hits, 24, 0.95)
            drop = next(one for one in lost.drops if one.model == name)
            assert drop.change.value == pytest.approx(of_model.mean() - old[name].mean())
            # reference: statsmodels, Newcombe's method 10
            ends = confint_proportions_2indep(hits, 24, int(old[name].sum()), 45, method="newcomb")
            assert (drop.change.low, drop.change.high) == pytest.approx(ends, abs=1e-9)
        mean = mean_of(np.stack(list(right.values())).mean(axis=0), bounds=(0, 1))
        assert record.accuracies[MEAN] == mean
        assert lost.drops[-1].model == MEAN
        assert lost.drops[-1].change.value == pytest.approx(mean.value - np.mean(list(old.values())))
    assert found.original_frequency.value == pytest.approx(np.mean(np.concatenate(list(originals.values()))))
    # what was sampled for high frequencies has high ones
    assert found.strategies[3].frequency.value < found.strategies[2].frequency.value
    json.dumps(found.as_json(), allow_nan=False)


def test_accuracy_by_selection_frequency(birds):
    found = study_of(str(birds.project.folder), birds.store)
    assert [one.images for one in found.by_frequency] == ["birds, revision 4", "original"]
    keys = sorted(one.key for one in chosen_of(birds.project, 4))
    candidates, originals = candidates_with_frequencies(birds.project)
    frequency = dict(zip(candidates.ids, candidates.frequency.tolist(), strict=True))
    values = np.array([frequency[key] for key in keys])
    right = rights_of_pool(birds, set(keys))
    edges = [(0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01)]  # the paper's bins
    for at, (low, high) in enumerate(edges):
        inside = (values >= low) & (values < high)
        assert found.by_frequency[0].n_images[at] == inside.sum()
        for name in SEEDS:
            estimate = found.by_frequency[0].accuracies[name][at]
            assert (estimate is None) == (not inside.any())
            if estimate is not None:
                assert (estimate.value, estimate.n) == (right[name][inside].mean(), inside.sum())
    assert sum(n > 0 for n in found.by_frequency[0].n_images) > 2
    assert sum(found.by_frequency[1].n_images) == sum(len(some) for some in originals.values()) > 0


def test_a_study_counts_the_answers_that_its_revision_was_sampled_by(tmp_path):
    """As the card of its release does: without spammers, where it was sampled without them."""
    with made_project(tmp_path / "birds") as project:
        make_tasks(project, Layout(size=16, positive=2, negative=2, workers=8, originals=8))
        simulate_answers(project, Simulation(n_workers=12, n_spammers=5, seed=4))
        for without in (False, True):
            request = SampleRequest("threshold", per_class=5, without_spammers=without)
            take_sample(project, request, by="somebody")
        cards = [revision_of(project, number) for number in (1, 2)]
        found = accuracy_by_revision(project, Rights({}, {}))
        assert [one.frequency.value for one in found] == pytest.approx([card.reached.value for card in cards])
        assert original_frequency(project).value == pytest.approx(cards[1].original.value)
        assert np.nanmean(of_project(project, 1).new.frequency) == pytest.approx(cards[0].reached.value)
        everyone = frequency_by_key(project)
        with_spammers = np.mean([everyone[one.key] for one in chosen_of(project, 2)])
        assert abs(with_spammers - cards[1].reached.value) > 0.01, "or the spammers changed nothing"
        candidates, _ = candidates_with_frequencies(project)
        many = replace(request, least_answers=int(candidates.n_answers.max()) * 100)
        assert frequency_by_key(project, many).keys() == set(candidates.ids), "no original image has so many answers"


def test_other_images_of_the_names_of_the_original_ones(birds, tmp_path):
    """Such as those of a training set whose files are numbered too; whose answers are meant, the contents tell."""
    store, other = str(tmp_path / "runs"), tmp_path / "other"
    for file in birds.val.glob("*/*.png"):
        place = other / file.parent.name / f"{(int(file.stem) + 1) % 15}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.read_bytes())
    data = [load_data(place) for place in (other, birds.val, birds.project.folder / "pool.csv")]
    odo.run([made_model("second", SEEDS["second"])], [odo.clean(one) for one in data], store=store)
    found = study_of(str(birds.project.folder), store)
    expected = study_of(str(birds.project.folder), birds.store, StudyRequest(models=("second",)))
    assert found.drops == expected.drops
    assert found.hardest == expected.hardest


def test_the_hardest_images(birds, tmp_path):
    request = StudyRequest(n_hardest=6, shares=str(tmp_path / "shares.csv"))
    found = study_of(str(birds.project.folder), birds.store, request)
    keys = sorted(one.key for one in chosen_of(birds.project, 4))
    hits = np.stack(list(rights_of_pool(birds, set(keys)).values())).sum(axis=0)
    expected = sorted(zip(hits.tolist(), keys, strict=True))[:6]
    assert [(one.right, one.id) for one in found.hardest["birds, revision 4"]] == expected
    assert {one.models for one in found.hardest["original"]} == {3}
    with (tmp_path / "shares.csv").open() as file:
        shares = {row["id"]: float(row["share"]) for row in csv.DictReader(file)}
    assert len(shares) == 24 + 45
    assert [shares[key] for key in keys] == pytest.approx(hits / 3, abs=1e-5)
    quiz = hardest_of_quiz(birds.project, str(tmp_path / "shares.csv"))  # the quiz takes the table
    assert shares[quiz["new"][0]] == min(hits) / 3


def test_a_release_shows_the_same(birds, tmp_path):
    write_release(birds.project, tmp_path / "v1", ReleaseOptions(original=str(birds.val), allow_simulated=True))
    of_project = study_of(str(birds.project.folder), birds.store)
    of_release = study_of(str(tmp_path / "v1"), birds.store)
    assert of_release.drops == of_project.drops
    assert len(of_release.drops) == 4
    assert of_release.by_frequency[0].accuracies == of_project.by_frequency[0].accuracies
    assert (of_release.new, of_release.original, of_release.n_new, of_release.n_original) == ("v1", "val", 24, 45)
    assert of_release.revisions == ()
    assert of_release.notes == ()


def test_a_release_may_be_compared_with_a_published_set(birds, tmp_path, monkeypatch):
    write_release(birds.project, tmp_path / "v1", ReleaseOptions(original="cifar-10", allow_simulated=True))
    monkeypatch.delenv("OODOMETER_DATA", raising=False)
    assert of_release(str(tmp_path / "v1")).original is None
    root = tmp_path / "root"
    root.mkdir()
    monkeypatch.setenv("OODOMETER_DATA", str(root))
    with pytest.raises(DataError, match=r"cifar-10 is not in .*: expected"):
        of_release(str(tmp_path / "v1"))
    (tmp_path / "v1" / "testset.toml").write_text(f'name = "a"\noriginal = "{"x" * 100_000}"')
    with pytest.raises(DataError, match="too long for what it should say"):
        of_release(str(tmp_path / "v1"))


def test_can_old_be_told_from_new(birds):
    """Pictures of both sets are drawn alike."""
    request = StudyRequest(discriminators=("pixels",))
    found = study_of(str(birds.project.folder), birds.store, request).discriminators[0]
    assert (found.features, found.n_each, found.accuracy.n) == ("pixels", 24, 48)
    assert found.accuracy.low < 0.5 < found.accuracy.high


def test_of_any_data_without_an_original(birds):
    found = study_of(str(birds.val), birds.store)
    assert found.drops == ()
    assert found.notes == (
        "nobody says what the original set is, so there is no drop: --original ADDRESS",
        "no image has a selection frequency, so there are no accuracies by it",
    )
    with pytest.raises(UsageError, match="--discriminator: it tells the set from its original"):
        study_of(str(birds.val), birds.store, StudyRequest(discriminators=("pixels",)))


def test_only_some_models(birds):
    found = study_of(str(birds.project.folder), birds.store, StudyRequest(models=("second",)))
    assert [one.model for one in found.drops] == ["second"]
    assert set(found.revisions[0].accuracies) == {"second"}
    with pytest.raises(UsageError, match="seconds was not asked about birds, revision 4; did you mean second"):
        study_of(str(birds.project.folder), birds.store, StudyRequest(models=("seconds",)))


def test_models_that_were_asked_about_one_set_alone(birds, tmp_path):
    store = str(tmp_path / "runs")
    odo.run([made_model("first", 5)], [odo.clean(load_data(birds.val))], store=store)
    with pytest.raises(StoreError, match="no model was asked about birds, revision 4; run some on it"):
        study_of(str(birds.project.folder), store)
    pool = load_data(birds.project.folder / "pool.csv")
    odo.run([made_model("second", 10)], [odo.clean(pool)], store=store)
    found = study_of(str(birds.project.folder), store)
    assert found.notes == ("no model was asked about both sets over the same classes, so there is no drop",)


def test_other_hyper_parameters(birds, tmp_path):
    """Intervals hold together: each at 97.5 % for two settings."""
    store = str(tmp_path / "runs")
    pool = load_data(birds.project.folder / "pool.csv")
    settings = [made_model("low-rate", 10, parent="first"), made_model("high-rate", 3, parent="first")]
    odo.run([made_model("first", 5), *settings, made_model("other", 7)], [odo.clean(pool)], store=store)
    found = study_of(str(birds.project.folder), store, StudyRequest(baseline="first")).settings
    assert {one.model for one in found} == {"low-rate", "high-rate"}
    assert found[0].change.value >= found[1].change.value
    keys = {one.key for one in chosen_of(birds.project, 4)}
    right = rights_of_pool(birds, keys)
    by_name = {one.model: one for one in found}
    assert by_name["low-rate"].change.value == pytest.approx(right["second"].mean() - right["first"].mean())
    assert by_name["low-rate"].change.interval == "tango score 97.5%"
    assert by_name["low-rate"].is_better == (by_name["low-rate"].change.low > 0)
    with pytest.raises(UsageError, match=r"--baseline other: no model .* says that it was made from it"):
        study_of(str(birds.project.folder), store, StudyRequest(baseline="other"))
    named = StudyRequest(baseline="other", models=("first", "low-rate"))
    assert {one.model for one in study_of(str(birds.project.folder), store, named).settings} == {"first", "low-rate"}


def test_a_table_can_not_be_written(birds):
    with pytest.raises(UsageError, match=r"nowhere/shares.csv: can't be written"):
        study_of(str(birds.project.folder), birds.store, StudyRequest(shares=str(Path("nowhere") / "shares.csv")))
