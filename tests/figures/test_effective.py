"""ρ of every model by category: what is drawn is what the study says."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.figures import FigureOptions, draw


def test_marks_and_bars_are_rho_with_its_interval(tabled, gid):
    axes = draw(tabled, "effective", FigureOptions(("v2",))).axes[0]
    rows = {text.get_text(): place for place, text in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)}
    drawn = {round(float(y), 6): x for one in gid(axes, "models") for x, y in np.asarray(one.get_offsets())}
    bars = {
        round(float(part[0, 1]), 6): part[:, 0].tolist()
        for one in axes.collections
        if hasattr(one, "get_segments")
        for part in one.get_segments()
    }
    found = tabled.shift("v2").of_model
    assert set(rows) == set(found)
    for model, one in found.items():
        place = round(float(rows[model]), 6)
        assert drawn[place] == pytest.approx(100 * one.rho.value)
        assert bars[place] == pytest.approx([100 * one.rho.low, 100 * one.rho.high])


def test_of_many_the_categories_are_named_with_their_sizes(many):
    axes = draw(many, "effective", FigureOptions(("v2",))).axes[0]
    words = [text.get_text() for text in axes.get_yticklabels()]
    assert words == ["standard (169)", "robust intervention (85)", "more data (84)"]
