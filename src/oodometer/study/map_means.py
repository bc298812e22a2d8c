"""The mean mAP of each model over the eight shifts of DeepFashion Remixed."""

from __future__ import annotations

from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.map_scores import map_scores
from oodometer.analysis.metric_request import Asked, ScoreOptions
from oodometer.analysis.score_table import Score, or_left_out
from oodometer.study.study import Study

MEAN = "map-ood"


def map_means(study: Study) -> tuple[dict[str, Score], list[str]]:
    """The mean of each model, as `score` has it; and why some have none."""
    resampling = study.options.resampling
    how = IntervalOptions(level=resampling.level, draws=resampling.draws, seed=resampling.seed)
    asked = Asked((MEAN,), how, ScoreOptions(draws=resampling.draws, seed=resampling.seed))
    means: dict[str, Score] = {}
    notes: list[str] = []
    for model in study.models:
        (score,) = or_left_out(map_scores(study.index, model.cells, asked), (MEAN,))
        if isinstance(score, Score):
            means[model.name] = score
        else:
            notes.append(f"no mean of {model.name}: {score.why}")
    return means, notes
