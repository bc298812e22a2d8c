"""A made site opened from disk: every kind of page, no error, nothing asked of any host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import oodometer as odo
from oodometer.store.store import Store

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow


def album(addresses: Any, index: Any) -> Callable[[Any, str], np.ndarray]:
    return lambda cell, image_id: np.full((32, 32, 3), int(image_id[-8:-4]) % 256, dtype=np.uint8)


@pytest.fixture(scope="module")
def made(small_store: Store, tmp_path_factory: pytest.TempPathFactory) -> odo.Site:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("oodometer.study.pictures.album_of", album)
        return odo.site(small_store, tmp_path_factory.mktemp("web") / "site", data=["images"], images=24)


def some_pages(folder: Path) -> list[Path]:
    """Those right in the site, and one of each folder."""
    folders = [path for path in sorted(folder.iterdir()) if path.is_dir()]
    firsts = [next(iter(sorted(path.glob("*.html"))), None) for path in folders]
    return [*sorted(folder.glob("*.html")), *(page for page in firsts if page)]


def test_every_kind_of_page_opens_from_disk(browser_page: Page, made: odo.Site) -> None:
    page = browser_page
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    pages = some_pages(made.folder)
    assert len(pages) > 10
    for place in pages:
        page.goto(place.as_uri(), wait_until="networkidle")
        assert page.locator("h1").count() == 1
        for drawing in page.locator("[data-draw]").all():
            drawing.scroll_into_view_if_needed()
            drawing.locator("svg, table").first.wait_for()
    assert requests
    assert all(request.startswith((made.folder.as_uri(), "data:", "blob:")) for request in requests)


def test_from_the_leaderboard_to_an_image_and_on(browser_page: Page, made: odo.Site) -> None:
    from playwright.sync_api import expect

    page = browser_page
    page.goto(made.address)
    page.get_by_role("link", name="Images", exact=True).click()
    page.wait_for_url("**/images.html")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/image/*.html")
    first = page.get_by_role("heading", level=1).inner_text()
    assert page.locator(".shown img").evaluate("image => image.complete && image.naturalWidth") == 512
    page.keyboard.press("j")
    expect(page.get_by_role("heading", level=1)).not_to_have_text(first)
    page.keyboard.press("k")
    expect(page.get_by_role("heading", level=1)).to_have_text(first)
    page.keyboard.press("u")
    page.wait_for_url("**/images/*.html")
    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Keys").is_visible()
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog", name="Keys").count() == 0


def test_models_are_chosen_by_links(browser_page: Page, made: odo.Site) -> None:
    page = browser_page
    page.goto((made.folder / "compare.html").as_uri())
    page.locator("details.choose summary").last.click()
    page.locator("details.choose").last.get_by_role("link", name="plain-a", exact=True).click()
    page.wait_for_url("**/compare/*.html")
    assert "plain-a" in page.get_by_role("heading", level=1).inner_text()
    page.get_by_role("button", name="Difference").click()
    values = page.locator("#contests tbody td.points").evaluate_all(
        "cells => cells.map((cell) => +cell.firstChild.textContent.replace('−', '-'))"
    )
    assert len(values) > 1
    assert values == sorted(values, reverse=True)


def test_a_site_fits_a_phone(browser_page: Page, made: odo.Site) -> None:
    browser_page.set_viewport_size({"width": 390, "height": 844})
    for place in some_pages(made.folder):
        browser_page.goto(place.as_uri(), wait_until="networkidle")
        assert browser_page.evaluate("document.documentElement.scrollWidth") == 390, place.name
