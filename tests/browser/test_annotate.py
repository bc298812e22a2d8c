"""The annotation page in a real browser: by mouse, by keyboard, on a phone, while the server is away."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from firefox import Firefox, found_firefox, running
from made_testset import CLASSES, made_project
from oodometer.build.testset.project.annotators import add_workers, block_worker
from oodometer.build.testset.project.classes import ClassEntry
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import ANSWER, TASK, sa
from oodometer.build.testset.project.tasks import Layout, make_tasks
from served_testset import free_port, serve, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

N_IMAGES = 48
WAIT = 120_000
"""Milliseconds until a page counts as hung; as for the other pages."""
LONG = ClassEntry("<b>an owl</b>" + "o" * 300, gloss="g" * 400)
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@dataclass
class Place:
    """A project that is served."""

    project: Project
    port: int
    numbers: Iterator[int]

    def address(self) -> tuple[int, str]:
        """The number of a new worker, and what they open."""
        (token,) = add_workers(self.project, 1)
        return next(self.numbers), f"http://127.0.0.1:{self.port}/annotate?worker={token}"

    def answers(self, worker: int) -> dict[str, str]:
        """What is stored, by task."""
        query = sa.select(TASK.c.key, ANSWER.c.selected).join(TASK, TASK.c.id == ANSWER.c.task_id)
        return {row.key: row.selected for row in self.project.database.rows(query.where(ANSWER.c.worker_id == worker))}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Four tasks of 48 images, each of another class, which everybody may answer."""
    folder = tmp_path_factory.mktemp("annotate") / "p"
    with made_project(folder, classes=(*CLASSES, LONG), candidates=42, originals=4) as project:
        make_tasks(project, Layout(size=N_IMAGES, workers=100))
        with serving(folder) as served:
            yield Place(project, served.port, count(1))


@contextmanager
def opened(chromium: Browser, address: str, **how: Any) -> Iterator[Page]:
    """A page of its own, on which requests may fail."""
    context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **how})
    page = context.new_page()
    page.set_default_timeout(WAIT)
    ready(page, address)
    yield page
    context.close()


def ready(page: Page, address: str) -> str:
    """Open it and wait for all images; the key of the task."""
    page.goto(address)
    return loaded(page)


def loaded(page: Page) -> str:
    """Wait for all images; the key of the task."""
    page.wait_for_selector("#submit:enabled")
    return str(page.get_attribute("#choices", "data-task"))


def next_after(page: Page, task: str) -> str:
    """Wait for another task; its key."""
    page.wait_for_selector(f"#choices:not([data-task='{task}'])")
    return loaded(page)


def selected(page: Page) -> list[int]:
    """Which images are."""
    pressed = page.locator(".choice").evaluate_all("all => all.map((one) => one.ariaPressed)")
    return [at for at, one in enumerate(pressed) if one == "true"]


def as_stored(positions: set[int]) -> str:
    return "".join("1" if at in positions else "0" for at in range(N_IMAGES))


def focused(page: Page) -> int:
    """The position of the image that has the focus."""
    script = "[...document.querySelectorAll('.choice')].indexOf(document.activeElement)"
    return int(page.evaluate(script))


UNCOVERED = """() => {
    const box = document.activeElement.getBoundingClientRect();
    const at = (x, y) => document.activeElement.contains(document.elementFromPoint(x, y));
    return at(box.x + box.width / 2, box.y + 3) && at(box.x + box.width / 2, box.bottom - 3);
}"""
"""Whether all of what has the focus can be seen."""


