"""Models under each part of an attribute shift, as tables 2 and 3 of the many-faces paper (Hendrycks et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oodometer.analysis.map_scores import DFR
from oodometer.analysis.score_table import Score
from oodometer.core.estimate import Estimate
from oodometer.report.tables.footnotes import common_footnotes
from oodometer.report.tables.leaderboard import as_shifted, differ_in
from oodometer.report.tables.shift_footnotes import clean_sides
from oodometer.report.tables.table import Column, ModelTable, TableOptions, left_out, rows_in_groups, wanted_models
from oodometer.study import Study, StudyShift
from oodometer.study.map_means import map_means

MEASURES = {"map": "mAP", "top-1": "Top-1 accuracy"}


def parts_table(study: Study, options: TableOptions) -> ModelTable:
    """Every model on the images like those of training, in the mean, and under each part of one attribute shift.

    By the shift's own measure. Only DeepFashion Remixed has a mean, over all its eight parts.
    """
    shifts = [study.shift(name) for name in options.shifts]
    whole, measure = _pieces(shifts[0].name)[0], MEASURES[shifts[0].points.measure]
    wanted = wanted_models(study, options.models)
    means, notes = map_means(study) if whole == DFR else ({}, [])
    columns = [one for one in _columns(study, shifts, wanted, means) if one.values]
    return ModelTable(
        "parts",
        f"{measure} of each model in per cent under each shift of {whole}.",
        tuple(columns),
        rows_in_groups(study, columns, options),
        (*common_footnotes(columns), *clean_sides(study, shifts), *_convention(means)),
        (*study.notes, *notes, *left_out(study, columns, options)),
    )


def _columns(
    study: Study, shifts: Sequence[StudyShift], wanted: Sequence[str], means: dict[str, Score]
) -> Iterator[Column]:
    level = study.options.resampling.level
    first = shifts[0].points
    like_training = {one.model: one.x[0] for one in first.models}
    title = _pieces(first.x[0])[-1]
    yield Column(
        "clean", title, "percent", "high", _of(wanted, like_training), differ=differ_in(as_shifted(first), level)
    )
    yield Column("mean", "mean", "percent", "high", _of(wanted, {name: one.estimate for name, one in means.items()}))
    for shift in shifts:
        over, _, part = _pieces(shift.name)[-1].replace("_", " ").partition(" ")
        values = {one.model: one.y for one in shift.points.models}
        label = f"{over} {part}".strip()
        differ = differ_in(shift.points, level)
        yield Column(shift.name, part or over, "percent", "high", _of(wanted, values), over, label, differ)


def _of(wanted: Sequence[str], values: dict[str, Estimate]) -> dict[str, Estimate]:
    return {name: values[name] for name in wanted if name in values}


def _pieces(name: str) -> list[str]:
    """The shift and its part.

    >>> _pieces("dfr/size_small")
    ['dfr', 'size_small']
    """
    return name.split("/")


def _convention(means: dict[str, Score]) -> list[str]:
    return [f"Mean: {one}." for one in dict.fromkeys(score.convention for score in means.values())]
