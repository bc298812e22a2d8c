"""Bars: the numbers are those of ``score`` and of the study; children stand under their parents."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.metric_request import ScoreOptions
from oodometer.analysis.origins import Origin
from oodometer.analysis.score import score
from oodometer.core.estimate import Estimate
from oodometer.figures import FigureOptions, draw, notes_of
from oodometer.figures.bar_rows import rows_of
from oodometer.study import StudyModel


def bars_of(axes) -> dict[str, float]:
    """The number of each model, by the name beside its bar."""
    names = [text.get_text().removeprefix("↳ ") for text in axes.figure.axes[0].get_yticklabels()]
    bars = [one for one in axes.patches if one.get_gid() == "bar"]
    return {names[round(one.get_y() + one.get_height() / 2)]: one.get_width() for one in bars}


def intervals_of(axes) -> list[list[float]]:
    return [part[:, 0].tolist() for one in axes.collections for part in one.get_segments()]


def test_accuracy_on_both_sides(tabled):
    clean, shifted = draw(tabled, "accuracy", FigureOptions(("v2",), 2)).axes
    points = {one.model: one for one in tabled.shift("v2").points.models}
    assert bars_of(shifted) == pytest.approx({name: 100 * one.y.value for name, one in points.items()})
    assert bars_of(clean) == pytest.approx({name: 100 * one.x[0].value for name, one in points.items()})
    one = points["model-5"].y
    assert any(ends == pytest.approx([100 * one.low, 100 * one.high]) for ends in intervals_of(shifted))
    numbers = {text.get_text() for text in shifted.texts if text.get_gid() == "number"}
    assert f"{100 * one.value:.1f}" in numbers


def test_calibration_and_aurra_are_those_of_score(answered):
    figure = draw(answered, "calibration", FigureOptions(("style",)))
    assert any("rms-calibration:published" in line for line in notes_of(figure))
    found = score(answered.index, metrics=["rms-calibration", "aurra"], options=ScoreOptions(draws=100))
    for axes, metric in zip(figure.axes, ("rms-calibration", "aurra"), strict=True):
        rows = [row for row in found.rows if row.metric == metric and row.condition == "style"]
        assert bars_of(axes) == pytest.approx({row.model: 100 * row.estimate.value for row in rows})
        # 60 images are one bin in effect: of their calibration error there is no honest interval, and none is drawn.
        ends = [[100 * row.estimate.low, 100 * row.estimate.high] for row in rows if row.estimate.low is not None]
        assert len(ends) == (len(rows) if metric == "aurra" else 0)
        for pair in ends:
            assert any(one == pytest.approx(pair) for one in intervals_of(axes))


def test_aupr_and_chance_are_those_of_score(answered):
    axes = draw(answered, "aupr", FigureOptions(ood="odd")).axes[0]
    found = score(answered.index, metrics=["aupr"], options=ScoreOptions(draws=100, ood="odd"))
    rows = [row for row in found.rows if row.metric == "aupr[max-softmax]"]
    assert bars_of(axes) == pytest.approx({row.model: 100 * row.estimate.value for row in rows})
    (guide,) = [one for one in axes.lines if one.get_gid() == "guide"]
    assert guide.get_xdata()[0] == pytest.approx(100 * 30 / 90, abs=0.01)  # 30 of 90 images are of no class


def test_the_only_set_of_no_class_is_found(answered):
    assert "AUPR (%) on odd" in draw(answered, "aupr", FigureOptions(columns=2)).axes[0].get_title(loc="left")


def test_clean_error_and_mean_corruption_error(answered):
    clean, corrupted = draw(answered, "errors", FigureOptions(("cifar10-c",))).axes
    found = score(answered.index, metrics=["mean-corruption-error", "error"], options=ScoreOptions(draws=100))
    errors = {row.model: 100 * row.estimate.value for row in found.rows if row.condition == "clean"}
    means = {row.model: 100 * row.estimate.value for row in found.rows if row.metric == "mean-corruption-error"}
    assert bars_of(clean) == pytest.approx(errors)
    assert bars_of(corrupted) == pytest.approx(means)


def test_children_stand_under_their_parents(answered):
    figure = draw(answered, "accuracy", FigureOptions(("style",)))
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert "↳ fair" in names
    assert names.index("↳ fair") == names.index("good") + 1


def test_models_that_are_parents_of_each_other_are_all_there(answered):
    from dataclasses import replace

    models = (
        StudyModel("a", Origin("x", "b")),
        StudyModel("b", Origin("x", "a")),
        StudyModel("c", Origin("x", "c")),
    )
    study = replace(answered, models=models)
    values = {name: Estimate(value, None, None, None, "none") for name, value in (("a", 0.1), ("b", 0.2), ("c", 0.3))}
    assert sorted(row.model for row in rows_of(study, ["a", "b", "c"], values)) == ["a", "b", "c"]


def test_colour_is_never_alone(answered):
    axes = draw(answered, "accuracy", FigureOptions(("style",))).axes[0]
    marks = [one for one in axes.lines if one.get_gid() == "category"]
    assert len(marks) == 4
    assert len({one.get_marker() for one in marks}) == 2


def test_a_bar_of_nothing_says_so(tabled):
    figure = draw(tabled, "accuracy", FigureOptions(("v2",), models=("model-1", "model-2")))
    assert len(bars_of(figure.axes[0])) == 2
    assert np.isfinite(figure.axes[0].get_xlim()).all()
