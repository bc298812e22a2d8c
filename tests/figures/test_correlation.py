"""ρ under two shifts: the numbers are those of ``correlate``."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.correlate import CorrelateOptions, correlate
from oodometer.analysis.origins import Origin
from oodometer.core.errors import OodometerError
from oodometer.figures import FigureOptions, draw
from oodometer.figures.correlation import correlation_of, marks_of
from oodometer.study import study_of

BOTH = FigureOptions(("sketch", "v2"))


def test_r_is_that_of_correlate(tabled, table_store):
    origins = {one.name: one.origin for one in tabled.models}
    pairs = correlate(
        table_store,
        ["sketch"],
        ["v2"],
        origins=origins,
        options=CorrelateOptions(line=tabled.options),
    ).pairs
    shifts = tabled.shift("sketch"), tabled.shift("v2")
    found = correlation_of(marks_of(tabled, *shifts, BOTH), shifts)
    assert (found.value, found.low, found.high) == pytest.approx((pairs[0].r.value, pairs[0].r.low, pairs[0].r.high))
    assert found.n == pairs[0].n == 8
    (said,) = [text.get_text() for text in draw(tabled, "correlation", BOTH).axes[0].texts if text.get_gid() == "said"]
    assert said.replace("−", "-") == f"r = {found.value:.2f} [{found.low:.2f}, {found.high:.2f}]\nn = 8"


def test_marks_are_the_rho_of_both(tabled, gid):
    axes = draw(tabled, "correlation", BOTH).axes[0]
    drawn = np.vstack([np.asarray(one.get_offsets()) for one in gid(axes, "models")])
    first, second = (tabled.shift(name).of_model for name in ("sketch", "v2"))
    wanted = np.array(
        [
            (100 * one.rho.value, 100 * second[name].rho.value)
            for name, one in first.items()
            if one.category != "standard"
        ]
    )
    assert drawn[drawn[:, 0].argsort()] == pytest.approx(wanted[wanted[:, 0].argsort()])


def test_two_columns_have_the_scatter_of_the_first_too(tabled, gid):
    figure = draw(tabled, "correlation", FigureOptions(("sketch", "v2"), 2))
    assert [len(gid(axes, "line")) for axes in figure.axes] == [1, 0]


def test_too_few_models_beside_the_line(table_store, tabled):
    origins = {one.name: Origin("standard") for one in tabled.models}
    study = study_of(table_store, origins=origins, options=tabled.options, only=["sketch", "v2"])
    with pytest.raises(OodometerError, match="0 models that no line goes through were measured on both"):
        draw(study, "correlation", BOTH)
