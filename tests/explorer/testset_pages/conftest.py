"""The pages of a sampled test set, without a browser: each test changes a copy of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from oodometer.build.testset.project.project import Project, open_project
from oodometer.explorer.testset.app import app_of
from oodometer.explorer.testset.pages import Pages
from sampled_testset import sampled_project

ADDRESS = "http://127.0.0.1:8100"


@pytest.fixture(scope="session")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a project that nobody changes."""
    folder = tmp_path_factory.mktemp("sampled") / "birds"
    sampled_project(folder).close()
    return folder


@pytest.fixture
def project(sampled: Path, tmp_path: Path) -> Iterator[Project]:
    """A copy of it."""
    shutil.copytree(sampled, tmp_path / "birds")
    with open_project(tmp_path / "birds") as opened:
        yield opened


@pytest.fixture
def pages(project: Project) -> TestClient:
    """Its pages, for everybody on this machine."""
    return TestClient(app_of(Pages(project)), base_url=ADDRESS, follow_redirects=False)


@pytest.fixture
def guarded(project: Project) -> TestClient:
    """Its pages beyond this machine, where the owner has a token."""
    return TestClient(app_of(Pages(project), owner="secret"), base_url=ADDRESS, follow_redirects=False)


class _Fields(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hidden: dict[str, str] = {}
        self.boxes: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if tag == "input" and said.get("type") == "hidden":
            self.hidden[said["name"] or ""] = said["value"] or ""
        if tag == "input" and said.get("type") == "checkbox":
            self.boxes.append(said["value"] or "")


@pytest.fixture
def fields() -> Callable[[str], tuple[dict[str, str], list[str]]]:
    """``fields(page)``: the hidden fields of its forms, and the values of what can be ticked."""

    def read(text: str) -> tuple[dict[str, str], list[str]]:
        parser = _Fields()
        parser.feed(text)
        return parser.hidden, parser.boxes

    return read
