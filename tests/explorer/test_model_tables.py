"""Tables of a model's page: columns that have nothing to say are there when they are chosen."""

from __future__ import annotations

import pytest

from oodometer.core.estimate import Estimate
from oodometer.explorer.pages.model import _conditions_table, _shifts_table

SHARE = Estimate(0.5, 0.4, 0.6, 100, "any")


def hidden(table, title):
    return next(column.hidden for column in table.columns if column.title == title)


@pytest.mark.parametrize(("tau", "is_hidden"), [(None, True), (SHARE, False)])
def test_relative_robustness_is_shown_of_models_with_a_parent(tau, is_hidden):
    names = ("name", "kind", "x_name")
    shift = {**dict.fromkeys(names, "fog"), "x": SHARE, "y": SHARE, "rho": None, "tau": tau}
    assert hidden(_shifts_table([{**shift, "rank_x": 1, "rank_y": 1, "n_models": 2}]), "τ") is is_hidden


@pytest.mark.parametrize(("missing", "is_hidden"), [(0, True), (3, False)])
def test_remarks_are_shown_where_there_are_any(missing, is_hidden):
    whole = {"name": "clean", "data": "val", "top1": SHARE, "top5": None, "state": "complete", "missing": 0}
    assert hidden(_conditions_table("mine", [whole, {**whole, "missing": missing}]), "Remark") is is_hidden
