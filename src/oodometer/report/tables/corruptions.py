"""Models under each corruption of a family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from oodometer.analysis.text import plural
from oodometer.core.errors import StoreError, UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.report.tables.footnotes import common_footnotes
from oodometer.report.tables.leaderboard import differ_in
from oodometer.report.tables.table import Column, ModelTable, TableOptions, left_out, rows_in_groups, wanted_models
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


RATIOS = {"ce": ("mce", "CE", "mCE"), "relative-ce": ("relative-mce", "Relative CE", "rel. mCE")}
"""What may be told instead of accuracies: the metric of the mean, and what both are called."""


def corruptions_table(study: Study, options: TableOptions | None = None) -> ModelTable:
    """Every model: clean, in the mean, and under each corruption in the mean over its severities.

    Top-1 accuracies; or with the column ``ce`` or ``relative-ce`` clean errors and corruption errors, as tables 1 and
    2 of Hendrycks and Dietterich (2019) have them.
    """
    options = options or TableOptions()
    grid, notes = _grid(study, options.shifts)
    wanted = wanted_models(study, options.models)
    (ratio,) = options.columns or ("",)
    every = _ratios(study, grid, wanted, ratio) if ratio else _columns(study, grid, wanted)
    columns = [one for one in every if one.values]
    if ratio and len(columns) < 2:
        raise StoreError(f"{study.address}: no {RATIOS[ratio][1]} under {grid.title}; 'oodometer score' says why")
    what = f"{RATIOS[ratio][1]} of each model" if ratio else "Top-1 accuracy of each model"
    notes = [*notes, *(_conventions(study, ratio) if ratio else [])]
    return ModelTable(
        "corruptions",
        f"{what} in per cent under the corruptions of {grid.title}.",
        tuple(columns),
        rows_in_groups(study, columns, options),
        (_means(grid), *([f"Clean: {grid.clean_name}."] if grid.clean else []), *common_footnotes(columns)),
        (*study.notes, *notes, *left_out(study, columns, options)),
    )


def _means(grid: CorruptionGrid) -> str:
    how = "the mean over" if len(grid.severities) > 1 else "at"
    over = plural(len(grid.accuracies), "condition")
    return f"Each corruption: {how} {severities_said(grid.severities)}; mean: over {over}."


def _grid(study: Study, asked: Sequence[str]) -> tuple[CorruptionGrid, list[str]]:
    """The family that is asked for, or the first; and which others there are."""
    grids = {_name(one): one for one in grids_of(study)}
    if not grids:
        raise StoreError(f"{study.address}: no corruptions in it; run for instance --on imagenet-c")
    if len(asked) > 1:
        raise UsageError("a table of corruptions is about one family; give --shift once")
    found = next((one for name, one in grids.items() if not asked or asked[0] in (name, one.family)), None)
    if found is None:
        raise UsageError(f"{study.address}: no family of corruptions {asked[0]!r}{did_you_mean(asked[0], grids)}")
    others = [name for name, one in grids.items() if one is not found]
    return found, [f"other families, ask for them with --shift: {', '.join(others)}"] if others and not asked else []


def _name(grid: CorruptionGrid) -> str:
    return f"{grid.family}@{grid.data}"


def _columns(study: Study, grid: CorruptionGrid, models: Sequence[str]) -> Iterator[Column]:
    yield Column("clean", "clean", "percent", "high", {name: grid.clean[name] for name in models if name in grid.clean})
    means = {name: grid.mean(name) for name in models}
    shift = next((one for one in study.shifts if one.name in (grid.family, _name(grid))), None)
    differ = differ_in(shift.points, study.options.resampling.level) if shift and grid.means else None
    yield Column("mean", "mean", "percent", "high", _known(means), differ=differ)
    for name in grid.corruptions:
        values = {model: grid.over_severities(model, name) for model in models}
        title = SHORT.get(name, spaced(name).capitalize())
        yield Column(name, title, "percent", "high", _known(values), group_of(name), spaced(name))


def _ratios(study: Study, grid: CorruptionGrid, models: Sequence[str], ratio: str) -> Iterator[Column]:
    """Clean errors, the mean, and each corruption's own; less is better."""
    mean, _, title = RATIOS[ratio]
    errors = {name: _error_of(grid.clean[name]) for name in models if name in grid.clean}
    yield Column("error", "error", "percent", "low", errors)
    yield Column(mean, title, "percent", "low", _scored(study, grid, models, mean, grid.family))
    for name in grid.corruptions:
        values = _scored(study, grid, models, ratio, f"{grid.family}/{name}")
        yield Column(
            name, SHORT.get(name, spaced(name).capitalize()), "percent", "low", values, group_of(name), spaced(name)
        )


def _error_of(accuracy: Estimate) -> Estimate:
    low, high = (None if bound is None else 1 - bound for bound in (accuracy.high, accuracy.low))
    return replace(accuracy, value=1 - accuracy.value, low=low, high=high)


def _scored(
    study: Study, grid: CorruptionGrid, models: Sequence[str], metric: str, condition: str
) -> dict[str, Estimate]:
    return {
        score.model: score.estimate
        for score in study.scores
        if (score.metric, score.condition) == (metric, condition)
        and score.model in models
        and score.content in grid.contents
    }


def _conventions(study: Study, ratio: str) -> list[str]:
    """By whose errors they are divided."""
    said = dict.fromkeys(score.convention for score in study.scores if score.metric in (ratio, RATIOS[ratio][0]))
    return [f"{ratio}: {convention}" for convention in said]


def _known(values: dict[str, Estimate | None]) -> dict[str, Estimate]:
    return {name: one for name, one in values.items() if one is not None}
