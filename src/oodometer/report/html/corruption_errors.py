"""Tables of corruption errors: CE and mCE where there is something to divide by, plain errors otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from oodometer.analysis.score_table import Score
from oodometer.core.estimate import Estimate
from oodometer.document.numbers import Value, about_n
from oodometer.document.table import Column, Table
from oodometer.study.corruption_grid import CorruptionGrid, spaced

MOST_OPEN = 25
"""A table of more models than these is folded."""

WORST = 99.0
"""Where a model without a number is sorted: no error is as large."""


@dataclass(frozen=True)
class Errors:
    """Corruption errors of the models of a grid, divided by those of another model.

    Args:
        mean, relative: mCE and relative mCE of each model.
        each: CE of each model and corruption.
        said, mean_said: The conventions of CE and of mCE.
    """

    mean: Mapping[str, Estimate]
    relative: Mapping[str, Estimate]
    each: Mapping[tuple[str, str], Estimate]
    said: str
    mean_said: str = ""


def errors_of(scores: Sequence[Score], grid: CorruptionGrid) -> Errors | None:
    """The corruption errors among these scores that are about the grid; None where there are none."""
    found = [one for one in scores if one.condition.partition("/")[0] == grid.family and one.content in grid.contents]
    by_metric = {
        metric: {(one.model, one.condition.partition("/")[2]): one for one in found if one.metric == metric}
        for metric in ("ce", "mce", "relative-mce")
    }
    if not by_metric["ce"]:
        return None
    return Errors(
        mean={model: one.estimate for (model, _), one in by_metric["mce"].items()},
        relative={model: one.estimate for (model, _), one in by_metric["relative-mce"].items()},
        each={place: one.estimate for place, one in by_metric["ce"].items()},
        said=next(iter(by_metric["ce"].values())).convention,
        mean_said="; ".join(sorted({one.convention for one in by_metric["mce"].values()})),
    )


def errors_table(at: int, grid: CorruptionGrid, errors: Errors | None, categories: Mapping[str, str]) -> Table:
    """CE where it is defined, else the errors as they are; the best model first.

    Args:
        at: Which of the tables it is; those after the first are folded.
    """
    columns, caption = (_ratios(grid, errors), _about(grid, errors)) if errors else (_plain(grid), _about_plain(grid))
    rows = [(model, categories[model], *(of(model) for _, of in columns)) for model in grid.models]
    rows.sort(key=lambda row: row[2].value if isinstance(row[2], Estimate) else WORST)
    told = [_told(column, [row[place] for row in rows]) for place, (column, _) in enumerate(columns, start=2)]
    return Table(
        f"corruption-errors-{at}",
        caption,
        (Column("model"), Column("category"), *told),
        tuple(rows),
        filters="category",
        folded=at > 1 or len(rows) > MOST_OPEN,
    )


def _told(column: Column, values: Sequence[Value]) -> Column:
    """The column, with how many images its numbers are about and what their intervals are."""
    known = [one for one in values if isinstance(one, Estimate)]
    return replace(column, about=f"{column.about}: {about_n(known)}") if known else column


Columns = list[tuple[Column, Callable[[str], Value]]]
"""Each with the number of a model."""


def _ratios(grid: CorruptionGrid, errors: Errors) -> Columns:
    means: Columns = []
    if errors.mean:
        about = errors.mean_said
        means.append((Column("mCE", "percent", about, "low"), errors.mean.get))
    if errors.relative:
        about = "the same of what each corruption adds to the clean error"
        means.append((Column("relative mCE", "percent", about, "low"), errors.relative.get))
    names = [name for name in grid.corruptions if any((model, name) in errors.each for model in grid.models)]
    return means + [(_ce_column(name, errors), _ce_of(name, errors)) for name in names]


def _ce_column(name: str, errors: Errors) -> Column:
    return Column(spaced(name), "percent", f"CE of {spaced(name)}: {errors.said}", "low")


def _ce_of(name: str, errors: Errors) -> Callable[[str], Value]:
    return lambda model: errors.each.get((model, name))


def _about(grid: CorruptionGrid, errors: Errors) -> str:
    return (
        f"Corruption errors on {grid.title} in per cent ({errors.said}, as published): 100 is as many errors as "
        "AlexNet makes, and less is better."
    )


def _plain(grid: CorruptionGrid) -> Columns:
    over = f"over all {len(grid.accuracies)} conditions"
    first = Column("mean error", "percent", f"mean error {over}, not normalised", "low")
    return [
        (first, lambda model: _error(grid.mean(model))),
        *((_plain_column(name), _plain_of(name, grid)) for name in grid.corruptions),
    ]


def _plain_column(name: str) -> Column:
    return Column(spaced(name), "percent", f"mean error under {spaced(name)} over the severities", "low")


def _plain_of(name: str, grid: CorruptionGrid) -> Callable[[str], Value]:
    return lambda model: _error(grid.over_severities(model, name))


def _about_plain(grid: CorruptionGrid) -> str:
    return (
        f"Errors on {grid.title}, each the mean over its severities. Not normalised: the errors of AlexNet that CE "
        "divides by are published for the 15 corruptions of ImageNet-C and its 1,000 classes. Less is better."
    )


def _error(accuracy: Estimate | None) -> Estimate | None:
    """What an accuracy leaves to 1."""
    if accuracy is None:
        return None
    low, high = (None if one is None else 1 - one for one in (accuracy.high, accuracy.low))
    return Estimate(1 - accuracy.value, low, high, accuracy.n, accuracy.interval)
