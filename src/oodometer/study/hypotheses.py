"""The hypotheses about robustness, judged from the shifts of a study."""

from __future__ import annotations

from oodometer.analysis.hypotheses import Hypotheses, HypothesisOptions, hypotheses_of
from oodometer.analysis.hypothesis_questions import ExaminedShift
from oodometer.study import Study


def hypotheses_of_study(study: Study) -> Hypotheses:
    """What the study says about each hypothesis, with the lines that it has drawn."""
    shifts = [
        ExaminedShift(shift.name, shift.kind, shift.natural, shift.points, shift.rules, shift.robustness, shift.why)
        for shift in study.shifts
    ]
    return hypotheses_of(shifts, HypothesisOptions(line=study.options))
