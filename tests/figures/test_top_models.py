"""The models of the highest effective robustness: framed and named, and ranked only where they can be told."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.core.errors import OodometerError
from oodometer.figures import FigureOptions, draw, notes_of
from oodometer.stats.bootstrap import Resampling
from oodometer.store.store import open_store
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import study_of


def words_of(figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def a_study(folder, *, n: int, above: float):
    """Twenty models near a line and one above it, each accuracy of ``n`` images."""
    store = open_store(str(folder / "runs"), create=True)
    rows = {f"m{at}": (0.5 + at / 60, 0.4 + at / 60 + 0.004 * (-1) ** at) for at in range(20)}
    rows["robust"] = (0.6, 0.5 + above)
    write_table(
        store,
        [
            Accuracy(model, condition, value, n, "t")
            for model, values in rows.items()
            for condition, value in zip(("val", "v2"), values, strict=True)
        ],
    )
    origins = {model: Origin("standard" if model != "robust" else "mine") for model in rows}
    return study_of(store, origins=origins, options=RobustnessOptions(resampling=Resampling(200)), only=["v2"])


def test_one_that_is_told_from_all_others_is_the_highest(tmp_path, gid):
    study = a_study(tmp_path, n=1_000_000, above=0.2)
    figure = draw(study, "scatter", FigureOptions(mark_top=1))
    assert words_of(figure)[-1] == "highest ρ (1)"
    assert not [line for line in notes_of(figure) if "can't be told" in line]
    (frame,) = gid(figure.axes[0], "top")
    assert np.asarray(frame.get_offsets()) == pytest.approx(np.array([[60.0, 70.0]]))
    assert [text.get_text() for text in figure.axes[0].texts if text.get_gid() is None] == ["robust"]


def test_where_intervals_overlap_no_rank_is_claimed(tmp_path):
    study = a_study(tmp_path, n=200, above=0.02)
    figure = draw(study, "scatter", FigureOptions(mark_top=1))
    assert words_of(figure)[-1] == "high ρ, not ranked (1)"
    assert (
        "v2: which models have the highest ρ can't be told: the intervals of 20 models overlap those of the marked ones"
        in notes_of(figure)
    )


def test_without_a_number_of_images_nothing_is_told_apart(tmp_path):
    store = open_store(str(tmp_path / "runs"), create=True)
    rng = np.random.default_rng(0)
    write_table(
        store,
        [
            Accuracy(
                f"m{at}", one, 0.5 + at / 100 + (0.2 if (at, one) == (3, "v2") else 0.01 * rng.random()), None, "t"
            )
            for at in range(20)
            for one in ("val", "v2")
        ],
    )
    study = study_of(store, origins={f"m{at}": Origin("standard") for at in range(20)}, only=["v2"])
    assert study.shifts[0].robustness.models[0].rho.interval == "line only 95%"
    assert words_of(draw(study, "scatter", FigureOptions(mark_top=1)))[-1] == "high ρ, not ranked (1)"


def test_the_frames_are_around_the_highest_of_those_that_are_shown(tabled, gid):
    figure = draw(tabled, "scatter", FigureOptions(("v2",), above=0.7, mark_top=3, label=("model-14",)))
    shown = [one for one in tabled.shift("v2").robustness.models if one.x[0].value >= 0.7]
    wanted = sorted(shown, key=lambda one: -one.rho.value)[:3]
    (frames,) = gid(figure.axes[0], "top")
    places = np.array([(100 * one.x[0].value, 100 * one.y.value) for one in wanted])
    assert np.asarray(frames.get_offsets()) == pytest.approx(places)
    names = {text.get_text() for text in figure.axes[0].texts if text.get_gid() is None}
    assert names == {*(one.model for one in wanted), "model-14"}
    rings = [one for ring in gid(figure.axes[0], "ring") for one in np.asarray(ring.get_offsets()).tolist()]
    assert not [one for one in rings if one in places.tolist()]  # a ring says named, a frame says high


def test_each_panel_has_its_own(tabled, gid):
    figure = draw(tabled, "scatter", FigureOptions(("v2", "sketch"), 2, mark_top=2))
    assert [len(np.asarray(gid(axes, "top")[0].get_offsets())) for axes in figure.axes] == [2, 2]
    assert words_of(figure)[-1].endswith("(2 each)")


def test_without_a_line_there_is_no_highest(two):
    with pytest.raises(OodometerError, match="no line, and so no robustness beside it"):
        draw(two, "scatter", FigureOptions(mark_top=1))
