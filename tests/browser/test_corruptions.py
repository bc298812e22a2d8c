"""Heat map, severity curves and correlations in a real browser: what is shown is what is in the store."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, logit

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.metrics.corruption_error import COMMON, SEVERITIES
from oodometer.report.html.page import page_html, write_report
from oodometer.report.html.sections import correlations, corruptions
from oodometer.stats.bootstrap import Resampling
from oodometer.store.store import open_store
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import study_of

pytestmark = pytest.mark.slow

HOSTILE = "</script><img src=x onerror=alert(1)>"
M, N = 14, 500
MODELS = [HOSTILE, *(f"model-{at:02d}" for at in range(1, M))]
CATEGORIES = ["standard" if at % 2 else "more data" for at in range(M)]
QUICK = RobustnessOptions(resampling=Resampling(draws=100))


def accuracies() -> dict[str, np.ndarray]:
    """Fourteen models; the first is the best everywhere."""
    rng = np.random.default_rng(0)
    clean = np.sort(expit(rng.uniform(0.5, 2, M)))[::-1]
    found = {"clean": clean, "imagenetv2": expit(logit(clean) - 0.4 + 0.1 * rng.normal(size=M))}
    found |= {"objectnet": expit(logit(clean) - 1 + 0.1 * rng.normal(size=M)), "pgd-linf-2": expit(logit(clean) - 2)}
    for at, name in enumerate(COMMON):
        for severity in SEVERITIES:
            found[f"imagenet-c/{name}/{severity}"] = expit(logit(clean) - (0.2 + 0.02 * at) * severity)
    found |= {f"cifar10-c/fog/{severity}": expit(logit(clean) - 0.1 * severity) for severity in SEVERITIES}
    return {name: np.round(shares * N) / N for name, shares in found.items()}


TABLE = accuracies()


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    """A page of the two sections."""
    folder = tmp_path_factory.mktemp("corruptions")
    store = open_store(str(folder / "runs"), create=True)
    rows = [
        Accuracy(model, condition, float(shares[at]), N, "t.csv")
        for condition, shares in TABLE.items()
        for at, model in enumerate(MODELS)
    ]
    write_table(store, rows)
    origins = {model: Origin(category) for model, category in zip(MODELS, CATEGORIES, strict=True)}
    study = study_of(store, origins=origins, options=QUICK)
    sections = [one for one in (corruptions.section(study), correlations.section(study)) if one]
    place = folder / "report.html"
    write_report(page_html(sections, CATEGORIES, title="Corruptions"), place)
    return place


@pytest.fixture
def opened(browser_page, report):
    browser_page.goto(report.as_uri())
    return browser_page


def show(page, figure):
    """The figure, drawn."""
    found = page.locator(f"#{figure}")
    found.scroll_into_view_if_needed()
    found.locator(".drawing > *").first.wait_for()
    return found


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def test_heat_map_shows_the_means_and_tells_the_interval(opened):
    heat = show(opened, "corruptions-heat")
    rows = heat.locator("tbody tr")
    assert rows.count() == M
    assert rows.first.locator("th").inner_text() == HOSTILE  # the best, and its name is text
    means = [np.mean([TABLE[f"imagenet-c/{name}/{s}"][0] for s in SEVERITIES]) for name in COMMON]
    texts = rows.first.locator("td").all_inner_texts()
    assert texts == [percent(np.mean(means)), *map(percent, means)]
    assert "" not in heat.locator("th").all_inner_texts()  # a head without words is none to those who hear it
    rows.first.locator("td").nth(3).hover()
    tip = heat.get_by_role("status")
    tip.wait_for()
    assert "impulse noise" in tip.inner_text()
    assert f"accuracy {percent(means[2])} %" in tip.inner_text()
    assert "n = 500" in tip.inner_text()


def test_another_severity_errors_and_family_can_be_chosen(opened):
    heat = show(opened, "corruptions-heat")
    first = heat.locator("tbody tr").first
    heat.get_by_label("show").select_option(label="severity 5")
    assert first.locator("td").nth(1).inner_text() == percent(TABLE["imagenet-c/gaussian_noise/5"][0])
    heat.get_by_label("show").select_option(label="corruption error, CE")
    assert heat.locator("thead tr").last.locator("th").nth(1).inner_text() == "mCE"
    heat.get_by_label("family").select_option(label="cifar10-c")
    assert heat.locator("tbody tr").first.locator("td").count() == 1  # fog, which is its own mean
    assert "errors" not in heat.get_by_label("show").inner_html()


def test_models_are_found_and_cells_reached_with_the_arrow_keys(opened):
    heat = show(opened, "corruptions-heat")
    heat.get_by_label("Find a model").fill("model-07")
    heat.locator("tbody tr").nth(1).wait_for(state="detached")
    assert heat.locator("tbody th").all_inner_texts() == ["model-07"]
    heat.locator("tbody td").first.focus()
    opened.keyboard.press("ArrowRight")
    assert opened.evaluate("document.activeElement.cellIndex") == 2
    assert "gaussian noise" in heat.get_by_role("status").inner_text()
    heat.get_by_label("Find a model").fill("nobody")
    heat.get_by_text("No model has that in its name.").wait_for()


def test_colours_change_with_the_theme_and_stay_readable(opened):
    heat = show(opened, "corruptions-heat")
    cells = (
        "[...document.querySelectorAll('#corruptions-heat tbody td')].map((one) => getComputedStyle(one))"
        ".map((one) => [one.backgroundColor, one.color])"
    )
    light = opened.evaluate(cells)
    opened.get_by_role("button", name="Dark").click()
    heat.locator("tbody td").first.wait_for()
    dark = opened.evaluate(cells)
    assert light != dark
    assert min(contrast(*pair) for pair in (*light, *dark)) >= 4.5  # WCAG 2.2, 1.4.3


def contrast(ground: str, ink: str) -> float:
    """As WCAG defines it."""

    def luminance(colour: str) -> float:
        shares = np.array([float(one) for one in colour[colour.index("(") + 1 : -1].split(",")[:3]]) / 255
        linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    low, high = sorted((luminance(ground), luminance(ink)))
    return (high + 0.05) / (low + 0.05)


def lines(page) -> list[dict]:
    return page.evaluate(
        "document.querySelector('#corruptions-severity .js-plotly-plot').data"
        ".filter((one) => one.mode === 'lines+markers').map((one) => ({x: one.x, y: one.y, name: one.name}))"
    )


def test_curves_go_from_clean_to_the_strongest(opened):
    show(opened, "corruptions-severity")
    opened.locator("#corruptions-severity .js-plotly-plot").wait_for()
    drawn = lines(opened)
    assert len(drawn) == 6  # the best five, and the worst
    assert drawn[0]["x"] == [0, 1, 2, 3, 4, 5]
    means = [np.mean([TABLE[f"imagenet-c/{name}/{s}"][0] for name in COMMON]) for s in SEVERITIES]
    assert drawn[0]["y"] == pytest.approx([100 * TABLE["clean"][0], *(100 * one for one in means)], abs=1e-2)
    assert drawn[0]["name"].startswith("&lt;/script&gt;")


def test_curves_of_another_corruption_and_other_models(opened):
    curves = show(opened, "corruptions-severity")
    curves.get_by_role("combobox", name="corruption").select_option(label="fog")
    curves.get_by_role("combobox", name="models").select_option(label="model-07")
    curves.get_by_label("Take away model-01").click()
    drawn = lines(opened)
    assert len(drawn) == 6
    assert drawn[-1]["name"] == "model-07"
    expected = [100 * TABLE["clean"][7], *(100 * TABLE[f"imagenet-c/fog/{s}"][7] for s in SEVERITIES)]
    assert drawn[-1]["y"] == pytest.approx(expected, abs=1e-2)
    curves.get_by_text("The numbers of these lines").click()
    assert curves.locator("details table").inner_text().count("model-07") == 1


def test_correlations_show_r_interval_and_n(opened):
    matrix = show(opened, "correlations-matrix")
    data = opened.evaluate("JSON.parse(document.querySelector('#correlations-matrix > script').textContent)")
    cell = data["levels"][0]["rows"][0]["cells"][0]
    text = matrix.locator("tbody td").first.inner_text()
    assert text.split()[0] == f"{cell[0]:.2f}".replace("-", "−")
    assert f"n = {cell[3]}" in text
    assert cell[3] == 7  # half of the models are more than standard
    matrix.get_by_label("synthetic shifts").select_option(label="every corruption by itself")
    assert matrix.locator("tbody tr").count() == 16


FIGURES = ("corruptions-heat", "corruptions-severity", "correlations-matrix")


def test_nothing_is_wider_than_a_phone(opened, fits):
    opened.set_viewport_size({"width": 390, "height": 800})
    opened.reload()
    for figure in FIGURES:
        show(opened, figure)
    fits(opened, 390)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everyone_can_use_it(opened, violations, fits, theme):
    opened.emulate_media(color_scheme=theme, reduced_motion="reduce")
    for figure in FIGURES:
        show(opened, figure)
    fits(opened, 1280)
    assert violations(opened) == []
