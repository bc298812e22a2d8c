"""The scatter: what is drawn is what the study says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.analysis.robustness import robustness
from oodometer.figures import FigureOptions, draw, notes_of
from oodometer.figures.scatter import grid_of
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.lines import fit_line
from oodometer.store.store import open_store
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import study_of

V2 = FigureOptions(("v2",))


def test_marks_are_the_accuracies_of_the_study(tabled, gid):
    axes = draw(tabled, "scatter", V2).axes[0]
    drawn = np.vstack([np.asarray(one.get_offsets()) for one in gid(axes, "models")])
    points = tabled.shift("v2").points.models
    wanted = np.array([(100 * one.x[0].value, 100 * one.y.value) for one in points])
    assert drawn[drawn[:, 0].argsort()] == pytest.approx(wanted[wanted[:, 0].argsort()])


def test_each_category_has_its_mark(tabled, gid):
    axes = draw(tabled, "scatter", V2).axes[0]
    sizes = sorted(len(one.get_offsets()) for one in gid(axes, "models"))
    assert sizes == [4, 4, 8]
    colours = {tuple(one.get_facecolor()[0]) for one in gid(axes, "models")}
    shapes = {one.get_paths()[0].vertices.tobytes() for one in gid(axes, "models")}
    assert (len(colours), len(shapes)) == (3, 3)  # never colour alone


def test_bars_are_the_clopper_pearson_intervals(tabled):
    axes = draw(tabled, "scatter", V2).axes[0]
    segments = [part for one in axes.collections if hasattr(one, "get_segments") for part in one.get_segments()]
    points = tabled.shift("v2").points.models
    assert {one.y.interval for one in points} == {"clopper-pearson 95%"}
    for point in points:
        x, y = 100 * point.x[0].value, 100 * point.y.value
        ends_x = [(100 * point.x[0].low, y), (100 * point.x[0].high, y)]
        ends_y = [(x, 100 * point.y.low), (x, 100 * point.y.high)]
        for ends in (ends_x, ends_y):
            assert any(np.allclose(part, ends, atol=1e-6) for part in segments)


def test_the_line_and_its_band_are_those_of_robustness(tabled, table_store, gid):
    axes = draw(tabled, "scatter", V2).axes[0]
    found = robustness(
        table_store,
        "v2",
        x=["val"],
        origins={one.name: one.origin for one in tabled.models},
        options=tabled.options,
    )
    (line,) = gid(axes, "line")
    x, y = np.asarray(line.get_data()) / 100
    band = np.array(found.band)
    assert x == pytest.approx(band[:, 0])
    # reference: the line fitted once more through the standard models
    standard = [one for one in tabled.shift("v2").points.models if one.origin.category == "standard"]
    fitted = fit_line(
        np.array([one.x[0].value for one in standard]), np.array([one.y.value for one in standard]), scale="logit"
    )
    assert y == pytest.approx(fitted.at(x))
    (drawn,) = gid(axes, "band")
    corners = drawn.get_paths()[0].vertices / 100
    for place, low, high in found.band:
        assert np.isclose(corners, (place, low)).all(axis=1).any()
        assert np.isclose(corners, (place, high)).all(axis=1).any()
    (said,) = [text.get_text() for text in axes.texts if text.get_gid() == "said"]
    assert said == f"slope {fitted.slope:.2f}\nR² = {fitted.r2:.2f}\nn = 8"


def test_the_bars_have_one_level_and_the_band_another(table_store, tabled, gid):
    """Taori et al. 2020, figure 2: bars of 99.5 %, a band of 95 %."""
    origins = {one.name: one.origin for one in tabled.models}

    def heights(level: float, band_level: float | None) -> tuple[float, float]:
        line = RobustnessOptions(resampling=Resampling(400, level), band_level=band_level)
        study = study_of(table_store, origins=origins, options=line, only=["v2"])
        axes = draw(study, "scatter", V2).axes[0]
        (band,) = gid(axes, "band")
        bars = [points.y for points in study.shift("v2").points.models]
        return np.ptp(band.get_paths()[0].vertices[:, 1]), sum(bar.high - bar.low for bar in bars if bar.high)

    both, usual, wide = heights(0.995, 0.95), heights(0.95, None), heights(0.995, None)
    assert both[0] == usual[0] < wide[0]
    assert both[1] == wide[1] > usual[1]


def test_y_equals_x_is_drawn_and_in_view(tabled, gid):
    axes = draw(tabled, "scatter", FigureOptions(("sketch",))).axes[0]
    (ideal,) = gid(axes, "ideal")
    x, y = ideal.get_data()
    assert list(x) == list(y)
    assert x[0] < x[1]
    assert axes.get_xlim()[0] <= x[0]
    assert x[1] <= axes.get_ylim()[1] + 1e-9


def test_two_lines_with_a_knee(table_store, tabled, gid):
    options = replace(tabled.options, knee=0.68)
    origins = {one.name: one.origin for one in tabled.models}
    study = study_of(table_store, origins=origins, options=options, only=["v2"])
    axes = draw(study, "scatter").axes[0]
    lines = gid(axes, "line")
    found = study.shift("v2").robustness
    assert found.fitted.kind == "two lines"
    assert len(lines) == len(gid(axes, "band")) == 2
    assert max(lines[0].get_xdata()) <= 68 < min(lines[1].get_xdata())


def test_a_panel_for_each_shift_with_its_title(tabled):
    figure = draw(tabled, "scatter", FigureOptions(("v2", "sketch", "grey"), 2))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["v2", "sketch", "grey"]
    assert len(figure.legends) == 1


def test_as_many_beside_each_other_as_fit():
    # columns: of the paper
    assert [grid_of(n, 1) for n in (1, 3)] == [(1, 1), (1, 3)]
    assert [grid_of(n, 2) for n in (1, 2, 3, 4, 5, 7)] == [(1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (3, 3)]


def test_models_that_are_chosen_and_named(tabled, gid):
    axes = draw(tabled, "scatter", replace(V2, models=("model-1?",), above=0.8, label=("model-15",))).axes[0]
    drawn = sum(len(one.get_offsets()) for one in gid(axes, "models"))
    points = tabled.shift("v2").points.models
    assert drawn == sum(
        one.x[0].value >= 0.8 and one.model.startswith("model-1") and len(one.model) > 7 for one in points
    )
    assert [text.get_text() for text in axes.texts if text.get_gid() is None] == ["model-15"]
    assert len(gid(axes, "ring")) == 1


def test_the_legend_counts_models(tabled):
    (legend,) = draw(tabled, "scatter", V2).legends
    words = [text.get_text() for text in legend.get_texts()]
    assert words == ["standard (8)", "robust intervention (4)", "more data (4)", "y = x", "logit fit"]


def test_many_small_categories_are_one(tmp_path):
    store = open_store(str(tmp_path / "runs"), create=True)
    names = [f"m{at}" for at in range(40)]
    write_table(
        store, [Accuracy(name, one, 0.5 + at / 100, 100, "t") for at, name in enumerate(names) for one in ("val", "v2")]
    )
    origins = {name: Origin("standard" if at < 5 else f"kind-{at % 15}") for at, name in enumerate(names)}
    study = study_of(store, origins=origins, only=["v2"])
    (legend,) = draw(study, "scatter").legends
    words = [text.get_text() for text in legend.get_texts()]
    assert sum(int(word.split("(")[1][:-1]) for word in words if "(" in word) == 40
    assert any(word.startswith("other (") for word in words)


def test_without_a_line_the_models_are_drawn_all_the_same(two, gid):
    axes = draw(two, "scatter").axes[0]
    assert sum(len(one.get_offsets()) for one in gid(axes, "models")) == 2
    assert not gid(axes, "line")
    texts = [text.get_text() for text in axes.texts]
    assert "_b" in texts
    assert any(text.startswith("a_$very\\frac") for text in texts)  # as it is: no formula


def test_models_at_0_are_drawn_at_the_edge_and_told(tmp_path, gid):
    store = open_store(str(tmp_path / "runs"), create=True)
    accuracies = {"a": (0.5, 0.0), "b": (0.6, 0.2), "c": (0.7, 0.4), "d": (0.8, 0.5)}
    write_table(
        store,
        [
            Accuracy(name, one, value, 1000, "t")
            for name, both in accuracies.items()
            for one, value in zip(("val", "hard"), both, strict=True)
        ],
    )
    figure = draw(study_of(store, origins=dict.fromkeys(accuracies, Origin("standard")), only=["hard"]), "scatter")
    assert "at 0 or 100 %, and so drawn at the edge of hard: a" in notes_of(figure)
    places = np.vstack([np.asarray(one.get_offsets()) for one in gid(figure.axes[0], "models")])
    low, high = figure.axes[0].get_ylim()
    assert low < places[:, 1].min() == pytest.approx(0.05)
    assert places[:, 1].max() < high


def test_a_name_may_be_of_one_panel_only(tabled):
    figure = draw(tabled, "scatter", FigureOptions(("v2", "sketch"), above=0.5, label=("model-3", "model-15")))
    for axes in figure.axes:
        assert sorted(text.get_text() for text in axes.texts if text.get_gid() is None) == ["model-15", "model-3"]


def test_a_ring_is_where_its_mark_is(tmp_path, gid):
    store = open_store(str(tmp_path / "runs"), create=True)
    values = [(0.5 + at / 100, 0.3 + at / 100) for at in range(30)]
    values[7] = (0.57, 0.0)
    write_table(
        store,
        [
            Accuracy(f"m{at}", one, value, 1000, "t")
            for at, both in enumerate(values)
            for one, value in zip(("val", "hard"), both, strict=True)
        ],
    )
    study = study_of(store, origins={f"m{at}": Origin("standard") for at in range(30)}, only=["hard"])
    axes = draw(study, "scatter", FigureOptions(label=("m7",))).axes[0]
    (ring,) = gid(axes, "ring")
    marks = np.vstack([np.asarray(one.get_offsets()) for one in gid(axes, "models")])
    assert np.asarray(ring.get_offsets())[0].tolist() in marks.tolist()


@pytest.mark.parametrize("corner", [False, True])
def test_the_words_of_the_line_are_over_no_model(tmp_path, corner):
    """Below on the right, where no model is as a rule; elsewhere where one is."""
    store = open_store(str(tmp_path / "runs"), create=True)
    values = [(0.5 + at / 30, 0.4 + at / 30) for at in range(12)]
    values += [(0.86, 0.41)] if corner else []
    write_table(
        store,
        [
            Accuracy(f"m{at}", one, value, 1000, "t")
            for at, both in enumerate(values)
            for one, value in zip(("val", "v2"), both, strict=True)
        ],
    )
    origins = {f"m{at}": Origin("standard" if at < 12 else "mine") for at in range(13)}
    figure = draw(study_of(store, origins=origins, only=["v2"]), "scatter")
    axes = figure.axes[0]
    figure.draw_without_rendering()
    (words,) = [text for text in axes.texts if text.get_gid() == "said"]
    assert (words.get_ha() == "right" and words.get_va() == "bottom") is not corner
    box = words.get_window_extent()
    marks = axes.transData.transform(100 * np.array(values))
    assert not [place for place in marks if box.contains(*place)]
