"""Models under each corruption of a family: accuracies, or corruption errors where there is something to divide by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from oodometer.analysis.score_table import Score
from oodometer.analysis.text import plural
from oodometer.core.errors import StoreError, UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.document.numbers import about_n
from oodometer.document.table import Column, Table
from oodometer.report.tables.board_columns import differ_in
from oodometer.report.tables.footnotes import common_footnotes
from oodometer.report.tables.model_table import Numbers, Words, study_table, wanted_models
from oodometer.report.tables.options import TableOptions
from oodometer.study import Study
from oodometer.study.corruption_grid import CorruptionGrid, grids_of, group_of, severities_said, spaced

SHORT = {
    "gaussian_noise": "Gauss.",
    "shot_noise": "Shot",
    "impulse_noise": "Impulse",
    "speckle_noise": "Speckle",
    "defocus_blur": "Defocus",
    "glass_blur": "Glass",
    "motion_blur": "Motion",
    "zoom_blur": "Zoom",
    "gaussian_blur": "Gauss.",
    "brightness": "Bright",
    "elastic_transform": "Elastic",
    "pixelate": "Pixel",
    "jpeg_compression": "JPEG",
}
"""As in table 1 of Hendrycks and Dietterich (2019), below their groups."""


class Ratio(NamedTuple):
    """Errors that are divided by those of another model: the metric of their mean, and what both are called."""

    mean: str
    title: str
    mean_title: str
    long: str


RATIOS = {
    "ce": Ratio("mce", "CE", "mCE", "Corruption error (CE)"),
    "relative-ce": Ratio("relative-mce", "Relative CE", "rel. mCE", "Relative corruption error"),
}
"""What may be told instead of accuracies."""

MEAN = ""
"""In the place of a corruption: the mean over all of them."""


def corruptions_table(study: Study, options: TableOptions | None = None) -> Table:
    """Every model: clean, in the mean, and under each corruption in the mean over its severities.

    Top-1 accuracies; or with the column ``ce`` or ``relative-ce`` clean errors and corruption errors, as tables 1 and
    2 of Hendrycks and Dietterich (2019) have them.
    """
    options = options or TableOptions()
    grid, notes = _grid(study, options.shifts)
    (ratio,) = options.columns or ("",)
    return grid_table(study, grid, ratio, options, notes)


def grid_table(
    study: Study, grid: CorruptionGrid, ratio: str, options: TableOptions, notes: Sequence[str] = ()
) -> Table:
    """The table of one family; ``ratio`` one of `RATIOS`, or none for accuracies."""
    models = frozenset(wanted_models(study, options.models))
    every = [one.of(models) for one in (_ratios(study, grid, ratio) if ratio else _accuracies(study, grid))]
    numbers = [one for one in every if one.values]
    if ratio and len(numbers) < 2:
        raise StoreError(f"{study.address}: no {RATIOS[ratio].title} under {grid.title}; 'oodometer score' says why")
    what = RATIOS[ratio].long if ratio else "Top-1 accuracy"
    without = [one.column.name for one in every if not one.values and one.column.over]
    footnotes = (
        _means(grid),
        *([f"Clean: {grid.clean_name}."] if grid.clean and grid.clean_name != "clean" else []),
        *([f"Measured whole of no model: {', '.join(without)}."] if without else []),
        *common_footnotes(numbers),
        *_conventions(study, grid, ratio),
    )
    caption = f"{what} of each model in per cent under the corruptions of {grid.title}."
    return study_table(study, numbers, Words("corruptions", caption, footnotes, tuple(notes)), options)


def _means(grid: CorruptionGrid) -> str:
    how = "the mean over" if len(grid.severities) > 1 else "at"
    over = plural(len(grid.accuracies), "condition")
    return f"Each corruption: {how} {severities_said(grid.severities)}; mean: over {over}."


def _grid(study: Study, asked: Sequence[str]) -> tuple[CorruptionGrid, list[str]]:
    """The family that is asked for, or the first; and which others there are."""
    grids = {_name(grid): grid for grid in grids_of(study)}
    if not grids:
        raise StoreError(f"{study.address}: no corruptions in it; run for instance --on imagenet-c")
    if len(asked) > 1:
        raise UsageError("a table of corruptions is about one family; give --shift once")
    found = next((grid for name, grid in grids.items() if not asked or asked[0] in (name, grid.family)), None)
    if found is None:
        raise UsageError(f"{study.address}: no family of corruptions {asked[0]!r}{did_you_mean(asked[0], grids)}")
    others = [name for name, grid in grids.items() if grid is not found]
    return found, [f"other families, ask for them with --shift: {', '.join(others)}"] if others and not asked else []


def _name(grid: CorruptionGrid) -> str:
    return f"{grid.family}@{grid.data}"


def _accuracies(study: Study, grid: CorruptionGrid) -> Iterator[Numbers]:
    clean = Column("clean", "percent", _about(f"Top-1 accuracy on {grid.clean_name}", grid.clean), "high", bar=True)
    yield Numbers(clean, grid.clean)
    shift = next((one for one in study.shifts if one.name in (grid.family, _name(grid))), None)
    differ = differ_in(shift.points, study.options.resampling.level) if shift and grid.means else None
    means = _known({model: grid.mean(model) for model in grid.models})
    about = _about(f"Mean top-1 accuracy over {plural(len(grid.accuracies), 'condition')}", means)
    yield Numbers(Column("mean", "percent", about, "high", bar=True), means, differ=differ)
    for name in grid.corruptions:
        values = _known({model: grid.over_severities(model, name) for model in grid.models})
        about = _about(f"Top-1 accuracy under {spaced(name)} over the severities", values)
        yield Numbers(_of_corruption(name, about, "high"), values)


def _ratios(study: Study, grid: CorruptionGrid, ratio: str) -> Iterator[Numbers]:
    """Clean errors, the mean, and each corruption's own; less is better."""
    is_ = RATIOS[ratio]
    clean = {model: error_of(one) for model, one in grid.clean.items()}
    yield Numbers(Column("error", "percent", _about(f"Error on {grid.clean_name}", clean), "low"), clean)
    errors = corruption_errors(study, grid, ratio)
    yield _scored(Column(is_.mean_title, "percent", better="low", id=is_.mean), _under(errors, MEAN))
    if ratio == "ce":
        relative = _under(corruption_errors(study, grid, "relative-ce"), MEAN)
        of = RATIOS["relative-ce"]
        yield _scored(Column(of.mean_title, "percent", better="low", id=of.mean, hidden=True), relative)
    for name in grid.corruptions:
        yield _scored(_of_corruption(name, "", "low"), _under(errors, name))


