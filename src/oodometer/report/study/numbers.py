"""What is told of each model besides accuracies: mCE, calibration error, AURRA."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from oodometer.core.digests import digest_of
from oodometer.metrics.metric import metrics
from oodometer.report.asked import Asked, ScoreOptions
from oodometer.report.corruption_scores import corruption_scores
from oodometer.report.estimates import How
from oodometer.report.imported_scores import imported_corruption_scores
from oodometer.report.score import scores_of_cells
from oodometer.report.scores import Score, or_left_out
from oodometer.store.cells import Cell
from oodometer.store.tables import read_tables

if TYPE_CHECKING:
    from oodometer.report.study.study import Study

OF_FAMILIES = ("mce", "relative-mce", "mean-corruption-error", "ce", "relative-ce")
OF_CELLS = ("rms-calibration", "aurra")


def scores_of(study: Study) -> tuple[Score, ...]:
    """All of them, under the names of the study's models and conditions; what is undefined is not there."""
    resampling = study.options.resampling
    options = ScoreOptions(draws=resampling.draws, seed=resampling.seed)
    asked = Asked(
        (*OF_FAMILIES, *OF_CELLS), How(level=resampling.level, draws=options.draws, seed=options.seed), options
    )
    return (*_of_sides(study, asked), *_of_families(study, asked), *_of_tables(study, asked))


def _of_sides(study: Study, asked: Asked) -> Iterator[Score]:
    """Calibration and AURRA on both sides of every shift that is one condition: not on each of 75 corruptions."""
    sides = {name for shift in study.shifts for name in (*shift.points.x, *_single(shift.points.conditions))}
    sides |= {study.conditions[0].condition} if study.conditions else set()
    names = {digest_of(dict(one.described)): one.name for one in study.conditions if one.described}
    wanted = [metrics.get(name) for name in OF_CELLS]
    for model in study.models:
        cells = [cell for cell in model.cells if cell.condition_name in sides and digest_of(cell.condition) in names]
        for cell, found in scores_of_cells(study.store, cells, wanted, asked):
            for one in found:
                if isinstance(one, Score):
                    yield replace(one, model=model.name, condition=names[digest_of(cell.condition)])


def _single(conditions: Sequence[str]) -> Sequence[str]:
    return conditions if len(conditions) == 1 else ()


def _of_families(study: Study, asked: Asked) -> Iterator[Score]:
    """The mCE of every family that a model was run on whole."""
    for model in study.models:
        cells: Sequence[Cell] = model.cells
        if not cells:
            continue
        for one in or_left_out(corruption_scores(study.store, cells, asked), OF_FAMILIES):
            if isinstance(one, Score):
                yield replace(one, model=model.name)


def _of_tables(study: Study, asked: Asked) -> Iterator[Score]:
    return imported_corruption_scores(read_tables(study.store), asked)
