"""What sets of classes that promise 90 % on clean images do on both sides of each shift."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from oodometer.analysis.conformal_scores import Conformal, size_estimate
from oodometer.analysis.intervals import share_estimate
from oodometer.analysis.metric_request import Asked, ScoreOptions
from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.metrics.conformal import ALPHA
from oodometer.study import Study, StudyModel
from oodometer.study.confidences import Confidences, has_few_logits


@dataclass(frozen=True)
class Promise:
    """The sets of one model on one condition.

    Args:
        coverage: How often they hold the true class.
        size: Their mean number of classes; None where the logits were not kept, or are too many.
        clean: The condition on ``n_calibrating`` of whose images they are calibrated.
    """

    model: str
    condition: str
    data: str
    coverage: Estimate
    size: Estimate | None
    clean: str
    n_calibrating: int


def promises_of(study: Study, found: Confidences) -> tuple[list[Promise], list[str]]:
    """Of each cell whose confidences are shown, and what was left out."""
    promises: list[Promise] = []
    reasons: dict[str, list[str]] = {}
    for model in study.models:
        if model.name in found.models:
            for where, one in _of_model(study, model, found):
                if isinstance(one, Promise):
                    promises.append(one)
                else:
                    reasons.setdefault(one, []).append(where)
    notes = [f"Sets of classes: {why} ({_places(where)})." for why, where in reasons.items()]
    return promises, notes


def _of_model(study: Study, model: StudyModel, found: Confidences) -> Iterator[tuple[str, Promise | str]]:
    """Where, and what the sets do there, or why nobody knows."""
    index, how = study.index, found.how
    conformal = Conformal(index, model.cells, Asked((), how, ScoreOptions(seed=how.seed)))
    for cell in model.cells:
        if cell.key not in found.answers:
            continue
        counted = has_few_logits(index, cell)
        try:
            judged = conformal.judged(cell, with_logits=counted)
            coverage = share_estimate(conformal.covered(judged), how, None)
            size = size_estimate(conformal.sizes(judged), cell.n_classes, how) if counted else None
        except OodometerError as error:
            yield f"{model.name} on {cell.condition_name}", str(error)
            continue
        clean = judged.clean.condition_name
        yield (
            cell.key,
            Promise(model.name, cell.condition_name, cell.data.title, coverage, size, clean, judged.n_calibrating),
        )


def _places(where: list[str]) -> str:
    return where[0] if len(where) == 1 else f"{where[0]} and {len(where) - 1} more"


def promised() -> float:
    """The share of images whose class the sets promise to hold."""
    return 1 - ALPHA
