"""Estimates of accuracy without labels as rows, text and JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from oodometer.analysis.points import named
from oodometer.analysis.text import columns
from oodometer.analysis.unlabelled_errors import ExpectedError
from oodometer.core.estimate import Estimate
from oodometer.stats.lines import Line

CONVENTION = (
    "intervals are over images: they hold what a method would say of very many, not the true accuracy; how far that "
    "may be off is the expected error, the mean absolute one of other models whose labels are known"
)


@dataclass(frozen=True)
class UnlabelledAccuracy:
    """What a method says of a model.

    Args:
        weights: The first letters of the weights' digest.
        clean: The accuracy on the clean images, which have labels.
        estimate: That on the shifted images; their labels, if there are any, are not used.
        expected_error: How far off such an estimate has been; None where nothing tells.
        truth: The accuracy on the shifted images by their labels, where they have some.
        warnings: Why the estimate can't be trusted.
    """

    model: str
    weights: str
    method: str
    clean: Estimate
    estimate: Estimate
    expected_error: ExpectedError | None
    truth: Estimate | None
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class UnlabelledAccuracies:
    """All models on one set of images; prints as a table.

    Args:
        clean, shifted: The names of both sides.
        n: How many shifted images all models saw.
        line: Through the agreements of all pairs of models, on the probit scale; None where there is none.
        left_out: Methods that can't be used, and why.
        notes: What a reader should know: models and images that were left out.
    """

    clean: str
    shifted: str
    n: int
    rows: tuple[UnlabelledAccuracy, ...]
    line: Line | None
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    convention: str = field(default=CONVENTION, repr=False)

    def __str__(self) -> str:
        return self.table()

    def table(self) -> str:
        """A line for each model and method."""
        has_truth = any(row.truth is not None for row in self.rows)
        lines = [
            ["  model", "clean", "method", "estimate", "expected error", *(["by labels"] if has_truth else []), ""]
        ]
        before = ""
        for row in self.rows:
            told = ["", ""] if row.model == before else [row.model, f"{row.clean.value:.4f}"]
            truth = ["" if row.truth is None else f"{row.truth:.4f}"] if has_truth else []
            error = "not known" if row.expected_error is None else str(row.expected_error)
            doubt = "(doubtful: see the warning)" if row.warnings else ""
            lines.append([f"  {told[0]}", told[1], row.method, f"{row.estimate:.4f}", error, *truth, doubt])
            before = row.model
        return "\n".join([f"{self.shifted} (n={self.n}) without labels, from {self.clean}", columns(lines)])

    def warnings(self) -> list[str]:
        """A line for each reason for doubt, with the methods and models that it is about."""
        about: dict[str, list[UnlabelledAccuracy]] = {}
        for row in self.rows:
            for line in row.warnings:
                about.setdefault(line, []).append(row)
        every = len({row.model for row in self.rows})
        return [f"{_whom(rows, every)}: {line}" for line, rows in about.items()]

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


def _whom(rows: list[UnlabelledAccuracy], every: int) -> str:
    methods = ", ".join(dict.fromkeys(row.method for row in rows))
    models = list(dict.fromkeys(row.model for row in rows))
    return methods if len(models) == every else f"{methods} of {named(models)}"
