"""The quiz: the hardest images of both sets, each person in an order of their own, and accuracies counted twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from made_testset import made_project
from oodometer.build.testset.project.annotators import add_workers, block_worker
from oodometer.build.testset.project.handing_out import RefusedAnswerError
from oodometer.build.testset.project.pool import CANDIDATE, ORIGINAL, pool_images
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.quiz import (
    NEW,
    OLD,
    answers_in_quiz,
    file_of_question,
    hardest_images,
    make_quiz,
    n_named,
    next_question,
    submit_names,
    take_back,
)
from oodometer.build.testset.project.quiz_results import as_json, quiz_results
from oodometer.build.testset.project.schema import IMAGE, NAMED, QUIZ, sa
from oodometer.core.errors import DataError, OodometerError, UsageError


@pytest.fixture
def project(tmp_path: Path, either_database: str | None) -> Iterator[Project]:
    """Three classes of ten candidates and six originals each, and workers of the numbers 1 to 3."""
    with made_project(tmp_path / "p", candidates=10, originals=6, database=either_database) as made:
        add_workers(made, 3)
        yield made


def keys(project: Project, role: str) -> list[str]:
    return [image.key for image in pool_images(project, role=role)]


def make(project: Project, n_old: int = 8, n_new: int = 12) -> None:
    make_quiz(project, keys(project, ORIGINAL)[:n_old], keys(project, CANDIDATE)[:n_new])


def sequence(project: Project, worker: int) -> list[str]:
    """The images that a worker names, in their order; nothing is said of any."""
    order = []
    while (question := next_question(project, worker)) is not None:
        order.append(image_of(project, question.key))
        submit_names(project, worker, question.key, [])
    return order


def image_of(project: Project, key: str) -> str:
    (row,) = project.database.rows(
        sa.select(IMAGE.c.key).join(QUIZ, QUIZ.c.image_id == IMAGE.c.id).where(QUIZ.c.key == key)
    )
    return str(row.key)


def test_everybody_names_every_image_once_in_an_order_of_their_own(project: Project) -> None:
    make(project)
    first, second = sequence(project, 1), sequence(project, 2)
    wanted = sorted([*keys(project, ORIGINAL)[:8], *keys(project, CANDIDATE)[:12]])
    assert sorted(first) == sorted(second) == wanted
    assert first != second
    assert n_named(project, 1) == 20
    assert n_named(project, 3) == 0


def test_sets_are_mixed_and_addresses_tell_nothing(project: Project) -> None:
    make(project, 18, 30)
    rows = project.database.rows(sa.select(QUIZ.c.key, IMAGE.c.key, IMAGE.c.digest).join(IMAGE))
    assert not any(image in shown or digest[:8] in shown for shown, image, digest in rows)
    roles = [key[0] for key in sequence(project, 1)]
    changes = sum(a != b for a, b in pairwise(roles))
    # In a random order of 18 and 30 the expected number of changes is 2 · 18 · 30 / 48 = 22.5, its deviation 3.2.
    assert 13 <= changes <= 32


def test_the_same_quiz_again_changes_nothing_and_an_answered_one_can_not_change(project: Project) -> None:
    old, new = keys(project, ORIGINAL), keys(project, CANDIDATE)
    assert make_quiz(project, old[:2], new[:2]).is_new
    shown = project.database.rows(sa.select(QUIZ.c.key).order_by(QUIZ.c.id))
    assert not make_quiz(project, old[:2], new[:2]).is_new
    assert project.database.rows(sa.select(QUIZ.c.key).order_by(QUIZ.c.id)) == shown
    assert make_quiz(project, old[:3], new[:2]).is_new
    question = next_question(project, 1)
    assert question is not None
    assert question.n_all == 5
    submit_names(project, 1, question.key, ["owl"])
    with pytest.raises(UsageError, match="has answers already"):
        make_quiz(project, old[:2], new[:2])
    assert question.key in {row.key for row in project.database.rows(sa.select(QUIZ.c.key))}


def test_both_sets_are_needed_and_images_are_of_the_set_that_is_said(project: Project) -> None:
    old, new = keys(project, ORIGINAL), keys(project, CANDIDATE)
    with pytest.raises(UsageError, match="images of both sets"):
        make_quiz(project, old[:2], [])
    with pytest.raises(UsageError, match="no image of the original set"):
        make_quiz(project, new[:1], new[1:2])
    with pytest.raises(UsageError, match="nonsense: no image of the new set"):
        make_quiz(project, old[:1], ["nonsense"])


def test_an_answer_counts_once_and_is_taken_back(project: Project) -> None:
    make(project)
    first = next_question(project, 1)
    assert first is not None
    assert submit_names(project, 1, first.key, ["owl", "duck", "owl"])
    assert not submit_names(project, 1, first.key, ["owl", "duck"])
    with pytest.raises(RefusedAnswerError, match="named this image already"):
        submit_names(project, 1, first.key, ["cat"])
    second = next_question(project, 1)
    assert second is not None
    assert (second.key != first.key, second.n_done) == (True, 1)
    assert take_back(project, 1)
    assert next_question(project, 1) == first
    assert not take_back(project, 1)
    assert submit_names(project, 1, first.key, ["cat"])


@pytest.mark.parametrize(
    ("key", "names", "message"),
    [
        ("nonsense", ["owl"], "not asked about"),
        (None, ["<b>owl</b>"], "no class is named '<b>owl</b>'"),
        (None, ["owl", "duck", "cat", "a", "b", "c"], "6 names for one image"),
    ],
)
def test_what_is_no_answer_is_refused(project: Project, key: str | None, names: list[str], message: str) -> None:
    make(project)
    question = next_question(project, 1)
    assert question is not None
    with pytest.raises(RefusedAnswerError, match=message):
        submit_names(project, 1, key or question.key, names)
    assert n_named(project, 1) == 0


def test_the_file_of_a_question_is_found_and_no_other(project: Project) -> None:
    make(project)
    question = next_question(project, 1)
    assert question is not None
    files = {image.key: image.file for image in pool_images(project)}
    assert file_of_question(project, question.key) == files[image_of(project, question.key)]
    with pytest.raises(UsageError, match="no image"):
        file_of_question(project, "../../etc/passwd")


def answer_all(project: Project, skills: dict[int, float]) -> None:
    """Each worker names every image: the right class first, second, another, or none, at random."""
    for worker, skill in skills.items():
        rng = np.random.default_rng([worker, 5])
        while (question := next_question(project, worker)) is not None:
            true = next(row.name for row in classes_of(project) if row.key == question.key)
            others = [name for name in ("owl", "duck", "cat") if name != true]
            draw = rng.random()
            said = [true, others[0]] if draw < skill else [others[0], true] if draw < skill + 0.1 else others[:1]
            submit_names(project, worker, question.key, [] if draw > 0.95 else said)


def classes_of(project: Project) -> list:  # type: ignore[type-arg]
    from oodometer.build.testset.project.schema import CLASS

    query = sa.select(QUIZ.c.key, CLASS.c.name).join(IMAGE, IMAGE.c.id == QUIZ.c.image_id)
    return project.database.rows(query.join(CLASS, CLASS.c.id == IMAGE.c.class_id))


def counted(project: Project) -> dict[tuple[int, str], list[tuple[bool, bool, bool]]]:
    """By worker and set: right, first right, without a name; straight from the tables, class by the image's key."""
    names = {number: name for name, number in project.class_numbers().items()}
    images = {row.id: row.image_id for row in project.database.rows(sa.select(QUIZ))}
    keys_of = {row.id: row.key for row in project.database.rows(sa.select(IMAGE))}
    found: dict[tuple[int, str], list[tuple[bool, bool, bool]]] = {}
    for row in project.database.rows(sa.select(NAMED)):
        key = keys_of[images[row.quiz_id]]
        true = names[int(key[1:].partition("-")[0])]  # a key is c or o, the number of the class, and a digest
        said = json.loads(row.classes)
        of = found.setdefault((row.worker_id, NEW if key[0] == "c" else OLD), [])
        of.append((true in said, said[:1] == [true], said == []))
    return found


