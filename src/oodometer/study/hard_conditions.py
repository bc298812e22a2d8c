"""The conditions on which single images are worth a look: the clean sets, and of each natural shift the hardest."""

from __future__ import annotations

from oodometer.store.cells import Cell
from oodometer.study.evidence import cells_of_condition
from oodometer.study.study import Study, StudyCondition, StudyShift


def hard_conditions(study: Study) -> list[StudyCondition]:
    """What to look at: the clean sets of natural shifts, then of each shift its hardest condition, hardest first."""
    natural = [shift for shift in study.shifts if shift.natural]
    run = [one for one in study.conditions if one.record and one.accuracies]
    clean = [one for one in run for shift in natural if one.condition in shift.points.x] or run[:1]
    sides = [[one for one in run if _is_of(one, shift)] for shift in natural]
    shifted = sorted((min(side, key=_hardness) for side in sides if side), key=_hardness)
    return list({one.name: one for one in (*clean, *shifted)}.values())


def _is_of(one: StudyCondition, shift: StudyShift) -> bool:
    """Whether it is the shifted side, or of it; where several data sets have one of that name, by the data."""
    named = shift.name.partition("@")[2]
    return one.condition in shift.points.conditions and (not named or one.data.startswith(named.partition("@")[0]))


def _hardness(one: StudyCondition) -> tuple[float, str]:
    """The mean accuracy of the models: least where it is hardest."""
    return sum(estimate.value for estimate in one.accuracies.values()) / len(one.accuracies), one.name


def cells_of_most(study: Study, condition: StudyCondition) -> list[Cell]:
    """The cells of a condition; where models answer other classes, those of most models."""
    groups: dict[int, list[Cell]] = {}
    for cell in cells_of_condition(study, condition):
        groups.setdefault(cell.n_classes, []).append(cell)
    return max(groups.values(), key=len)
