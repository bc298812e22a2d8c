"""Slices of a study: the accuracy of each value of the columns of its data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.metric_request import Asked, ScoreOptions
from oodometer.analysis.score_table import Score
from oodometer.analysis.value_scores import METRIC, value_scores
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import DEFAULT_INTERVAL
from oodometer.store.cells import Cell
from oodometer.study.study import Study, StudyCondition

MOST_MODELS = 6
MOST_VALUES = 40
"""Of a column; one of more values names images rather than groups of them."""
MOST_CONDITIONS = 8


@dataclass(frozen=True)
class ValueSlices:
    """One column of the data.

    Args:
        models: The first few.
        rows: The condition, the value, and the accuracy of each model there.
    """

    column: str
    models: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[Estimate | None, ...]], ...]
    convention: str


def value_slices(study: Study) -> list[ValueSlices]:
    """Each column that cuts the data of some condition into groups, as ``score --by-value COLUMN`` tells it."""
    found: dict[str, list[StudyCondition]] = {}
    for condition in _conditions(study):
        for column in _columns(study, condition):
            found.setdefault(column, []).append(condition)
    return [_sliced(study, column, conditions[:MOST_CONDITIONS]) for column, conditions in sorted(found.items())]


def has_columns(study: Study) -> bool:
    """Whether the data say more of their images than the class; whether that cuts them into groups is not looked at."""
    records = (condition.record for condition in _conditions(study))
    return any(study.index.images_of(record).columns for record in records if record is not None)


def _conditions(study: Study) -> Iterator[StudyCondition]:
    """Those that were run; of families of corruptions none, for their images are the clean ones."""
    return (one for one in study.conditions if one.record is not None and one.accuracies and one.member is None)


def _columns(study: Study, condition: StudyCondition) -> list[str]:
    assert condition.record is not None
    images = study.index.images_of(condition.record)
    texts = {name: values.astype(str) for name, values in images.columns.items()}
    return [
        name
        for name, values in texts.items()
        if 2 <= len(np.unique(values)) <= MOST_VALUES and not _is_class(values, images.labels)
    ]


def _is_class(values: np.ndarray, labels: np.ndarray) -> bool:
    """Whether a column says only what the class is, which the section about classes shows."""
    pairs = np.unique(np.stack([values, labels.astype(str)]), axis=1)
    return bool(pairs.shape[1] == len(np.unique(values)) == len(np.unique(labels)))


def _sliced(study: Study, column: str, conditions: list[StudyCondition]) -> ValueSlices:
    models = [model for model in study.models if model.cells][:MOST_MODELS]
    options = ScoreOptions(by_value=(column,))
    asked = Asked((), IntervalOptions(DEFAULT_INTERVAL, study.options.resampling.level), options)
    rows: dict[tuple[str, str], dict[str, Estimate]] = {}
    convention = ""
    for condition in conditions:
        for model in models:
            for score in _scores(study, condition, model.cells, asked):
                value = score.metric.removeprefix(f"{METRIC}[{column}=").removesuffix("]")
                rows.setdefault((condition.name, value), {})[model.name] = score.estimate
                convention = score.convention
    names = tuple(model.name for model in models if any(model.name in of for of in rows.values()))
    return ValueSlices(
        column,
        names,
        tuple((on, value, tuple(of.get(name) for name in names)) for (on, value), of in rows.items()),
        convention,
    )


def _scores(study: Study, condition: StudyCondition, cells: tuple[Cell, ...], asked: Asked) -> Iterator[Score]:
    assert condition.record is not None
    own = [cell for cell in cells if cell.condition.key == condition.record.key and study.index.has_rows(cell)]
    return (score for score in value_scores(study.index, own, asked) if isinstance(score, Score))
