"""The quiz without a browser: blind for who answers, and its results for the owner alone."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from PIL import Image
from starlette.testclient import TestClient

from oodometer.build.testset.project.annotators import add_workers
from oodometer.build.testset.project.pool import CANDIDATE, ORIGINAL, pool_images
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.quiz import answers_in_quiz, make_quiz
from sampled_testset import HOSTILE

Fields = Callable[[str], tuple[dict[str, str], list[str]]]


@pytest.fixture
def token(project: Project) -> str:
    """Of a worker, who is asked about three images of each set."""
    keys = {role: [image.key for image in pool_images(project, role=role)] for role in (ORIGINAL, CANDIDATE)}
    make_quiz(project, keys[ORIGINAL][:3], keys[CANDIDATE][:3])
    (made,) = add_workers(project, 1)
    return made


@pytest.fixture
def worker(guarded: TestClient, token: str) -> TestClient:
    """The pages as the worker sees them."""
    answer = guarded.get(f"/quiz?worker={token}")
    assert answer.headers["location"] == "/quiz"
    return guarded


def test_every_image_is_named_and_then_thanks_are_said(project: Project, worker: TestClient, fields: Fields) -> None:
    for _ in range(6):
        hidden, _ = fields(worker.get("/quiz").text)
        assert worker.post("/quiz/name", data={"key": hidden["key"], "class": ["owl", "cat"]}).status_code == 303
    assert "Thank you" in worker.get("/quiz").text
    assert [said[4] for said in answers_in_quiz(project)] == [("owl", "cat")] * 6


def test_a_person_who_can_not_tell_says_so_and_takes_it_back(
    project: Project, worker: TestClient, fields: Fields
) -> None:
    key = fields(worker.get("/quiz").text)[0]["key"]
    worker.post("/quiz/name", data={"key": key, "cannot_tell": "yes", "class": "owl"})
    assert [said[4] for said in answers_in_quiz(project)] == [()]
    worker.post("/quiz/undo")
    assert (answers_in_quiz(project), fields(worker.get("/quiz").text)[0]["key"]) == ([], key)


def test_nothing_on_the_page_tells_the_set(project: Project, worker: TestClient, fields: Fields) -> None:
    images = pool_images(project)
    for _ in range(6):
        page = worker.get("/quiz").text
        key = fields(page)[0]["key"]
        assert not [image.key for image in images if image.key in page or image.digest[:12] in page]
        picture = Image.open(io.BytesIO(worker.get(f"/quiz/picture/{key}.jpg").content))
        assert (picture.format, picture.size, picture.getexif()) == ("JPEG", (256, 256), {})
        worker.post("/quiz/name", data={"key": key, "cannot_tell": "yes"})


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"class": "owl", "key": "nonsense"}, 409),
        ({"class": "<b>nonsense</b>"}, 409),
        ({}, 400),
        ({"class": ["owl", "duck", "cat", HOSTILE, "a", "b"]}, 409),
    ],
)
def test_what_is_no_answer_is_refused(
    project: Project, worker: TestClient, fields: Fields, sent: dict[str, str | list[str]], status: int
) -> None:
    key = fields(worker.get("/quiz").text)[0]["key"]
    answer = worker.post("/quiz/name", data={"key": key, **sent})
    assert answer.status_code == status
    assert "<b>nonsense" not in answer.text
    assert answers_in_quiz(project) == []


def test_the_same_form_twice_counts_once_and_another_answer_is_refused(
    project: Project, worker: TestClient, fields: Fields
) -> None:
    key = fields(worker.get("/quiz").text)[0]["key"]
    for _ in range(2):
        assert worker.post("/quiz/name", data={"key": key, "class": "owl"}).status_code == 303
    assert worker.post("/quiz/name", data={"key": key, "class": "cat"}).status_code == 409
    assert [said[4] for said in answers_in_quiz(project)] == [("owl",)]


def test_nobody_answers_without_a_token_or_for_another_site(project: Project, guarded: TestClient, token: str) -> None:
    assert guarded.get("/quiz").status_code == 401
    assert guarded.get("/quiz?worker=forged").status_code == 401
    assert guarded.post("/quiz/name", data={"key": "x", "class": "owl"}).status_code == 401
    guarded.cookies.set("oodometer_worker", token)
    evil = {"origin": "https://evil.example"}
    assert guarded.post("/quiz/undo", headers=evil).status_code == 403
    assert answers_in_quiz(project) == []


def test_a_worker_sees_no_results(worker: TestClient) -> None:
    assert worker.get("/results/quiz").status_code == 401
    answer = worker.get("/quiz/results")
    assert answer.headers["location"] == "/results/quiz"


def test_results_are_a_table(project: Project, worker: TestClient, fields: Fields) -> None:
    worker.cookies.set("oodometer_owner", "secret")
    assert "nobody has named any yet" in worker.get("/results/quiz").text
    right = {image.key: image.class_name for image in pool_images(project)}
    for _ in range(6):
        key = fields(worker.get("/quiz").text)[0]["key"]
        worker.post("/quiz/name", data={"key": key, "class": ["owl", "duck", "cat", HOSTILE]})
    assert {said[3] for said in answers_in_quiz(project)} <= set(right.values())
    page = worker.get("/results/quiz").text
    assert "named by 1 person" in page
    assert "100.0" in page  # all four classes were named each time


def test_before_there_is_a_quiz(pages: TestClient) -> None:
    assert "There is no quiz yet" in pages.get("/results/quiz").text
