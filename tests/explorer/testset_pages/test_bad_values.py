"""What a database can't take is refused with a sentence, and a database that is away is said to be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from made_testset import made_project, picture
from oodometer.build.testset.project.annotators import add_workers
from oodometer.build.testset.project.exclusions import exclude
from oodometer.build.testset.project.offered import Offered
from oodometer.build.testset.project.pool import CANDIDATE, Provenance, add_images, images_by_key, pool_images
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import sa
from oodometer.core.errors import UsageError
from oodometer.explorer.testset.access import WORKER_COOKIE
from oodometer.explorer.testset.app import app_of
from oodometer.explorer.testset.pages import Pages

HUGE = "9" * 20
HUGER = "9" * 5000  # more digits than Python makes a number of
ADDRESS = "http://127.0.0.1:8100"


@pytest.fixture
def made(tmp_path: Path, either_database: str | None) -> Iterator[Project]:
    """A small project in either database."""
    with made_project(tmp_path / "p", candidates=3, originals=2, database=either_database) as opened:
        yield opened


@pytest.fixture
def browser(made: Project) -> TestClient:
    """At its pages; an error that nobody turned into a sentence is an error of the test."""
    return TestClient(app_of(Pages(made)), base_url=ADDRESS, follow_redirects=False)


@pytest.mark.parametrize("name", ["author", "url", "keyword", "licence"])
@pytest.mark.parametrize("value", ["a\0b", "half of \ud83e"])
def test_an_image_with_a_value_that_no_database_keeps_is_refused_alone(made: Project, name: str, value: str) -> None:
    before = len(pool_images(made))
    offered = [
        Offered(f"image-{at}", lambda at=at: picture(0, CANDIDATE, 100 + at), "owl", {name: text})
        for at, text in enumerate(("fine", value, "fine too"))
    ]
    added = add_images(made, offered, Provenance("made", "test"))
    assert (added.n_added, list(added.refused)) == (2, ["image-1"])
    assert name in added.refused["image-1"]
    assert len(pool_images(made)) == before + 2


@pytest.mark.parametrize("bad", ["a\0b", "\ud83e"])
def test_keys_and_reasons_that_no_database_keeps(made: Project, bad: str) -> None:
    key = pool_images(made, role=CANDIDATE)[0].key
    with pytest.raises(UsageError, match="no image of that id"):
        exclude(made, [key, bad], "blurry", by="a person")
    with pytest.raises(UsageError, match="reason"):
        exclude(made, [key], f"blurry{bad}", by="a person")
    with pytest.raises(UsageError, match="no image of that id"):
        images_by_key(made, [bad])


@pytest.mark.parametrize(
    "path",
    [
        "/picture/large/%00",
        "/choose/picture/%00.jpg",
        "/shown/%00.jpg",
        "/quiz/picture/%00.jpg",
        f"/pairs?pair={HUGE}",
        f"/pairs?pair={HUGER}",
        f"/pairs/{HUGE}/first/large",
        f"/pairs/-{HUGE}/first/large",
        f"/review?revision={HUGE}",
        f"/review?revision=-{HUGE}",
        f"/review/owl?revision={HUGE}",
        f"/review/owl?turn={HUGE}",
        f"/revisions/difference?older={HUGE}&newer=1",
        f"/revisions/difference?older={HUGER}&newer=1",
    ],
)
def test_addresses_get_a_sentence(browser: TestClient, path: str) -> None:
    answer = browser.get(path)
    assert answer.status_code in (400, 401, 403, 422)
    assert 'role="alert"' in answer.text


@pytest.mark.parametrize("number", [HUGE, HUGER, "-1", "٣", "\0"])
@pytest.mark.parametrize(
    ("path", "field"), [("/pairs/judge", "pair"), ("/review/exclude", "revision"), ("/review/again", "revision")]
)
def test_forms_get_a_sentence(browser: TestClient, path: str, field: str, number: str) -> None:
    answer = browser.post(path, data={field: number, "class": "owl", "verdict": "duplicate"})
    assert answer.status_code == 400
    assert "expected a number" in answer.text


def test_quiz_keys_get_a_sentence(made: Project, browser: TestClient) -> None:
    (token,) = add_workers(made, 1)
    browser.cookies.set(WORKER_COOKIE, token)
    assert browser.get("/quiz/picture/%00.jpg").status_code == 400
    answer = browser.post("/quiz/name", data={"key": "\0", "class": "owl"})
    assert (answer.status_code, "Open the page again" in answer.text) == (400, True)


class _Away:
    """An engine whose database can't be reached."""

    dialect = sa.create_engine("sqlite://").dialect

    def connect(self) -> None:
        raise sa.exc.OperationalError("SELECT 1", {}, OSError("connection refused"))

    begin = connect


def test_a_database_that_is_away(made: Project, browser: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = made.database.engine
    monkeypatch.setattr(made.database, "engine", _Away())
    for path in ("/", "/pairs", "/review", "/annotate?worker=x"):
        answer = browser.get(path)
        assert (answer.status_code, answer.headers["refresh"]) == (503, answer.headers["retry-after"])
        assert "The database is away; this page tries again." in answer.text
    answer = browser.post("/pairs/judge", data={"pair": "1", "verdict": "duplicate"})
    assert (answer.status_code, "nothing was kept" in answer.text) == (503, True)
    assert "refresh" not in answer.headers  # nobody sends a form again by itself
    monkeypatch.setattr(made.database, "engine", engine)
    assert browser.get("/pairs").status_code == 200
