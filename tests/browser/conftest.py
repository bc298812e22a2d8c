"""A real browser for the pages: Debian's Chromium, driven by Playwright; tests are skipped where one is missing."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from click.testing import CliRunner

from made_cells import made_cell
from oodometer.build.icons.packages import Package
from oodometer.build.npm import fetch, read_members
from oodometer.cli.main import main
from oodometer.core.dataset import Dataset, Progress, Scan
from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace
from oodometer.core.predictions import from_logits
from oodometer.core.preprocessing import Geometry
from oodometer.store.store import Store, open_store
from shared_data import shared

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

OWN_HOSTS = {None, "", "127.0.0.1", "localhost"}
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage"]
"""As is usual for Chromium without a screen, as root, in a container."""
WAIT = 120_000
"""Milliseconds until a page counts as hung. No promise of speed (those are in benchmarks/): beside other tests on a
busy machine, a page that takes half a second alone has taken more than twenty."""


@pytest.fixture(scope="session")
def program() -> str:
    """The browser's own command."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no chromium on PATH: apt-get install chromium")
    return found


# Not longer than a module: Playwright keeps an event loop running, which would stand in the way of other tests.
@pytest.fixture(scope="module")
def chromium(program: str) -> Iterator[Browser]:
    """Chromium without a window."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@dataclass(frozen=True)
class Watched:
    """What went wrong on a page while it was used."""

    errors: list[str]

    def watch(self, page: Page) -> None:
        """Listen to errors, and to requests that leave this machine."""
        page.on("console", lambda said: self.errors.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self._check(request.url))

    def _check(self, address: str) -> None:
        if urlsplit(address).hostname not in OWN_HOSTS:
            self.errors.append(f"a request to another host: {address}")


@pytest.fixture
def browser_page(chromium: Browser) -> Iterator[Page]:
    """An empty page, 1280 px wide; the test fails if a script fails on it, or if it asks another host for anything."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(WAIT)
    watched = Watched([])
    watched.watch(page)
    yield page
    context.close()
    assert watched.errors == []


# ---- a small store, whose numbers differ from model to model ----

CLASSES = ("cat", "dog", "fish", "owl", "</script><b>ox</b>")
HOSTILE = "</script><img src=x onerror=alert(1)>"
SKILLS = {"plain-a": 1.2, "plain-b": 1.7, "plain-c": 2.2, "plain-d": 2.7, "augmented": 2.2, HOSTILE: 2.0}
DAMAGE = {"clean": 0.0, "sketch": 0.9, **{f"fog/{s}": 0.25 * s for s in range(1, 6)}, "contrast/3": 0.5}
"""How much of the models' skill each condition takes."""
N_IMAGES = 300


@dataclass(frozen=True)
class NoPixels:
    """Images of which only the digests of their content are asked for."""

    def views(self, index: int, views: Sequence[Geometry | None]) -> list[np.ndarray]:
        raise AssertionError("a report shows no images that it was not given")

    def scan(self, indices: np.ndarray, progress: Progress) -> Scan:
        return Scan(tuple(int(index).to_bytes(16, "big") for index in indices), {})


@pytest.fixture(scope="session")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store of six models, one made of another and one with a hostile name, on eight conditions of 300 images."""
    store = open_store(str(tmp_path_factory.mktemp("small") / "runs"), create=True)
    labels = np.arange(N_IMAGES) % len(CLASSES)
    data = _dataset("animals", labels)
    for at, (condition, damage) in enumerate(DAMAGE.items()):
        for model, skill in SKILLS.items():
            kept = skill - damage * (0.5 if model == "augmented" else 1.0)
            rng = np.random.default_rng([at, len(model), ord(model[-1])])
            logits = rng.normal(size=(N_IMAGES, len(CLASSES)))
            logits[np.arange(N_IMAGES), labels] += kept
            _add(store, data, model, condition, logits)
    return store


def _dataset(name: str, labels: np.ndarray) -> Dataset:
    ids = tuple(f"{name}-{at:04d}.png" for at in range(len(labels)))
    return Dataset(name, ids, labels, LabelSpace("animals", CLASSES), NoPixels(), np.arange(len(labels)))


def _add(store: Store, data: Dataset, model: str, condition: str, logits: np.ndarray) -> None:
    made = model == "augmented"
    card = {"category": "robust intervention" if made else "standard", **({"parent": "plain-c"} if made else {})}
    digest = hashlib.sha256(model.encode()).hexdigest()[:32]
    cell = made_cell(data, model=model, digest=digest, condition=condition, card=card, n_classes=len(CLASSES))
    store.add_cell(cell, data)
    store.write_part(cell.key, 0, len(data), from_logits(logits, data.labels, np.arange(len(data))))
    store.seal(cell, keep_logits=False)


@pytest.fixture(scope="session")
def small_report(small_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the small store, as the command writes it."""
    place = tmp_path_factory.mktemp("report") / "small.html"
    oodometer("report", str(small_store), "-o", place, "--title", HOSTILE)
    return place


@pytest.fixture(scope="session")
def testbed_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the testbed's table of 338 models on 213 conditions."""
    testbed = shared("testbed")
    folder = tmp_path_factory.mktemp("testbed")
    oodometer("import", testbed / "robustness_top1s.csv", "--store", folder / "runs")
    oodometer("report", folder / "runs", "-o", folder / "report.html", "--categories", testbed / "model_categories.csv")
    return folder / "report.html"


def oodometer(*words: str | Path) -> None:
    """Do what the command does; it has to succeed."""
    result = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output


# ---- whether everyone can use a page ----

AXE = Package(
    "axe-core",
    "4.14.0",
    "sha512-9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ==",
    kind="vector",
    licence="MPL-2.0",
    by="Deque Systems",
    page="",
)
"""What checks that everyone can use the page."""


@pytest.fixture(scope="session")
def fits() -> Callable[[Page, int], None]:
    """``fits(page, width)``: an error where something is broader than the page.

    Plots need a moment to follow a page that became narrower.
    """

    def check(page: Page, width: int) -> None:
        for _ in range(100):
            found = page.evaluate("document.documentElement.scrollWidth")
            if found <= width:
                return
            page.wait_for_timeout(50)
        pytest.fail(f"{found} pixels on a page of {width}")

    return check


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core."""
    try:
        return read_members(AXE, fetch(AXE), lambda path: path == "axe.min.js")["axe.min.js"].decode()
    except DataError as error:
        pytest.skip(f"no accessibility check: {error}")


@pytest.fixture
def violations(axe: str) -> Callable[..., list[str]]:
    """``violations(page)``: what axe finds against WCAG 2 A and AA; on all of it, or ``within`` these places."""

    def found_on(page: Page, *, within: Sequence[str] = ()) -> list[str]:
        page.evaluate(axe)  # the page allows no script but its own: this one runs from outside
        found: dict[str, Any] = page.evaluate(
            """([rules, places]) => axe.run(
                places.length ? {include: places.map((place) => [place])} : document,
                {runOnly: {type: 'tag', values: rules}},
            )""",
            [["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], list(within)],
        )
        passes = {one["id"] for one in found["passes"]}
        assert "color-contrast" in passes  # it was checked
        assert within or len(passes) > 15
        return [
            f"{one['id']}: {node['html'][:200]} {node['failureSummary']}"
            for one in found["violations"]
            for node in one["nodes"]
        ]

    return found_on
