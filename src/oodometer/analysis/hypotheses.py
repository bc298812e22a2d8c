"""What a store's own runs say about the hypotheses of Hendrycks et al. 2021: numbers, and verdicts by a stated rule.

Each question is one number with an interval, held against a threshold. There is evidence for the hypothesis (``+``)
where the number lies beyond it on the right side, and none, or evidence against it (``-``), where it lies on the other
side; both beyond chance, after correction for the number of questions. Else it is undecided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from oodometer.analysis.accuracy_pairs import pairs_of
from oodometer.analysis.controlled_pairs import candidates_in, controlled_pairs
from oodometer.analysis.hypothesis_questions import Asked, ExaminedShift, PairGain, Rule, questions
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.line_rules import DEFAULT_OPTIONS as DEFAULT_LINE
from oodometer.analysis.line_rules import RobustnessOptions, rules_for
from oodometer.analysis.measured_shifts import MeasuredShift, measured_shifts
from oodometer.analysis.origins import Origin
from oodometer.analysis.people import models_alone
from oodometer.analysis.robustness import robustness_by_rules
from oodometer.analysis.sampled import notes_of_stopped
from oodometer.analysis.text import columns
from oodometer.catalogue.hypotheses import MULTIVARIATE, every_hypothesis, threshold
from oodometer.core.errors import OodometerError, StoreError, UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.stats.corrections import CORRECTIONS, corrected, correction_in_words
from oodometer.store.index import Index, index_at
from oodometer.store.index import Source as Source  # for those who ask

Verdict = Literal["+", "-", "undecided", "undefined"]

NO_SHIFT = "no shift was run on both sides; --on natural, or the name of a shift, does"


@dataclass(frozen=True)
class HypothesisOptions:
    """How the hypotheses are judged.

    Args:
        threshold: The gain from which on there is evidence, a share of the images.
        correct: For the number of questions: ``holm``, ``benjamini-hochberg``, ``bonferroni`` or ``none``.
        sizes: Patterns (``resnet*``) of models that are sizes of one network; by default their cards tell.
        line: How the lines are drawn from which ρ is taken; its level is that of the intervals and verdicts.
    """

    threshold: float = field(default_factory=threshold)
    correct: str = "holm"
    sizes: tuple[str, ...] = ()
    line: RobustnessOptions = DEFAULT_LINE

    def __post_init__(self) -> None:
        if self.correct not in CORRECTIONS:
            raise UsageError(f"no correction named {self.correct!r}{did_you_mean(self.correct, CORRECTIONS)}")
        if not 0 <= self.threshold < 1:
            raise UsageError(f"threshold {self.threshold:g}: a share of the images, such as 0.015 for 1.5 points")

    @property
    def level(self) -> float:
        """Of the intervals, and of all verdicts together."""
        return self.line.resampling.level


DEFAULT_OPTIONS = HypothesisOptions()


@dataclass(frozen=True)
class Question:
    """One hypothesis on one shift.

    Args:
        hypothesis: Its name; ``title`` as the paper prints it.
        shift: The shift, or ``natural shifts together``.
        counted: What ``value`` is: a gain in what, or the share of a variance.
        value: The number, its interval not corrected; None where it is undefined, and ``why`` says it.
        threshold: What it is held against.
        for_if_above: Whether a value above the threshold speaks for the hypothesis, or one below it.
        p_value: Of "it is as large as the threshold", two-sided; ``p_corrected`` for the number of questions.
        pairs: The pairs of models whose mean it is; ``models`` those that are counted where it is no mean over pairs.
        paper, paper_on: What the paper says, and on what.
    """

    hypothesis: str
    title: str
    shift: str
    counted: str
    value: Estimate | None
    threshold: float
    for_if_above: bool
    verdict: Verdict
    p_value: float | None
    p_corrected: float | None
    pairs: tuple[PairGain, ...]
    models: tuple[str, ...]
    why: str
    paper: str = ""
    paper_on: str = ""

    @property
    def in_points(self) -> bool:
        """Whether the value is a number of points, not a share of a variance."""
        return self.hypothesis != MULTIVARIATE


@dataclass(frozen=True)
class Hypotheses:
    """All questions; prints as a table.

    Args:
        correct: How p-values are corrected for the number of questions.
        level: Of the intervals, and of all verdicts together.
        notes: Models that are no pairs, and why.
    """

    questions: tuple[Question, ...]
    threshold: float
    correct: str
    level: float
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.table()

    @property
    def answered(self) -> tuple[Question, ...]:
        """The questions that are defined."""
        return tuple(question for question in self.questions if question.value is not None)

    @property
    def has_pairs(self) -> bool:
        """Whether two models differ in one thing."""
        return any(question.pairs for question in self.questions)

    @property
    def rule(self) -> str:
        """How verdicts are made, in a sentence."""
        how = correction_in_words(self.correct)
        return (
            f"threshold {100 * self.threshold:g} points; verdicts at {100 * self.level:g} % for "
            f"{len(self.answered)} questions, {how}"
        )

    def table(self, *, pairs: bool = False) -> str:
        """A heading for each hypothesis and a line for each shift; ``pairs`` adds a line for each pair of models."""
        header = ["  shift", "value", "counted", "behind it", "p", "verdict", "paper"]
        lines = [line for question in self.answered for line in _lines(question, pairs=pairs)]
        aligned = iter(columns([header, *lines]).splitlines())
        text = [next(aligned)]
        for hypothesis in every_hypothesis().values():
            text.append(f"{hypothesis.title}: {hypothesis.says}")
            for question in self.questions:
                if question.hypothesis != hypothesis.name:
                    continue
                if question.value is None:
                    text.append(f"  {question.shift}: undefined, {question.why}")
                else:
                    text += [next(aligned) for _ in _lines(question, pairs=pairs)]
        return "\n".join(text)

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {**asdict(self), "rule": self.rule}


def _lines(question: Question, *, pairs: bool) -> list[list[str]]:
    assert question.value is not None
    n = len(question.pairs) or len(question.models)
    behind = f"{n} {'pair' if question.pairs else 'model'}{'s' * (n > 1)}"
    first = [
        f"  {question.shift}",
        points_text(question.value) if question.in_points else f"{question.value:.3f}",
        question.counted,
        behind,
        "" if question.p_corrected is None else f"{question.p_corrected:.3g}",
        question.verdict,
        _paper(question),
    ]
    more = [
        [f"    {pair.before} → {pair.after}", points_text(pair.gain), pair.differs, "", "", "", ""]
        for pair in question.pairs
    ]
    return [first, *(more if pairs else [])]


def points_text(estimate: Estimate) -> str:
    """A share as points with its interval.

    >>> points_text(Estimate(0.021, -0.004, 0.046, 1000, "t 95%"))
    '+2.1 [-0.4, +4.6]'
    """
    known = estimate.low is not None and estimate.high is not None
    bounds = f"{100 * (estimate.low or 0):+.1f}, {100 * (estimate.high or 0):+.1f}" if known else "no interval"
    return f"{100 * estimate.value:+.1f} [{bounds}]"


def _paper(question: Question) -> str:
    return f"{question.paper} on {question.paper_on}" if question.paper else ""


def hypotheses_in(
    store: Source, *, origins: Mapping[str, Origin] | None = None, options: HypothesisOptions = DEFAULT_OPTIONS
) -> Hypotheses:
    """What a store says about each hypothesis, without what the paper says.

    Args:
        origins: Category, parent, parameters and interventions of models whose cards do not say.
    """
    index = models_alone(index_at(store))
    shifts, notes = _examined(index, origins or {}, options)
    if not shifts:
        raise StoreError(f"{index}: {NO_SHIFT}")
    judged = hypotheses_of(shifts, options)
    return replace(judged, notes=(*index.problems, *notes, *judged.notes))


def _examined(
    index: Index, origins: Mapping[str, Origin], options: HypothesisOptions
) -> tuple[list[ExaminedShift], list[str]]:
    """Every shift that the store has both sides of; why one can't be judged is told, and stops no other."""
    measured = measured_shifts(index)
    shifts, notes = [], list(measured.notes)
    for shift in measured.shifts:
        if shift.measure == "none":  # images of no class have no accuracy
            continue
        try:
            shifts.append(examined_shift(index, shift, origins, options.line))
        except OodometerError as error:
            notes.append(f"no shift of {shift.name}: {error}")
    return shifts, notes


