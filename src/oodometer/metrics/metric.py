"""A metric: a number about one cell, with the convention that it follows."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np

from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.predictions import Predictions
from oodometer.core.registry import Registry

Kind = Literal["share", "mean", "whole"]
Better = Literal["higher", "lower"]

KNOWN_COLUMNS = tuple(one.name for one in fields(Predictions) if one.name != "logits")
"""What a metric may ask for."""

LABELLED = {"label", "rank", "label_log_probability"}
"""Columns that only images with a label have."""


@dataclass(frozen=True)
class Metric:
    """A number about one model on one condition.

    Args:
        name: Of the number, as it stands in tables: ``top-1``, ``brier``.
        convention: The definition in a few words, for people who know several.
        columns: Of `Predictions`, in the order of the function's arguments.
        of: The function: one score per image, (N,), whose mean is the number; or, where ``kind`` is ``whole``, the
            number itself.
        kind: ``share`` where each score is 0 or 1; ``mean`` where the number is the mean of other scores; ``whole``
            where it does not decompose into images, as with everything that bins or sorts them.
        better: Which direction is good.
        bounds: What the number can't lie beyond; nor can its interval.
    """

    name: str
    convention: str
    columns: tuple[str, ...]
    of: Callable[..., Any]
    kind: Kind = "whole"
    better: Better = "lower"
    bounds: tuple[float, float] = (-math.inf, math.inf)


metrics: Registry[Metric] = Registry(
    "metric",
    {
        "top-1": "oodometer.metrics.accuracy:top_1",
        "top-5": "oodometer.metrics.accuracy:top_5",
        "error": "oodometer.metrics.accuracy:error",
        "balanced": "oodometer.metrics.per_class:balanced",
        "worst-class": "oodometer.metrics.per_class:worst_class",
        "rms-calibration": "oodometer.metrics.calibration_error:rms_calibration",
        "rms-calibration:published": "oodometer.metrics.calibration_error:rms_calibration_published",
        "ece": "oodometer.metrics.calibration_error:ece",
        "adaptive-ece": "oodometer.metrics.calibration_error:adaptive_ece",
        "brier": "oodometer.metrics.brier:brier",
        "nll": "oodometer.metrics.likelihood:nll",
        "aurra": "oodometer.metrics.selective:aurra",
        "aurc": "oodometer.metrics.selective:aurc",
        "coverage@5%": "oodometer.metrics.selective:coverage_at_5",
        "risk@80%": "oodometer.metrics.selective:risk_at_80",
        "augrc": "oodometer.metrics.generalized_risk:augrc",
        "smooth-ece": "oodometer.metrics.smooth_calibration:smooth_ece",
    },
    group="oodometer.metrics",
)


def metric(
    name: str,
    *,
    columns: Sequence[str],
    kind: Kind = "mean",
    better: Better = "higher",
) -> Callable[[Callable[..., Any]], Metric]:
    """A decorator that makes a metric of a function, under a name that ``score`` knows from then on.

    The first line of the function's docstring becomes the convention. For the arguments see `Metric`.

        @metric("sure-and-wrong", columns=["confidence", "rank"], kind="share", better="lower")
        def sure_and_wrong(confidence, rank):
            '''Confidence above 0.9, and another class than the true one.'''
            return (confidence > 0.9) & (rank > 0)
    """
    if kind not in get_args(Kind) or better not in get_args(Better):
        raise UsageError(f"metric {name}: kind is one of {', '.join(get_args(Kind))}, better higher or lower")
    if name == "all" or not re.fullmatch(r"[^\s,\[\]]+", name) or re.fullmatch(r"pm-\d+", name):
        raise UsageError(f"metric {name!r}: a name has no spaces, commas or brackets, and is not all or pm-K")
    unknown = [one for one in columns if one not in KNOWN_COLUMNS]
    if unknown or not columns:
        wrong = repr(unknown[0]) if unknown else "no column"
        raise UsageError(f"metric {name}: {wrong} is not a column of predictions; known: {', '.join(KNOWN_COLUMNS)}")

    def add(function: Callable[..., Any]) -> Metric:
        convention = (function.__doc__ or "").strip().partition("\n")[0]
        guarded = _guarded(name, kind, function)
        return metrics.register(name)(Metric(name, convention, tuple(columns), guarded, kind, better))

    return add


def _guarded(name: str, kind: Kind, function: Callable[..., Any]) -> Callable[..., Any]:
    """Somebody's function, whose failures say that they are its own."""

    def of(*columns: np.ndarray) -> Any:
        try:
            found = np.asarray(function(*columns))
        except OodometerError:
            raise
        except Exception as error:
            raise OodometerError(f"{name}: its function failed ({type(error).__name__}: {error})") from error
        if found.dtype.kind not in "buif":
            raise OodometerError(f"{name}: its function gave {found.dtype}, not real numbers")
        if kind == "whole" and found.ndim:
            raise OodometerError(
                f"{name}: its function gave an array of shape {found.shape}; kind 'whole' is one number"
            )
        return float(found) if kind == "whole" else found

    return of


def columns_of(metric: Metric, rows: Predictions) -> tuple[np.ndarray, ...]:
    """The columns that the metric wants, of the images that it can be computed for.

    An error where there is none: the metric is undefined then, not zero.
    """
    columns = tuple(getattr(rows, name) for name in metric.columns)
    if LABELLED & set(metric.columns):
        has_label = rows.rank >= 0
        if not has_label.all():
            columns = tuple(column[has_label] for column in columns)
    if len(columns[0]) == 0:
        raise OodometerError(f"{metric.name}: no {'labelled ' if len(rows) else ''}images, so it is undefined")
    for name, column in zip(metric.columns, columns, strict=True):
        if np.issubdtype(column.dtype, np.floating) and np.isnan(column).any():
            raise OodometerError(f"{metric.name}: needs {name}, but only the best classes of these answers are known")
    return columns


def value_of(metric: Metric, rows: Predictions) -> float:
    """The number, without its interval.

    >>> from oodometer.core.predictions import from_logits
    >>> rows = from_logits(np.array([[1.0, 3.0], [2.0, 0.0]]), np.array([1, 1]), np.arange(2))
    >>> value_of(Metric("top-1", "", ("rank",), lambda rank: rank == 0, kind="share"), rows)
    0.5
    """
    return float(np.mean(metric.of(*columns_of(metric, rows))))
