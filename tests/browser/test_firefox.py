"""The report and the explorer in Firefox: they open, nothing goes wrong, tables sort, plots are drawn, it is dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from answering import answering
from firefox import Firefox, found_firefox, running
from oodometer.explorer.app import explorer_app
from oodometer.explorer.explorer import Explorer
from oodometer.store.store import Store

pytestmark = pytest.mark.slow

DRAWN = """
const plot = document.querySelector(`[data-draw=${arguments[0]}]`);
const found = () => plot.querySelectorAll(arguments[1]).length;
plot.scrollIntoView();
return new Promise((resolve) => {
    const look = () => (found() ? resolve(found()) : setTimeout(look, 50));
    look();
});
"""
"""How many of these things are in a plot, once it is drawn."""

SORTED = """
const [place, title] = arguments;
const table = document.querySelector(place);
const button = Array.from(table.querySelectorAll("thead button")).find((one) => one.textContent.includes(title));
button.click();
const column = Array.from(button.closest("tr").cells).indexOf(button.closest("th"));
const texts = Array.from(table.tBodies[0].rows, (row) => row.cells[column].firstChild.textContent);
return [table.querySelector("caption .order").textContent, texts.map(Number)];
"""
"""What a caption says, and a column's numbers, after a click on its title."""


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """Firefox with nothing open."""
    program = found_firefox()
    if program is None:
        pytest.skip("no firefox-esr on PATH")
    with running(program, tmp_path_factory.mktemp("firefox")) as found:
        yield found


@pytest.fixture
def report(firefox: Firefox, small_report: Path) -> Iterator[Firefox]:
    """The report of the small store; the test fails if a script of it does."""
    firefox.open(small_report.as_uri())
    yield firefox
    assert firefox.errors(small_report.parent.as_uri()) == []


def test_the_report_opens_on_its_first_screen(report: Firefox) -> None:
    assert report.run("return document.querySelector('h1').textContent") == "</script><img src=x onerror=alert(1)>"
    assert report.run("return document.querySelectorAll('#overview-dots tbody tr').length") == 6
    assert report.run("return document.querySelector('.sections [aria-current]').textContent") == "At a glance"
    assert report.run("return document.documentElement.scrollWidth <= window.innerWidth")


def test_a_table_is_sorted(report: Firefox) -> None:
    said, numbers = report.run(SORTED, "#leaderboard ~ .table table", "sketch")
    assert said == "By sketch, greatest first."
    assert numbers == sorted(numbers, reverse=True)
    assert len(set(numbers)) > 3


def test_plots_are_drawn(report: Firefox) -> None:
    assert report.run(DRAWN, "scatter", ".scatterlayer .point") == 6  # a mark for each model
    assert report.run(DRAWN, "reliability", ".barlayer .point") > 6


def test_dark_is_switched_on(report: Firefox) -> None:
    press = "document.querySelector('button.theme').click(); return document.documentElement.dataset.theme"
    paper = "return getComputedStyle(document.body).backgroundColor"
    light = report.run(paper)
    assert report.run(press) == "dark"
    assert report.run(paper) != light
    assert report.run(press) == "light"


def test_what_goes_wrong_is_heard(firefox: Firefox, tmp_path: Path) -> None:
    file = tmp_path / "wrong.html"
    file.write_text("<!doctype html><title>wrong</title><script>nothing.at.all</script>")
    firefox.open(file.as_uri())
    (error,) = firefox.errors(tmp_path.as_uri())
    assert "nothing is not defined" in error


@pytest.fixture
def explorer(firefox: Firefox, small_store: Store) -> Iterator[Firefox]:
    """The explorer's first page over the small store."""
    pytest.importorskip("uvicorn")
    pages = Explorer(small_store)
    pages.wait_for_study()
    with answering(explorer_app(pages, hosts=("127.0.0.1",))) as address:
        try:
            firefox.open(f"{address}/")
            yield firefox
            assert firefox.errors(f"{address}/") == []
        finally:
            firefox.open("about:blank")
    pages.close()


def test_the_explorer_opens_on_the_same_first_screen(explorer: Firefox) -> None:
    names = "return Array.from(document.querySelectorAll('.dots tbody th a'), (link) => link.textContent)"
    assert set(explorer.run(names)) >= {"plain-a", "plain-d", "augmented"}
    assert explorer.run("return document.documentElement.scrollWidth <= window.innerWidth")
