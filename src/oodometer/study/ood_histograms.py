"""Images of no class against images of the classes: how the scores of models are spread over both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.measured_shifts import CLEAN
from oodometer.analysis.metric_request import Asked, ScoreOptions
from oodometer.analysis.named import cells_on
from oodometer.analysis.ood_scores import inside_of, ood_scores
from oodometer.analysis.score_table import LeftOut
from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.metrics.ood_detection import SCORES
from oodometer.store.cells import Cell
from oodometer.store.index import Index
from oodometer.study import Study, StudyModel

MEASURES = ("auroc", "aupr", "fpr@95%")
BINS = 40


@dataclass(frozen=True)
class Histogram:
    """Images of both kinds in bins of one score: ``edges`` (B + 1,), counts (B,)."""

    edges: np.ndarray
    inside: np.ndarray
    outside: np.ndarray


@dataclass(frozen=True)
class Outside:
    """One model on images of no class.

    Args:
        condition: Whose images belong to no class; ``inside`` that of the images that do.
        histograms: By the name of the score; of the score as it is stored, whichever end means outside.
        measures: ``auroc[SCORE]`` and so on, as ``score --ood`` has them; ``convention`` what they follow.
    """

    model: str
    condition: str
    inside: str
    histograms: Mapping[str, Histogram]
    measures: Mapping[str, Estimate]
    convention: str


def outside_sets(study: Study) -> list[str]:
    """What models were run on and no image of has a label, by the name that ``score --ood`` takes.

    Images seen as they are may well be of the classes, though nobody said of which: they are not among them.
    """
    labelled = {(one.condition, one.data) for one in study.conditions}
    cells = [cell for model in study.models for cell in model.cells]
    of_labelled = {cell.condition_name for cell in cells if (cell.condition_name, cell.data.title) in labelled}
    unlabelled = [cell for cell in cells if (cell.condition_name, cell.data.title) not in labelled]
    found = [cell for cell in unlabelled if cell.condition_name != CLEAN]
    return list(
        dict.fromkeys(
            f"{cell.condition_name}@{cell.data.title}" if cell.condition_name in of_labelled else cell.condition_name
            for cell in found
        )
    )


def outside_of(study: Study, models: Sequence[StudyModel], how: IntervalOptions) -> tuple[list[Outside], list[str]]:
    """Each model on each such set, and what was left out."""
    found: list[Outside] = []
    notes: list[str] = []
    for name in outside_sets(study):
        for model in models:
            try:
                of_model = _of_model(study.index, model, name, how)
            except OodometerError as error:
                notes.append(f"{model.name} on {name} is left out: {error}")
                continue
            found += of_model
    return found, notes


def _of_model(index: Index, model: StudyModel, name: str, how: IntervalOptions) -> list[Outside]:
    cells = list(model.cells)
    outside = cells_on(name, cells)
    if not outside:
        return []
    asked = Asked(MEASURES, how, ScoreOptions(draws=how.draws, seed=how.seed, ood=name))
    scores = []
    for one in ood_scores(index, cells, asked):
        if isinstance(one, LeftOut):
            raise OodometerError(one.why)
        scores.append(one)
    of_cell = {cell.key: [one for one in scores if one.cell == cell.key] for cell in outside}
    return [
        Outside(
            model.name,
            name,
            inside.condition_name,
            _histograms(index, inside, cell),
            {one.metric: one.estimate for one in of_cell[cell.key]},
            next(one.convention for one in of_cell[cell.key] if one.metric.startswith("aupr")),
        )
        for cell in outside
        for inside in [inside_of(index, cells, cell, name)]
    ]


def _histograms(index: Index, inside: Cell, outside: Cell) -> dict[str, Histogram]:
    rows = index.read(inside), index.read(outside)
    found = {}
    for name, (column, _) in SCORES.items():
        values = [np.asarray(getattr(one, column), dtype=np.float64) for one in rows]
        edges = np.histogram_bin_edges(np.concatenate(values), bins=BINS)
        found[name] = Histogram(edges, *(np.histogram(one, bins=edges)[0] for one in values))
    return found
