"""Two people choose by keyword, without a browser: who sees what, what is kept, and who is let in."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from PIL import Image
from starlette.testclient import TestClient

from chosen_by_keyword import TEAL, project_with_keywords
from oodometer.build.testset.project.annotators import block_worker
from oodometer.build.testset.project.choosing import MOST_SHOWN
from oodometer.build.testset.project.pool import CANDIDATE, ORIGINAL, pool_images
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.two_people import counting, decide, work
from oodometer.explorer.testset.app import app_of
from oodometer.explorer.testset.pages import Pages

ADDRESS = "http://127.0.0.1:8100"
SHOWN = re.compile(r'name="shown" value="([^"]+)"')
PICTURES = re.compile(r'src="(/choose/picture/[^"]+)"')


@pytest.fixture
def chosen(tmp_path: Path) -> Iterator[tuple[Project, list[str]]]:
    """A project whose workers 1 and 2 choose, and the tokens of three."""
    project, tokens = project_with_keywords(tmp_path / "p")
    with project:
        yield project, tokens


@pytest.fixture
def birds(chosen: tuple[Project, list[str]]) -> Project:
    """The project."""
    return chosen[0]


@pytest.fixture
def people(chosen: tuple[Project, list[str]]) -> list[TestClient]:
    """The pages as each of the three workers sees them."""
    return [client(chosen[0], token) for token in chosen[1]]


def client(project: Project, token: str = "") -> TestClient:
    pages = TestClient(app_of(Pages(project), owner="secret"), base_url=ADDRESS, follow_redirects=False)
    if token:
        pages.cookies.set("oodometer_worker", token)
    return pages


def page(person: TestClient) -> str:
    answer = person.get("/choose")
    assert answer.status_code == 200
    return unescape(answer.text)


def submit(person: TestClient, n_taken: int) -> list[str]:
    """Take the first images of the page, leave the others; gives the keys of all of them."""
    shown = SHOWN.findall(page(person))
    sent = person.post("/choose/decide", data={"shown": shown, "take": shown[:n_taken]})
    assert (sent.status_code, sent.headers["location"]) == (303, "/choose")
    return shown


def keys(project: Project, keyword: str, role: str = CANDIDATE) -> set[str]:
    return {image.key for image in pool_images(project, role=role) if image.keyword == keyword}


def test_one_selects_and_the_other_verifies(birds: Project, people: list[TestClient]) -> None:
    first, second, _ = people
    told = page(first)
    assert "You select" in told
    assert f"duck: <em>{TEAL}</em>" in told
    assert "You verify" not in told
    assert set(SHOWN.findall(told)) == keys(birds, TEAL)
    shown = submit(first, 2)
    told = page(second)
    assert "You verify" in told
    assert "You select" not in told
    assert set(SHOWN.findall(told)) == set(shown[:2])
    verified = submit(second, 1)
    assert counting(birds) == {verified[0]}


def test_both_come_to_an_end(birds: Project, people: list[TestClient]) -> None:
    first, second, _ = people
    submit(first, 3)  # selects TEAL
    submit(first, 3)  # and barn owl
    waits = page(first)
    assert "Nothing for now" in waits
    assert "3 images to select from first" in waits  # mallards, which the other selects
    for n_taken in (1, 2, 3):  # verifies TEAL, selects mallard, verifies barn owl
        submit(second, n_taken)
    assert "Thank you" in page(second)
    submit(first, 2)
    assert "Thank you" in page(first)
    # TEAL 1 of 3, mallard both of the 2 that were taken, barn owl 3 of 3
    assert [(row.keyword, row.n_counting) for row in work(birds)] == [(TEAL, 1), ("mallard", 2), ("barn owl", 3)]


def test_originals_of_the_keyword_stand_beside_the_images(birds: Project, people: list[TestClient]) -> None:
    told = page(people[1])  # selects mallard
    shown = {address.split("/")[-1].removesuffix(".jpg") for address in PICTURES.findall(told)}
    assert shown == keys(birds, "mallard") | keys(birds, "mallard", ORIGINAL)
    assert "Originals: mallard <small>4 of 4</small>" in told
    told = page(people[0])  # of TEAL there is no original
    assert "Originals of the class" in told
    assert "None is known to be of this keyword." in told
    assert keys(birds, "mallard", ORIGINAL) <= {address[16:-4] for address in PICTURES.findall(told)}


def test_pictures_are_small_copies_for_the_two_alone(birds: Project, people: list[TestClient]) -> None:
    addresses = PICTURES.findall(page(people[0]))
    picture = people[1].get(addresses[0])
    assert Image.open(io.BytesIO(picture.content)).size == (256, 256)
    assert people[2].get(addresses[0]).status_code == 403
    assert client(birds).get(addresses[0]).status_code == 401
    assert people[0].get("/choose/picture/c1-nothing.jpg").status_code == 400


def test_a_keyword_of_many_images_takes_several_pages(tmp_path: Path) -> None:
    project, (token, *_) = project_with_keywords(tmp_path / "q", candidates=MOST_SHOWN + 2)
    with project:
        first = client(project, token)
        assert f"{MOST_SHOWN} of {MOST_SHOWN + 2} ·" in page(first)
        assert len(submit(first, 1)) == MOST_SHOWN
        assert len(submit(first, 0)) == 2
        assert "duck: <em>" not in page(first)


@pytest.mark.parametrize(
    "sent",
    [{}, {"take": "c1-other"}, {"shown": "KEY", "take": ["KEY", "c1-other"]}, {"shown": ["KEY", "c1-other"]}],
)
def test_what_is_no_answer_is_refused_whole(
    birds: Project, people: list[TestClient], sent: dict[str, str | list[str]]
) -> None:
    key = SHOWN.findall(page(people[0]))[0]
    filled = {
        name: [one.replace("KEY", key) for one in ([value] if isinstance(value, str) else value)]
        for name, value in sent.items()
    }
    assert people[0].post("/choose/decide", data=filled).status_code in (400, 409)
    assert [row.n_to_select for row in work(birds)] == [3, 3, 3]


def test_what_was_left_meanwhile_can_not_be_verified(birds: Project, people: list[TestClient]) -> None:
    first, second, _ = people
    submit(first, 3)
    shown = SHOWN.findall(page(second))
    decide(birds, "1", shown[0], take=False)
    refused = second.post("/choose/decide", data={"shown": shown, "take": shown})
    assert refused.status_code == 409
    assert "Nothing was kept; open the page again." in refused.text
    assert counting(birds) == frozenset()


def test_the_last_page_is_undone_unless_it_was_verified(birds: Project, people: list[TestClient]) -> None:
    first, second, _ = people
    teal = submit(first, 2)
    submit(first, 1)
    for left in (3, 6, 6):  # barn owl, then TEAL, then nothing more to undo
        assert first.post("/choose/undo").headers["location"] == "/choose"
        assert sum(row.n_to_select for row in work(birds) if row.selector == "1") == left
    assert submit(first, 2) == teal
    submit(second, 1)
    refused = first.post("/choose/undo")
    assert refused.status_code == 409
    assert "The other person has verified some of these images since" in refused.text
    assert counting(birds) == {teal[0]}
    second.post("/choose/undo")
    assert counting(birds) == frozenset()
    assert [row.n_to_verify for row in work(birds)] == [2, 0, 0]


def test_only_the_two_are_let_in(birds: Project, people: list[TestClient]) -> None:
    nobody = client(birds)
    assert nobody.get("/choose").status_code == 401
    assert nobody.post("/choose/decide", data={"shown": "x"}).status_code == 401
    assert people[2].get("/choose").status_code == 403
    shown = SHOWN.findall(page(people[0]))
    answer = {"shown": shown, "take": shown}
    assert people[2].post("/choose/decide", data=answer).status_code == 403
    evil = {"origin": "https://evil.example"}
    assert people[0].post("/choose/decide", data=answer, headers=evil).status_code == 403
    assert people[2].post("/choose/undo").status_code == 403
    assert people[0].get("/review").status_code == 401
    block_worker(birds, 1)
    assert people[0].post("/choose/decide", data=answer).status_code == 403
    assert [row.n_to_select for row in work(birds)] == [3, 3, 3]


def test_before_anybody_is_named(tmp_path: Path) -> None:
    project, (token, *_) = project_with_keywords(tmp_path / "q", choosing=False)
    with project:
        answer = client(project, token).get("/choose")
        assert answer.status_code == 403
        assert "Images are chosen by two people" in answer.text
