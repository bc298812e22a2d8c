"""The tables of a study of a test set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from oodometer.document.numbers import Value
from oodometer.document.table import Column, Table

if TYPE_CHECKING:
    from oodometer.build.testset.study.by_frequency import FrequencyAccuracies
    from oodometer.build.testset.study.by_revision import StrategyDrop
    from oodometer.build.testset.study.study import ReleaseStudy

OF_SHARES = "intervals: Clopper-Pearson; of the mean of the models Student's over the images, for these models"
OF_CHANGES = "change: new minus original; the sets have no image in common (Newcombe's method 10)"
OF_TELLING = "one half is a guess; intervals widened for training images in common (Nadeau and Bengio 2003)"
OF_SETTINGS = "changes by Tango's score interval, at a level such that all of them hold together (Bonferroni)"


def tables_of(found: ReleaseStudy) -> Iterator[Table]:
    """Those that there is something for."""
    if found.drops:
        yield _drops(found)
    if found.strategies:
        yield _strategies(found)
    if found.revisions:
        yield _revisions(found)
    for each in found.by_frequency:
        yield _by_frequency(each)
    if found.discriminators:
        yield _discriminators(found)
    if found.held_out is not None:
        yield _held_out(found)
    if found.settings:
        yield _settings(found)
    yield from _hardest(found)


def _drops(found: ReleaseStudy) -> Table:
    rows = tuple((each.model, each.original, each.new, each.change) for each in found.drops)
    caption = f"Accuracy on {found.original} ({found.n_original} images) and {found.new} ({found.n_new} images)"
    columns = (Column("model"), Column("original", "percent"), Column("new", "percent"), Column("change", "points"))
    return Table("drops", caption, columns, rows, footnotes=(OF_SHARES, OF_CHANGES))


def _strategies(found: ReleaseStudy) -> Table:
    reached = found.original_frequency
    caption = "What the last revision of each sampling strategy loses"
    if reached is not None:
        caption += f"; mean selection frequency of the original images {reached.value:.2f}"
    columns = (
        Column("strategy"),
        Column("revision", "count"),
        Column("frequency", "number", digits=2),
        Column("model", "text"),
        Column("change", "points"),
    )
    rows = tuple(row for each in found.strategies for row in _of_strategy(each))
    return Table("strategies", caption, columns, rows, footnotes=(OF_CHANGES,))


def _of_strategy(each: StrategyDrop) -> list[tuple[Value, ...]]:
    return [(each.strategy, each.revision, each.frequency, drop.model, drop.change) for drop in each.drops]


def _revisions(found: ReleaseStudy) -> Table:
    columns = (
        Column("revision"),
        Column("strategy", "text"),
        Column("images", "count"),
        Column("frequency", "number", digits=2),
        Column("model", "text"),
        Column("accuracy", "percent"),
    )
    rows = tuple(
        (str(each.number), each.strategy, each.n_images, each.frequency, model, accuracy)
        for each in found.revisions
        for model, accuracy in each.accuracies.items()
    )
    return Table("revisions", "Accuracy at each revision", columns, rows, footnotes=(OF_SHARES,))


def _by_frequency(each: FrequencyAccuracies) -> Table:
    from oodometer.build.testset.study.by_frequency import BINS

    titles = [f"{name} n={n}" for name, n in zip(BINS, each.n_images, strict=True)]
    columns = (Column("model"), *(Column(title, "percent") for title in titles))
    rows = tuple((model, *accuracies) for model, accuracies in each.accuracies.items())
    caption = f"Accuracy by selection frequency: {each.images}"
    return Table("by-frequency", caption, columns, rows, footnotes=(OF_SHARES,))


def _discriminators(found: ReleaseStudy) -> Table:
    columns = (Column("features"), Column("numbers", "count"), Column("images of each set", "count"))
    rows = tuple((each.features, each.n_features, each.n_each, each.accuracy) for each in found.discriminators)
    caption = f"How often a classifier tells {found.new} from {found.original}"
    return Table("discriminators", caption, (*columns, Column("accuracy", "percent")), rows, footnotes=(OF_TELLING,))


def _held_out(found: ReleaseStudy) -> Table:
    assert found.held_out is not None
    columns = (
        Column("split"),
        Column("model", "text"),
        Column("trained on it", "text"),
        Column("accuracy", "percent"),
        Column("change from the baseline", "points"),
    )
    of_splits = [
        (each.split, each.model, "yes" if each.trained_on_it else "no", each.accuracy, each.change)
        for each in found.held_out.rows
    ]
    over = found.held_out.over_folds
    rows = (*of_splits, *([("all folds", "each its own", "yes", over, None)] if over is not None else []))
    lines = [
        *(
            [f"trained on held-out images, and left out: {', '.join(found.held_out.left_out)}"]
            if found.held_out.left_out
            else []
        ),
        *([f"no model was asked about: {', '.join(found.held_out.missing)}"] if found.held_out.missing else []),
    ]
    return Table("held-out", "Accuracy on held-out images", columns, rows, footnotes=tuple(lines))


def _settings(found: ReleaseStudy) -> Table:
    columns = (Column("model"), Column("accuracy", "percent"), Column("change", "points"), Column("better", "text"))
    rows = tuple(
        (each.model, each.accuracy, each.change, "yes" if each.is_better else "not for certain")
        for each in found.settings
    )
    caption = f"Other hyper-parameters than {found.settings[0].baseline}'s, on {found.new}"
    return Table("settings", caption, columns, rows, footnotes=(OF_SETTINGS,))


def _hardest(found: ReleaseStudy) -> Iterator[Table]:
    columns = (Column("image"), Column("class", "text"), Column("right", "text"))
    for name, images in found.hardest.items():
        rows = tuple((each.id, each.class_name, f"{each.right} of {each.models} models") for each in images)
        yield Table("hardest", f"The hardest images: {name}", columns, rows)
