"""The shifts of a study: every model on both sides, and the line of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from oodometer.analysis.accuracy_pairs import pairs_of
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.line_rules import RobustnessOptions, rules_for
from oodometer.analysis.measured_shifts import MeasuredShift, measured_shifts
from oodometer.analysis.origins import Origin
from oodometer.analysis.robustness import robustness_by_rules
from oodometer.core.errors import OodometerError
from oodometer.store.index import Index
from oodometer.study.kinds import KINDS
from oodometer.study.study import StudyShift


@dataclass(frozen=True)
class Found:
    """The shifts that there are, and why others are not."""

    shifts: tuple[StudyShift, ...]
    notes: tuple[str, ...]


Progress = Callable[[int, int], None]
"""Who hears how many shifts are done, and of how many."""


def study_shifts(
    index: Index, origins: Mapping[str, Origin], options: RobustnessOptions, progress: Progress | None = None
) -> Found:
    """Every shift that the store has both sides of; one that can't be drawn is noted, and is no error."""
    measured = measured_shifts(index)
    judged = [shift for shift in measured.shifts if shift.measure != "none"]  # images of no class have no accuracy
    shifts: list[StudyShift] = []
    notes = list(measured.notes)

    def study(shift: MeasuredShift) -> StudyShift | str:
        try:
            return study_shift(index, shift, origins, options)
        except OodometerError as error:
            return f"no shift of {shift.name}: {error}"

    # One is read while another is resampled; more at once would only take more memory.
    with ThreadPoolExecutor(2) as threads:
        try:
            for done, found in enumerate(threads.map(study, judged)):
                if progress:
                    progress(done, len(judged))
                notes.append(found) if isinstance(found, str) else shifts.append(found)
        finally:  # who hears of the progress may have had enough
            threads.shutdown(wait=False, cancel_futures=True)
    return Found(in_order(shifts), tuple(notes))


def in_order(shifts: Sequence[StudyShift]) -> tuple[StudyShift, ...]:
    """Natural ones first, each kind together."""
    return tuple(sorted(shifts, key=lambda shift: (not shift.natural, KINDS.index(shift.kind))))


def study_shift(
    index: Index, shift: MeasuredShift, origins: Mapping[str, Origin], options: RobustnessOptions
) -> StudyShift:
    """The shift with its line where one can be drawn; why there is none is said."""
    points = pairs_of(index, shift, origins=origins, how=IntervalOptions(level=options.resampling.level))
    rules = rules_for(points, shift, options)
    try:
        robust, why = robustness_by_rules(points, shift, options), ""
    except OodometerError as error:
        robust, why = None, str(error)
    return StudyShift(
        shift.name,
        shift.kind,
        shift.natural,
        points,
        robust,
        rules,
        why,
        shift.standard.name,
        tuple(side.name for side in shift.members),
        shift.family,
    )
