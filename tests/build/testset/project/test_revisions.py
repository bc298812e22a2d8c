"""Revisions: what is kept, what is carried over, and that sampling again ends."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from made_testset import CLASSES, made_project
from oodometer.build.testset.project.annotated import candidates_with_frequencies
from oodometer.build.testset.project.close_pairs import mark_duplicates
from oodometer.build.testset.project.exclusions import exclude, revoke
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.revisions import (
    chosen_of,
    difference,
    latest,
    mark_reviewed,
    reviewed_classes,
    revisions,
    sample_again,
    take_sample,
    take_samples,
)
from oodometer.build.testset.project.sample_request import SampleRequest, read_keywords, request_of
from oodometer.build.testset.project.schema import CLASS, sa
from oodometer.build.testset.project.simulate import Simulation, simulate_answers
from oodometer.build.testset.project.tasks import Layout, make_tasks
from oodometer.core.errors import DataError, UsageError

ME = "somebody"
TOP = SampleRequest("top-images", per_class=5)


def annotated(folder: Path, **more: object) -> Project:
    project = made_project(folder, **more)  # type: ignore[arg-type]
    make_tasks(project, Layout(size=16, positive=2, negative=2, workers=5, originals=8))
    simulate_answers(project, Simulation(n_workers=8))
    return project


def keys(project: Project, revision: int) -> list[str]:
    return [image.key for image in chosen_of(project, revision)]


def test_the_choice_and_what_was_asked_for_are_kept(tmp_path: Path, either_database: str | None) -> None:
    with annotated(tmp_path / "p", database=either_database) as project:
        request = SampleRequest("threshold", per_class=4, at_least=0.6, seed=3)
        sampled = take_sample(project, request, by=ME, note="the first")
        record = revisions(project)[0]
        assert (record, sampled.is_new) == (sampled.revision, True)
        assert (record.number, record.parent, record.request) == (1, None, request)
        assert (record.by, record.note, record.n_images, record.n_new, record.n_gone) == (ME, "the first", 12, 12, 0)
        images = chosen_of(project, 1)
        assert Counter(image.class_name for image in images) == {"owl": 4, "duck": 4, "cat": 4}
        candidates, _ = candidates_with_frequencies(project)
        by_key = dict(zip(candidates.ids, candidates.frequency.tolist(), strict=True))
        assert sampled.mean_frequency == pytest.approx(np.mean([by_key[image.key] for image in images]))
        below = sum(value < 0.6 for value in by_key.values())
        taken_below = record.counts.get("below the threshold, in classes that had too few above it", 0)
        assert record.excluded.get("below the threshold", 0) == below - taken_below


def test_sampling_again_changes_nothing_until_something_is_out(tmp_path: Path) -> None:
    with annotated(tmp_path / "p") as project:
        take_sample(project, TOP, by=ME)
        again = sample_again(project, by=ME)
        assert (again.is_new, again.revision.number, len(revisions(project))) == (False, 1, 1)
        first = keys(project, 1)
        exclude(project, first[:2], "blurry", by=ME)
        second = sample_again(project, by=ME, note="two are blurry")
        assert (second.revision.parent, second.revision.n_new, second.revision.n_gone) == (1, 2, 2)
        assert second.revision.excluded == {"blurry": 2}
        assert second.revision.counts["carried over"] == 13
        assert set(keys(project, 2)) & set(first) == set(first[2:])
        assert not sample_again(project, by=ME).is_new


def test_what_is_carried_over_stays_where_a_better_one_comes_back(tmp_path: Path) -> None:
    with annotated(tmp_path / "p") as project:
        threshold = SampleRequest("threshold", per_class=4, at_least=0.2)
        take_sample(project, threshold, by=ME)
        out = keys(project, 1)[0]
        exclude(project, [out], "blurry", by=ME)
        sample_again(project, by=ME)
        revoke(project, [out])
        assert not sample_again(project, by=ME).is_new, "nobody makes room for it"
        assert out not in keys(project, 2)


def test_lines_of_other_strategies_do_not_mix(tmp_path: Path) -> None:
    with annotated(tmp_path / "p") as project:
        take_sample(project, TOP, by=ME)
        assert take_sample(project, SampleRequest("uniform", per_class=5), by=ME).revision.parent is None
        more = take_sample(project, SampleRequest("top-images", per_class=6), by=ME).revision
        assert (more.parent, more.n_new, more.n_gone) == (1, 3, 0)


def test_the_same_pool_and_seed_give_the_same_set_anywhere(tmp_path: Path, postgres: str) -> None:
    from postgres_server import new_database

    chosen = []
    for name, database in (("a", None), ("b", new_database(postgres))):
        with annotated(tmp_path / name, database=database) as project:
            take_sample(project, SampleRequest("matched-frequency", per_class=5, seed=11), by=ME)
            chosen.append(keys(project, 1))
    assert chosen[0] == chosen[1]


def test_what_came_and_what_went_with_the_reason(tmp_path: Path) -> None:
    with annotated(tmp_path / "p") as project:
        take_sample(project, TOP, by=ME)
        owls = [image.key for image in chosen_of(project, 1) if image.class_name == "owl"]
        exclude(project, owls[:1], "severely occluded", by=ME)
        mark_duplicates(project, owls[1:3], by=ME)
        sample_again(project, by=ME)
        changed = difference(project, 1, 2)
        reasons = {image.key: why for image, why in changed.gone}
        assert reasons.pop(owls[0]) == "severely occluded"
        ((other, why),) = reasons.items()
        assert (other in owls[1:3], why) == (True, "near-duplicate")
        assert len(changed.came) == 2
        assert {image.class_name for image in changed.came} == {"owl"}
        assert changed.as_json()["gone"][0]["reason"]
        assert [image.key for image, _ in difference(project, 2, 1).gone] == [image.key for image in changed.came]


def test_a_reason_is_that_of_when_it_went(tmp_path: Path) -> None:
    with annotated(tmp_path / "p") as project:
        take_sample(project, SampleRequest("uniform", per_class=5), by=ME)
        take_sample(project, SampleRequest("top-images", per_class=5), by=ME)
        exclude(project, keys(project, 1), "blurry", by=ME)
        assert {why for _, why in difference(project, 1, 2).gone} == {"another was drawn"}


def test_a_class_stays_reviewed_while_its_images_stay(tmp_path: Path) -> None:
    with annotated(tmp_path / "p") as project:
        take_sample(project, TOP, by=ME)
        for name in ("owl", "duck"):
            mark_reviewed(project, 1, name, by=ME)
        mark_reviewed(project, 1, "cat", by=ME)
        mark_reviewed(project, 1, "cat", by=ME, reviewed=False)
        assert reviewed_classes(project, 1) == {"owl", "duck"}
        exclude(project, [next(i.key for i in chosen_of(project, 1) if i.class_name == "owl")], "unclear", by=ME)
        sample_again(project, by=ME)
        assert reviewed_classes(project, 2) == {"duck"}


def test_one_set_for_each_attribute(tmp_path: Path) -> None:
    with made_project(tmp_path / "p") as project:
        request = request_of("by-attribute", ["name=owl-candidate-0"], per_class=3)
        with pytest.raises(UsageError, match="no column 'name'"):
            take_samples(project, request, by=ME)
        with pytest.raises(UsageError, match=r"--base year: expected COLUMN=VALUE"):
            request_of("by-attribute", ["year"])


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    with made_project(tmp_path / "p") as project:
        with pytest.raises(UsageError, match="nothing is sampled yet; first: oodometer testset sample"):
            latest(project)
        with pytest.raises(DataError, match="no candidate may be chosen: of 60 candidates are out: 60 few answers"):
            take_sample(project, SampleRequest("matched-frequency"), by=ME)
        take_sample(project, SampleRequest("uniform", per_class=2), by=ME)
        with pytest.raises(UsageError, match="no revision 7; there are: 1"):
            chosen_of(project, 7)
        with pytest.raises(UsageError, match="crow: no class of this project"):
            mark_reviewed(project, 1, "crow", by=ME)


def test_keywords_of_originals_are_read(tmp_path: Path) -> None:
    (tmp_path / "k.csv").write_text("class,keyword,count\nowl,barn owl,3\nowl,owlet,1\n")
    assert read_keywords(str(tmp_path / "k.csv")) == {"owl": {"barn owl": 3, "owlet": 1}}
    (tmp_path / "k.csv").write_text("class,keyword,count\nowl,barn owl,many\n")
    with pytest.raises(DataError, match="expected the columns class, keyword and count"):
        read_keywords(str(tmp_path / "k.csv"))


def test_two_who_sample_at_once_make_one_revision(tmp_path: Path, either_database: str | None) -> None:
    with annotated(tmp_path / "p", database=either_database) as project, ThreadPoolExecutor(4) as threads:
        sampled = list(threads.map(lambda _: take_sample(project, TOP, by=ME), range(8)))
        assert [record.number for record in revisions(project)] == [1]
        assert sorted(one.is_new for one in sampled) == [False] * 7 + [True]
        exclude(project, keys(project, 1)[:1], "blurry", by=ME)
        list(threads.map(lambda _: sample_again(project, by=ME), range(8)))
        assert [(record.number, record.parent) for record in revisions(project)] == [(1, None), (2, 1)]


def test_another_seed_begins_anew(tmp_path: Path) -> None:
    chosen = []
    for name, seeds in (("a", (0, 1)), ("b", (1,))):
        with annotated(tmp_path / name) as project:
            for seed in seeds:
                record = take_sample(project, SampleRequest("uniform", per_class=6, seed=seed), by=ME).revision
            assert record.parent is None
            chosen.append(keys(project, record.number))
    assert chosen[0] == chosen[1], "what was drawn by another seed before makes no difference"


def test_a_class_without_candidates_is_short_of_all(tmp_path: Path) -> None:
    with made_project(tmp_path / "p", classes=CLASSES[:2], candidates=4) as project:
        with project.database.writing() as connection:
            connection.execute(sa.insert(CLASS).values(name="dog", title="dog", gloss="", link="", synonyms="[]"))
        for strategy in ("uniform", "top-images"):
            make_tasks(project, Layout(size=12, positive=1, negative=1, workers=1))
            simulate_answers(project)
            record = take_sample(project, SampleRequest(strategy, per_class=6), by=ME).revision
            assert record.short == {"owl": 2, "duck": 2, "dog": 6}
        with pytest.raises(DataError, match="no image was chosen of it"):
            take_sample(project, SampleRequest("uniform", per_class=3, balanced=True), by=ME)