def test_a_task_is_answered_by_mouse_and_the_next_one_comes(browser_page: Page, place: Place) -> None:
    worker, address = place.address()
    task = ready(browser_page, address)
    assert browser_page.url.endswith("/annotate")  # without the token
    assert browser_page.locator(".choice").count() == N_IMAGES
    assert "0 done, 4 to go" in browser_page.inner_text(".so-far")
    for at in (0, 5, 47, 5):
        browser_page.locator(".choice").nth(at).click()
    assert selected(browser_page) == [0, 47]
    assert browser_page.inner_text("#said").endswith(f"2 of {N_IMAGES} selected")
    browser_page.click("#submit")
    following = next_after(browser_page, task)
    assert selected(browser_page) == []
    assert browser_page.evaluate("window.scrollY") == 0
    assert "1 done, 3 to go" in browser_page.inner_text(".so-far")
    assert place.answers(worker) == {task: as_stored({0, 47})}
    assert following != task


def test_a_task_is_answered_by_keyboard_alone(browser_page: Page, place: Place) -> None:
    worker, address = place.address()
    task = ready(browser_page, address)
    press = browser_page.keyboard.press
    for _ in range(20):
        press("Tab")
        if focused(browser_page) == 0:
            break
    assert focused(browser_page) == 0  # one stop for the whole grid, which arrows go through
    for key, at in (("ArrowRight", 1), ("ArrowDown", 9), ("ArrowLeft", 8), ("ArrowUp", 0), ("ArrowUp", 0)):
        press(key)
        assert focused(browser_page) == at  # eight in a row
    press("Space")
    for _ in range(5):
        press("ArrowDown")
        assert browser_page.evaluate(UNCOVERED)
    assert focused(browser_page) == 40
    press("Space")
    press("End")
    press("Space")
    assert selected(browser_page) == [0, 40, 47]
    press("u")
    assert selected(browser_page) == [0, 40]
    press("Home")
    assert browser_page.evaluate(UNCOVERED)
    press("Enter")  # submits, and selects nothing
    next_after(browser_page, task)
    assert place.answers(worker) == {task: as_stored({0, 40})}


def test_what_was_clicked_is_taken_back_in_turn(browser_page: Page, place: Place) -> None:
    ready(browser_page, place.address()[1])
    assert browser_page.is_disabled("#undo")
    for at in (3, 4, 3):
        browser_page.locator(".choice").nth(at).click()
    for left in ([3, 4], [3]):
        browser_page.click("#undo")
        assert selected(browser_page) == left
    browser_page.keyboard.press("Control+z")
    assert selected(browser_page) == []
    assert browser_page.is_disabled("#undo")


def test_a_reload_keeps_what_is_selected(browser_page: Page, place: Place) -> None:
    worker, address = place.address()
    task = ready(browser_page, address)
    for at in (7, 9):
        browser_page.locator(".choice").nth(at).click()
    browser_page.reload()
    assert loaded(browser_page) == task
    assert selected(browser_page) == [7, 9]
    browser_page.click("#undo")
    browser_page.click("#submit")
    next_after(browser_page, task)
    assert place.answers(worker) == {task: as_stored({7})}


def test_none_is_an_answer_that_is_asked_for_twice(browser_page: Page, place: Place) -> None:
    worker, address = place.address()
    task = ready(browser_page, address)
    browser_page.click("#submit")
    assert "Does none of them show it?" in browser_page.inner_text("#said")
    assert place.answers(worker) == {}
    browser_page.click("#submit")
    next_after(browser_page, task)
    assert place.answers(worker) == {task: as_stored(set())}


def test_after_the_last_task_there_are_thanks(browser_page: Page, place: Place) -> None:
    worker, address = place.address()
    task = ready(browser_page, address)
    titles = []
    for at in range(4):
        titles.append(browser_page.inner_text("h1 em"))
        browser_page.locator(".choice").nth(at).click()
        browser_page.click("#submit")
        if at < 3:
            task = next_after(browser_page, task)
    browser_page.wait_for_selector(".thanks")
    assert browser_page.inner_text("h1") == "Thank you"
    assert "You answered 4 pages of images" in browser_page.inner_text(".thanks")
    assert sorted(titles) == sorted(one.title for one in (*CLASSES, LONG))
    assert sorted(place.answers(worker).values()) == sorted(as_stored({at}) for at in range(4))
    assert browser_page.evaluate("Object.keys(localStorage).filter((one) => one.includes('answer'))") == []


