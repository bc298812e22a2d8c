"""What is behind the numbers of a study: the store is read here, and nowhere outside of a study's own part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from oodometer.analysis.common_images import right_on_common
from oodometer.analysis.consistency import Consistencies, consistency_of
from oodometer.analysis.families import family_in
from oodometer.analysis.hardest import Hardest, hardest_of
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.ood_scores import ood_scores
from oodometer.analysis.people_answers import PeopleAnswers
from oodometer.analysis.score import scores_of_cells
from oodometer.analysis.score_table import LeftOut, Score
from oodometer.catalogue.names import find_shift
from oodometer.core.condition import Family
from oodometer.core.errors import StoreError
from oodometer.core.predictions import Predictions
from oodometer.core.records import ShiftRecord
from oodometer.metrics.metric import Metric
from oodometer.store.cells import Cell
from oodometer.store.folder import Entry
from oodometer.store.tables import Accuracy
from oodometer.study.study import Study, StudyCondition, StudyModel


def answers(study: Study, cell: Cell) -> Predictions:
    """What a model answered."""
    return study.index.read(cell)


def keeps_logits(study: Study, cell: Cell) -> bool:
    """Whether all logits of a cell are kept."""
    return study.index.entry(cell).logits_of_all_rows


def image_ids(study: Study, cell: Cell) -> np.ndarray:
    """The ids of a cell's images."""
    return study.index.images(cell).ids


def n_classes_of_data(study: Study, cell: Cell) -> int:
    """How many classes the labels of a cell's images have."""
    return len(study.index.images(cell).space)


def cells_of_condition(study: Study, condition: StudyCondition) -> list[Cell]:
    """The cells of a condition that have rows, of all models."""
    key = condition.record.key if condition.record else None
    every = [cell for model in study.models for cell in model.cells if cell.condition.key == key]
    return [cell for cell in every if study.index.has_rows(cell)]


def hardest_images(study: Study, cells: Sequence[Cell], *, top: int) -> Hardest:
    """The images that most models miss, from the cells of one condition."""
    return hardest_of(study.index, cells, top=top)


def right_on(study: Study, cells: Sequence[Cell]) -> np.ndarray:
    """Whether each of these cells of one condition is right on each image that all of them have, (M, N) bool."""
    return np.stack(right_on_common(study.index, cells).values)


def consistencies(study: Study, cells: Sequence[Cell], people: PeopleAnswers) -> Consistencies:
    """Error consistency of every two of these cells of one condition, and of people beside them."""
    return consistency_of(study.index, cells, people=people, resampling=study.options.resampling)


def warnings_about(study: Study, cell: Cell) -> list[str]:
    """What an attack found out about itself while it ran, or why that can't be read."""
    try:
        return study.index.warnings(cell)
    except StoreError as error:
        return [f"its warnings can't be read: {error}"]


def unfinished(study: Study) -> list[Entry]:
    """The cells that are not done yet."""
    return [entry for entry in study.index.entries if not entry.complete]


def imported(study: Study) -> tuple[Accuracy, ...]:
    """The accuracies of imported tables."""
    return study.index.tables


def published_size(condition: str) -> int | None:
    """How many images the published set of that name has.

    >>> published_size("imagenet-sketch"), published_size("mine")
    (50889, None)
    """
    entry = find_shift(condition)
    return entry.n if entry else None


def pairs_run(study: Study) -> tuple[ShiftRecord, ...]:
    """The pairs of conditions that were run as shifts."""
    return study.index.shifts


def family_of_cell(study: Study, cell: Cell) -> Family | None:
    """The member of a family of corruptions that a cell is about."""
    return family_in(study.index, cell.condition)


def scores_of(
    study: Study, cells: Sequence[Cell], metrics: Sequence[Metric], asked: Asked
) -> Iterator[tuple[Cell, Iterator[Score | LeftOut]]]:
    """Metrics of single cells."""
    return scores_of_cells(study.index, cells, metrics, asked)


def detection_scores(study: Study, model: StudyModel, asked: Asked) -> Iterable[Score | LeftOut]:
    """How well a model tells images of no class from those of the classes."""
    return ood_scores(study.index, list(model.cells), asked)
