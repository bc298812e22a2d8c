"""What is told of each model besides accuracies: mCE, calibration errors, AURRA."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from oodometer.analysis.cell_estimates import MANY_IMAGES
from oodometer.analysis.corruption_scores import corruption_scores
from oodometer.analysis.imported_scores import imported_corruption_scores
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.metric_request import Asked, ScoreOptions
from oodometer.analysis.score import scores_of_cells
from oodometer.analysis.score_table import LeftOut, Score, or_left_out
from oodometer.metrics.metric import metrics

if TYPE_CHECKING:
    from oodometer.study.study import Study, StudyModel

OF_FAMILIES = ("mce", "relative-mce", "mean-corruption-error", "ce", "relative-ce")
OF_CELLS = ("ece", "rms-calibration", "aurra")
FEWEST_DRAWS = 100
MOST_DRAWN = 200_000_000
"""Images times draws of the bootstraps of all cells together: about half a minute. Beyond, the draws are fewer."""


def scores_of(study: Study) -> tuple[Score, ...]:
    """All of them, under the names of the study's models and conditions; what is undefined is not there."""
    of_families = (one for one in family_scores(study, study.models) if isinstance(one, Score))
    return (*_of_sides(study), *of_families)


def _of_sides(study: Study) -> Iterator[Score]:
    """Calibration and AURRA on both sides of every shift that is one condition: not on each of 75 corruptions."""
    sides = {study.conditions[0].name} if study.conditions else set()
    for shift in study.shifts:
        sides |= {shift.standard, *(shift.shifted if len(shift.shifted) == 1 else ())}
    names = {one.record.key: one.name for one in study.conditions if one.record}
    cells = {
        model.name: [cell for cell in model.cells if names.get(cell.condition.key) in sides] for model in study.models
    }
    wanted = study.options.resampling.draws
    resampled = [cell.n_rows for some in cells.values() for cell in some if cell.n_rows < MANY_IMAGES]
    draws = draws_for(sum(resampled), wanted)
    asked, of = _asked(study, draws), [metrics.get(name) for name in OF_CELLS]
    models = {cell.key: model for model, some in cells.items() for cell in some}
    every = [cell for some in cells.values() for cell in some]
    for cell, found in scores_of_cells(study.index, every, of, asked):
        condition = names[cell.condition.key]
        for score in found:
            if isinstance(score, Score):
                fewer = draws < wanted and score.estimate.interval.startswith("bootstrap")
                said = f"; {draws} draws of the bootstrap" if fewer else ""
                yield replace(score, model=models[cell.key], condition=condition, convention=score.convention + said)


def draws_for(n_images: int, wanted: int) -> int:
    """The draws of each bootstrap, fewer where there are very many images.

    >>> draws_for(10_000, 1000), draws_for(1_000_000, 1000), draws_for(20_000_000, 1000)
    (1000, 200, 100)
    """
    return min(wanted, max(MOST_DRAWN // max(n_images, 1) // 100 * 100, FEWEST_DRAWS))


def family_scores(
    study: Study, models: Sequence[StudyModel], *, normaliser: str | None = None
) -> Iterator[Score | LeftOut]:
    """The corruption errors under every family that one of these models was run on whole, and those of tables.

    Args:
        normaliser: The model whose errors are divided by; None: AlexNet's published ones.
    """
    asked = _asked(study, study.options.resampling.draws, normaliser)
    for model in models:
        if model.cells:
            for one in or_left_out(corruption_scores(study.index, model.cells, asked), OF_FAMILIES):
                yield replace(one, model=model.name) if isinstance(one, Score) else one
    yield from imported_corruption_scores(study.index.tables, asked)


def _asked(study: Study, draws: int, normaliser: str | None = None) -> Asked:
    resampling = study.options.resampling
    how = IntervalOptions(level=resampling.level, draws=draws, seed=resampling.seed)
    options = ScoreOptions(draws=draws, seed=resampling.seed, normaliser=normaliser)
    return Asked((*OF_FAMILIES, *OF_CELLS), how, options)
