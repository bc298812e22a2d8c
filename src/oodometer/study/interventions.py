"""Each model against the one that it was made from, on the same images: what the intervention did."""

from __future__ import annotations

from dataclasses import dataclass

from oodometer.analysis.compare import counts_of_pair, judged_cells
from oodometer.analysis.differences import difference_under_shift
from oodometer.analysis.family_apart import judged_apart
from oodometer.analysis.judged_pair import BETTING, PAIRED_T, CompareOptions
from oodometer.analysis.parents import parents_among
from oodometer.analysis.points import Point, named
from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.effective_robustness import tau_from_counts
from oodometer.store.cells import Cell
from oodometer.study import Study, StudyModel, StudyShift


@dataclass(frozen=True)
class Difference:
    """A model minus its parent on one condition.

    Args:
        condition: Its name, or that of a family whose mean it is.
        before, after: Accuracy of the parent and of the model on the common images.
        p_value: Of the test of that name; None for a mean over conditions, and where answers are not known.
        only_before, only_after: Images that the parent alone got right, and that the model alone did; None likewise.
        test: That goes with the interval; empty where accuracies alone are known.
    """

    model: str
    parent: str
    condition: str
    before: Estimate
    after: Estimate
    difference: Estimate
    p_value: float | None = None
    only_before: int | None = None
    only_after: int | None = None
    test: str = ""


@dataclass(frozen=True)
class OnShift:
    """What one intervention did on both sides of a shift."""

    shift: str
    model: str
    parent: str
    clean: Difference
    shifted: Difference


@dataclass(frozen=True)
class Interventions:
    """All interventions of a study.

    Args:
        found: By shift, natural ones first; within one the largest gain under the shift first.
        notes: What could not be compared, and why.
    """

    found: tuple[OnShift, ...]
    notes: tuple[str, ...] = ()

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Every comparison once: a clean side may be that of several shifts."""
        every = [one for both in self.found for one in (both.clean, both.shifted)]
        return tuple({(one.model, one.condition, one.difference): one for one in every}.values())


def interventions_of(study: Study) -> Interventions:
    """Each model whose parent is in the study against that parent, on both sides of every shift."""
    pairs = parents_of(study)
    notes = _without_parents(study, pairs)
    compared = _Compared(study)
    found: list[OnShift] = []
    for shift in study.shifts:
        of_shift = []
        for model, parent in pairs.items():
            try:
                both = compared.on(shift, model, parent)
            except OodometerError as error:
                notes.append(f"{model} against {parent} on {shift.name} is left out: {error}")
                continue
            if both is not None:
                of_shift.append(both)
        found += sorted(of_shift, key=lambda one: -one.shifted.difference.value)
    return Interventions(tuple(found), tuple(notes))


def parents_of(study: Study) -> dict[str, str]:
    """Every model whose parent is in the study, and that parent, by the names of the study."""
    parents = {model.name: model.origin.parent for model in study.models}
    return parents_among(parents, {model.name: _names(model) for model in study.models})


def _names(model: StudyModel) -> set[str]:
    return {model.name, *(cell.model_name for cell in model.cells[:1])}


def _without_parents(study: Study, pairs: dict[str, str]) -> list[str]:
    """A line about models whose parents are named and are not in the study, or are there several times."""
    lost = [one for one in study.models if one.origin.parent is not None and one.name not in pairs]
    if not lost:
        return []
    parents = sorted({str(one.origin.parent) for one in lost})
    names = named([one.name for one in lost])
    return [f"No comparison of {names}: the parent ({named(parents)}) is not here, or there are several of that name."]


class _Compared:
    """Comparisons of cells, each made once."""

    def __init__(self, study: Study) -> None:
        self._store = study.index
        self._level = study.options.resampling.level
        self._options = CompareOptions(level=self._level)
        self._made: dict[tuple[str, str], Difference] = {}

    def on(self, shift: StudyShift, model: str, parent: str) -> OnShift | None:
        """The model against its parent on both sides; None where one of them has not both."""
        points = shift.points
        places = {one.model: at for at, one in enumerate(points.models)}
        if model not in places or parent not in places:
            return None
        new, old = places[model], places[parent]
        if not points.cells:
            clean = self._of_table(points.models[new], points.models[old], points.x[0], clean=True)
            shifted = self._of_table(points.models[new], points.models[old], shift.name, clean=False)
            return OnShift(shift.name, model, parent, clean, shifted)
        (clean_new, shifted_new), (clean_old, shifted_old) = points.cells[model], points.cells[parent]
        clean = self._of_cells((model, parent), clean_new[0], clean_old[0])
        if len(shifted_new) == 1:
            shifted = self._of_cells((model, parent), shifted_new[0], shifted_old[0])
        else:
            shifted = self._of_family(shift, new, old)
        return OnShift(shift.name, model, parent, clean, shifted)

    def _of_cells(self, names: tuple[str, str], new: Cell, old: Cell) -> Difference:
        key = new.key, old.key
        if key not in self._made:
            counts = counts_of_pair(self._store, old, new)
            told, (before, after) = judged_cells(self._store, old, new, counts, options=self._options)
            self._made[key] = Difference(
                *names,
                new.condition_name,
                before,
                after,
                told.difference_at(self._level),
                told.p_value,
                counts.only_a,
                counts.only_b,
                test=told.test,
            )
        return self._made[key]

    def _of_family(self, shift: StudyShift, new: int, old: int) -> Difference:
        """The mean over the conditions of a family: per image the difference of two shares of them."""
        points = shift.points
        after, before = points.models[new], points.models[old]
        if points.right_y is None:
            cells = zip(points.cells[before.model][1], points.cells[after.model][1], strict=True)
            told = judged_apart(self._store, list(cells))
            difference, test = told.difference_at(self._level), told.test
        else:
            difference = difference_under_shift(points, new, old, self._level)
            test = BETTING if points.stopped_y is not None else PAIRED_T
        return Difference(after.model, before.model, shift.name, before.y, after.y, difference, test=test)

    def _of_table(self, new: Point, old: Point, condition: str, *, clean: bool) -> Difference:
        """Two accuracies of a table, of which nobody knows on which images they agree."""
        after, before = (new.x[0], old.x[0]) if clean else (new.y, old.y)
        difference = tau_from_counts(after.value, before.value, after.n, before.n, level=self._level)
        return Difference(new.model, old.model, condition, before, after, difference)
