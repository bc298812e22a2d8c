"""Choosing by keyword in a real browser: by keyboard, by mouse, without scripts, for everyone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from answering import answering
from chosen_by_keyword import TEAL, project_with_keywords
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.two_people import counting, work

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

N = 14
"""Candidates of each keyword: more than one row."""


@pytest.fixture
def chosen(tmp_path: Path) -> Iterator[tuple[Project, list[str]]]:
    """A project whose workers 1 and 2 choose, and the tokens of three."""
    project, tokens = project_with_keywords(tmp_path / "p", candidates=N)
    with project:
        yield project, tokens


@pytest.fixture
def address(chosen: tuple[Project, list[str]], browser_page: Page) -> Iterator[str]:
    """Where its pages are."""
    pytest.importorskip("uvicorn")
    from oodometer.explorer.testset.app import app_of
    from oodometer.explorer.testset.pages import Pages

    with answering(app_of(Pages(chosen[0]))) as found:
        yield found
        browser_page.goto("about:blank")  # what the last page still asks for would find nobody


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def press_and_go(page: Page, key: str) -> None:
    """A key that leads to another page."""
    with page.expect_navigation(wait_until="networkidle"):
        page.keyboard.press(key)


def taken(page: Page) -> list[int]:
    """The places of the images that are ticked."""
    return [at for at, box in enumerate(page.locator("input[name=take]").all()) if box.is_checked()]


def test_a_keyword_is_selected_by_keyboard_and_verified_by_mouse(
    browser_page: Page, address: str, chosen: tuple[Project, list[str]]
) -> None:
    page, (project, tokens) = browser_page, chosen
    page.goto(f"{address}/choose?worker={tokens[0]}", wait_until="networkidle")
    assert page.get_by_role("heading", name=TEAL).first.is_visible()
    assert page.get_by_text("You select", exact=True).is_visible()
    for image in page.locator("main img").all():
        assert image.evaluate("image => image.complete && image.naturalWidth") == 256
    press(page, "ArrowRight", "t", "t", "l", "Space", "ArrowDown", "Space", "ArrowUp", "ArrowLeft", "ArrowRight", "l")
    row = page.evaluate(
        "(() => { const tops = [...document.querySelectorAll('#candidates li')].map((item) => item.offsetTop);"
        " return tops.filter((top) => top === tops[0]).length; })()"
    )
    assert taken(page) == [0, 1, 3 + row]
    assert page.get_by_text(f"3 taken, {N - 3} left").is_visible()
    press_and_go(page, "Enter")
    assert [(one.n_to_select, one.n_to_verify) for one in work(project)] == [(0, 3), (N, 0), (N, 0)]
    page.goto(f"{address}/choose?worker={tokens[1]}", wait_until="networkidle")
    assert page.get_by_text("You verify", exact=True).is_visible()
    page.locator("#candidates label").nth(1).click()
    assert taken(page) == [1]
    with page.expect_navigation(wait_until="networkidle"):
        page.get_by_role("button", name="Submit").click()
    assert len(counting(project)) == 1
    assert page.get_by_role("heading", name="duck: mallard").is_visible()


def test_all_and_none_and_back(browser_page: Page, address: str, chosen: tuple[Project, list[str]]) -> None:
    page, (project, tokens) = browser_page, chosen
    page.goto(f"{address}/choose?worker={tokens[0]}", wait_until="networkidle")
    press(page, "a")
    assert len(taken(page)) == N
    press(page, "a", "Enter")
    assert page.get_by_text("Is none of them to be taken? Submit once more.").is_visible()
    assert work(project)[0].n_to_select == N
    press_and_go(page, "Enter")
    assert (work(project)[0].n_to_select, work(project)[0].n_to_verify) == (0, 0)
    press_and_go(page, "u")
    assert work(project)[0].n_to_select == N


def test_everything_goes_without_scripts(chromium: Browser, address: str, chosen: tuple[Project, list[str]]) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/choose?worker={chosen[1][0]}")
    page.get_by_label("Take image 2", exact=True).check()
    page.get_by_role("button", name="Submit").click()
    assert work(chosen[0])[0].n_to_verify == 1
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1440, "light"), (1440, "dark")])
def test_the_page_fits_and_is_for_everyone(
    chromium: Browser,
    address: str,
    chosen: tuple[Project, list[str]],
    fits: Callable[[Page, int], None],
    violations: Callable[..., list[str]],
    width: int,
    scheme: str,
) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    for token in chosen[1][:2]:
        page.goto(f"{address}/choose?worker={token}", wait_until="networkidle")
        fits(page, width)
        assert violations(page) == []
    context.close()