def test_the_class_is_explained_as_its_table_says(browser_page: Page, place: Place) -> None:
    task = ready(browser_page, place.address()[1])
    while browser_page.inner_text("h1 em") != "owl":
        browser_page.locator(".choice").nth(0).click()
        browser_page.click("#submit")
        task = next_after(browser_page, task)
    assert browser_page.inner_text(".gloss").startswith("A bird that hunts at night.")
    link = browser_page.locator(".gloss a")
    assert link.get_attribute("href") == "https://example.org/owl"
    assert link.get_attribute("rel") == "noreferrer noopener"
    # Recht et al. (2019), section 3.2: regardless of occlusions, other objects, clutter or text; no drawings.
    told = browser_page.inner_text(".how")
    for words in ("partly hidden", "other things, clutter, text", "Leave out drawings and paintings", "all 48 images"):
        assert words in told
    browser_page.click(".how summary")
    browser_page.reload()
    loaded(browser_page)
    assert not browser_page.is_visible(".how ul")  # who has read it need not see it again


def test_an_answer_waits_until_the_server_is_back(chromium: Browser, tmp_path: Path) -> None:
    with made_project(tmp_path / "p", candidates=6, originals=4) as project:
        make_tasks(project, Layout(size=12, workers=2))
        (token,) = add_workers(project, 1)
        port = free_port()
        server = serve(tmp_path / "p", port)
        place = Place(project, port, count(1))
        try:
            with opened(chromium, f"http://127.0.0.1:{port}/annotate?worker={token}") as page:
                task = str(page.get_attribute("#choices", "data-task"))
                page.locator(".choice").nth(2).click()
                server.end(signal.SIGKILL)
                page.click("#submit")
                page.wait_for_selector("#said:has-text('The server is away')")
                page.locator(".choice").nth(3).click()  # too late: it is submitted
                assert selected(page) == [2]
                server = serve(tmp_path / "p", port)
                next_after(page, task)
            assert place.answers(1) == {task: "001" + "0" * 9}
        finally:
            server.end(signal.SIGKILL)


def test_an_answer_that_was_submitted_when_the_browser_was_closed_arrives_later(
    chromium: Browser, tmp_path: Path
) -> None:
    with made_project(tmp_path / "p", candidates=6, originals=4) as project:
        make_tasks(project, Layout(size=12, workers=2))
        (token,) = add_workers(project, 1)
        port = free_port()
        server = serve(tmp_path / "p", port)
        address = f"http://127.0.0.1:{port}/annotate?worker={token}"
        context = chromium.new_context()
        try:
            page = context.new_page()
            task = ready(page, address)
            page.locator(".choice").nth(1).click()
            server.end(signal.SIGKILL)
            page.click("#submit")
            page.wait_for_selector("#said:has-text('The server is away')")
            page.close()
            server = serve(tmp_path / "p", port)
            page = context.new_page()
            page.goto(address)
            next_after(page, task)
            assert Place(project, port, count(1)).answers(1) == {task: "01" + "0" * 10}
        finally:
            context.close()
            server.end(signal.SIGKILL)


def test_an_image_that_can_not_be_had_is_asked_for_again(chromium: Browser, place: Place) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.set_default_timeout(WAIT)
    failed = []

    def fail_once(route: Any) -> None:
        if len(failed) < 3 and "?" not in route.request.url:
            failed.append(route.request.url)
            route.abort()
        else:
            route.continue_()

    page.route("**/shown/**", fail_once)
    ready(page, place.address()[1])
    assert len(failed) == 3
    assert page.evaluate("[...document.images].every((one) => one.naturalWidth === 256)")
    context.close()


