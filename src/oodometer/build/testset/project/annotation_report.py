"""What the answers of a project say: frequencies by class, how good workers are, how far they agree."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from oodometer.build.testset.agreement import krippendorff_alpha
from oodometer.build.testset.answers import Answers, about, without_workers
from oodometer.build.testset.dawid_skene import DawidSkene, dawid_skene, prevalence_of
from oodometer.build.testset.frequencies import ClassSummary, Frequencies, class_summaries, selection_frequencies
from oodometer.build.testset.project.annotated import Asked, answers_of
from oodometer.build.testset.project.pool import CANDIDATE, ORIGINAL
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.workers import WorkerQuality, spammers, worker_qualities
from oodometer.core.errors import DataError
from oodometer.core.estimate import Estimate

COLUMNS = ("id", "class", "asked_about", "role", "frequency", "low", "high", "n", "posterior")


@dataclass(frozen=True, eq=False)
class AnnotationReport:
    """What the answers say. What they can't say is None.

    Args:
        asked: Questions and answers, all of them.
        frequencies: Of each question, without the answers of spammers if they were to be left out.
        candidates: By class, of its candidates.
        originals: By class, of its originals.
        qualities: Of each worker, in the order of ``asked.workers``: no token, no name.
        alpha: Krippendorff's, about the candidates.
        fit: Dawid and Skene's model of all answers.
        prevalence: By that model, fitted without the originals that are ordinary entries, of candidates that show
            their class.
        names: Of the classes, by number.
    """

    asked: Asked
    frequencies: Frequencies
    candidates: tuple[ClassSummary, ...]
    originals: tuple[ClassSummary, ...]
    qualities: tuple[WorkerQuality, ...]
    alpha: Estimate | None
    fit: DawidSkene | None
    prevalence: Estimate | None
    names: dict[int, str]

    @property
    def verdicts(self) -> Counter[str]:
        """How many workers are what."""
        return Counter(one.verdict for one in self.qualities)


def annotation_report(project: Project, *, without_spammers: bool = False, threshold: float = 0.7) -> AnnotationReport:
    """What the answers of a project say.

    Args:
        without_spammers: Whether to leave the answers of spammers out of all but the workers' qualities.
        threshold: For the share of images whose frequency reaches it.
    """
    asked = answers_of(project)
    if len(asked.answers) == 0:
        raise DataError(f"{project.folder}: nobody has answered yet; let people annotate: oodometer testset serve")
    qualities = worker_qualities(asked.answers)
    answers = without_workers(asked.answers, spammers(qualities)) if without_spammers else asked.answers
    frequencies = selection_frequencies(answers)
    is_candidate = answers.is_candidate & (_of_role(asked, CANDIDATE) >= 0)
    return AnnotationReport(
        asked=asked,
        frequencies=frequencies,
        candidates=class_summaries(frequencies, _of_role(asked, CANDIDATE), threshold=threshold),
        originals=class_summaries(frequencies, _of_role(asked, ORIGINAL), threshold=threshold),
        qualities=qualities,
        alpha=_or_none(lambda: krippendorff_alpha(about(answers, is_candidate))),
        fit=_or_none(lambda: dawid_skene(answers)),
        prevalence=_or_none(lambda: _prevalence(about(answers, is_candidate | ~answers.is_candidate))),
        names={number: entry.name for number, entry in project.classes().items()},
    )


def write_frequencies(report: AnnotationReport, file: str | Path) -> int:
    """A table with a row for each question that has answers; how many rows it has."""
    rows = [row for row in _rows(report) if row[7]]
    with Path(file).open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    return len(rows)


def as_json(report: AnnotationReport) -> dict[str, Any]:
    """For programs: no worker is in it by more than their number in the project."""
    return {
        "images": int((report.frequencies.n_answers > 0).sum()),
        "answers": int(report.frequencies.n_answers.sum()),
        "workers": {"n": len(report.qualities), **dict(sorted(report.verdicts.items()))},
        "candidates": _summaries(report.candidates, report.names),
        "originals": _summaries(report.originals, report.names),
        "qualities": [
            _quality(number, quality)
            for number, quality in zip(report.asked.workers.tolist(), report.qualities, strict=True)
        ],
        "alpha": _estimate(report.alpha),
        "prevalence": _estimate(report.prevalence),
    }


def _of_role(asked: Asked, role: str) -> np.ndarray:
    """The class of each question about an image of this role for its own class; -1 of others."""
    of_role = np.array([one.role == role for one in asked.images], dtype=bool)
    return np.where(of_role & asked.own_class, asked.classes, -1)


def _prevalence(answers: Answers) -> Estimate:
    return prevalence_of(answers, dawid_skene(answers))


def _or_none(function: Callable[[], Any]) -> Any:
    """A number, or None where it is undefined."""
    try:
        return function()
    except DataError:
        return None


def _rows(report: AnnotationReport) -> list[tuple[Any, ...]]:
    found = report.frequencies
    posterior = np.full(len(found.n_answers), np.nan) if report.fit is None else report.fit.posterior
    numbers = zip(found.frequency, found.low, found.high, posterior, strict=True)
    texts = [["" if np.isnan(value) else f"{value:.6g}" for value in row] for row in numbers]
    return [
        (one.key, one.class_name, report.names[int(code)], one.role, *text[:3], int(n), text[3])
        for one, code, n, text in zip(report.asked.images, report.asked.classes, found.n_answers, texts, strict=True)
    ]


def _summaries(summaries: Sequence[ClassSummary], names: dict[int, str]) -> dict[str, Any]:
    return {
        names[one.code]: {
            "images": one.n_images,
            "answered": one.n_answered,
            "answers": one.n_answers,
            "mean": _estimate(one.mean),
            "at_or_above": _estimate(one.at_or_above),
        }
        for one in summaries
    }


def _quality(number: int, one: WorkerQuality) -> dict[str, Any]:
    return {
        "worker": number,
        "selecting": _estimate(one.selecting),
        "hits": _estimate(one.hits),
        "rejections": _estimate(one.rejections),
        "informedness": _estimate(one.informedness),
        "p_value": one.p_value,
        "adjusted": one.adjusted,
        "verdict": one.verdict,
    }


def _estimate(one: Estimate | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {"value": one.value, "low": one.low, "high": one.high, "n": one.n, "interval": one.interval}
