"""The hypotheses about robustness as tables: a verdict for each shift, and the pairs of models behind it."""

from __future__ import annotations

from itertools import groupby

from oodometer.analysis.hypotheses import Hypotheses
from oodometer.core.errors import StoreError, UsageError
from oodometer.document.table import Column, Table
from oodometer.published.hypotheses_beside import beside_paper
from oodometer.report.tables.options import TableOptions
from oodometer.study import Study
from oodometer.study.hypotheses import hypotheses_of_study

CAPTION = "The hypotheses of Hendrycks et al. 2021 on these runs, each shift by itself."
SIGNS = "+: evidence for the hypothesis; -: none, or evidence against it; undecided: the interval reaches both."
GAIN = "What the model with the thing gains over the one without, in points of what is counted"
NO_PAIRS = "no two models differ in one thing only; cards tell it, by parent and interventions, or by their parameters"


def hypotheses_table(study: Study, options: TableOptions | None = None) -> Table:
    """Every question that is defined, with its number, its verdict and the paper's."""
    if options is not None and (options.columns or options.models):
        raise UsageError("--what hypotheses has columns of its own, and all models: leave out --columns and --model")
    judged = judged_by(study)
    if not judged.has_pairs:
        raise StoreError(f"{study.address}: {NO_PAIRS}")
    return judged_table(judged)


def judged_by(study: Study) -> Hypotheses:
    """What the study says about each hypothesis, beside what the paper says."""
    return beside_paper(hypotheses_of_study(study))


def judged_table(judged: Hypotheses) -> Table:
    """The same of hypotheses that were judged before."""
    columns = (
        Column("hypothesis"),
        Column("shift"),
        Column("gain", "points", f"{GAIN}; of Only IID Accuracy the distance from the line", bar=False),
        Column("share", "number", "Of the variance of ρ that one number explains", digits=3),
        Column("counted", about="What the number is about"),
        Column("pairs", "count", "Pairs of models whose mean it is, or models"),
        Column("p", "number", f"Of the threshold, two-sided; {_correction(judged)}", digits=4, least=0.0001),
        Column("verdict", about=SIGNS),
        Column("paper", about="The paper's verdict, and on what"),
    )
    rows = tuple(
        (
            question.title,
            question.shift,
            question.value if question.in_points else None,
            None if question.in_points else question.value,
            question.counted,
            len(question.pairs) or len(question.models),
            question.p_corrected,
            question.verdict,
            f"{question.paper} on {question.paper_on}" if question.paper else "",
        )
        for question in judged.answered
    )
    undefined = [
        f"{question.title} on {question.shift}: undefined, {question.why}"
        for question in judged.questions
        if question.value is None
    ]
    groups = tuple((title, len(list(some))) for title, some in groupby(row[0] for row in rows))
    footnotes = (SIGNS, f"{judged.rule[0].upper()}{judged.rule[1:]}.")
    notes = (*undefined, *judged.notes)
    return Table("hypotheses", CAPTION, columns, rows, groups=groups, footnotes=footnotes, notes=notes)


def pairs_table(judged: Hypotheses) -> Table:
    """The pairs of models behind the verdicts."""
    columns = (
        Column("hypothesis"),
        Column("shift"),
        Column("without"),
        Column("with"),
        Column("differs in"),
        Column("gain", "points", f"{GAIN}, with its interval over images", "high"),
    )
    rows = tuple(
        (question.title, question.shift, pair.before, pair.after, pair.differs, pair.gain)
        for question in judged.answered
        for pair in question.pairs
    )
    caption = "The pairs behind each verdict: models that differ in one thing only."
    return Table("hypotheses-pairs", caption, columns, rows, filters="hypothesis", folded=True)


def _correction(judged: Hypotheses) -> str:
    return "not corrected" if judged.correct == "none" else f"corrected after {judged.correct.title()}"
