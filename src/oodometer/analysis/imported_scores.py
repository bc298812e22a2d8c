"""CE, mCE and their like from a table of accuracies: the numbers alone, since the images behind them are not here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oodometer.analysis.corruption_scores import AS_IMPORTED
from oodometer.analysis.family_number import MEAN_ERROR, OF_ALEXNET
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.score_table import Score
from oodometer.catalogue.names import family_of
from oodometer.catalogue.shifts import clean_names
from oodometer.core.estimate import Estimate
from oodometer.metrics.corruption_error import (
    COMMON,
    SEVERITIES,
    Normaliser,
    alexnet,
    corruption_errors,
    error_matrix,
    mean_error,
    relative_corruption_errors,
)
from oodometer.store.tables import Accuracy

NO_INTERVAL = "none: it needs the predictions"
ON_DISK = "imagenet-c_on-disk"
"""ImageNet-C in the table of the 204-model testbed."""

Errors = dict[tuple[str, int], float]
"""Corruption and severity to the error there."""


def imported_corruption_scores(tables: Sequence[Accuracy], asked: Asked) -> Iterator[Score]:
    """The corruption errors of every model of which a table has all of ImageNet-C, with AlexNet as the normaliser."""
    # The clean set has two names; where a table has both, that of the family's own.
    clean = {(row.model, row.condition): 1 - row.accuracy for row in tables if row.condition in clean_names()}
    for (model, family), errors in _by_family(tables).items():
        wanted = [(name, severity) for name in COMMON for severity in SEVERITIES]
        known = OF_ALEXNET.fullmatch(family) or family == ON_DISK
        if not known or not set(wanted) <= set(errors):
            continue
        names = reversed(clean_names()) if family == ON_DISK else clean_names()
        without = next((clean[model, name] for name in names if (model, name) in clean), None)
        for metric, condition, value, convention in _numbers(family, errors, without, alexnet()):
            if asked.wants(metric):
                estimate = Estimate(value, None, None, None, NO_INTERVAL)
                yield Score(model, "", condition, "", "", metric, estimate, 0, "imported", "", convention)


def _by_family(tables: Sequence[Accuracy]) -> dict[tuple[str, str], Errors]:
    """Model and family to its errors."""
    found: dict[tuple[str, str], Errors] = {}
    for row in tables:
        if member := family_of(row.condition):
            errors = found.setdefault((row.model, member.name), {})
            errors[member.corruption, member.severity] = 1 - row.accuracy
    return found


def _numbers(family: str, errors: Errors, clean: float | None, by: Normaliser) -> Iterator[tuple[str, str, float, str]]:
    """Metric, condition, value and convention."""
    matrix = error_matrix(errors)
    over = "over 15 corruptions x 5 severities"
    yield MEAN_ERROR, family, float(mean_error(matrix)), f"mean error {over}, not normalised"
    kinds = [("ce", "mce", "CE", corruption_errors(matrix, by))]
    if clean is not None:
        relative = relative_corruption_errors(matrix, clean, by)
        kinds.append(("relative-ce", "relative-mce", "relative CE", relative))
    for one, mean, what, values in kinds:
        yield mean, family, float(values.mean()), f"mean of {what} {over}, by {by.name}; {AS_IMPORTED}"
        for name, value in zip(COMMON, values.tolist(), strict=True):
            yield one, f"{family}/{name}", value, f"{what}, by {by.name}"