def test_results_are_what_an_independent_count_gives(project: Project) -> None:
    make(project, 18, 30)
    answer_all(project, {1: 0.9, 2: 0.6, 3: 0.4})
    block_worker(project, 3)
    results = quiz_results(project)
    assert (results.n_old, results.n_new, len(results.people)) == (18, 30, 2)
    by_hand = counted(project)
    for person in results.people:  # in the order of the workers' numbers, of which 3 is blocked
        rates = {}
        for which, on_set in ((OLD, person.old), (NEW, person.new)):
            said = by_hand[person.person, which]
            assert on_set is not None
            rights, firsts, none = (sum(column) for column in zip(*said, strict=True))
            assert (on_set.n, on_set.n_cannot_tell) == (len(said), none)
            assert on_set.accuracy.value == rights / len(said)
            assert on_set.first.value == firsts / len(said)
            # reference: statsmodels
            ends = proportion_confint(rights, len(said), method="wilson")
            assert (on_set.accuracy.low, on_set.accuracy.high) == pytest.approx(ends, abs=1e-9)
            rates[which] = (rights, len(said))
        # reference: statsmodels, Newcombe's method 10
        ends = confint_proportions_2indep(*rates[NEW], *rates[OLD], method="newcomb", compare="diff")
        assert person.difference is not None
        assert (person.difference.low, person.difference.high) == pytest.approx(ends, abs=1e-9)


