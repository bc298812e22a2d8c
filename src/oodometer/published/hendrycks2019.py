"""Hendrycks and Dietterich 2019: mCE and relative mCE of seven networks, and the errors of AlexNet behind them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from oodometer.metrics.corruption_error import (
    COMMON,
    Normaliser,
    alexnet,
    relative_corruption_errors,
    relative_mean_corruption_error,
)
from oodometer.published.checks import Check, Remark, Reproduction
from oodometer.published.printed import PrintedMean, clean_error_checks, mean_check, statement
from oodometer.published.tables import Table, read_table

PAPER = "hendrycks2019"
TITLE = "Benchmarking Neural Network Robustness to Common Corruptions and Surface Variations"

MCE = PrintedMean("mCE", "Table 1", "mean", COMMON, cell_unit=1, unit=0.1)
RELATIVE_MCE = PrintedMean("relative mCE", "Table 2", "mean", COMMON, cell_unit=1, unit=0.1)

NAMES_IN_RECHT = {
    "AlexNet": "alexnet",
    "SqueezeNet 1.1": "squeezenet1_1",
    "VGG-11": "vgg11",
    "VGG-19": "vgg19",
    "VGG-19+BN": "vgg19_bn",
    "ResNet-18": "resnet18",
    "ResNet-50": "resnet50",
}
STYLE_TRANSFER_CE = 92.0
"""Of ResNet-50, in Appendix E."""
RESNET_50_CLEAN_ERROR = 23.87
"""In Section 3.5, to one digit more than in Table 1."""
CONDENSENETS = ((26.3, 80.8), (28.9, 84.6))
"""Clean error and mCE of two small networks that no table has, in Section 3.4."""


def reproduce() -> Reproduction:
    """The numbers of Tables 1 and 2, of Appendix C, and what the text says about them."""
    ce = read_table("hendrycks2019_imagenet_c_ce")
    relative = read_table("hendrycks2019_imagenet_c_relative_ce")
    checks = (
        *(mean_check(PAPER, MCE, ce, model) for model in ce.models),
        *(mean_check(PAPER, RELATIVE_MCE, relative, model) for model in relative.models),
        *_relative_from_ce(ce, relative),
        *_alexnet_checks(read_table("alexnet_corruption_error"), ce),
        *clean_error_checks(PAPER, "Table 1", ce, read_table("recht2019_imagenet"), NAMES_IN_RECHT),
        *_statements(ce, relative),
    )
    return Reproduction(PAPER, TITLE, checks, (*_order_remarks(ce), *_small_network_remarks(ce)))


def alexnet_means() -> Normaliser:
    """AlexNet with its errors averaged over the severities, (15, 1).

    A printed CE gives back no more than the mean of a network's five errors, which is enough: CE is a ratio of sums.
    """
    full = alexnet()
    return replace(full, errors=full.errors.mean(axis=-1, keepdims=True))


def errors_from_ce(table: Table) -> np.ndarray:
    """The errors, averaged over severities, that the printed CE stand for: in [0, 1], (models, 15, 1)."""
    printed = np.stack([table.column(name) for name in COMMON], axis=-1)[..., None] / 100
    return np.asarray(printed * alexnet_means().errors)


def error_rounding() -> np.ndarray:
    """By how much the errors from a printed CE may be off: half a unit of CE, in [0, 1], (15,)."""
    return np.asarray(0.005 * alexnet_means().errors[:, 0])


def _relative_from_ce(ce: Table, relative: Table) -> list[Check]:
    """Table 2 from Table 1: every relative CE, and their mean."""
    normaliser, clean = alexnet_means(), ce.column("clean_error") / 100
    ours = 100 * relative_corruption_errors(errors_from_ce(ce), clean, normaliser)
    means = 100 * relative_mean_corruption_error(errors_from_ce(ce), clean, normaliser)
    printed = np.stack([relative.column(name) for name in COMMON], axis=-1)
    within = np.abs(ours - printed) <= _relative_rounding() + 0.5
    mean_allowed = float(_relative_rounding().mean()) + 0.05
    reason = f"the CE are rounded to 1, the clean error to 0.1, relative mCE to 0.1: {mean_allowed:.2f} at worst"
    checks = []
    for row, model in enumerate(ce.models):
        what = f"relative mCE of {model}, from its CE, its clean error and AlexNet's errors"
        published = relative.value(model, "mean")
        checks.append(Check(PAPER, what, "Tables 1 and 2", published, float(means[row]), mean_allowed, reason))
        what = f"relative CE of {model} that agree with its CE, of 15"
        n_within, why = int(within[row].sum()), "a relative CE agrees within its own rounding and that of its inputs"
        checks.append(Check(PAPER, what, "Tables 1 and 2", len(COMMON), n_within, 0, why))
    return checks


def _relative_rounding() -> np.ndarray:
    """By how much a relative CE from printed numbers may be off, in percent, (15,)."""
    normaliser = alexnet_means()
    numerator = error_rounding() + 0.0005
    return np.asarray(100 * numerator / (normaliser.errors[:, 0] - normaliser.clean))


def _alexnet_checks(means: Table, ce: Table) -> list[Check]:
    """The normalisers of Appendix C from AlexNet's errors at each severity, and its clean error."""
    ours = 100 * alexnet(means.models).errors.mean(axis=-1)
    printed = means.column("mean_top1_error_over_5_severities")
    reason = "the printed mean is rounded to 0.1"
    checks = [
        Check(PAPER, f"mean error of AlexNet under {name}", "Appendix C", float(theirs), float(value), 0.05, reason)
        for name, theirs, value in zip(means.models, printed, ours, strict=True)
    ]
    clean = 100 * float(alexnet().clean or 0)
    what = "clean error of AlexNet"
    return [*checks, Check(PAPER, what, "Table 1", ce.value("AlexNet", "clean_error"), clean, 0.05, reason)]


