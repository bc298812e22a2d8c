"""Uncertainty, interventions and provenance in a real browser: what is chosen is drawn, with the store's numbers."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

from oodometer.analysis.compare import compare
from oodometer.analysis.metric_request import ScoreOptions
from oodometer.analysis.score import score
from oodometer.report.commands import commands_of, written
from oodometer.report.html.page import page_html
from oodometer.report.html.sections import interventions, provenance, uncertainty
from oodometer.store.cells import cell_as_json
from oodometer.store.checked import put
from oodometer.store.folder import CELL, folder_of
from oodometer.store.index import look
from oodometer.store.store import Store, open_store
from oodometer.study import Study, study_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.slow

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def store(small_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The small store, and images of no class, of which models are less sure."""
    place = tmp_path_factory.mktemp("uncertainty") / "runs"
    shutil.copytree(str(small_store), place)
    found = open_store(str(place))
    unlabelled = np.full(100, -1, dtype=np.int32)
    for cell in look(found).cells:
        if cell.condition_name == "fog/5":
            outside = replace(cell, condition=replace(cell.condition, name="imagenet-o"), n_images=100)
            rows = found.read(cell)
            some = replace(rows, **{name: value[:100] for name, value in vars(rows).items() if value is not None})
            put(found.files, folder_of(outside.key), CELL, "json", json.dumps(cell_as_json(outside)).encode())
            found.write_part(outside.key, 0, 100, replace(some, label=unlabelled, rank=unlabelled))
            found.seal(outside, keep_logits=False)
    return found


@pytest.fixture(scope="module")
def study(store: Store) -> Study:
    return study_of(store)


