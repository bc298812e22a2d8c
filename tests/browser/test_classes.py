"""Classes, slices and pictures of a report in a real browser: chosen, sorted, clicked, on a phone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import oodometer as odo
from oodometer.study.pictures import study_with_pictures

if TYPE_CHECKING:
    from playwright.sync_api import Page

SIDE = 96


@pytest.fixture
def report(photos: Path, tmp_path: Path) -> str:
    """Four colours under two severities of contrast: as that falls, images are taken for grey."""
    data = odo.load_data(photos)
    shades = np.array([[40, 60, 200], [40, 180, 60], [128, 128, 128], [210, 50, 40]], dtype=np.float32)

    def nearest(images: np.ndarray) -> np.ndarray:
        answers = -np.abs(images.mean(axis=(1, 2))[:, None] - shades).sum(axis=2)
        smooth = images.std(axis=(1, 2)).max(axis=1) < 6
        answers[smooth & (images[:, 0, 0, 0] < 150), 2] = 1  # all but red ones
        return answers.astype(np.float32)

    view = odo.Geometry(SIDE, SIDE)
    model = odo.Model("nearest", "test", "a" * 32, odo.Input(view), data.space, lambda _: nearest)
    shifts = odo.load_shifts("imagenet-c:raw/contrast/1", "imagenet-c:raw/contrast/5", data=str(photos))
    store = odo.run([model], shifts, store=str(tmp_path / "runs"), options=odo.RunOptions(threads=1)).store
    page = tmp_path / "report.html"
    page.write_text(odo.report_html(study_with_pictures(store, [str(photos)])), "utf-8")
    expected = odo.confusion(store, "nearest", "imagenet-c:raw")
    assert expected.confusions[0].answer == "grey"  # or there would be nothing to look at
    return page.as_uri()


def opened(page: Page, address: str) -> None:
    page.goto(address)
    page.locator("#classes-confusion").scroll_into_view_if_needed()
    page.locator("#classes-confusion .heatgrid td").first.wait_for()


def test_a_cell_shows_the_images_behind_it(report: str, browser_page: Page) -> None:
    opened(browser_page, report)
    figure = browser_page.locator("#classes-confusion")
    heads = figure.locator(".heatgrid thead th").all_inner_texts()
    assert heads == ["class", "blue", "green", "grey", "red"]
    # The first confusion is chosen already; another cell is by a click, and one of the diagonal has no images here.
    words = figure.locator(".behind p")
    assert "called grey" in words.inner_text()
    assert figure.locator(".behind img").count() >= 1
    rows = figure.locator(".heatgrid tbody tr")
    grey = next(row for row in rows.all() if row.locator("th").inner_text() == "grey")
    grey.locator("td").nth(2).click()
    assert words.inner_text().startswith("grey is called so: 20 answers in 2 conditions, 100.0 %")
    assert figure.locator(".behind img").count() == 0


def test_the_list_is_sorted_and_leads_to_images_too(report: str, browser_page: Page) -> None:
    opened(browser_page, report)
    figure = browser_page.locator("#classes-confusion")
    figure.get_by_text("All confusions as a list").click()
    table = figure.locator("details[open] table").first
    table.locator("tbody tr").first.wait_for()
    counts = [int(text) for text in table.locator("tbody tr td:nth-child(3)").all_inner_texts()]
    assert counts == sorted(counts, reverse=True)
    table.locator("thead button").first.click()
    names = table.locator("tbody tr th").all_inner_texts()
    assert names == sorted(names)
    table.locator("tbody tr").last.click()
    assert figure.locator(".behind b").inner_text().startswith(names[-1])
    figure.get_by_text("What the shift does to each class").click()
    # Its table is made when the fold has been opened, which a browser says some time after the click.
    changes = figure.locator("details", has_text="What the shift does to each class").last.locator("table")
    changes.locator("tbody tr").nth(3).wait_for()
    assert changes.locator("tbody tr").count() == 4
    assert "corrected for 4 classes" in changes.locator("thead button").nth(3).get_attribute("title")


def test_a_clicked_picture_is_shown_pixel_by_pixel(report: str, browser_page: Page) -> None:
    browser_page.goto(report)
    sheet = browser_page.locator("#corruptions-sheet")
    assert sheet.locator("li").all_inner_texts() == ["clean", "contrast\nseverity 5"]
    sheet.locator("img").last.click()
    dialog = browser_page.locator("dialog.enlarged")
    assert dialog.is_visible()
    assert f"contrast · severity 5 · {SIDE} × {SIDE} pixels, 7 times as large" in dialog.inner_text()
    box = dialog.locator("img").bounding_box()
    assert (round(box["width"]), round(box["height"])) == (7 * SIDE, 7 * SIDE)  # in 75 % of 900 pixels
    browser_page.keyboard.press("ArrowRight")  # round to the first
    assert dialog.inner_text().startswith("clean")
    browser_page.keyboard.press("Escape")
    assert not dialog.is_visible()
    sheet.locator("img").first.focus()
    browser_page.keyboard.press("Enter")
    assert dialog.is_visible()


def test_a_phone_shows_all_without_scrolling_sideways(report: str, browser_page: Page) -> None:
    browser_page.set_viewport_size({"width": 390, "height": 800})
    opened(browser_page, report)
    assert browser_page.evaluate("document.documentElement.scrollWidth") <= 390
    pictures = browser_page.locator("#shift-pictures-0 li").all()
    first, second = (picture.bounding_box() for picture in pictures[:2])
    assert first["y"] == second["y"]  # clean beside shifted
