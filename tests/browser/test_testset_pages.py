"""The pages of a test set beside annotation in a real browser: by keyboard, by touch, without scripts, for everyone."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from answering import answering
from oodometer.build.testset.project.annotators import add_workers
from oodometer.build.testset.project.close_pairs import thresholds_of, verdicts
from oodometer.build.testset.project.exclusions import exclusions
from oodometer.build.testset.project.pair_list import PairFilter, listed_pairs
from oodometer.build.testset.project.pool import CANDIDATE, ORIGINAL, pool_images
from oodometer.build.testset.project.project import Project, open_project
from oodometer.build.testset.project.quiz import answers_in_quiz, make_quiz
from oodometer.build.testset.project.revisions import chosen_of, reviewed_classes, revisions
from sampled_testset import HOSTILE, PER_CLASS, sampled_project

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

PATHS = (
    "/",
    "/pairs",
    "/pairs/thresholds",
    "/review",
    "/review/owl?frequencies=1",
    "/revisions",
    "/results/quiz",
    "/quiz",
)


@pytest.fixture(scope="module")
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
def token(project: Project) -> str:
    """Of a worker who is to name three images of each set."""
    keys = {role: [image.key for image in pool_images(project, role=role)] for role in (ORIGINAL, CANDIDATE)}
    make_quiz(project, keys[ORIGINAL][:3], keys[CANDIDATE][:3])
    (made,) = add_workers(project, 1)
    return made


@pytest.fixture
def address(project: Project, browser_page: Page) -> Iterator[str]:
    """Where its pages are."""
    pytest.importorskip("uvicorn")
    from oodometer.explorer.testset.app import app_of
    from oodometer.explorer.testset.pages import Pages

    with answering(app_of(Pages(project))) as found:
        yield found
        browser_page.goto("about:blank")  # what the last page still asks for would find nobody


def press(page: Page, key: str) -> None:
    """A key that leads to another page."""
    with page.expect_navigation(wait_until="networkidle"):
        page.keyboard.press(key)


def open_pairs(project: Project) -> list[int]:
    return [pair.id for pair in listed_pairs(project, PairFilter(state="open"))[0]]


def shown_pair(page: Page) -> int:
    return int(page.locator("input[name=pair]").first.input_value())


def test_pairs_are_judged_by_keyboard(browser_page: Page, address: str, project: Project) -> None:
    page, (first, second, third, *_) = browser_page, open_pairs(project)
    page.goto(f"{address}/pairs", wait_until="networkidle")
    assert shown_pair(page) == first
    for image in page.locator(".two img").all():
        assert image.evaluate("image => image.complete && image.naturalWidth") >= 64  # the whole width of the file
    press(page, "d")
    assert shown_pair(page) == second
    press(page, "n")
    assert shown_pair(page) == third
    assert sorted(said[3] for said in verdicts(project)) == ["different", "duplicate"]
    press(page, "u")
    assert shown_pair(page) == second
    assert [said[3] for said in verdicts(project)] == ["duplicate"]
    press(page, "ArrowRight")
    assert shown_pair(page) == third
    press(page, "ArrowLeft")
    assert shown_pair(page) == second


def test_the_other_image_is_mirrored(browser_page: Page, address: str) -> None:
    page = browser_page
    page.goto(f"{address}/pairs")
    before = page.locator("#second.mirrored").count()
    page.keyboard.press("m")
    assert page.locator("#second.mirrored").count() == 1 - before


def test_a_choice_of_pairs_needs_no_button(browser_page: Page, address: str) -> None:
    page = browser_page
    page.goto(f"{address}/pairs")
    with page.expect_navigation():
        page.get_by_label("Found by").select_option("structure")
    assert "metric=structure" in page.url
    assert page.locator("form.filters button[type=submit]").is_hidden()


def test_a_slider_tells_how_many_are_on_both_sides(browser_page: Page, address: str, project: Project) -> None:
    page = browser_page
    page.goto(f"{address}/pairs/thresholds")
    part = page.locator(".threshold", has=page.get_by_role("heading", name="pixels", exact=True))
    counts = part.locator("output b")
    total = sum(int(text.replace(",", "")) for text in counts.all_inner_texts())
    slider = part.get_by_role("slider")
    slider.focus()
    page.keyboard.press("Home")
    assert counts.all_inner_texts() == ["0", f"{total:,}"]
    page.keyboard.press("End")
    assert counts.all_inner_texts() == [f"{total:,}", "0"]
    for _ in range(300):
        page.keyboard.press("ArrowLeft")
    radius = float(part.get_by_role("spinbutton").input_value())
    below = sum(
        pair.distances["pixels"] <= radius
        for pair in listed_pairs(project, PairFilter("pixels", "open", float("inf")), most=10**6)[0]
    )
    assert counts.first.inner_text() == f"{below:,}"  # counted from the list of pairs
    with page.expect_navigation():
        page.get_by_role("button", name="Keep these thresholds").click()
    assert thresholds_of(project)["pixels"] == radius


def focused_key(page: Page) -> str:
    return str(page.evaluate("document.activeElement.value"))


def keys(project: Project, name: str = "owl", revision: int = 1) -> list[str]:
    return [image.key for image in chosen_of(project, revision) if image.class_name == name]


def test_a_class_is_reviewed_by_keyboard(browser_page: Page, address: str, project: Project) -> None:
    page, (first, second, third, *_) = browser_page, keys(project)
    page.goto(f"{address}/review/owl", wait_until="networkidle")
    page.keyboard.press("ArrowRight")
    assert focused_key(page) == first
    press(page, "5")  # the one in focus, since none is selected
    assert [(one.key, one.reason) for one in exclusions(project)] == [(first, "blurry")]
    assert focused_key(page) == first
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert "the 2 selected images" in page.locator("#what").inner_text()
    press(page, "d")
    assert {frozenset((key, other)) for key, _, other, _ in verdicts(project)} == {frozenset((second, third))}
    page.goto(f"{address}/review/owl")
    page.locator("li.out").get_by_role("button", name="Take back").click()
    page.wait_for_url("**/review/owl#*")
    assert exclusions(project) == []
    press(page, "r")
    assert page.url == f"{address}/review/duck"
    assert reviewed_classes(project, 1) == {"owl"}


def test_arrows_lead_from_row_to_row_and_to_the_originals(browser_page: Page, address: str, project: Project) -> None:
    page = browser_page
    page.goto(f"{address}/review/owl", wait_until="networkidle")
    chosen = keys(project)
    page.keyboard.press("ArrowRight")
    for key in chosen[1:]:
        page.keyboard.press("ArrowRight")
        assert focused_key(page) == key
    page.keyboard.press("ArrowRight")
    assert focused_key(page).startswith("o")
    page.keyboard.press("ArrowDown")
    assert focused_key(page).startswith("o")


def test_an_image_is_enlarged_and_closed(browser_page: Page, address: str, project: Project) -> None:
    page = browser_page
    page.goto(f"{address}/review/owl")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Large image")
    assert dialog.locator("img").get_attribute("src") == f"/picture/large/{keys(project)[0]}"
    page.keyboard.press("5")  # not while an image is looked at
    page.keyboard.press("Escape")
    assert dialog.is_hidden()
    assert focused_key(page) == keys(project)[0]
    assert exclusions(project) == []


def test_own_words_and_sampling_again(browser_page: Page, address: str, project: Project) -> None:
    page, (first, *_) = browser_page, keys(project)
    page.goto(f"{address}/review/owl")
    page.locator("label", has=page.locator(f"#image-{first}")).click()
    page.get_by_placeholder("another reason").fill("a <b>toy</b> 1")
    press(page, "Enter")
    assert [(one.key, one.reason) for one in exclusions(project)] == [(first, "a <b>toy</b> 1")]
    assert page.get_by_text("out: a <b>toy</b> 1").is_visible()
    page.goto(f"{address}/review")
    press(page, "s")
    assert page.get_by_role("heading", name="Review of revision 2").is_visible()
    assert first not in keys(project, revision=2)
    assert len(keys(project, revision=2)) == PER_CLASS
    press(page, "s")
    assert page.get_by_text("Nothing changed").is_visible()
    assert len(revisions(project)) == 2
    page.goto(f"{address}/revisions")
    page.get_by_role("button", name="What changed").click()
    page.wait_for_url("**/difference?older=1&newer=2")
    assert page.get_by_text("1 went, 1 came").is_visible()
    assert page.locator("section", has_text="Went").get_by_text("a <b>toy</b> 1").first.is_visible()


def test_the_keys_are_listed(browser_page: Page, address: str) -> None:
    page = browser_page
    page.goto(f"{address}/review/owl")
    page.keyboard.press("?")
    told = page.get_by_role("dialog", name="Keys").inner_text()
    for words in ("reviewed, and on to the next class", "exclude: blurry", "enlarge"):
        assert words in told


def name_image(page: Page, *typed: str) -> None:
    """Type names, each until it is the first that is offered, and go on."""
    for text in typed:
        page.keyboard.type(text)
        page.keyboard.press("Enter")
    with page.expect_navigation(wait_until="networkidle"):
        page.keyboard.press("Enter")


def test_images_are_named_by_keyboard(browser_page: Page, address: str, project: Project, token: str) -> None:
    page = browser_page
    page.goto(f"{address}/quiz?worker={token}", wait_until="networkidle")
    name_image(page, "du", "OW")
    assert [said[4] for said in answers_in_quiz(project)] == [("duck", "owl")]
    shown = page.locator(".pictured img").get_attribute("src")
    press(page, "Escape")
    assert () in [said[4] for said in answers_in_quiz(project)]
    press(page, "Control+z")
    assert page.locator(".pictured img").get_attribute("src") == shown
    name_image(page, "<b>o/x")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")  # the second of the list
    assert page.locator(".chosen li").all_inner_texts() == ["cat\n×"]
    page.keyboard.press("Backspace")
    assert page.locator(".chosen li").count() == 0
    for _ in range(4):
        name_image(page, "cat")
    assert page.get_by_role("heading", name="Thank you").is_visible()
    said = [names for *_, names in answers_in_quiz(project)]
    assert sorted(said) == sorted([("duck", "owl"), (HOSTILE,), *[("cat",)] * 4])
    page.goto(f"{address}/quiz/results")
    assert page.get_by_text("named by 1 person").is_visible()


def test_what_is_no_class_is_not_taken(browser_page: Page, address: str, project: Project, token: str) -> None:
    page = browser_page
    page.goto(f"{address}/quiz?worker={token}", wait_until="networkidle")
    page.keyboard.type("zebra")
    page.keyboard.press("Enter")
    assert page.get_by_text("No class is called that.").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    assert page.get_by_text("Type what it is").last.is_visible()
    assert answers_in_quiz(project) == []


def test_everything_goes_without_scripts(chromium: Browser, address: str, project: Project, token: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/pairs")
    page.get_by_role("button", name="Different").click()
    assert [said[3] for said in verdicts(project)] == ["different"]
    page.goto(f"{address}/review/owl")
    page.get_by_label("Chosen image 1", exact=True).check()
    page.get_by_role("button", name="drawing").click()
    assert [one.reason for one in exclusions(project)] == ["drawing"]
    page.get_by_role("button", name="Reviewed, next").click()
    assert reviewed_classes(project, 1) == {"owl"}
    page.goto(f"{address}/review")
    page.get_by_role("button", name="Sample again").click()
    assert len(revisions(project)) == 2
    page.goto(f"{address}/quiz?worker={token}")
    page.locator("#classes").select_option(["owl", "cat"])
    page.get_by_role("button", name="Next").click()
    assert [set(said[4]) for said in answers_in_quiz(project)] == [{"owl", "cat"}]
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1440, "light"), (1440, "dark")])
def test_pages_fit_and_are_for_everyone(
    chromium: Browser,
    address: str,
    token: str,
    fits: Callable[[Page, int], None],
    violations: Callable[..., list[str]],
    width: int,
    scheme: str,
) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{address}/quiz?worker={token}")
    for path in (*PATHS, "/revisions/difference?older=1&newer=1"):
        page.goto(f"{address}{path}", wait_until="networkidle")
        fits(page, width)
        assert violations(page) == [], path
    context.close()
