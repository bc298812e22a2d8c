"""A hypothetical model: its arrow is as long as its effective robustness."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.core.errors import UsageError
from oodometer.figures import FigureOptions, draw
from oodometer.stats.lines import fit_line

PLACE = (0.75, 0.74)
ASKED = FigureOptions(("v2",), hypothetical=PLACE)


def expected(study) -> float:
    """What a line through the standard models, fitted once more, expects at its clean accuracy."""
    standard = [one for one in study.shift("v2").points.models if one.origin.category == "standard"]
    x, y = (np.array(values) for values in zip(*((one.x[0].value, one.y.value) for one in standard), strict=True))
    return float(fit_line(x, y, scale="logit").at(np.array([PLACE[0]]))[0])


def test_the_arrow_goes_from_the_line_to_the_star(tabled, gid):
    axes = draw(tabled, "scatter", ASKED).axes[0]
    (star,) = gid(axes, "hypothetical")
    assert np.asarray(star.get_offsets()).tolist() == [[75.0, 74.0]]
    assert star.get_facecolor()[0].tolist() == [1, 1, 1, 1]  # hollow: nobody measured it
    (arrow,) = gid(axes, "rho")
    assert arrow.xy == (75.0, 74.0)
    assert arrow.xyann == pytest.approx((75.0, 100 * expected(tabled)))


def test_its_effective_robustness_is_told_in_points(tabled):
    figure = draw(tabled, "scatter", ASKED)
    rho = 100 * (PLACE[1] - expected(tabled))
    assert f"hypothetical: ρ {rho:+.1f} points" in [text.get_text() for text in figure.axes[0].texts]
    assert figure.legends[0].get_texts()[-1].get_text() == "hypothetical"


def test_one_below_the_line_loses(tabled):
    texts = [
        text.get_text()
        for text in draw(tabled, "scatter", FigureOptions(("v2",), hypothetical=(0.75, 0.5))).axes[0].texts
    ]
    assert any(text.startswith("hypothetical: ρ −1") for text in texts)


def test_it_is_in_view_wherever_it_is(tabled):
    axes = draw(tabled, "scatter", FigureOptions(("v2",), hypothetical=(0.2, 0.99))).axes[0]
    assert axes.get_xlim()[0] < 20
    assert axes.get_ylim()[1] > 99


def test_of_two_lines_that_of_its_side(table_store, tabled, gid):
    from dataclasses import replace

    from oodometer.study import study_of

    origins = {one.name: one.origin for one in tabled.models}
    study = study_of(table_store, origins=origins, options=replace(tabled.options, knee=0.68), only=["v2"])
    _, above = study.shift("v2").robustness.fitted.pieces
    axes = draw(study, "scatter", ASKED).axes[0]
    (arrow,) = gid(axes, "rho")
    u = above.slopes[0].value * np.log(PLACE[0] / (1 - PLACE[0])) + above.intercept.value
    assert arrow.xyann[1] == pytest.approx(100 / (1 + np.exp(-u)))  # the logit scale, by hand


def test_without_a_line_it_has_no_robustness(two, gid):
    axes = draw(two, "scatter", FigureOptions(hypothetical=PLACE)).axes[0]
    assert not gid(axes, "rho")
    assert "hypothetical" in [text.get_text() for text in axes.texts]


def test_it_is_under_one_shift(tabled):
    with pytest.raises(UsageError, match="a hypothetical model is under one shift; name one with --shift"):
        draw(tabled, "scatter", FigureOptions(("v2", "sketch"), hypothetical=PLACE))


@pytest.mark.parametrize("place", [(76.0, 70.0), (0.5, 1.0), (0.0, 0.5)])
def test_percent_are_no_shares(place):
    with pytest.raises(UsageError, match="two shares between 0 and 1"):
        FigureOptions(hypothetical=place)