def test_why_an_answer_is_refused_is_told(chromium: Browser, place: Place) -> None:
    worker, address = place.address()
    with opened(chromium, address) as page:
        page.locator(".choice").nth(1).click()
        block_worker(place.project, worker)
        page.click("#submit")
        page.wait_for_selector("#said:has-text('no longer in use')")
    assert place.answers(worker) == {}


def test_on_a_phone_three_stand_beside_each_other_and_nothing_is_broader_than_the_page(
    chromium: Browser, place: Place, fits: Callable[[Page, int], None]
) -> None:
    worker, address = place.address()
    with opened(chromium, address, **PHONE) as page:
        for at in range(4):  # one of them has a very long name
            fits(page, 390)
            top = page.locator(".choice").evaluate_all("all => all.map((one) => one.offsetTop)")
            assert top.count(top[0]) == 3
            box = page.locator("#submit").bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= 844  # in reach without scrolling
            assert box["height"] >= 44
            page.locator(".choice").nth(at).tap()
            assert selected(page) == [at]
            if at == 3:
                break
            task = str(page.get_attribute("#choices", "data-task"))
            page.locator("#submit").tap()
            next_after(page, task)
    assert len(place.answers(worker)) == 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_use_it_in_light_and_in_dark(
    chromium: Browser, place: Place, violations: Callable[..., list[str]], scheme: str
) -> None:
    with opened(chromium, place.address()[1], color_scheme=scheme) as page:
        page.locator(".choice").nth(1).click()
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        light = sum(int(one) for one in re.findall(r"\d+", paper)[:3]) / 3
        assert (light > 128) == (scheme == "light")
        assert violations(page) == []


class _Mail(BaseHTTPRequestHandler):
    """A page of another site with a link, as a mail on the web has it."""

    target = ""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(f"<link rel=icon href='data:,'><a href='{self.target}'>annotate</a>".encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_link_in_a_mail_opens_it(browser_page: Page, place: Place) -> None:
    _Mail.target = place.address()[1]
    with HTTPServer(("127.0.0.1", 0), _Mail) as mail:
        threading.Thread(target=mail.serve_forever, daemon=True).start()
        browser_page.goto(f"http://localhost:{mail.server_port}/")  # not the site of 127.0.0.1
        browser_page.click("a")
        assert loaded(browser_page)
        mail.shutdown()


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """Firefox with nothing open."""
    program = found_firefox()
    if program is None:
        pytest.skip("no firefox-esr on PATH")
    with running(program, tmp_path_factory.mktemp("firefox")) as found:
        yield found


FIREFOX_LOADED = """
return new Promise((resolve) => {
    const look = () => {
        const list = document.getElementById("choices");
        const button = document.getElementById("submit");
        const there = list && list.dataset.task !== arguments[0] && button && !button.disabled;
        there ? resolve(list.dataset.task) : setTimeout(look, 50);
    };
    look();
});
"""


def test_in_firefox_a_task_is_answered_and_the_next_one_comes(firefox: Firefox, place: Place) -> None:
    worker, address = place.address()
    firefox.open(address)
    task = firefox.run(FIREFOX_LOADED, "")
    firefox.run("for (const at of [1, 2, 46]) document.querySelectorAll('.choice')[at].click()")
    firefox.ask("WebDriver:Refresh")
    assert firefox.run(FIREFOX_LOADED, "") == task
    assert firefox.run("return document.querySelectorAll('.choice[aria-pressed=true]').length") == 3
    firefox.run("document.getElementById('undo').click(); document.getElementById('submit').click()")
    following = None
    while following is None or following == task:  # a script that waits is lost when its page goes
        following = firefox.run("return document.getElementById('choices')?.dataset.task ?? null")
    firefox.run(FIREFOX_LOADED, task)
    assert place.answers(worker) == {task: as_stored({1, 2})}
    assert firefox.run("return document.documentElement.scrollWidth <= window.innerWidth")
    assert firefox.errors(address) == []