def test_means_over_images_and_over_people(project: Project) -> None:
    make(project, 18, 30)
    answer_all(project, {1: 0.9, 2: 0.6, 3: 0.4})
    results = quiz_results(project)
    shares: dict[str, dict[str, list[bool]]] = {OLD: {}, NEW: {}}
    for _, which, key, true, names in answers_in_quiz(project):
        shares[which].setdefault(key, []).append(true in names)
    means = {which: np.mean([np.mean(some) for some in of.values()]) for which, of in shares.items()}
    assert results.old is not None
    assert results.new is not None
    assert results.difference is not None
    assert (results.old.value, results.new.value) == pytest.approx((means[OLD], means[NEW]), abs=1e-12)
    assert results.difference.value == pytest.approx(means[NEW] - means[OLD], abs=1e-12)
    by_hand = counted(project)
    differences = [
        np.mean([one[0] for one in by_hand[worker, NEW]]) - np.mean([one[0] for one in by_hand[worker, OLD]])
        for worker in (1, 2, 3)
    ]
    # closed form: Student's interval of three differences
    half = t.ppf(0.975, 2) * np.std(differences, ddof=1) / np.sqrt(3)
    assert results.over_people is not None
    assert results.over_people.value == pytest.approx(np.mean(differences), abs=1e-12)
    assert results.over_people.high == pytest.approx(min(np.mean(differences) + half, 1), abs=1e-12)


def test_results_before_anybody_answered_and_before_there_is_a_quiz(project: Project) -> None:
    with pytest.raises(DataError, match="there is no quiz"):
        quiz_results(project)
    make(project)
    results = quiz_results(project)
    assert results.people == ()
    assert (results.old, results.new, results.difference, results.over_people) == (None, None, None, None)


def test_results_tell_nobody(project: Project) -> None:
    make(project, 2, 2)
    answer_all(project, {2: 0.5})
    (person,) = as_json(quiz_results(project))["people"]
    assert person["person"] == 1  # of the table, not the worker's number


def scores(folder: Path, rows: list[tuple[str, object]]) -> str:
    file = folder / "scores.csv"
    file.write_text("id,share\n" + "".join(f"{id_},{share}\n" for id_, share in rows), "utf-8")
    return str(file)


def test_the_hardest_are_those_that_fewest_models_get_right(project: Project, tmp_path: Path) -> None:
    old, new = keys(project, ORIGINAL), keys(project, CANDIDATE)
    rng = np.random.default_rng(3)
    share = {key: float(rng.random()) for key in old + new}
    rows: list[tuple[str, object]] = [(f"some/class/{key}.jpg", share[key]) for key in new]
    rows += [(name_of(project, key), share[key]) for key in old]
    found = hardest_images(project, scores(tmp_path, rows), share=0.1)
    # 10 % of 18 are 1.8, so 2 of the originals; of 30 they are 3
    assert found[OLD] == sorted(sorted(old, key=lambda key: share[key])[:2])
    assert found[NEW] == sorted(sorted(new, key=lambda key: share[key])[:3])


def name_of(project: Project, key: str) -> str:
    return next(image.columns["name"] for image in pool_images(project, role=ORIGINAL) if image.key == key)


def test_equally_hard_images_are_drawn(project: Project, tmp_path: Path) -> None:
    table = scores(tmp_path, [(key, 0) for key in keys(project, ORIGINAL) + keys(project, CANDIDATE)])
    draws = {tuple(hardest_images(project, table, share=0.2, seed=seed)[NEW]) for seed in range(5)}
    assert len(draws) > 1
    assert hardest_images(project, table, share=0.2, seed=1) == hardest_images(project, table, share=0.2, seed=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("image,share\na,1\n", "expected the columns 'id' and 'share'"),
        ("id,share\nnonsense,0.5\n", "nonsense: no image of this project"),
        ("id,share\n{new},1.5\n", "is '1.5'; expected a number from 0 to 1"),
        ("id,share\n{new},\n", "is ''; expected a number"),
        ("id,share\n{new},0.5\n", "no image of the original set"),
    ],
)
def test_tables_that_can_not_be_used(project: Project, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(text.format(new=keys(project, CANDIDATE)[0]), "utf-8")
    with pytest.raises(OodometerError, match=message):
        hardest_images(project, str(file))
    with pytest.raises(UsageError, match="--share 0"):
        hardest_images(project, str(file), share=0)