@pytest.fixture(scope="module")
def report(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of the three sections."""
    sections = [uncertainty.section(study), interventions.section(study), provenance.section(study)]
    place = tmp_path_factory.mktemp("page") / "report.html"
    categories = [model.origin.category for model in study.models]
    place.write_text(page_html([one for one in sections if one], categories, title="Uncertainty"), encoding="utf-8")
    return place


@pytest.fixture
def page(browser_page: Page, report: Path) -> Page:
    browser_page.goto(report.as_uri())
    return browser_page


def figure(page: Page, name: str) -> Locator:
    """The plot of that name, once it is drawn."""
    found = page.locator(f"#{name}")
    found.scroll_into_view_if_needed()
    found.locator(".js-plotly-plot .main-svg").first.wait_for()
    return found


def chooser(plot: Locator, label: str) -> Locator:
    return plot.get_by_role("combobox", name=label, exact=True)


def choose(plot: Locator, label: str, text: str) -> None:
    chooser(plot, label).select_option(label=text)


def drawn(plot: Locator) -> list[dict[str, Any]]:
    """The traces, as they were given to plotly."""
    found: list[dict[str, Any]] = plot.locator(".js-plotly-plot").evaluate(
        "element => element.data.map(one => ({type: one.type, x: one.x, y: one.y, name: one.name, text: one.text}))"
    )
    return found


def curve(store: Store, metric: str, model: str, condition: str) -> list[float]:
    rows = score(store, metrics=[metric]).rows
    return [row.estimate.value for row in rows if (row.model, row.condition) == (model, condition)]


def test_the_reliability_of_the_chosen_model_is_drawn(page: Page, store: Store):
    plot = figure(page, "reliability")
    choose(plot, "Shift", "sketch")
    choose(plot, "Model", HOSTILE)
    lines = [one for one in drawn(plot) if one["type"] == "scatter" and len(one["x"]) > 2]
    assert [one["y"] for one in lines] == [
        pytest.approx(curve(store, "reliability", HOSTILE, condition)) for condition in ("clean", "sketch")
    ]
    counts = [one for one in drawn(plot) if one["type"] == "bar"]
    assert [sum(one["y"]) for one in counts] == [300, 300]
    ece = {row.condition: row.estimate for row in score(store, metrics=["ece"]).rows if row.model == HOSTILE}
    for condition in ("clean", "sketch"):
        assert f"ECE {100 * ece[condition].value:.1f} %" in plot.text_content()


def test_two_models_are_set_beside_each_other(page: Page, store: Store):
    plot = figure(page, "reliability")
    choose(plot, "Model", "plain-a")
    choose(plot, "Beside it", "augmented")
    lines = [one for one in drawn(plot) if one["type"] == "scatter" and len(one["x"]) > 2]
    assert [one["y"] for one in lines[:2]] == [
        pytest.approx(curve(store, "reliability", model, "clean")) for model in ("plain-a", "augmented")
    ]
    plot.get_by_text("The numbers of these bins.").click()
    rows = plot.locator("details table tbody tr")
    rows.first.wait_for()  # the table is made when it is opened
    assert rows.count() == sum(len(one["x"]) for one in lines)
    choose(plot, "Beside it", "no other")  # the table stays open, with the numbers of what is chosen then
    assert rows.count() == sum(len(one["x"]) for one in lines[::2])
    assert set(rows.locator("th").all_inner_texts()) == {"plain-a"}


def test_what_is_chosen_stays_in_the_dark(page: Page, store: Store):
    plot = figure(page, "response")
    choose(plot, "Model in front", "plain-b")
    choose(plot, "Shift", "sketch")
    page.locator("button.theme").click()
    figure(page, "response")
    assert chooser(plot, "Model in front").locator("option:checked").text_content() == "plain-b"
    expected = curve(store, "response-curve", "plain-b", "sketch")
    assert drawn(plot)[-1]["y"] == pytest.approx(expected)  # the model in front is drawn last


def test_images_of_no_class_by_the_chosen_score(page: Page, store: Store):
    plot = figure(page, "ood-histograms")
    choose(plot, "Model", "plain-d")
    choose(plot, "Score", "energy")
    told = score(store, metrics=["auroc", "aupr"], options=ScoreOptions(ood="imagenet-o")).rows
    numbers = {row.metric: row.estimate.value for row in told if row.model == "plain-d"}
    text = plot.text_content()
    assert f"AUROC {100 * numbers['auroc[energy]']:.1f} %" in text
    assert f"AUPR {100 * numbers['aupr[energy]']:.1f} %" in text
    assert "(by chance 25.0 %)" in text  # 100 of 400
    assert [sum(one["y"]) for one in drawn(plot)] == [pytest.approx(1.0), pytest.approx(1.0)]
    plot.get_by_text("The numbers of these bars.").click()
    rows = plot.locator("details table tbody tr")
    rows.first.wait_for()  # the table is made when it is opened
    assert rows.count() == 40


def test_a_model_is_set_against_its_parent(page: Page, store: Store):
    plot = figure(page, "interventions-plot")
    choose(plot, "Shift", "sketch")
    shifted, clean = drawn(plot)[:2]
    (on_sketch,) = compare(store, "plain-c", "augmented", on="sketch")
    (on_clean,) = compare(store, "plain-c", "augmented", on="clean")
    assert shifted["x"] == [pytest.approx(100 * on_sketch.difference.value)]
    assert clean["x"] == [pytest.approx(100 * on_clean.difference.value)]
    assert "from plain-c" in plot.text_content()
    table = page.locator("#interventions-table")
    table.get_by_label("Search").fill("sketch")
    shown = table.locator("tbody tr:visible")
    assert shown.count() == 1
    p_value = "< 0.0001" if on_sketch.p_value < 0.0001 else f"{on_sketch.p_value:.4f}"
    assert p_value in shown.locator("td").all_text_contents()


def test_commands_and_models_can_be_read_and_searched(page: Page, study: Study):
    said = page.locator("pre.commands").all_text_contents()
    for one, text in zip(commands_of(study), said, strict=True):
        assert text.splitlines() == [line for words in one.lines for line in written(words).splitlines()]
    table = page.locator("#models")
    table.get_by_label("Search").fill("augm")
    assert table.locator("tbody tr:visible").count() == 1


PLOTS = ("reliability", "response", "ood-histograms", "interventions-plot")


def test_nothing_is_wider_than_a_phone(page: Page, fits):
    page.set_viewport_size({"width": 390, "height": 800})
    for name in PLOTS:
        plot = figure(page, name)
        fits(page, 390)
        wide = plot.locator(".js-plotly-plot").bounding_box()
        assert wide is not None
        assert wide["x"] >= 0, name
        assert wide["x"] + wide["width"] <= 390, name


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everyone_can_use_scores_of_no_class(
    page: Page, violations: Callable[..., list[str]], theme: Literal["light", "dark"]
):
    """All else on this page is also in the report of the small store, which is checked as a whole."""
    page.emulate_media(color_scheme=theme)
    plot = figure(page, "ood-histograms")
    plot.locator("details.numbers > summary").click()
    plot.locator("details table tbody tr").first.wait_for()  # the table is made when it is opened
    assert violations(page, within=["#ood-histograms", "#ood"]) == []
