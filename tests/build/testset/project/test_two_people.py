"""Two people choose images by keyword: who does what, what counts, and what stays out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from made_testset import CLASSES, picture
from oodometer.build.testset.project.exclusions import exclusions
from oodometer.build.testset.project.offered import Offered
from oodometer.build.testset.project.pool import ORIGINAL, Provenance, add_images, pool_images
from oodometer.build.testset.project.project import Project, new_project
from oodometer.build.testset.project.two_people import (
    NOT_BY_BOTH,
    counting,
    decide,
    decide_all,
    leave_out_others,
    let_choose,
    still_missing,
    take_back,
    to_decide,
    work,
)
from oodometer.core.errors import UsageError

WORDS = ("barn owl", "night owl", "mallard", "teal")


@pytest.fixture
def project(tmp_path: Path, either_database: str | None) -> Iterator[Project]:
    """Two classes with two keywords each, of three images each, and one image without a keyword."""
    with new_project(tmp_path / "p", classes=CLASSES[:2], database=either_database) as made:
        offered = [
            Offered(f"{word}-{i}", picture_of(at, i), "owl" if "owl" in word else "duck", {"keyword": word})
            for at, word in enumerate(WORDS)
            for i in range(3)
        ]
        add_images(made, [*offered, Offered("plain", picture_of(9, 9), "owl", {})], Provenance("made", "test"))
        let_choose(made, "ada", "ben")
        yield made


def picture_of(at: int, i: int) -> Callable[[], bytes]:
    return lambda: picture(at, "candidate", i)


def ids(project: Project, keyword: str) -> list[str]:
    return [one.key for one in pool_images(project) if one.keyword == keyword]


def test_the_two_change_places_from_keyword_to_keyword(project: Project) -> None:
    assert [(one.class_name, one.keyword, one.selector, one.verifier) for one in work(project)] == [
        ("duck", "mallard", "ada", "ben"),
        ("duck", "teal", "ben", "ada"),
        ("owl", "barn owl", "ada", "ben"),
        ("owl", "night owl", "ben", "ada"),
    ]
    assert {one.keyword for one in to_decide(project, "ada")} == {"mallard", "barn owl"}
    assert len(to_decide(project, "ben")) == 6


def test_an_image_counts_when_both_are_for_it(project: Project) -> None:
    first, second, third = ids(project, "mallard")
    for key, take in ((first, True), (second, True), (third, False)):
        decide(project, "ada", key, take=take)
    assert counting(project) == frozenset()
    assert {one.key for one in to_decide(project, "ben") if one.keyword == "mallard"} == {first, second}
    decide(project, "ben", first, take=True)
    decide(project, "ben", second, take=False)
    assert counting(project) == {first}
    mallard = work(project)[0]
    assert (mallard.n_candidates, mallard.n_to_select, mallard.n_to_verify, mallard.n_counting) == (3, 0, 0, 1)


def test_minds_change_and_what_was_verified_falls_with_it(project: Project) -> None:
    first = ids(project, "mallard")[0]
    decide(project, "ada", first, take=True)
    decide(project, "ben", first, take=True)
    decide(project, "ada", first, take=True)
    assert counting(project) == {first}
    decide(project, "ada", first, take=False)
    decide(project, "ada", first, take=True)
    assert counting(project) == frozenset()
    assert first in {one.key for one in to_decide(project, "ben")}


def test_several_images_are_decided_together_or_not_at_all(project: Project) -> None:
    mallards, teals = ids(project, "mallard"), ids(project, "teal")
    with pytest.raises(UsageError, match="nothing to verify"):
        decide_all(project, "ada", {mallards[0]: True, teals[0]: True})
    assert [one.n_to_select for one in work(project)] == [3, 3, 3, 3]
    decide_all(project, "ada", {key: key != mallards[0] for key in mallards})
    assert {one.key for one in to_decide(project, "ben") if one.keyword == "mallard"} == set(mallards[1:])


def test_what_was_said_last_is_taken_back(project: Project) -> None:
    mallards = ids(project, "mallard")
    decide_all(project, "ada", dict.fromkeys(mallards, True))
    decide(project, "ben", mallards[0], take=True)
    with pytest.raises(UsageError, match="the other person has verified some"):
        take_back(project, "ada")
    assert (take_back(project, "ben"), counting(project)) == (1, frozenset())
    assert (take_back(project, "ada"), take_back(project, "ada")) == (3, 0)
    assert work(project)[0].n_to_select == 3
    with pytest.raises(UsageError, match="not one of the two"):
        take_back(project, "eve")


def test_nobody_verifies_what_nobody_took(project: Project) -> None:
    first = ids(project, "mallard")[0]
    with pytest.raises(UsageError, match="nothing to verify"):
        decide(project, "ben", first, take=True)
    decide(project, "ada", first, take=False)
    with pytest.raises(UsageError, match="nothing to verify"):
        decide(project, "ben", first, take=True)


def test_roles_stay_when_new_keywords_come(project: Project) -> None:
    decide(project, "ada", ids(project, "mallard")[0], take=True)
    decide(project, "ben", ids(project, "teal")[0], take=True)
    new = [Offered("new", picture_of(7, 7), "duck", {"keyword": "eider"})]
    add_images(project, new, Provenance("made", "test"))
    roles = {one.keyword: one.selector for one in work(project)}
    assert (roles["mallard"], roles["teal"]) == ("ada", "ben")
    assert len(roles) == 5


def test_what_is_missing_is_told_to_the_selector(project: Project) -> None:
    first = ids(project, "mallard")[0]
    decide(project, "ada", first, take=True)
    decide(project, "ben", first, take=True)
    wanted = {"duck": {"mallard": 2, "teal": 0}, "owl": {"barn owl": 1, "snowy owl": 1}}
    assert still_missing(project, wanted) == {"duck": {"mallard": 1}, "owl": {"barn owl": 1, "snowy owl": 1}}


def test_what_does_not_count_is_out_of_samples_until_it_does(project: Project) -> None:
    first, second, _ = ids(project, "mallard")
    decide(project, "ada", first, take=True)
    decide(project, "ben", first, take=True)
    assert leave_out_others(project, by="ada") == (11, 0)
    assert leave_out_others(project, by="ada") == (0, 0)
    out = {one.key: one.reason for one in exclusions(project)}
    assert set(out.values()) == {NOT_BY_BOTH}
    assert len(out) == 11
    assert first not in out
    decide(project, "ada", second, take=True)
    decide(project, "ben", second, take=True)
    assert leave_out_others(project, by="ada") == (0, 1)


def test_who_is_not_one_of_the_two(project: Project) -> None:
    with pytest.raises(UsageError, match="'eve' is not one of the two who choose: ada and ben"):
        decide(project, "eve", ids(project, "teal")[0], take=True)
    with pytest.raises(UsageError, match="not one of the two"):
        to_decide(project, "eve")
    let_choose(project, "ada", "eve")
    decide(project, "ada", ids(project, "mallard")[0], take=True)
    with pytest.raises(UsageError, match="ada and eve have begun to choose"):
        let_choose(project, "ada", "ben")
    let_choose(project, "ada", "eve")


@pytest.mark.parametrize("names", [("", "ben"), ("ada", " ada ")])
def test_two_names_are_needed(project: Project, names: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match="two people are needed"):
        let_choose(project, *names)


def test_images_without_a_keyword_and_originals_are_not_asked_about(project: Project) -> None:
    (plain,) = ids(project, "")
    add_images(
        project, [Offered("o", picture_of(5, 5), "owl", {"keyword": "barn owl"})], Provenance("", ""), role=ORIGINAL
    )
    (original,) = [one.key for one in pool_images(project, role=ORIGINAL)]
    for key in (plain, original):
        with pytest.raises(UsageError, match="no candidate with a keyword"):
            decide(project, "ada", key, take=True)
    with pytest.raises(UsageError, match="no image of that id"):
        decide(project, "ada", "c1-no", take=True)


def test_before_anybody_is_named(tmp_path: Path) -> None:
    with (
        new_project(tmp_path / "q", classes=CLASSES[:2]) as project,
        pytest.raises(UsageError, match="nobody is named yet"),
    ):
        work(project)
