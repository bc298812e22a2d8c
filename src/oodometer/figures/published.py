"""The papers' printed tables as studies, so that their own figures can be drawn from them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from oodometer.analysis.origins import Origin
from oodometer.analysis.score_table import Score
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.metrics.corruption_error import COMMON
from oodometer.published.natural_adversarial2021 import ACCURACY as HARD_ACCURACY
from oodometer.published.natural_adversarial2021 import AUPR as PRINTED_AUPR
from oodometer.published.natural_adversarial2021 import CHANCE, N_A
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

HARD = ("hendrycks2021_imagenet_a", "hendrycks2021_imagenet_o_aupr")
"""Tables of accuracies on ImageNet-A; the second also of AUPR on ImageNet-O."""

OUTSIDE = "imagenet-o"

PARAMETERS = {
    "DPN-68": 12_611_602,
    "DPN-98": 61_570_728,
    "ResNet-34": 21_797_672,
    "ResNet-50": 25_557_032,
    "ResNet-152": 60_192_808,
    "ResNeXt-50 32x4d": 25_028_904,
    "ResNeXt-101 32x8d": 88_791_336,
    "ResNeXt-101 64x4d": 83_455_272,
}
"""Of networks for 1,000 classes, as torchvision 0.28 and timm 1.0 build them; the papers print none or rounded ones."""

PUBLISHED = (*COLUMNS, CORRUPTION, *HARD)
"""The tables that figures can be drawn from."""


def published_store(table: str) -> Index:
    """The accuracies of a printed table, as if they were in a store."""
    if table not in PUBLISHED:
        raise UsageError(f"--published {table}: no such table{did_you_mean(table, PUBLISHED)}")
    return index_of_table(_accuracies(table))


def published_origins(table: str) -> dict[str, Origin]:
    """What is known of the models: those of the early papers are standard, and what was added stands after a plus."""
    if table not in HARD:
        return {model: Origin("standard", None, PARAMETERS.get(model)) for model in read_table(table).models}
    return {model: Origin("", _before_plus(model), PARAMETERS.get(model)) for model in read_table(table).models}


def _before_plus(model: str) -> str | None:
    """The model that another was made from, by its printed name.

    >>> _before_plus("ResNet-50 + SE"), _before_plus("ResNet-50")
    ('ResNet-50', None)
    """
    base, plus, _ = model.partition(" + ")
    return base if plus else None


def _accuracies(table: str) -> Iterator[Accuracy]:
    found = read_table(table)
    if table == CORRUPTION:
        for model, error in zip(found.models, found.column("clean_error"), strict=True):
            yield Accuracy(model, "clean", round(1 - error / 100, 6), None, f"{MARK}{table}")
        return
    for column, condition in (COLUMNS.get(table) or {HARD_ACCURACY: "imagenet-a"}).items():
        n = N_A if table in HARD else N_IMAGES.get(column, N_NEW_IMAGENET)
        for model, percent in zip(found.models, found.column(column), strict=True):
            if not np.isnan(percent):
                yield Accuracy(model, condition, round(percent / 100, 6), n, f"{MARK}{table}")


PRINTED_CHANCE = CHANCE / 100
"""Of AUPR on ImageNet-O, a share."""


def printed_auprs(sources: tuple[str, ...], name: str) -> dict[str, Estimate]:
    """The printed AUPR of each model on images of no class; none where the study is not of that paper."""
    if f"{MARK}{HARD[1]}" not in sources or name != OUTSIDE:
        return {}
    table = read_table(HARD[1])
    why = "none: it is printed without one"
    return {
        model: Estimate(percent / 100, None, None, None, why)
        for model, percent in zip(table.models, table.column(PRINTED_AUPR).tolist(), strict=True)
    }


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
