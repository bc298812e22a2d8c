"""The arithmetic of the page's plots, in a real browser: scales as scipy's, lines and bands as Python's."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import expit, logit, ndtr, ndtri

from oodometer.report.html.scatter_data import student_quantiles
from oodometer.stats.line_intervals import band_of, line_spread
from oodometer.stats.lines import fit_line

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

SCALES = {"linear": (np.array, np.array), "logit": (logit, expit), "probit": (ndtri, ndtr)}


@pytest.fixture(scope="module")
def arithmetic(chromium: Browser) -> Iterator[Page]:
    """A page with nothing on it but the scales and lines."""
    page = chromium.new_page()
    script = files("oodometer.report.html").joinpath("static", "scales.js").read_text("utf-8")
    page.evaluate(f"window.oodometer = {{}};\n{script}")
    yield page
    page.close()


def test_scales_are_those_of_scipy(arithmetic):
    shares = np.concatenate([np.logspace(-9, -1, 80), np.linspace(0.1, 0.9, 81), 1 - np.logspace(-9, -1, 80)])
    for scale, (to, back) in SCALES.items():
        places = arithmetic.evaluate("([x, s]) => x.map(one => oodometer.scales.to(one, s))", [shares.tolist(), scale])
        assert places == pytest.approx(to(shares), rel=1e-13, abs=1e-14)
        again = arithmetic.evaluate("([u, s]) => u.map(one => oodometer.scales.from(one, s))", [places, scale])
        assert again == pytest.approx(back(np.array(places)), rel=1e-11)


@pytest.mark.parametrize("scale", SCALES)
def test_lines_are_those_of_python(arithmetic, scale):
    rng = np.random.default_rng(0)
    x = rng.uniform(0.3, 0.95, 60)
    y = expit(0.8 * logit(x) - 0.4 + rng.normal(0, 0.3, 60))
    x[0] = 1.0  # has no place on two of the scales
    here = arithmetic.evaluate("([x, y, s]) => oodometer.scales.fitLine(x, y, s)", [x.tolist(), y.tolist(), scale])
    line = fit_line(x, y, scale=scale)
    assert (here["n"], here["leftOut"]) == (line.n, line.left_out)
    assert here["slope"] == pytest.approx(line.slope, abs=1e-9)
    assert here["intercept"] == pytest.approx(line.intercept, abs=1e-9)
    assert here["r2"] == pytest.approx(line.r2, abs=1e-9)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n", [3, 5, 40])
def test_bands_and_slopes_are_those_of_python(arithmetic, scale, n):
    rng = np.random.default_rng(n)
    x = rng.uniform(0.4, 0.9, n)
    y = expit(0.8 * logit(x) - 0.4 + rng.normal(0, 0.3, n))
    places = [0.3, 0.45, 0.65, 0.85, 0.99]
    here = arithmetic.evaluate(
        """([x, y, scale, places, student]) => {
          const line = oodometer.scales.fitLine(x, y, scale);
          const spread = oodometer.scales.spreadOf(x, y, scale, line);
          return {
            band: oodometer.scales.band(line, spread, scale, places, student),
            slope: oodometer.scales.slopeEnds(line, spread, student),
          };
        }""",
        [x.tolist(), y.tolist(), scale, places, student_quantiles(n, 0.9)],
    )
    line = fit_line(x, y, scale=scale)
    spread = line_spread(x, y, line)
    slope = spread.estimate(line.slope, 1, n, 0.9)
    low, high = band_of(line, spread, np.array(places), level=0.9)
    assert np.array(here["band"]) == pytest.approx(np.stack([places, low, high], axis=1), rel=1e-7)
    assert here["slope"] == pytest.approx([slope.low, slope.high], rel=1e-7)


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ([0.5, 0.6], [0.4, 0.5], "2 models: a line needs at least 3"),
        ([0.5, 0.6, 1.0], [0.4, 0.5, 0.9], "2 models (1 at exactly 0 % or 100 % left out): a line needs at least 3"),
        ([0.5, 0.5, 0.5], [0.4, 0.5, 0.6], "all models have the same accuracy on the x axis: no line is determined"),
        ([0.5, 0.6, 0.7], [0.4, 0.4, 0.4], "all models have the same accuracy on the y axis: no line is determined"),
    ],
)
def test_where_no_line_can_be_drawn(arithmetic, x, y, said):
    assert arithmetic.evaluate("([x, y]) => oodometer.scales.fitLine(x, y, 'logit')", [x, y]) == {"why": said}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("ends", [(0.001, 0.999), (0.2, 0.9), (0.5, 0.55), (0.97, 0.999)])
def test_ticks_are_round_apart_and_in_their_places(arithmetic, scale, ends):
    to, _ = SCALES[scale]
    low, high = (float(to(end)) for end in ends)
    found = arithmetic.evaluate("([r, s]) => oodometer.scales.ticks(r, s, 500, 30)", [[low, high], scale])
    shares = [float(one["text"]) / 100 for one in found]
    assert 3 <= len(found) <= 16
    assert [one["at"] for one in found] == pytest.approx([float(to(share)) for share in shares])
    assert ends[0] - 1e-9 <= min(shares) <= max(shares) <= ends[1] + 1e-9
    assert np.diff([one["at"] for one in found]).min() * 500 / (high - low) >= 29.9
