"""The papers' printed tables as studies, so that their own figures can be drawn from them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from oodometer.analysis.score_table import Score
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.metrics.corruption_error import COMMON
from oodometer.published.recht2019 import CIFAR, IMAGENET, N_IMAGES, N_NEW_IMAGENET
from oodometer.published.tables import read_table
from oodometer.store.index import Index, index_of_table
from oodometer.store.tables import Accuracy

MARK = "published:"
"""How the source of a printed number begins."""

COLUMNS = {
    CIFAR: {"cifar10_test": "clean", "cifar10.1": "cifar10.1", "cifar10.1_balanced": "cifar10.1-balanced"},
    IMAGENET: {
        "val_top1": "clean",
        "matched_frequency_top1": "imagenetv2-matched-frequency",
        "threshold_0.7_top1": "imagenetv2-threshold-0.7",
        "top_images_top1": "imagenetv2-top-images",
    },
}
"""Table to its columns of top-1 accuracies, and what they are conditions of."""

CORRUPTION = "hendrycks2019_imagenet_c_ce"
RELATIVE = "hendrycks2019_imagenet_c_relative_ce"
FAMILY = "imagenet-c"

PUBLISHED = (*COLUMNS, CORRUPTION)
"""The tables that figures can be drawn from."""


def published_store(table: str) -> Index:
    """The accuracies of a printed table, as if they were in a store."""
    if table not in PUBLISHED:
        raise UsageError(f"--published {table}: no such table{did_you_mean(table, PUBLISHED)}")
    return index_of_table(_accuracies(table))


def _accuracies(table: str) -> Iterator[Accuracy]:
    found = read_table(table)
    if table == CORRUPTION:
        for model, error in zip(found.models, found.column("clean_error"), strict=True):
            yield Accuracy(model, "clean", round(1 - error / 100, 6), None, f"{MARK}{table}")
        return
    for column, condition in COLUMNS[table].items():
        n = N_IMAGES.get(column, N_NEW_IMAGENET)
        for model, percent in zip(found.models, found.column(column), strict=True):
            if not np.isnan(percent):
                yield Accuracy(model, condition, round(percent / 100, 6), n, f"{MARK}{table}")


def has_printed_errors(sources: tuple[str, ...]) -> bool:
    """Whether the corruption errors of these sources are printed."""
    return f"{MARK}{CORRUPTION}" in sources


def printed_scores(sources: tuple[str, ...]) -> Iterator[Score]:
    """The printed corruption errors, where the study is of their paper."""
    if not has_printed_errors(sources):
        return
    for name, each, mean in ((CORRUPTION, "ce", "mce"), (RELATIVE, "relative-ce", "relative-mce")):
        table = read_table(name)
        for metric, column, condition in [
            (mean, "mean", FAMILY),
            *((each, corruption, f"{FAMILY}/{corruption}") for corruption in COMMON),
        ]:
            for model, percent in zip(table.models, table.column(column), strict=True):
                estimate = Estimate(percent / 100, None, None, None, "none: it is printed without one")
                yield Score(model, "", condition, "", "", metric, estimate, 0, "imported", "", "as printed, by AlexNet")
