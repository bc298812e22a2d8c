"""The section "corruptions": how far models hold up under noise, blur, weather and the like, and how that looks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from oodometer.analysis.text import plural
from oodometer.document.numbers import in_words
from oodometer.document.section import Part, Plot, Section
from oodometer.document.table import Table
from oodometer.report.html.corruption_data import Errors, grid_data
from oodometer.report.html.corruption_sheet import contact_sheets
from oodometer.report.palette import UNKNOWN
from oodometer.report.tables.corruptions import MEAN, corruption_errors, grid_table
from oodometer.report.tables.model_table import on_page
from oodometer.report.tables.options import TableOptions
from oodometer.study import Study
from oodometer.study.corruption_grid import CorruptionGrid, grids_of, severities_said, spaced

HIGHEST, ROW, AROUND, UPRIGHT = 640, 27, 160, 100
"""Pixels: of the box in which many models scroll, of a row of few, of what stands around them, and of names that stand
upright."""

MOST_OPEN = 25
"""A table of more models than these is folded."""

FEW_NAMES = 7
"""Corruptions whose names stand side by side."""

HEAT = "corruptions-heat"


def section(study: Study) -> Section | None:
    """Heat map, severity curves, corruption errors and contact sheets; None where nothing was corrupted."""
    grids = grids_of(study)
    if not grids:
        return None
    categories = {model.name: model.origin.category or UNKNOWN for model in study.models}
    errors = [corruption_errors(study, grid) for grid in grids]
    data = {"families": [grid_data(grid, one, categories) for grid, one in zip(grids, errors, strict=True)]}
    of_grids = enumerate(zip(grids, errors, strict=True), start=1)
    tables = [_table(study, grid, place, one) for place, (grid, one) in of_grids]
    heat = Plot(HEAT, HEAT_CAPTION, "heatmap", data, height=_height(grids[0]))
    # The script of the curves reads the numbers of the heat map, so that they are in the page once.
    curves = Plot("corruptions-severity", CURVES_CAPTION, "severity", {"of": HEAT}, height=480)
    parts: tuple[Part, ...] = (heat, curves, *tables, *contact_sheets(study, grids))
    return Section("corruptions", "Corruptions", tuple(_lead(grid) for grid in grids), parts)


def _table(study: Study, grid: CorruptionGrid, place: int, errors: Errors) -> Table:
    """CE where it is defined, else accuracies: that of ``oodometer table --what corruptions``, the best mean first."""
    ratio, mean = ("ce", "mce") if errors else ("", "mean")
    has_mean = any((model, MEAN) in errors if errors else grid.mean(model) for model in grid.models)
    options = TableOptions(sort=mean if has_mean else "", grouped=False)
    table = on_page(grid_table(study, grid, ratio, options), lambda column: column.key != "parent")
    return replace(
        table,
        id=f"corruption-errors-{place}",
        folded=place > 1 or len(table.rows) > MOST_OPEN,
        footnotes=table.footnotes if errors else (*table.footnotes, NO_CE),
    )


NO_CE = (
    "Not divided by the errors of AlexNet: those that CE divides by are published for the 15 corruptions of ImageNet-C "
    "and its 1,000 classes."
)
HEAT_CAPTION = (
    "Each model under each corruption, the best on average first. The stronger the colour, the larger the number. A "
    "cell tells its interval and the number of images when it is pointed at, or reached with the arrow keys."
)
CURVES_CAPTION = (
    "Accuracy from clean images (0) to the strongest corruption. The band around a line is its interval; it shows when "
    "the line is pointed at, or where few models are chosen."
)


def _height(grid: CorruptionGrid) -> int:
    names = UPRIGHT if len(grid.corruptions) > FEW_NAMES else 0
    return min(HIGHEST, AROUND + names + ROW * len(grid.models))


def _lead(grid: CorruptionGrid) -> str:
    """What was measured, who has the highest mean, and what hurts most."""
    n_models, n_names = len(grid.models), len(grid.corruptions)
    said = (
        f"{grid.title}: {plural(n_models, 'model')} under {plural(n_names, 'corruption')} at "
        f"{severities_said(grid.severities)}{_images(grid)}."
    )
    return " ".join([said, *_best(grid), *_hardest(grid)])


def _best(grid: CorruptionGrid) -> Iterator[str]:
    best = grid.models[0]
    mean, clean = grid.mean(best), grid.clean.get(best)
    if mean is None:
        yield "No model was measured on all of it, so there is no mean."
        return
    before = f", against {in_words(clean, 'percent')} on {grid.clean_name}" if clean else ""
    if len(grid.models) > 1:
        yield f"{best} has the highest mean: {in_words(mean, 'percent')} of its answers are right{before}."
    else:
        yield f"On average {in_words(mean, 'percent')} of the answers of {best} are right{before}."


def _hardest(grid: CorruptionGrid) -> Iterator[str]:
    """Which corruption costs the middle model most, and which least."""
    middles = {}
    for name in grid.corruptions:
        known = sorted(one.value for model in grid.models if (one := grid.over_severities(model, name)))
        if known:
            middles[name] = known[(len(known) - 1) // 2]
    if len(middles) > 1:
        worst, mildest = min(middles, key=middles.__getitem__), max(middles, key=middles.__getitem__)
        yield (
            f"{spaced(worst)[:1].upper()}{spaced(worst)[1:]} hurts most (median model {100 * middles[worst]:.1f} %), "
            f"{spaced(mildest)} least ({100 * middles[mildest]:.1f} %)."
        )


def _images(grid: CorruptionGrid) -> str:
    sizes = grid.sizes
    if not sizes:
        return ""
    return f", {sizes[0]:,} images each" if len(sizes) == 1 else f", {sizes[0]:,} to {sizes[-1]:,} images each"
