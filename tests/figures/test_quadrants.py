"""ρ against τ: what is drawn is what the study says."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.origins import Origin
from oodometer.core.errors import StoreError
from oodometer.figures import FigureOptions, draw
from oodometer.study import study_of


def test_marks_are_rho_and_tau_in_points(tabled, gid):
    axes = draw(tabled, "quadrants", FigureOptions(("v2",))).axes[0]
    drawn = np.vstack([np.asarray(one.get_offsets()) for one in gid(axes, "models")])
    found = [one for one in tabled.shift("v2").robustness.models if one.tau is not None]
    assert len(found) == 8
    wanted = np.array([(100 * one.rho.value, 100 * one.tau.value) for one in found])
    assert drawn[drawn[:, 0].argsort()] == pytest.approx(wanted[wanted[:, 0].argsort()])
    # reference: τ is the accuracy beyond the parent's
    values = {one.model: one.y.value for one in tabled.shift("v2").points.models}
    one = next(one for one in found if one.model == "model-3")
    assert one.tau.value == pytest.approx(values["model-3"] - values["model-2"])


def test_both_lines_of_no_difference_are_in_view(tabled):
    axes = draw(tabled, "quadrants", FigureOptions(("v2",))).axes[0]
    for low, high in (axes.get_xlim(), axes.get_ylim()):
        assert low < 0 < high
    assert len([text for text in axes.texts if text.get_gid() == "corner"]) == 4


def test_without_parents_there_is_no_tau(table_store, tabled):
    origins = {one.name: Origin(one.origin.category) for one in tabled.models}
    study = study_of(table_store, origins=origins, options=tabled.options, only=["v2"])
    with pytest.raises(StoreError, match="no τ, because no model has its parent among those measured"):
        draw(study, "quadrants")
