"""The scatter plot and the quadrants in a real browser: the numbers are the store's, and all of it can be used."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import numpy as np
import pytest
from scipy.special import expit, logit, ndtr, ndtri

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.core.estimate import Estimate
from oodometer.report.html.page import page_html
from oodometer.report.html.sections import quadrants, scatter
from oodometer.report.palette import UNKNOWN
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.lines import fit_line
from oodometer.store.store import Store, open_store
from oodometer.store.tables import parse_table, write_table
from oodometer.study import Study, study_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.slow

OPTIONS = RobustnessOptions(resampling=Resampling(draws=200))
SCALES = {"linear": (np.array, np.array), "logit": (logit, expit), "probit": (ndtri, ndtr)}
MINUS = "\N{MINUS SIGN}"


# ---- pages ----


def page_of(study: Study, folder: Path) -> Path:
    """A page of the two sections alone."""
    place = folder / "page.html"
    sections = [one for one in (scatter.section(study), quadrants.section(study)) if one]
    categories = [model.origin.category or UNKNOWN for model in study.models]
    place.write_text(page_html(sections, categories, title="A study"), encoding="utf-8")
    return place


def open_page(page: Page, place: Path, address: str = "") -> None:
    """Open such a page, and wait until the scatter is drawn."""
    page.goto(f"{place.as_uri()}{address}")
    drawn(page, "scatter")


def open_study(page: Page, study: Study, folder: Path) -> None:
    open_page(page, page_of(study, folder))


def drawn(page: Page, name: str) -> Locator:
    """The plot, drawn."""
    figure = page.locator(f"#{name}-plot")
    figure.scroll_into_view_if_needed()
    figure.locator(".js-plotly-plot .main-svg").first.wait_for()
    page.wait_for_timeout(150)  # names of points come after the points
    return figure


@pytest.fixture(scope="session")
def small_study(small_store: Store) -> Study:
    return study_of(small_store, options=OPTIONS)


@pytest.fixture(scope="session")
def small_place(small_study: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page_of(small_study, tmp_path_factory.mktemp("scatter"))


@pytest.fixture
def table_study(tmp_path: Path) -> Callable[..., Study]:
    """A study of a table: columns as arrays, and categories."""

    def make(columns: dict[str, Any], origins: dict[str, Origin] | None = None) -> Study:
        n = len(next(iter(columns.values())))
        lines = [",".join([f"m{row}", *(str(float(one[row])) for one in columns.values())]) for row in range(n)]
        store = open_store(str(tmp_path / "table"), create=True)
        write_table(store, parse_table("\n".join([",".join(["model", *columns]), *lines]), source="t.csv", n=2000))
        return study_of(store, origins=origins or {f"m{row}": Origin("standard") for row in range(n)}, options=OPTIONS)

    return make


def written(share: float) -> str:
    return f"{100 * share:.1f}".replace("-", MINUS)


def points(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", MINUS)


def accuracy(one: Estimate) -> str:
    return f"{written(one.value)} % [{written(one.low or 0)}, {written(one.high or 0)}], n = {one.n:,}"


def traces(figure: Locator) -> list[dict[str, Any]]:
    """The marks as plotly has them: a dictionary for each category."""
    found: list[dict[str, Any]] = figure.locator(".js-plotly-plot").evaluate(
        """plot => plot.data.filter(one => one.mode === "markers").map(one => ({
          name: one.name, x: one.x, y: one.y, text: one.text, symbols: [].concat(one.marker.symbol),
          opacity: [].concat(one.marker.opacity), bars: one.error_x.visible !== false,
        }))"""
    )
    return found


def pressed(figure: Locator, group: str) -> list[str]:
    return figure.locator(f"[role=group][aria-label='{group}'] button[aria-pressed=true]").all_text_contents()


def unfold(figure: Locator) -> None:
    """Show what is seldom chosen."""
    figure.get_by_text("Axes and scale").click()


# ---- the plot ----


@pytest.fixture
def scripts(browser_page: Page, small_place: Path) -> Page:
    """The page of the small study."""
    open_page(browser_page, small_place)
    return browser_page


def test_points_and_labels_are_the_stores_numbers(scripts, small_study):
    shift = small_study.shifts[0]
    figure = drawn(scripts, "scatter")
    found = {}
    for trace in traces(figure):
        for x, y, text in zip(trace["x"], trace["y"], trace["text"], strict=True):
            found[text.split("</b>")[0].removeprefix("<b>").replace("<br>", "")] = (x, y, text)
    assert len(found) == len(shift.points.models)
    for point in shift.points.models:
        name = point.model.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        x, y, text = found[name]
        assert (x, y) == pytest.approx((logit(point.x[0].value), logit(point.y.value)), abs=1e-12)
        assert accuracy(point.x[0]) in text
        assert accuracy(point.y) in text
        rho = shift.of_model[point.model].rho
        assert f"ρ: {points(rho.value)} points [{points(rho.low)}, {points(rho.high)}]" in text
    # and the sentence below tells of the line
    fitted = shift.robustness.fitted
    said = figure.locator(".below").inner_text()
    slope = fitted.slope
    assert f"slope {slope.value:.2f} [{slope.low:.2f}, {slope.high:.2f}]".replace("-", MINUS) in said
    assert f"through {fitted.n} models of category standard, R² = {fitted.r2:.2f} on the logit scale" in said
    assert f"{len(small_study.models)} models are drawn" in said


def test_the_line_is_drawn_where_python_draws_it(scripts, small_study):
    fitted = small_study.shifts[0].robustness.fitted
    figure = drawn(scripts, "scatter")
    find = """plot => { const one = plot.data.find(one => one.mode === "lines" && one.line.width > 2);
        return [one.x, one.y]; }"""
    unfold(figure)
    for scale, (to, back) in SCALES.items():
        figure.get_by_role("button", name=scale).click()
        scripts.wait_for_timeout(300)
        x, y = (np.array(one) for one in figure.locator(".js-plotly-plot").evaluate(find))
        expected = expit(fitted.slope.value * logit(back(x)) + fitted.intercept.value)
        assert len(x) > 40
        assert y == pytest.approx(to(expected), abs=1e-9)


def test_any_pair_has_pythons_line(scripts, small_study):
    data = scatter.section(small_study).parts[0].data
    for scale in SCALES:
        has_pythons_line(scripts, small_study, {**data, "scale": scale})


def has_pythons_line(page, study, data):
    names = [column["name"] for column in data["columns"]]
    x, y = study.condition("fog/2"), study.condition("sketch")
    here = page.evaluate(
        "([data, x, y]) => { const { made, line, rho } = oodometer.scatter.chosenPair(data, x, y); "
        "return { made, line, rho }; }",
        [json.loads(json.dumps(data)), names.index("fog/2"), names.index("sketch")],
    )
    standard = [model.name for model in study.models if model.origin.category == "standard"]
    line = fit_line(
        np.array([x.accuracies[name].value for name in standard]),
        np.array([y.accuracies[name].value for name in standard]),
        scale=data["scale"],
    )
    assert here["made"] is True
    assert here["line"]["n"] == line.n == len(standard)
    assert here["line"]["pieces"][0]["slope"] == pytest.approx(line.slope, abs=1e-9)
    assert here["line"]["pieces"][0]["intercept"] == pytest.approx(line.intercept, abs=1e-9)
    for at, model in enumerate(data["models"]):
        expected = y.accuracies[model].value - float(line.at(x.accuracies[model].value))
        assert here["rho"][str(at)] == [pytest.approx(expected, abs=1e-9), None, None]


def test_axes_are_chosen_and_the_address_keeps_it(scripts, small_place):
    figure = drawn(scripts, "scatter")
    unfold(figure)
    figure.get_by_label("Horizontal axis").select_option(label="fog/2")
    figure.get_by_label("Vertical axis").select_option(label="sketch")
    figure.get_by_role("button", name="probit").click()
    figure.get_by_role("checkbox", name="Intervals").uncheck()
    scripts.wait_for_timeout(300)
    assert "made in this page" in figure.locator(".below").inner_text()
    address = scripts.evaluate("location.hash")
    assert parse_qs(address.removeprefix("#scatter?")) == {
        "x": ["fog/2"],
        "y": ["sketch"],
        "scale": ["probit"],
        "bars": ["0"],
    }
    before = traces(figure)
    scripts.goto("about:blank")
    open_page(scripts, small_place, address)
    again = drawn(scripts, "scatter")
    assert traces(again) == before
    assert pressed(again, "Scale") == ["probit"]
    assert scripts.locator("#scatter").is_visible()


def test_what_was_unfolded_stays_so_for_who_chooses_at_once(scripts):
    figure = drawn(scripts, "scatter")
    # In one task, so that the event of the fold itself can't have come in between.
    figure.get_by_text("Axes and scale").evaluate(
        """summary => {
            summary.click();
            const select = summary.parentElement.querySelector("select");
            select.dispatchEvent(new Event("change", { bubbles: true }));
        }"""
    )
    assert figure.locator("details.more").evaluate("one => one.open")
    assert figure.get_by_label("Vertical axis").is_visible()


def test_shifts_have_buttons(scripts, small_study):
    figure = drawn(scripts, "scatter")
    for shift in small_study.shifts:
        figure.get_by_role("group", name="Shift").get_by_role("button", name=shift.name, exact=True).click()
        assert pressed(figure, "Shift") == [shift.name]
        assert figure.get_by_label("Horizontal axis").evaluate("one => one.selectedOptions[0].text") == shift.standard
    # the keyboard's focus stays where it was
    assert scripts.evaluate("document.activeElement.textContent") == small_study.shifts[-1].name


def test_categories_and_names_are_chosen(scripts):
    figure = drawn(scripts, "scatter")
    assert [one["name"] for one in traces(figure)] == ["standard", "robust intervention"]
    legend = figure.get_by_role("group", name="Categories shown")
    legend.get_by_role("button", name="robust intervention").click()
    assert [one["name"] for one in traces(figure)] == ["standard"]
    assert "5 of 6 models are drawn" in figure.locator(".below").inner_text()
    legend.get_by_role("button", name="robust intervention").click()
    figure.get_by_label("Find models").fill("PLAIN-b")
    scripts.wait_for_timeout(500)
    bright = {
        text.split("</b>")[0]
        for one in traces(figure)
        for text, opacity in zip(one["text"], one["opacity"], strict=True)
        if opacity > 0.5
    }
    assert bright == {"<b>plain-b"}
    assert "1 of them fit “PLAIN-b”" in figure.locator(".below").inner_text()
    assert scripts.evaluate("document.activeElement.value") == "PLAIN-b"


def test_a_point_tells_its_name(scripts):
    figure = drawn(scripts, "scatter")
    box = figure.locator(".scatterlayer .trace").last.locator(".point").first.bounding_box()
    assert box
    scripts.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    label = figure.locator(".hoverlayer .hovertext")
    label.wait_for()
    assert "augmented" in (label.text_content() or "")


def test_the_table_has_what_is_chosen(scripts, small_study):
    figure = drawn(scripts, "scatter")
    figure.get_by_text("The numbers of what is chosen").click()
    rows = figure.locator("tbody tr")
    rows.first.wait_for()
    assert rows.count() == len(small_study.models)
    shift = small_study.shifts[0]
    best = max(shift.points.models, key=lambda one: one.y.value)
    cells = rows.first.locator("th, td").all_inner_texts()
    assert cells[0] == best.model
    for cell, one in ((cells[2], best.x[0]), (cells[3], best.y)):
        assert cell == f"{written(one.value)}[{written(one.low)}, {written(one.high)}]"
    rho = shift.of_model[best.model].rho
    assert cells[4] == f"{points(rho.value)}[{points(rho.low)}, {points(rho.high)}]"


def test_light_and_dark_keep_what_is_chosen(scripts):
    figure = drawn(scripts, "scatter")
    unfold(figure)
    figure.get_by_role("button", name="linear").click()
    scripts.get_by_role("button", name="Dark").click()
    scripts.wait_for_timeout(500)
    assert pressed(drawn(scripts, "scatter"), "Scale") == ["linear"]


def overlaps(figure: Locator) -> list[tuple[str, str]]:
    """Pairs of names beside points that lie on each other."""
    texts = figure.locator(".annotation-text")
    boxes = [(one.text_content() or "", one.bounding_box()) for one in texts.all()]
    return [(name, other) for (name, a), (other, b) in combinations(boxes, 2) if a and b and _cross(a, b)]


def _cross(a: Any, b: Any) -> bool:
    return bool(
        a["x"] < b["x"] + b["width"]
        and b["x"] < a["x"] + a["width"]
        and a["y"] < b["y"] + b["height"]
        and b["y"] < a["y"] + a["height"]
    )


@pytest.mark.parametrize("width", [1280, 390])
def test_names_do_not_overlap(scripts, fits, width):
    scripts.set_viewport_size({"width": width, "height": 900})
    scripts.wait_for_timeout(600)
    for name in ("scatter", "quadrants"):
        figure = drawn(scripts, name)
        assert figure.locator(".annotation-text").count() > 0
        assert overlaps(figure) == []
    fits(scripts, width)


def test_zooming_brings_finer_ticks(scripts):
    figure = drawn(scripts, "scatter")
    ticks = "plot => plot._fullLayout.xaxis.ticktext"
    before = figure.locator(".js-plotly-plot").evaluate(ticks)
    low, high = figure.locator(".js-plotly-plot").evaluate("plot => plot._fullLayout.xaxis.range")
    middle = (low + high) / 2
    figure.locator(".js-plotly-plot").evaluate(
        "(plot, range) => Plotly.relayout(plot, {'xaxis.range': range})", [middle, middle + (high - low) / 50]
    )
    scripts.wait_for_timeout(300)
    after = figure.locator(".js-plotly-plot").evaluate(ticks)
    assert after != before
    assert len(after) >= 3


def test_quick_clicks_end_with_the_last_one(scripts, small_study):
    figure = drawn(scripts, "scatter")
    figure.evaluate("one => { for (const name of ['linear', 'probit', 'linear', 'logit', 'probit']) "
                    "one.querySelector(`[data-value=${name}]`).click(); }")  # fmt: skip
    scripts.wait_for_timeout(500)
    assert pressed(figure, "Scale") == ["probit"]
    clean = [point.x[0].value for point in small_study.shifts[0].points.models]
    assert sorted(x for one in traces(figure) for x in one["x"]) == pytest.approx(sorted(ndtri(clean)))
    listening = "plot => plot._ev.listenerCount('plotly_afterplot')"
    assert figure.locator(".js-plotly-plot").evaluate(listening) == 1


def test_addresses_that_mean_nothing_are_passed_over(browser_page, small_study, small_place):
    hostile = "#scatter?x=<img%20src=x>&y=nothing&scale=cubic&hide=nobody&bars=1"
    open_page(browser_page, small_place, hostile)
    figure = drawn(browser_page, "scatter")
    assert pressed(figure, "Scale") == ["logit"]
    assert pressed(figure, "Shift") == [small_study.shifts[0].name]


def test_long_names_are_broken_after_a_sign(scripts):
    expected = {
        "resnet50": "resnet50",
        "a_long-name.of/a model": "a_long-<br>name.of/a <br>model",
        "x" * 25: "xxxxxxxxxx<br>xxxxxxxxxx<br>xxxxx",
        "<b>&": "&lt;b&gt;&amp;",
    }
    assert scripts.evaluate("names => names.map(one => oodometer.labels.wrapped(one, 10))", [*expected]) == [
        *expected.values()
    ]


def test_models_at_0_and_100_sit_on_the_edge(browser_page, tmp_path, table_study):
    columns = {"clean": [1.0, 0.9, 0.8, 0.7, 0.6], "shifted": [0.9, 0.7, 0.62, 0.5, 0.0]}
    open_study(browser_page, table_study(columns), tmp_path)
    figure = drawn(browser_page, "scatter")
    (trace,) = traces(figure)
    assert trace["symbols"] == ["circle-open", "circle", "circle", "circle", "circle-open"]
    axes = figure.locator(".js-plotly-plot").evaluate("plot => [plot.layout.xaxis.range, plot.layout.yaxis.range]")
    assert trace["x"][0] == axes[0][1]
    assert trace["y"][-1] == axes[1][0]
    said = figure.locator(".below").inner_text()
    assert "2 models are at exactly 0 or 100 %, which has no place on a logit axis" in said
    assert "through 3 models of category standard (2 more at exactly 0 or 100 % left out)" in said
    unfold(figure)
    figure.get_by_role("button", name="linear").click()
    browser_page.wait_for_timeout(300)
    (trace,) = traces(figure)
    assert set(trace["symbols"]) == {"circle"}
    assert trace["x"][0] == 1.0


def test_two_models_have_no_line_and_say_why(browser_page, tmp_path, table_study):
    study = table_study({"clean": [0.9, 0.8], "shifted": [0.6, 0.5]})
    open_study(browser_page, study, tmp_path)
    figure = drawn(browser_page, "scatter")
    assert f"There is no line here: {study.shifts[0].why}" in figure.locator(".below").inner_text()
    assert len(traces(figure)[0]["x"]) == 2
    assert "no relative robustness" in browser_page.locator("section", has_text="Effective against").inner_text()


@pytest.mark.parametrize("n", [4, 5])
def test_a_line_through_few_models_is_grey_and_says_so(browser_page, tmp_path, table_study, n):
    study = table_study({"clean": np.linspace(0.6, 0.9, n), "shifted": np.linspace(0.4, 0.72, n) ** 1.1})
    open_study(browser_page, study, tmp_path)
    figure = drawn(browser_page, "scatter")
    line = "plot => plot.data.find(one => one.mode === 'lines' && !one.line.dash && one.line.width > 1).line.color"
    colours = browser_page.evaluate("[oodometer.theme.soft, oodometer.theme.ink]")
    assert figure.locator(".js-plotly-plot").evaluate(line) == colours[0 if n < 5 else 1]
    said = figure.locator(".below").inner_text()
    assert ("It is grey: through fewer than five models" in said) == (n < 5)
    assert ("the line through 4 models only" in figure.locator(".keys").inner_text()) == (n < 5)


def test_a_plot_and_its_controls_fit_a_screen_of_900_pixels(scripts):
    for name in ("scatter", "quadrants"):
        places = drawn(scripts, name).evaluate(
            "figure => [figure.querySelector('.controls'), figure.querySelector('.js-plotly-plot')]"
            ".map((one) => one.getBoundingClientRect())"
        )
        bar = scripts.locator("header.bar").evaluate("bar => bar.clientHeight")
        assert places[1]["bottom"] - places[0]["top"] + bar < 900, name


def test_a_knee_is_drawn(browser_page, tmp_path, table_study):
    clean = np.linspace(0.5, 0.9, 9)
    columns = {"val-on-imagenet-a-classes": clean, "imagenet-a": clean**4 + 0.01 * np.sin(np.arange(9)) + 0.02}
    study = table_study(columns)
    study = study_of(study.index, origins={f"m{at}": Origin("standard") for at in range(9)},
                     options=RobustnessOptions(knee=0.71, resampling=Resampling(draws=100)))  # fmt: skip
    open_study(browser_page, study, tmp_path)
    figure = drawn(browser_page, "scatter")
    assert "a knee of 71.0\N{NO-BREAK SPACE}%" in figure.locator(".below").inner_text()
    shapes = figure.locator(".js-plotly-plot").evaluate("plot => plot.layout.shapes.map(one => one.x0)")
    assert shapes == [pytest.approx(logit(0.71))]
    lines = figure.locator(".js-plotly-plot").evaluate(
        "plot => plot.data.filter(one => one.mode === 'lines' && one.line.width > 2).length"
    )
    assert lines == 2


def test_many_shifts_are_stepped_through(browser_page, tmp_path, table_study):
    clean = np.linspace(0.5, 0.9, 6)
    study = table_study({"clean": clean, **{f"set{at}": clean**2 + 0.01 * at for at in range(10)}})
    open_study(browser_page, study, tmp_path)
    figure = drawn(browser_page, "scatter")
    chosen = "one => one.selectedOptions[0].text"
    for shift in study.shifts[1:]:
        figure.get_by_role("button", name="Next shift").click()
        assert figure.get_by_role("combobox", name="Shift").evaluate(chosen) == shift.name
    figure.get_by_role("button", name="Next shift").click()
    assert figure.get_by_role("combobox", name="Shift").evaluate(chosen) == study.shifts[0].name
    figure.get_by_role("button", name="Previous shift").click()
    assert figure.get_by_role("combobox", name="Shift").evaluate(chosen) == study.shifts[-1].name


# ---- the quadrants ----


def test_quadrants_are_rho_and_tau(scripts, small_study):
    figure = drawn(scripts, "quadrants")
    one = small_study.shifts[0].of_model["augmented"]
    (trace,) = traces(figure)
    assert (trace["x"][0], trace["y"][0]) == pytest.approx((one.rho.value, one.tau.value), abs=1e-5)
    assert f"τ: {points(one.tau.value)} points [{points(one.tau.low)}, {points(one.tau.high)}]" in trace["text"][0]
    assert "made from plain-c" in trace["text"][0]
    figure.get_by_role("group", name="Shift").get_by_role("button", name=small_study.shifts[1].name, exact=True).click()
    other = small_study.shifts[1].of_model["augmented"]
    assert traces(figure)[0]["y"][0] == pytest.approx(other.tau.value, abs=1e-5)
    figure.get_by_text("The numbers of what is chosen").click()
    row = figure.locator("tbody tr").first
    row.wait_for()  # the table is made when it is opened
    cells = row.locator("th, td").all_inner_texts()
    assert (cells[0], cells[2]) == ("augmented", "plain-c")
    assert cells[4].split("[")[0] == points(other.tau.value)


# ---- the testbed's table ----


def test_338_models_on_213_conditions(browser_page, testbed_report):
    browser_page.goto(testbed_report.as_uri())
    figure = drawn(browser_page, "scatter")
    size = len(figure.locator(":scope > script").evaluate("one => one.textContent"))
    assert size < 3_000_000
    assert sum(len(one["x"]) for one in traces(figure)) > 320
    assert overlaps(figure) == []
    looks = [(one["name"], one["symbols"][0]) for one in traces(figure)]
    assert len({symbol for _, symbol in looks}) == len(looks)  # told apart without colour