def _statements(ce: Table, relative: Table) -> list[Check]:
    means = dict(zip(relative.models, relative.column("mean"), strict=True))
    below = [name for name, mean in means.items() if name != "AlexNet" and mean <= means["AlexNet"]]
    row = ce.row("ResNet-50")
    largest = max(COMMON, key=lambda name: float(ce.column(name)[row]))
    least = ce.value("ResNet-50", largest)
    same = [ce.value(name, "clean_error") == relative.value(name, "clean_error") for name in ce.models]
    both = f"clean errors that both tables have, of {len(same)}"
    return [
        Check(PAPER, both, "Tables 1 and 2", len(same), sum(same), 0, "the same numbers"),
        Check(
            PAPER,
            "clean error of ResNet-50",
            "Section 3.5 (Table 1)",
            RESNET_50_CLEAN_ERROR,
            ce.value("ResNet-50", "clean_error"),
            0.05,
            "Table 1 is rounded to 0.1",
        ),
        statement(
            PAPER,
            f"relative mCE of the {len(means) - 1} networks after AlexNet, against AlexNet's",
            "Section 3.3, Figure 2",
            "worse",
            otherwise=f"not of {', '.join(below)}" if below else "",
        ),
        statement(
            PAPER,
            f"CE of ResNet-50 under style transfer ({STYLE_TRANSFER_CE:g}) against its largest on ImageNet-C "
            f"({least:g}, {largest})",
            "Appendix E",
            "higher than all",
            otherwise="" if least < STYLE_TRANSFER_CE else f"not than {largest}",
        ),
    ]


def _order_remarks(ce: Table) -> list[Remark]:
    """Pairs of networks of which the one with less clean error has the larger mCE."""
    rows = sorted(zip(ce.column("clean_error"), ce.column("mean"), ce.models, strict=True), reverse=True)
    pairs = list(combinations(rows, 2))
    against = [
        f"{before[2]} → {after[2]} (clean {before[0]:.1f} → {after[0]:.1f}, mCE {before[1]:.1f} → {after[1]:.1f})"
        for before, after in pairs
        if after[0] < before[0] and after[1] > before[1]
    ]
    text = f"mCE falls with the clean error in {len(pairs) - len(against)} of {len(pairs)} pairs of networks, not in: "
    return [Remark(PAPER, "Section 3.3, Figure 2", text + "; ".join(against))] if against else []


def _small_network_remarks(ce: Table) -> list[Remark]:
    """Small networks said to be less robust than larger ones of similar accuracy, unlike the nearest of Table 1.

    The nearest are the next network with more and the next with less clean error.
    """
    remarks = []
    clean, mce = ce.column("clean_error"), ce.column("mean")
    for error, printed in CONDENSENETS:
        above = int(np.argmin(np.where(clean >= error, clean, np.inf)))
        below = int(np.argmax(np.where(clean <= error, clean, -np.inf)))
        if min(mce[above], mce[below]) > printed:
            nearest = " and ".join(f"{ce.models[i]} ({clean[i]:.1f}, {mce[i]:.1f})" for i in (above, below))
            text = (
                f"a CondenseNet with a clean error of {error} and an mCE of {printed} is called less robust than "
                f"larger models of similar accuracy; both nearest in Table 1 are less robust than it: {nearest}"
            )
            remarks.append(Remark(PAPER, "Section 3.4, Smaller Models", text))
    return remarks


__all__ = ["alexnet_means", "error_rounding", "errors_from_ce", "reproduce"]
