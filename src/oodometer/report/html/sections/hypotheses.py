"""Hypotheses: what makes models robust, from pairs that differ in one thing only."""

from __future__ import annotations

from dataclasses import replace

from oodometer.analysis.hypotheses import Hypotheses
from oodometer.analysis.text import plural
from oodometer.document.section import Part, Section, Words
from oodometer.report.tables.hypotheses import judged_by, judged_table, pairs_table
from oodometer.study import Study

HOW = (
    "Two models are a pair where their cards say that they differ in one thing: a model and its parent in an "
    "intervention, two sizes of a network in their parameters. The gain of a pair is counted in the gap between clean "
    "and shifted accuracy, and in the result itself for corruptions, attacks and sets chosen by a model's mistakes."
)


def section(study: Study) -> Section | None:
    """The verdicts and the pairs behind them; None where no two models differ in one thing only."""
    if not study.shifts:
        return None
    judged = judged_by(study)
    if not judged.has_pairs:
        return None
    table = judged_table(judged)
    # On a page the footnotes are sentences of the section, and what is undefined a list below.
    parts: list[Part] = [replace(table, notes=(), footnotes=()), pairs_table(judged)]
    if table.notes:
        parts.append(Words(table.notes, "note"))
    return Section("hypotheses", "Hypotheses", (_lead(judged), HOW, " ".join(table.footnotes)), tuple(parts))


def _lead(judged: Hypotheses) -> str:
    """How many questions are decided, and how often as in the paper."""
    decided = [question for question in judged.answered if question.verdict != "undecided"]
    asked = plural(len(judged.answered), "question")
    said = f"{asked} can be asked of these runs, and {len(decided) or 'none'} can be answered"
    signs = [f"{question.title} on {question.shift} ({question.verdict})" for question in decided[:3]]
    more = f" and {len(decided) - 3} more" if len(decided) > 3 else ""
    told = f": {', '.join(signs)}{more}." if signs else "."
    compared = [question for question in decided if question.paper]
    same = sum(question.paper == question.verdict for question in compared)
    beside = f" {same} of {len(compared)} are as in the paper." if compared else ""
    return f"{said}{told}{beside}"
