"""Response rates, reliability, severities: the numbers are those of ``score`` and of the grid."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.score import score
from oodometer.figures import FigureOptions, draw, notes_of
from oodometer.figures.curves import MOST_CURVES, few_of
from oodometer.study.corruption_grid import grids_of


def curves_of(figure, axes) -> dict[str, np.ndarray]:
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    drawn = [one for one in axes.lines if one.get_gid() == "curve"]
    return {name: np.asarray(one.get_data()).T for name, one in zip(names, drawn, strict=True)}


def scored(study, metric: str, condition: str) -> dict[str, np.ndarray]:
    found: dict[str, list[tuple[float, float]]] = {}
    for row in score(study.index, metrics=[metric]).rows:
        if row.condition == condition:
            place = float(row.metric.partition("[")[2][:-1])
            found.setdefault(row.model, []).append((100 * place, 100 * row.estimate.value))
    return {name: np.array(places) for name, places in found.items()}


@pytest.mark.parametrize(("kind", "metric"), [("response", "response-curve"), ("reliability", "reliability")])
def test_curves_are_those_of_score(answered, kind, metric):
    models = ("good", "poor", "worst")
    figure = draw(answered, kind, FigureOptions(("style",), 2, models))
    for axes, condition in zip(figure.axes, ("clean", "style"), strict=True):
        wanted = scored(answered, metric, condition)
        found = curves_of(figure, axes)
        assert set(found) == set(models)
        for name, curve in found.items():
            # score names the place of a bin with four decimals
            assert curve == pytest.approx(wanted[name], abs=0.006)
        assert axes.get_title(loc="left") == condition


def test_one_column_shows_the_shifted_side(answered):
    (axes,) = draw(answered, "response", FigureOptions(("style",))).axes
    assert axes.get_title(loc="left") == "style"


def test_severities_are_those_of_the_grid(answered):
    figure = draw(answered, "severity", FigureOptions(("cifar10-c",)))
    (grid,) = grids_of(answered)
    for name, curve in curves_of(figure, figure.axes[0]).items():
        assert curve[0].tolist() == pytest.approx([0, 100 * grid.clean[name].value])
        for severity in range(1, 6):
            # reference: the mean over the two corruptions
            values = [grid.at(name, one, severity).value for one in ("fog", "snow")]
            assert curve[severity].tolist() == pytest.approx([severity, 100 * np.mean(values)])


def test_of_many_models_a_few_are_drawn_and_that_is_told(answered):
    figure = draw(answered, "reliability", FigureOptions(("style",)))
    assert len(curves_of(figure, figure.axes[0])) == 3
    told = "3 of 4 models are drawn, evenly from the best to the worst; choose with --models"
    assert told in notes_of(figure)
    names = [f"m{at}" for at in range(30)]
    few = few_of(names, FigureOptions())
    assert (len(few), few[0], few[-1]) == (MOST_CURVES, "m0", "m29")


def test_curves_are_told_apart_without_colour(answered):
    figure = draw(answered, "response", FigureOptions(("style",)))
    drawn = [one for one in figure.axes[0].lines if one.get_gid() == "curve"]
    assert len({one.get_marker() for one in drawn}) == len(drawn) == 4
    assert len({one.get_color() for one in drawn}) == 4
