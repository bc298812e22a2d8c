"""How well each model tells images of no class from the others: AUPR, beside chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.metric_request import Asked, ScoreOptions
from oodometer.analysis.named import cells_on
from oodometer.analysis.score_table import Score
from oodometer.core.errors import OodometerError, StoreError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.figures.bar_rows import MOST_ROWS, Bars, draw_rows, rows_of
from oodometer.figures.kinds import Kind
from oodometer.figures.options import FigureOptions
from oodometer.figures.published import OUTSIDE, PRINTED_CHANCE, printed_auprs
from oodometer.figures.selection import at_most, predictions, that_fit
from oodometer.figures.style import short
from oodometer.study import Study
from oodometer.study.evidence import detection_scores
from oodometer.study.ood_histograms import outside_sets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AUPR = "aupr[max-softmax]"
"""By the confidence, as published."""


def draw_aupr(study: Study, options: FigureOptions) -> Figure:
    """A bar for each model that was run on the set."""
    name = _set(study, options)
    found, chance, why = auprs(study, name, options)
    if not found:
        raise StoreError(f"{study.address}: no AUPR on {name}: {why or 'no model was run on it'}")
    rows = at_most(rows_of(study, list(found), found), MOST_ROWS)
    bars = Bars(f"AUPR (%) on {short(name, 30)}; dashed: chance", found, chance)
    return draw_rows(study, rows, [bars], options)


def auprs(study: Study, name: str, options: FigureOptions) -> tuple[dict[str, Estimate], float, str]:
    """AUPR of every model, that of chance, and why there is none."""
    if printed := printed_auprs(study.sources, name):
        return {model: printed[model] for model in that_fit(list(printed), options.models)}, PRINTED_CHANCE, ""
    resampling = study.options.resampling
    how = IntervalOptions(level=resampling.level, draws=resampling.draws, seed=resampling.seed)
    asked = Asked(("aupr",), how, ScoreOptions(draws=how.draws, seed=how.seed, ood=name))
    shown = set(that_fit([model.name for model in study.models], options.models))
    found: dict[str, Estimate] = {}
    chance, why = 0.0, ""
    for model in study.models:
        if model.name not in shown or not cells_on(name, list(model.cells)):
            continue
        try:
            for one in detection_scores(study, model, asked):
                if isinstance(one, Score) and one.metric == AUPR:
                    found[model.name] = one.estimate
                    chance = float(one.convention.rpartition("chance is ")[2])
                elif not isinstance(one, Score):
                    why = one.why
        except OodometerError as error:
            why = str(error)
    return found, chance, why


def _set(study: Study, options: FigureOptions) -> str:
    """The condition whose images belong to no class."""
    if options.ood:
        return options.ood
    sets = outside_sets(study) or ([OUTSIDE] if printed_auprs(study.sources, OUTSIDE) else [])
    if len(sets) != 1:
        known = f" ({', '.join(sets)})" if sets else ""
        raise UsageError(f"say whose images belong to none of the classes, with --ood CONDITION{known}")
    return sets[0]


def _lacking(study: Study) -> str:
    return "" if printed_auprs(study.sources, OUTSIDE) else predictions(study)


AUPR_KIND = Kind(
    about="how well each model tells images of no class from the others (AUPR), a bar for each, beside chance",
    after="Hendrycks 2021 (natural adversarial): 3, 11",
    needs="predictions on clean images and on images of no class (--ood)",
    draw=draw_aupr,
    lacking=_lacking,
    needs_shift=False,
)