def corruption_errors(study: Study, grid: CorruptionGrid, ratio: str = "ce") -> dict[tuple[str, str], Score]:
    """The errors of a grid's models by model and corruption, and of each model their mean; none where undefined."""
    metrics = {
        ratio: {f"{grid.family}/{name}": name for name in grid.corruptions},
        RATIOS[ratio].mean: {grid.family: MEAN},
    }
    found = {}
    for score in study.scores:
        name = metrics.get(score.metric, {}).get(score.condition)
        if name is not None and score.content in grid.contents:
            found[score.model, name] = score
    return found


def _under(errors: Mapping[tuple[str, str], Score], corruption: str) -> dict[str, Score]:
    return {model: score for (model, name), score in errors.items() if name == corruption}


def _scored(column: Column, scores: Mapping[str, Score]) -> Numbers:
    values = {model: score.estimate for model, score in scores.items()}
    said = "; ".join(dict.fromkeys(score.convention for score in scores.values()))
    return Numbers(replace(column, about=_about(said, values)), values)


def _of_corruption(name: str, about: str, better: Literal["high", "low"]) -> Column:
    title = SHORT.get(name, spaced(name).capitalize())
    return Column(title, "percent", about, better, id=name, over=group_of(name), label=spaced(name))


def error_of(accuracy: Estimate) -> Estimate:
    """The share of wrong answers, with the same interval turned round.

    >>> print(error_of(Estimate(0.75, 0.5, 0.875, 8, "any 95%")))
    0.2500 [0.1250, 0.5000]  n=8
    """
    low, high = (None if bound is None else 1 - bound for bound in (accuracy.high, accuracy.low))
    return replace(accuracy, value=1 - accuracy.value, low=low, high=high)


def _conventions(study: Study, grid: CorruptionGrid, ratio: str) -> list[str]:
    """By whose errors they are divided."""
    errors = corruption_errors(study, grid, ratio) if ratio else {}
    said = dict.fromkeys((score.metric, score.convention) for score in errors.values())
    titles = {ratio: RATIOS[ratio].title, RATIOS[ratio].mean: RATIOS[ratio].mean_title} if ratio else {}
    return [f"{titles[metric]}: {convention}." for metric, convention in said]


def _about(what: str, values: Mapping[str, Estimate]) -> str:
    return f"{what}: {about_n(values.values())}." if values else what


def _known(values: Mapping[str, Estimate | None]) -> dict[str, Estimate]:
    return {name: value for name, value in values.items() if value is not None}