def examined_shift(
    index: Index, shift: MeasuredShift, origins: Mapping[str, Origin], line: RobustnessOptions
) -> ExaminedShift:
    """A shift with its models, and its line where one can be drawn."""
    points = pairs_of(index, shift, origins=origins, how=IntervalOptions(level=line.resampling.level))
    rules = rules_for(points, shift, line)
    try:
        robust, why = robustness_by_rules(points, shift, line), ""
    except OodometerError as error:
        robust, why = None, str(error)
    return ExaminedShift(shift.name, shift.kind, shift.natural, points, rules, robust, why)


def hypotheses_of(shifts: Sequence[ExaminedShift], options: HypothesisOptions = DEFAULT_OPTIONS) -> Hypotheses:
    """The same from shifts that were read before."""
    pairs = controlled_pairs(candidates_in(shift.points for shift in shifts), options.sizes)
    asked = questions(shifts, pairs, Rule(options.threshold, options.line))
    p_values = np.array([np.nan if one.tested is None else one.tested.p_value(one.threshold) for one in asked])
    told = corrected(p_values, options.correct)
    judged = tuple(
        _judged(one, p, p_corrected, options.level) for one, p, p_corrected in zip(asked, p_values, told, strict=True)
    )
    notes = [f"{shift.name}: {note}" for shift in shifts for note in _of_fixed_n(shift)]
    return Hypotheses(judged, options.threshold, options.correct, options.level, (*pairs.notes, *notes))


def _of_fixed_n(shift: ExaminedShift) -> list[str]:
    return notes_of_stopped("intervals and p-values", shift.points.stopped_x, shift.points.stopped_y)


def _judged(asked: Asked, p: float, p_corrected: float, level: float) -> Question:
    value = None if asked.tested is None else asked.tested.estimate(level)
    return Question(
        asked.hypothesis,
        every_hypothesis()[asked.hypothesis].title,
        asked.shift,
        asked.counted,
        value,
        asked.threshold,
        asked.for_if_above,
        _verdict(asked, value, p_corrected, level),
        None if value is None else float(p),
        None if value is None else float(p_corrected),
        asked.pairs,
        asked.models,
        asked.why,
    )


def _verdict(asked: Asked, value: Estimate | None, p_corrected: float, level: float) -> Verdict:
    if value is None:
        return "undefined"
    if p_corrected > 1 - level:
        return "undecided"
    return "+" if (value.value > asked.threshold) == asked.for_if_above else "-"
