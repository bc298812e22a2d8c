"""A study of the shifts that are asked for alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.analysis.robustness import robustness
from oodometer.core.errors import UsageError
from oodometer.store.store import Store, open_store
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import study_of

CLEAN = [0.5, 0.6, 0.7, 0.8]
ORIGINS = {f"m{at}": Origin("standard") for at in range(len(CLEAN))}


@pytest.fixture
def imported(tmp_path: Path) -> Store:
    store = open_store(str(tmp_path / "table"), create=True)
    lost = {"val": 0.0, "other": 0.02, "sketch": 0.2, "blur.1_x": 0.1, "blur.2_x": 0.3}
    rows = [
        Accuracy(f"m{at}", condition, clean - less, 1000, "a test")
        for condition, less in lost.items()
        for at, clean in enumerate(CLEAN)
    ]
    write_table(store, rows)
    return store


def test_only_the_shifts_that_are_asked_for_in_their_order(imported: Store) -> None:
    study = study_of(imported, origins=ORIGINS, only=["sketch", "blur.*_x"])
    assert [one.name for one in study.shifts] == ["sketch", "blur.*_x"]
    assert study.shift("blur.*_x").points.conditions == ("blur.1_x", "blur.2_x")
    # The mean of accuracies that lie 0.1 and 0.3 below the clean one.
    assert [one.y.value for one in study.shift("blur.*_x").points.models] == pytest.approx([0.3, 0.4, 0.5, 0.6])
    assert (len(study.models), len(study.conditions)) == (4, 5)


def test_a_clean_set_may_be_named(imported: Store) -> None:
    study = study_of(imported, origins=ORIGINS, only=["sketch~other"])
    assert study.shifts[0].points.x == ("other",)
    assert study.shifts[0].robustness == robustness(imported, "sketch~other", origins=ORIGINS)
    by_side = robustness(imported, "sketch", x=["other"], origins=ORIGINS)
    assert study.shifts[0].robustness.models == by_side.models


def test_what_there_is_not_is_an_error(imported: Store) -> None:
    with pytest.raises(UsageError, match=r"sketsh.*did you mean sketch"):
        study_of(imported, origins=ORIGINS, only=["sketsh"])
    study = study_of(imported, origins=ORIGINS, only=["sketch"], options=RobustnessOptions(scale="probit"))
    with pytest.raises(UsageError, match="no shift named 'blur'"):
        study.shift("blur")
