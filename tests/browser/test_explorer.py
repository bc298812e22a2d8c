"""The explorer in a real browser: from the leaderboard to an image, on a phone, in the dark, for everyone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from PIL import Image

from answering import answering
from oodometer.explorer.app import explorer_app
from oodometer.explorer.explorer import Explorer
from oodometer.store.store import Store

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.slow


def picture(cell: Any, image_id: str) -> np.ndarray:
    """Noise of an image's own."""
    rng = np.random.default_rng([len(cell.condition_name), int(image_id[-8:-4])])
    return rng.integers(0, 256, (32, 32, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def address(small_store: Store) -> Iterator[str]:
    """Where the pages over the small store are, with pictures."""
    pytest.importorskip("uvicorn")
    explorer = Explorer(small_store, picture=picture)
    explorer.wait_for_study()
    with answering(explorer_app(explorer, hosts=("127.0.0.1",))) as found:
        yield found
    explorer.close()


def follow(page: Page, link: Locator) -> None:
    """Click, and wait for the page that it leads to with its pictures."""
    with page.expect_navigation(wait_until="networkidle"):
        link.click()


def test_from_the_leaderboard_to_an_image(browser_page: Page, address: str) -> None:
    page = browser_page
    page.goto(address)
    follow(page, page.get_by_role("link", name="plain-d", exact=True).first)
    assert page.get_by_role("heading", level=1).inner_text() == "plain-d"
    follow(page, page.locator("table", has_text="Most often called").get_by_role("link", name="owl"))
    assert parse_qs(urlsplit(page.url).query)["class"] == ["owl"]
    with page.expect_navigation():
        page.get_by_label("Its answer").select_option("")
    # What is empty is not in the address.
    assert parse_qs(urlsplit(page.url).query, keep_blank_values=True).keys() == {"on", "class", "model", "order"}
    card = page.locator(".cards li").first
    follow(page, card.get_by_role("link").first)
    shown = page.locator(".shown img")
    assert shown.evaluate("image => image.complete && image.naturalWidth") == 512  # 32 pixels, each a square of 16
    follow(page, page.get_by_role("link", name="severity 3, fog/3").or_(page.get_by_role("link", name="fog/3")).first)
    assert page.get_by_role("heading", name="Answers on fog/3").is_visible()


def test_tables_are_sorted_by_a_click_and_by_keyboard(browser_page: Page, address: str) -> None:
    page = browser_page
    page.goto(address)

    def numbers() -> list[float]:
        cells = page.locator("#leaderboard tbody tr td.percent:nth-of-type(2)")
        return [float(one) for one in cells.evaluate_all("cells => cells.map((cell) => cell.firstChild.textContent)")]

    first = numbers()
    assert first == sorted(first, reverse=True)
    page.get_by_role("button", name="clean %").click()
    page.get_by_role("button", name="clean %").click()
    assert numbers() == sorted(first)
    heading = page.locator("#leaderboard th", has_text="clean").first
    assert heading.get_attribute("aria-sort") == "ascending"
    assert page.locator("#leaderboard caption .order").inner_text() == "By clean, least first."
    page.get_by_role("button", name="Model").focus()
    page.keyboard.press("Enter")
    names = page.locator("#leaderboard tbody th").all_inner_texts()
    assert names == ["</script><img src=x onerror=alert(1)>", "augmented", "plain-a", "plain-b", "plain-c", "plain-d"]


def test_links_and_intervals_stay_when_columns_are_chosen(browser_page: Page, address: str) -> None:
    page = browser_page
    page.goto(f"{address}/compare?a=plain-a&b=plain-d")
    table = page.locator("#contests")
    drawn = table.locator("td.points").first.get_attribute("style") or ""
    assert "--low" in drawn
    table.locator(".menu > summary").click()
    table.get_by_role("checkbox", name="To tell").uncheck()
    assert table.get_by_role("columnheader").all_inner_texts()[-1].startswith("Images")
    assert table.locator("td.points").first.get_attribute("style") == drawn
    row = table.get_by_role("row", name="sketch")
    follow(page, row.get_by_role("link", name="300"))  # its images
    assert parse_qs(urlsplit(page.url).query)["on"] == ["sketch"]
    follow(page, page.locator("#contests").get_by_role("link", name="sketch"))
    assert page.get_by_role("heading", level=1).inner_text() == "sketch"


def test_an_interval_is_drawn_where_it_lies(browser_page: Page, address: str) -> None:
    page = browser_page
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")
    page.goto(f"{address}/compare?a=plain-b&b=plain-c")
    cells = page.locator("#contests td.points")
    assert cells.count() > 5
    for cell in cells.all():
        low, high = cell.evaluate("cell => ['--low', '--high'].map((name) => +cell.style.getPropertyValue(name))")
        shown = np.asarray(Image.open(BytesIO(cell.screenshot())).convert("RGB")).astype(int)
        coloured = shown[:, :, 0] - shown[:, :, 2] > 40  # the bar is red-brown, all else grey
        drawn = np.flatnonzero(coloured[coloured.sum(axis=1).argmax()])
        start, room = 12, shown.shape[1] - 24  # 0.75rem at both sides
        assert [drawn[0], drawn[-1] + 1] == pytest.approx([start + low * room, start + high * room], abs=2)


def test_two_models_and_the_images_between_them(browser_page: Page, address: str) -> None:
    page = browser_page
    page.goto(f"{address}/compare?a=plain-a&b=plain-d&on=sketch")
    chip = page.locator(".chips li", has_text="Only B right")
    n = int(chip.locator("small").inner_text())
    follow(page, chip.get_by_role("link"))
    assert page.locator(".cards li").count() == min(n, 24)
    assert n > 24
    follow(page, page.get_by_role("link", name="Next →"))
    assert parse_qs(urlsplit(page.url).query) == {
        "a": ["plain-a"], "b": ["plain-d"], "on": ["sketch"], "show": ["only_b"], "page": ["2"]
    }  # fmt: skip
    assert page.locator(".cards li").count() == min(n - 24, 24)


def test_an_image_is_large_beside_what_is_known_of_it(browser_page: Page) -> None:
    """However small it is, and however short the words below it."""
    styles = files("oodometer.explorer").joinpath("static", "explorer.css").read_text("utf-8")
    image = "<svg xmlns='http://www.w3.org/2000/svg' width='32' height='32'/>"
    browser_page.set_content(
        f"<style>{styles}</style><div class='beside'><figure class='shown'><img src=\"data:image/svg+xml,{image}\">"
        "<figcaption>iid</figcaption></figure><dl class='facts'><div><dt>class</dt><dd>owl</dd></div></dl></div>"
    )
    for width, least in ((1280, 300), (400, 250)):
        browser_page.set_viewport_size({"width": width, "height": 844})
        box = browser_page.locator(".shown img").bounding_box()
        assert box is not None
        assert least < box["width"] < width


def test_images_are_stepped_through_by_keyboard(browser_page: Page, address: str) -> None:
    page = browser_page
    page.goto(f"{address}/images?on=sketch&model=plain-a&answer=wrong&order=sure")
    ids = page.locator(".cards .id").all_inner_texts()
    page.keyboard.press("/")
    page.keyboard.type("ow")  # what is typed is no key
    assert page.get_by_label("Find").input_value() == "ow"
    page.goto(f"{address}/images?on=sketch&model=plain-a&answer=wrong&order=sure")
    for key, place in (("ArrowRight", 0), ("ArrowRight", 1), ("j", 2), ("k", 1), ("ArrowLeft", 0)):
        with page.expect_navigation():
            page.keyboard.press(key)
        assert page.get_by_role("heading", level=1).inner_text() == ids[place]
    with page.expect_navigation():
        page.keyboard.press("u")
    assert page.locator(".cards .id").all_inner_texts() == ids
    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Keys").is_visible()


def test_a_choice_in_one_place_filters_the_others(browser_page: Page, address: str) -> None:
    page = browser_page
    page.goto(f"{address}/images?on=sketch&model=plain-a")
    follow(page, page.locator(".cards li").first.locator("a.quiet").first)  # its class
    chosen = parse_qs(urlsplit(page.url).query)
    assert chosen.keys() == {"on", "model", "class"}
    assert set(page.locator(".cards b").all_inner_texts()) == set(chosen["class"])
    follow(page, page.locator(".cards li").first.locator("a.quiet").nth(1))  # what the model says
    assert parse_qs(urlsplit(page.url).query).keys() == {"on", "model", "class", "predicted"}
    follow(page, page.get_by_role("link", name="without class"))
    assert parse_qs(urlsplit(page.url).query).keys() == {"on", "model", "predicted"}
    page.goto(f"{address}/model/plain-a")
    follow(page, page.get_by_label("More of this model").get_by_role("link", name="Calibration"))
    assert page.get_by_label("Model").first.input_value() == "plain-a"


def test_a_hostile_name_is_only_a_name(browser_page: Page, address: str) -> None:
    page = browser_page
    page.goto(address)
    follow(page, page.get_by_role("link", name="onerror").first)
    assert page.get_by_role("heading", level=1).inner_text() == "</script><img src=x onerror=alert(1)>"
    assert page.locator("main img").count() == 0


PAGES = {
    "leaderboard": "/",
    "model": "/model/augmented",
    "shift": "/shift/sketch",
    "compare": "/compare?a=plain-a&b=plain-d",
    "images": "/images?model=plain-a&answer=wrong&order=sure",
    "image": "/image?data=animals&id=animals-0003.png&at=3&order=data",
    "calibration": "/calibration",
    "corruptions": "/corruptions?model=augmented",
    "scatter": "/scatter",
}


@pytest.mark.parametrize("name", PAGES)
def test_everyone_can_use_it(
    browser_page: Page, address: str, violations: Callable[[Page], list[str]], name: str
) -> None:
    browser_page.emulate_media(color_scheme="light", reduced_motion="reduce")
    browser_page.goto(address + PAGES[name], wait_until="networkidle")
    assert violations(browser_page) == []
    browser_page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    browser_page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    assert violations(browser_page) == []


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_wider_than_a_phone(browser_page: Page, address: str, name: str) -> None:
    browser_page.set_viewport_size({"width": 390, "height": 844})
    browser_page.goto(address + PAGES[name], wait_until="networkidle")
    assert browser_page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_phone_shows_what_a_table_says_and_which_page_is_open(browser_page: Page, address: str) -> None:
    browser_page.set_viewport_size({"width": 390, "height": 844})
    browser_page.goto(f"{address}/compare?a=plain-a&b=plain-b")
    caption = browser_page.locator("#contests caption .pinned")
    # The table is broader than the phone, its caption is not, and says so.
    assert browser_page.locator("#contests .wide.goes-on").count() == 1
    box = caption.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 390
    browser_page.goto(f"{address}/images")
    for _ in range(2):  # the list, and an image of it
        here, bar = browser_page.locator("nav.sections [aria-current]"), browser_page.locator("nav.sections")
        assert here.inner_text() == "Images"
        link, around = here.bounding_box(), bar.bounding_box()
        assert link is not None
        assert around is not None
        assert around["x"] <= link["x"]
        assert link["x"] + link["width"] <= around["x"] + around["width"] + 1
        follow(browser_page, browser_page.locator(".cards li a").first)


def test_the_bar_above_an_image_is_not_under_its_name(browser_page: Page, address: str) -> None:
    browser_page.set_viewport_size({"width": 390, "height": 844})
    browser_page.goto(f"{address}/images")
    follow(browser_page, browser_page.locator(".cards li a").first)
    bar, name = browser_page.locator(".steps").bounding_box(), browser_page.locator("h1").bounding_box()
    assert bar is not None
    assert name is not None
    assert bar["y"] + bar["height"] <= name["y"]


def test_signs_of_categories_have_their_colours(browser_page: Page, address: str) -> None:
    browser_page.goto(f"{address}/scatter")
    sign = browser_page.locator(".legend svg path").first
    assert sign.evaluate("sign => getComputedStyle(sign).fill") != "rgb(0, 0, 0)"
    # Keys to the lines are no window.
    assert browser_page.locator("div.keys").evaluate("keys => getComputedStyle(keys).borderTopStyle") == "none"
