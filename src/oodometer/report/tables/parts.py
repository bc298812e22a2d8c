"""Models under each part of an attribute shift, as tables 2 and 3 of the many-faces paper (Hendrycks et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from oodometer.analysis.map_scores import DFR
from oodometer.analysis.score_table import Score
from oodometer.document.table import Column, Table
from oodometer.report.tables.board_columns import board_numbers, clean_side, measure_of
from oodometer.report.tables.footnotes import common_footnotes
from oodometer.report.tables.model_table import Numbers, Words, study_table, wanted_models
from oodometer.report.tables.options import TableOptions
from oodometer.report.tables.shift_footnotes import clean_sides
from oodometer.study import Study, StudyShift
from oodometer.study.map_means import map_means


def parts_table(study: Study, options: TableOptions) -> Table:
    """Every model on the images like those of training, in the mean, and under each part of one attribute shift.

    By the shift's own measure. Only DeepFashion Remixed has a mean, over all its eight parts.
    """
    shifts = [study.shift(name) for name in options.shifts]
    whole = _pieces(shifts[0].name)[0]
    models = frozenset(wanted_models(study, options.models))
    means, notes = map_means(study) if whole == DFR else ({}, [])
    numbers = [known for one in _numbers(study, shifts, means) if (known := one.of(models)).values]
    caption = f"{measure_of(shifts[:1])} of each model in per cent under each shift of {whole}."
    footnotes = (*common_footnotes(numbers), *clean_sides(study, shifts), *_convention(means))
    return study_table(study, numbers, Words("parts", caption, footnotes, tuple(notes)), options)


def _numbers(study: Study, shifts: Sequence[StudyShift], means: dict[str, Score]) -> Iterator[Numbers]:
    like_training = clean_side(study, shifts[0])
    title = _pieces(like_training.column.title)[-1]
    yield replace(like_training, column=replace(like_training.column, title=title, id="clean"))
    mean = Column("mean", "percent", better="high")
    yield Numbers(mean, {name: one.estimate for name, one in means.items()})
    for part in board_numbers(study, ["accuracy"], shifts):
        over, _, name = _pieces(part.column.over)[-1].replace("_", " ").partition(" ")
        label = f"{over} {name}".strip()
        yield replace(part, column=replace(part.column, title=name or over, over=over, label=label))


def _pieces(name: str) -> list[str]:
    """The shift and its part.

    >>> _pieces("dfr/size_small")
    ['dfr', 'size_small']
    """
    return name.split("/")


def _convention(means: dict[str, Score]) -> list[str]:
    return [f"Mean: {one}." for one in dict.fromkeys(score.convention for score in means.values())]
