"""The report in a real browser: read, sorted, filtered, saved, printed, on a phone, in the dark, by keyboard."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import subprocess
import zlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from oodometer.cli.main import main
from oodometer.core.estimate import Estimate
from oodometer.document.section import Section
from oodometer.document.table import Column, Table
from oodometer.report.html.page import page_html
from oodometer.store.store import Store
from oodometer.study import study_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.slow

BOARD = "#leaderboard ~ .table"

SMALL = Table(
    "small",
    "Six rows.",
    (
        Column("model"),
        Column("category"),
        Column("top-1", "percent", "The share of right answers.", "high", bar=True),
        Column("error", "number", better="low"),
        Column("images", "count"),
        Column("ρ", "points", hidden=True),
    ),
    (
        ("net10", "standard", Estimate(0.1225, 0.1, 0.15, 400, "x"), 12.5, 50000, -0.0225),
        ("net9", "standard", Estimate(0.5, 0.45, 0.55, 400, "x"), 3.25, 900, 0.1),
        ('a "quoted", one', "more data", Estimate(2 / 3, None, None, None, "none"), None, 1000, None),
        ("=1+1", "more data", Estimate(0.9, 0.85, 0.95, 400, "x"), 0.125, 1, 0.0),
        ("<b>bold</b>", "mine", None, 1.0, 2, -0.1),
        ("net11", "mine", Estimate(0.5, 0.4, 0.6, 400, "x"), -2.0, 20, 0.2),
    ),
    filters="category",
    order="As they came.",
)
"""Numbers that are written in every way, some just between two digits, names that need quoting."""


@pytest.fixture
def small_page(browser_page: Page, tmp_path: Path) -> Page:
    """A page with the table of six rows."""
    section = Section("numbers", "Numbers", ("A table.",), (SMALL,))
    file = tmp_path / "page.html"
    file.write_text(page_html([section], ["standard", "more data", "mine"], title="Six rows"))
    browser_page.goto(file.as_uri())
    return browser_page


def column(table: Locator, at: int) -> list[str]:
    """The texts of a column of what is shown."""
    cells = table.locator(f"tbody tr:not([hidden]) > :nth-child({at + 1})")
    return [
        str(text)
        for text in cells.evaluate_all("cells => cells.map(cell => cell.firstChild.nodeValue || cell.textContent)")
    ]


def names(table: Locator) -> list[str]:
    return column(table, 0)


# ---- a table ----


def test_a_click_sorts_numbers_by_value_and_a_second_one_turns_them_round(small_page: Page) -> None:
    table = small_page.locator("#small table")
    table.get_by_role("button", name="images").click()
    assert names(table) == ["net10", 'a "quoted", one', "net9", "net11", "<b>bold</b>", "=1+1"]
    assert table.locator("th[aria-sort='descending']").inner_text().startswith("images")
    table.get_by_role("button", name="images").click()
    assert names(table) == ["=1+1", "<b>bold</b>", "net11", "net9", 'a "quoted", one', "net10"]
    assert table.locator("th[aria-sort='ascending']").count() == 1


def test_the_caption_follows_the_order(small_page: Page) -> None:
    table = small_page.locator("#small table")
    order = table.locator("caption .order")
    assert order.inner_text() == "As they came."
    table.get_by_role("button", name="images").click()
    assert order.inner_text() == "By images, greatest first."
    table.get_by_role("button", name="model").click()
    assert order.inner_text() == "By model, A to Z."


def test_the_first_click_puts_the_best_first_and_what_is_not_known_last(small_page: Page) -> None:
    table = small_page.locator("#small table")
    table.get_by_role("button", name="error").click()  # better: low
    assert names(table)[0] == "net11"
    assert names(table)[-1] == 'a "quoted", one'
    table.get_by_role("button", name="error").click()
    assert names(table)[0] == "net10"
    assert names(table)[-1] == 'a "quoted", one'


def test_names_are_sorted_as_people_count(small_page: Page) -> None:
    table = small_page.locator("#small table")
    table.get_by_role("button", name="model").click()
    assert [name for name in names(table) if name.startswith("net")] == ["net9", "net10", "net11"]


def test_a_search_shows_the_rows_with_all_of_its_words(small_page: Page) -> None:
    table = small_page.locator("#small table")
    small_page.get_by_label("Search", exact=True).fill("NET stand")
    assert names(table) == ["net10", "net9"]
    assert small_page.locator("#small .seen").inner_text() == "2 of 6 rows"
    small_page.get_by_label("Search", exact=True).fill("")
    assert len(names(table)) == 6


def test_a_category_is_chosen(small_page: Page) -> None:
    table = small_page.locator("#small table")
    small_page.get_by_label("Category", exact=True).select_option("more data")
    assert names(table) == ['a "quoted", one', "=1+1"]
    small_page.get_by_label("Search", exact=True).fill("quoted")
    assert names(table) == ['a "quoted", one']


def test_columns_are_chosen(small_page: Page) -> None:
    table = small_page.locator("#small table")
    assert table.locator("thead th").count() == 5
    small_page.locator("#small .menu summary").click()
    small_page.get_by_label("ρ").check()
    assert column(table, 5) == ["−2.2", "+10.0", "–", "+0.0", "−10.0", "+20.0"]
    small_page.get_by_label("images").uncheck()
    assert [text.split()[0] for text in table.locator("thead th").all_inner_texts()] == [
        "model", "category", "top-1", "error", "ρ"
    ]  # fmt: skip
    small_page.keyboard.press("Escape")
    assert not small_page.locator("#small .menu").evaluate("menu => menu.open")


def test_rows_stay_sorted_and_chosen_when_columns_change(small_page: Page) -> None:
    table = small_page.locator("#small table")
    table.get_by_role("button", name="images").click()
    small_page.get_by_label("Category", exact=True).select_option("mine")
    small_page.locator("#small .menu summary").click()
    small_page.get_by_label("ρ").check()
    assert names(table) == ["net11", "<b>bold</b>"]
    assert table.locator("th[aria-sort='descending']").inner_text().startswith("images")


def test_csv_is_what_is_shown_in_full_precision(small_page: Page) -> None:
    small_page.locator("#small table").get_by_role("button", name="images").click()
    rows = saved(small_page, "#small")
    assert rows[0] == ["model", "category", "top-1", "top-1 low", "top-1 high", "top-1 n", "error", "images"]
    assert rows[1] == ["net10", "standard", "0.1225", "0.1", "0.15", "400", "12.5", "50000"]
    assert rows[2] == ['a "quoted", one', "more data", repr(2 / 3), "", "", "", "", "1000"]
    assert rows[-1][0] == "'=1+1"  # no formula in anyone's spreadsheet
    assert len(rows) == 7


def saved(page: Page, table: str) -> list[list[str]]:
    """The lines of the CSV of a table."""
    with page.expect_download() as waiting:
        page.locator(table).get_by_role("button", name="Save CSV").click()
    return list(csv.reader(io.StringIO(Path(waiting.value.path()).read_text("utf-8"))))


def test_scripts_write_tables_as_the_page_does(small_page: Page) -> None:
    """The same data, once as HTML from the beginning and once through `oodometer.table`."""
    both = small_page.evaluate("""() => {
        const own = document.querySelector("#small");
        const data = JSON.parse(own.querySelector("script").textContent);
        for (const column of data.columns) { delete column.digits; }
        const made = document.createElement("div");
        document.querySelector("main").append(made);
        const {caption, filters, order} = data;
        oodometer.table(made, data.columns, data.rows, {caption, filters, order});
        const drawn = (cell) => ["--low", "--high", "--room"].map((name) => cell.style.getPropertyValue(name));
        const plain = (cell) => [cell.tagName, cell.className, cell.scope, cell.textContent.trim(), ...drawn(cell)];
        return [own, made].map((one) => Array.from(one.querySelectorAll("caption, th, td"), plain));
    }""")
    assert both[0] == both[1]


def test_intervals_can_be_put_away(small_page: Page) -> None:
    interval = small_page.locator("#small tbody tr").first.locator("small")
    assert interval.inner_text() == "[10.0, 15.0]"
    small_page.get_by_label("Intervals").uncheck()
    assert not interval.is_visible()


def test_a_table_is_used_by_keyboard_alone(small_page: Page) -> None:
    focused = "document.activeElement.textContent.trim()"
    small_page.keyboard.press("Tab")
    assert small_page.evaluate(focused) == "Skip to the content"
    small_page.keyboard.press("Enter")
    for _ in range(12):
        small_page.keyboard.press("Tab")
        if str(small_page.evaluate(focused)).startswith("images"):
            break
    small_page.keyboard.press("Enter")
    assert names(small_page.locator("#small table"))[0] == "net10"


# ---- the whole report of a store ----


@pytest.fixture
def report(browser_page: Page, small_report: Path) -> Page:
    """The report of the small store, opened."""
    browser_page.goto(small_report.as_uri())
    return browser_page


def draw_all(page: Page) -> None:
    """Go down the page, so that every plot is drawn."""
    drawn = page.evaluate("""async () => {
        const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
        for (const plot of document.querySelectorAll("[data-draw]")) {
            plot.scrollIntoView();
            for (let tries = 0; tries < 100 && !plot.querySelector("svg, canvas, table"); tries += 1) {
                await wait(100);
            }
        }
        window.scrollTo(0, 0);
        return Array.from(document.querySelectorAll("[data-draw]"), (plot) => plot.childElementCount > 0);
    }""")
    assert all(drawn)


def test_every_plot_is_drawn_when_it_comes_into_view_and_names_are_text(report: Page) -> None:
    drawings = report.locator("[data-draw]")
    assert drawings.count() >= 3
    draw_all(report)
    for drawing in drawings.all():
        assert drawing.locator("svg, canvas, table").count() > 0, drawing.get_attribute("data-draw")
    assert report.locator("img[src='x']").count() == 0
    assert report.locator("h1").inner_text() == "</script><img src=x onerror=alert(1)>"
    assert report.locator(BOARD).first.get_by_text("</script><img src=x onerror=alert(1)>").count() >= 1


def test_the_leaderboard_holds_the_numbers_of_the_store(report: Page, small_store: Store) -> None:
    study = study_of(small_store)
    clean = study.conditions[0]
    lines = saved(report, BOARD)
    at = next(place for place, title in enumerate(lines[0]) if f"{title} low" == lines[0][place + 1])
    found = {line[0]: tuple(float(one) for one in line[at : at + 4]) for line in lines[1:]}
    expected = {model: (one.value, one.low, one.high, float(one.n or 0)) for model, one in clean.accuracies.items()}
    assert found == expected


def test_what_a_script_draws_is_bold_where_the_table_says_so(report: Page) -> None:
    """Also after columns were chosen, when all cells are made anew."""
    bold = """() => {
        const place = document.body.appendChild(document.createElement("div"));
        const columns = [{ title: "model" }, { title: "x", unit: "percent" }, { title: "y", unit: "percent" }];
        const living = window.oodometer.table(place, columns, [["a", 0.5, 0.1], ["b", 0.25, 0.2]], { bold: [[1, 2]] });
        living.sort(1);
        living.show(1, false);
        return Array.from(place.querySelectorAll("b"), (cell) => cell.textContent);
    }"""
    assert report.evaluate(bold) == ["20.0"]


def test_dark_is_switched_on_and_remembered(report: Page) -> None:
    draw_all(report)
    paper = "getComputedStyle(document.body).backgroundColor"
    light = report.evaluate(paper)
    report.get_by_role("button", name="Dark").click()
    dark = report.evaluate(paper)
    assert sum(channels(dark)) < 150 < 600 < sum(channels(light))
    report.reload()
    assert report.evaluate(paper) == dark
    assert report.get_by_role("button", name="Dark").get_attribute("aria-pressed") == "true"
    report.get_by_role("button", name="Dark").click()
    assert report.evaluate(paper) == light


def channels(colour: str) -> list[int]:
    return [int(one) for one in colour.removeprefix("rgb(").removesuffix(")").split(",")]


def test_the_system_may_be_dark(report: Page) -> None:
    report.emulate_media(color_scheme="dark")
    report.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")


@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_is_broader_than_the_page(report: Page, fits: Callable[[Page, int], None], width: int) -> None:
    report.set_viewport_size({"width": width, "height": 844})
    draw_all(report)
    fits(report, width)


def test_it_is_printed_with_its_plots_and_in_light(report: Page) -> None:
    report.get_by_role("button", name="Dark").click()
    report.evaluate(
        "window.addEventListener('beforeprint', () => { window.printedIn = document.documentElement.dataset.theme; })"
    )
    content = report.pdf(prefer_css_page_size=True)
    assert content.startswith(b"%PDF")
    assert report.evaluate("window.printedIn") == "light"
    assert report.evaluate("document.documentElement.dataset.theme") == "dark"
    undrawn = [one for one in report.locator("[data-draw]").all() if one.locator("svg, canvas, table").count() == 0]
    assert undrawn == []


def test_a_browser_without_a_window_prints_the_plots_at_once(
    report: Page, program: str, small_report: Path, tmp_path: Path
) -> None:
    """A page is printed as soon as it is loaded, and nobody scrolls."""
    draw_all(report)
    words = ["--headless", "--disable-gpu", "--no-sandbox", f"--print-to-pdf={tmp_path / 'report.pdf'}"]
    subprocess.run([program, *words, small_report.as_uri()], check=True, capture_output=True, timeout=120)
    assert n_curves((tmp_path / "report.pdf").read_bytes()) > 0.9 * n_curves(report.pdf()) > 1000


def n_curves(pdf: bytes) -> int:
    """How many curves are drawn on the pages of a PDF; points of plots are circles."""
    streams = re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL)
    found = 0
    for stream in streams:
        with contextlib.suppress(zlib.error):
            found += len(re.findall(rb" c\n", zlib.decompressobj().decompress(stream)))
    return found


def test_the_navigation_follows_the_reader(report: Page) -> None:
    links = report.locator(".sections a")
    links.last.click()
    report.wait_for_function("() => document.querySelector('.sections li:last-child a').hasAttribute('aria-current')")
    assert report.locator(".sections a[aria-current]").count() == 1


def test_the_navigation_marks_each_section_that_one_goes_to(report: Page) -> None:
    """Short ones too, below which the next begins on the same screen."""
    for link in report.locator(".sections a").all():
        link.click()
        report.wait_for_function(
            "hash => document.querySelector('.sections a[aria-current]').hash === hash",
            arg=link.evaluate("link => link.hash"),
        )
        assert report.locator(".sections a[aria-current]").count() == 1


def test_a_phone_shows_clean_and_shifted_and_that_there_is_more(report: Page) -> None:
    report.set_viewport_size({"width": 390, "height": 844})
    board = report.locator(BOARD).first
    seen = board.locator("thead th.percent").evaluate_all(
        "cells => cells.filter((cell) => cell.getBoundingClientRect().right <= window.innerWidth - 14).length"
    )
    assert seen >= 2  # the clean one and a shift
    assert "Scroll for more columns" in board.locator(".pinned").evaluate(
        "one => getComputedStyle(one, '::after').content"
    )
    box = board.locator(".wide")
    assert "goes-on" in (box.get_attribute("class") or "")
    box.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
    report.wait_for_function("box => !box.classList.contains('goes-on')", arg=box.element_handle())


def test_a_phone_shows_the_ranks_that_the_first_picture_speaks_of(report: Page) -> None:
    report.set_viewport_size({"width": 400, "height": 844})
    picture = report.locator("#overview-dots")
    assert "Ranks are those that a model may have" in picture.locator("figcaption").inner_text()
    for row in picture.locator("tbody tr").all():
        places = [row.locator(one).bounding_box() for one in (".rank", ".name", ".panel >> nth=0", ".mean")]
        ends = [(place["x"], place["x"] + place["width"]) for place in places if place]
        assert len(ends) == 4
        assert all(right <= left + 1 for (_, right), (left, _) in pairwise(ends))  # side by side, none below another
        assert row.locator(".rank").inner_text()
        assert row.locator(".rank").evaluate("cell => cell.scrollWidth <= cell.clientWidth")
        tall = row.evaluate("row => row.clientHeight - row.querySelector('.ties').clientHeight")
        assert tall <= 2  # what can't be told apart is joined by one line


def test_a_menu_of_columns_opens_within_a_phone(report: Page) -> None:
    report.set_viewport_size({"width": 390, "height": 844})
    menus = [menu for menu in report.locator("details.menu").all() if menu.is_visible()]
    assert len(menus) > 1
    for menu in menus:
        menu.locator("summary").click()
        box = menu.locator("fieldset").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        menu.locator("summary").click()


def test_the_first_screen_is_used_in_its_whole_width(report: Page) -> None:
    report.set_viewport_size({"width": 1440, "height": 900})
    places = report.evaluate("""() => ["main", "#overview-dots table", "section > .lead"].map((place) => {
        const { left, right } = document.querySelector(place).getBoundingClientRect();
        return right - left;
    })""")
    assert min(places[1:]) > 0.9 * places[0]
    assert report.locator("#overview-dots").evaluate("one => one.getBoundingClientRect().top") < 400


def test_what_can_be_done_with_a_few_rows_stands_below_them(browser_page: Page, tmp_path: Path) -> None:
    few = Table("few", "Two rows.", SMALL.columns, SMALL.rows[:2], filters="category")
    file = tmp_path / "few.html"
    file.write_text(page_html([Section("numbers", "Numbers", (), (few,))], ["standard"], title="Two rows"))
    browser_page.goto(file.as_uri())
    tops = browser_page.evaluate(
        "['table', '.tools'].map((one) => document.querySelector(one).getBoundingClientRect().top)"
    )
    assert tops[0] < tops[1]
    assert browser_page.get_by_label("Search", exact=True).count() == 0
    assert len(saved(browser_page, "#few")) == 3


def test_every_number_of_the_json_is_the_stores(small_store: Store) -> None:
    result = CliRunner().invoke(main, ["report", str(small_store), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == json.loads(json.dumps(study_of(small_store).as_json()))


# ---- for everyone ----


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everyone_can_use_it(
    report: Page, violations: Callable[[Page], list[str]], fits: Callable[[Page, int], None], theme: Any
) -> None:
    report.emulate_media(color_scheme=theme, reduced_motion="reduce")
    draw_all(report)
    for fold in report.locator("details:not(.menu)").all():
        fold.evaluate("fold => { fold.open = true; }")
    fits(report, 1280)
    assert violations(report) == []


# ---- 338 models on 213 conditions ----

MOST_BYTES = 8_000_000


def test_the_testbeds_report_is_small_and_whole(
    browser_page: Page, testbed_report: Path, fits: Callable[[Page, int], None]
) -> None:
    """How soon it is usable is measured in benchmarks/report.py."""
    assert testbed_report.stat().st_size <= MOST_BYTES
    browser_page.goto(testbed_report.as_uri(), wait_until="commit")
    browser_page.locator(f"{BOARD} thead button").nth(2).click()
    assert browser_page.locator(f"{BOARD} th[aria-sort='descending']").count() == 1
    choose_a_column(browser_page, "val-on-imagenet-a-classes")
    browser_page.set_viewport_size({"width": 390, "height": 844})
    draw_all(browser_page)
    fits(browser_page, 390)


def choose_a_column(page: Page, title: str) -> None:
    """Find one column among hundreds, and have it shown."""
    board = page.locator(BOARD).first
    n = board.locator("thead th").count()
    board.locator(".menu summary").click()
    board.get_by_label("Find a column").fill(title.upper())
    assert board.locator(".menu label:not([hidden])").all_inner_texts() == [title]
    board.get_by_label(title, exact=True).check()
    assert board.locator("thead th").count() == n + 1
    page.keyboard.press("Escape")
