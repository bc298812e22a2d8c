"""The page for Mechanical Turk in a real browser: what its form posts is read as an answer.

The script of ``crowd-form`` is Amazon's and is not here. In its place stands an element of ours that does what its
documentation says: it posts the named fields inside it, after a ``submit`` event that can be prevented, when its
``submit()`` is called or a ``crowd-button`` of ``form-action="submit"`` is pressed. Whether Amazon's does so too can
be seen on requestersandbox.mturk.com alone.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import pytest

from made_testset import CLASSES, made_project
from oodometer.build.testset.exchange.mechanical_turk import export_for_mechanical_turk, import_from_mechanical_turk
from oodometer.build.testset.project.classes import ClassEntry
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import ANSWER, sa
from oodometer.build.testset.project.tasks import Layout, make_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Page, Route

AT = "http://127.0.0.1:9"
"""Nobody listens there: the test answers all requests itself."""
CROWD = '<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>'
STAND_IN = """<!doctype html><meta charset="utf-8"><script>
customElements.define("crowd-form", class extends HTMLElement {
  submit() {
    if (!this.dispatchEvent(new Event("submit", {cancelable: true}))) { return; }
    const form = document.createElement("form");
    form.method = "post";
    form.action = "/mturk/externalSubmit";
    for (const field of this.querySelectorAll("input[name]")) { form.append(field.cloneNode()); }
    document.body.append(form);
    form.submit();
  }
});
customElements.define("crowd-button", class extends HTMLElement {
  connectedCallback() {
    this.tabIndex = 0;
    this.setAttribute("role", "button");
    this.addEventListener("click", () => this.closest("crowd-form").submit());
  }
});
</script>"""
HOSTILE = ClassEntry("owl", '</em><img src=x onerror="document.title=1">', "${title} & <b>")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """One task of 48 images of a class with a hostile title."""
    with made_project(tmp_path / "p", classes=(HOSTILE, *CLASSES[1:]), candidates=42, originals=4) as made:
        make_tasks(made, Layout(size=48, workers=2))
        yield made


@pytest.fixture
def task(project: Project, tmp_path: Path, browser_page: Page) -> dict[str, str]:
    """The first row of the table, opened in the browser."""
    folder = tmp_path / "out"
    export_for_mechanical_turk(project, folder, images_at=f"{AT}/images")
    table = io.StringIO((folder / "tasks.csv").read_text("ascii"), newline="")
    row = next(csv.DictReader(table))
    page = (folder / "template.html").read_text("utf-8")
    assert CROWD in page
    filled = page.replace(CROWD, STAND_IN)
    for name, value in row.items():
        filled = filled.replace(f"${{{name}}}", value)

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(AT)
        if path.startswith("/images/"):
            route.fulfill(body=(folder / path[1:]).read_bytes(), content_type="image/jpeg")
        else:
            route.fulfill(body=filled if path == "/task" else "thanks", content_type="text/html; charset=utf-8")

    browser_page.route(f"{AT}/**", answer)
    browser_page.goto(f"{AT}/task")
    browser_page.get_by_text("0 of 48 selected").wait_for()
    return row


def posted(page: Page, act: Callable[[], object]) -> dict[str, str]:
    with page.expect_request("**/mturk/externalSubmit") as caught:
        act()
    fields = parse_qs(caught.value.post_data or "", keep_blank_values=True)
    return {name: values[0] for name, values in fields.items()}


def results(tmp_path: Path, row: dict[str, str], fields: dict[str, str]) -> str:
    """The table that Mechanical Turk makes of it."""
    about = {"WorkerId": "A1", "AssignmentId": "3A", "AssignmentStatus": "Submitted", "Approve": "", "Reject": ""}
    cells = {**about, **{f"Input.{k}": v for k, v in row.items()}, **{f"Answer.{k}": v for k, v in fields.items()}}
    place = tmp_path / "results.csv"
    with place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(cells))
        writer.writeheader()
        writer.writerow(cells)
    return str(place)


def test_what_is_clicked_is_posted_and_read(
    project: Project, task: dict[str, str], browser_page: Page, tmp_path: Path
) -> None:
    images = browser_page.locator("#choices button")
    for at in (0, 5, 47, 5, 6):
        images.nth(at).click()
    browser_page.get_by_role("button", name="Undo").click()  # the last one
    fields = posted(browser_page, lambda: browser_page.get_by_role("button", name="Submit").click())
    assert set(fields) == {"task", "selected", "seconds"}
    assert fields["selected"] == "y" + "n" * 46 + "y"
    told = import_from_mechanical_turk(project, results(tmp_path, task, fields))
    assert told.n_added == 1, told.refused
    (row,) = project.database.rows(sa.select(ANSWER))
    assert row.selected == "1" + "0" * 46 + "1"
    assert 0 < row.seconds < 600


@pytest.mark.usefixtures("task")
def test_with_the_keyboard_alone(browser_page: Page) -> None:
    keys = browser_page.keyboard
    browser_page.locator("#choices button").first.focus()
    for key in ("ArrowDown", "ArrowRight", "Space", "End", "Space", "Home", "Space", "u"):
        keys.press(key)
    fields = posted(browser_page, lambda: keys.press("Enter"))
    chosen = [at for at, sign in enumerate(fields["selected"]) if sign == "y"]
    assert chosen == [8 + 1, 47]  # rows of eight on a wide screen


@pytest.mark.usefixtures("task")
def test_none_at_all_is_asked_for_twice(browser_page: Page) -> None:
    button = browser_page.get_by_role("button", name="Submit")
    button.click()
    browser_page.get_by_text("Does none of them show it?").wait_for()
    assert posted(browser_page, button.click)["selected"] == "n" * 48


@pytest.mark.usefixtures("task")
def test_a_hostile_class_is_text(browser_page: Page) -> None:
    heading = browser_page.get_by_role("heading", level=1)
    assert heading.inner_text() == f"Select every image that shows: {HOSTILE.title}"
    assert browser_page.locator("#gloss").inner_text() == "${title} & <b>"
    assert browser_page.title() == ""


@pytest.mark.usefixtures("task")
def test_on_a_phone(browser_page: Page, fits: Callable[[Page, int], None], tmp_path: Path) -> None:
    browser_page.set_viewport_size({"width": 390, "height": 844})
    fits(browser_page, 390)
    first, second = (browser_page.locator("#choices button").nth(at).bounding_box() for at in (0, 1))
    assert first is not None
    assert second is not None
    assert first["width"] > 100
    assert second["y"] == first["y"]
    browser_page.screenshot(path=tmp_path / "phone.png")


@pytest.mark.usefixtures("task")
def test_everyone_can_use_it(browser_page: Page, violations: Callable[..., list[str]]) -> None:
    browser_page.locator("#choices button").first.click()
    # The title and the language of the page are those of the page around it, which is Amazon's.
    found = violations(browser_page, within=[".grid-task"])
    assert found == []
