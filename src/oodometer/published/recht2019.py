"""Recht et al. 2019: new test sets for CIFAR-10 and ImageNet. Accuracies are in percent, as in the paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from oodometer.published.checks import Check, Remark, Reproduction
from oodometer.published.tables import Table, read_table
from oodometer.stats.intervals import clopper_pearson_bounds
from oodometer.stats.lines import ScaleFit, band, bootstrap_lines, compare_scales, fit_line
from oodometer.stats.ranks import rank_range
from oodometer.stats.scales import Scale

PAPER = "recht2019"
TITLE = "Do ImageNet Classifiers Generalize to ImageNet?"

HALF_DIGIT = 0.05
"""Accuracies, their bounds and gaps are printed to 0.1 percent."""

BOOTSTRAP_ROUNDING = (0.01, 0.4)
"""How far the rounding of the accuracies moves the bounds of a slope and of an offset (percent)."""

DRAWS = 100_000


class NewSet(NamedTuple):
    """One printed table: accuracies on an original set beside those on a new one."""

    table: str
    where: str
    original: str
    new: str


class PrintedLine(NamedTuple):
    """A line of Section 3.3, in percent: its value and the bounds of its 95 % interval."""

    name: str
    slope: tuple[float, float, float]
    offset: tuple[float, float, float]


CIFAR, IMAGENET = "recht2019_cifar10", "recht2019_imagenet"

SETS = (
    NewSet(CIFAR, "Table 11", "cifar10_test", "cifar10.1"),
    NewSet(CIFAR, "Table 12", "cifar10_test", "cifar10.1_balanced"),
    NewSet(IMAGENET, "Table 15", "val_top1", "matched_frequency_top1"),
    NewSet(IMAGENET, "Table 16", "val_top5", "matched_frequency_top5"),
    NewSet(IMAGENET, "Table 17", "val_top1", "threshold_0.7_top1"),
    NewSet(IMAGENET, "Table 18", "val_top5", "threshold_0.7_top5"),
    NewSet(IMAGENET, "Table 19", "val_top1", "top_images_top1"),
    NewSet(IMAGENET, "Table 20", "val_top5", "top_images_top5"),
)

N_IMAGES = {
    "cifar10_test": 10_000,
    "cifar10.1": 2_021,
    # The set has 2,000 images; its printed intervals are those of 2,021 (see the remark on Table 12).
    "cifar10.1_balanced": 2_021,
    "val_top1": 50_000,
    "val_top5": 50_000,
}
N_NEW_IMAGENET = 10_000

AVERAGE_CHANGES = {
    "matched_frequency_top1": -11.8,
    "threshold_0.7_top1": -3.2,
    "top_images_top1": 2.1,
    "matched_frequency_top5": -8.2,
    "threshold_0.7_top5": -1.2,
    "top_images_top5": 1.8,
}
"""Table 2: the mean over all models of new minus original accuracy."""

CIFAR_LINE = PrintedLine("CIFAR-10", (1.69, 1.63, 1.76), (-72.7, -78.6, -67.5))
IMAGENET_LINE = PrintedLine("ImageNet without Fisher vectors", (1.11, 1.07, 1.19), (-20.2, -26.0, -17.8))

FOUND = tuple(
    Remark(PAPER, where, text)
    for where, text in (
        (
            "Table 3, Appendix B.2.5",
            "the new set is said to have 115 of the hardest images, but all nine printed intervals are those of 100 "
            "images and of no other number; they are checked with 100",
        ),
        (
            "Table 5",
            "the interval of 52.9 was made from the rounded accuracy: 423 right answers of 800 would give 49.3 rather "
            "than 49.4, and 424 would be 53.0",
        ),
        (
            "Table 11",
            "the text speaks of 2,000 images; a whole number of right answers out of 2,021 (the size of the released "
            "set) explains all 34 intervals, and no other size from 1,500 to 2,600 does",
        ),
        (
            "Table 12",
            "the exactly balanced set has 2,000 images, but no whole number of right answers out of 2,000 explains "
            "the intervals of shake_drop, resnet_v2_basic_110 and random_features_32k_aug; all 34 intervals are those "
            "of a share of 2,000 images taken for a share of 2,021; they are checked with 2,021",
        ),
        ("Table 14", "two rows are named MatchedFrequency, and none TopImages, which the third should be"),
        ("Tables 1 and 4", "wide_resnet_28_10 is the model that Table 11 calls wrn_28_10"),
        (
            "Tables 4 and 11",
            "Table 4 has other accuracies on the original CIFAR-10 set (93.6 for vgg_15_BN_64, 95.7 for "
            "wide_resnet_28_10) than Table 11 (93.0, 95.9), with the same ones on the new set",
        ),
        (
            "Tables 13 and 16",
            "Table 13 has 92.5 for the top-5 accuracy of resnet50 on the original set, Table 16 has 92.9; both have "
            "84.7 on the new set",
        ),
        ("Tables 16, 18, 20", "vgg_19_tf, of original rank 56, is printed above vgg_16_tf, of original rank 55"),
        (
            "Table 2",
            "the averages go over all 67 models, with the Fisher vectors that the main text's line leaves out; "
            "without them they would be -12.0, -3.1, +2.2 (top-1) and -8.0, -1.0, +1.9 (top-5)",
        ),
    )
)
"""What a reader of the printed tables should know."""


def reproduce(read: Callable[[str], Table] = read_table) -> Reproduction:
    """The lines, averages, intervals, gaps and ranks of the paper, from its printed accuracies."""
    imagenet = read(IMAGENET)
    checks = (
        *_line_checks(CIFAR_LINE, *_percent(read(CIFAR), "cifar10_test", "cifar10.1")),
        *_line_checks(IMAGENET_LINE, *_percent(without_fisher_vectors(imagenet), "val_top1", "matched_frequency_top1")),
        *_average_checks(imagenet),
        *_scale_checks(*_percent(imagenet, "val_top1", "matched_frequency_top1")),
        *(check for table in (CIFAR, IMAGENET) for check in _interval_checks(read(table), read(f"{table}_printed"))),
        _other_interval_check(read("recht2019_other_intervals")),
        *(_rank_check(each, read(each.table), read(f"{each.table}_printed")) for each in SETS),
        *(_gap_check(table, read(table), read(f"{table}_printed")) for table in (CIFAR, IMAGENET)),
    )
    remarks = (*FOUND, _drop_remark(imagenet), _scale_remark(imagenet))
    return Reproduction(PAPER, TITLE, checks, remarks)


def without_fisher_vectors(table: Table) -> Table:
    """The convolutional networks alone."""
    kept = np.array([not model.startswith("fv_") for model in table.models])
    models = tuple(model for model, keep in zip(table.models, kept, strict=True) if keep)
    return Table(table.name, models, {name: column[kept] for name, column in table.columns.items()})


class Rounding(NamedTuple):
    """How far the rounding of the accuracies can move a slope and an offset (percent)."""

    slope: float
    offset: float


def line_rounding(x: np.ndarray, y: np.ndarray, *, worst: bool) -> Rounding:
    """By how much rounding to 0.1 percent moves a least-squares line, to first order.

    Args:
        x: Printed accuracies, in percent.
        y: Printed accuracies, in percent.
        worst: If all roundings conspire: Σ |∂slope/∂xᵢ| · 0.05 + ...; otherwise three standard deviations, each
            rounding error being uniform in ±0.05 and independent of the others.
    """
    n, mean = len(x), x.mean()
    dx, dy = x - mean, y - y.mean()
    squares = dx @ dx
    slope = dx @ dy / squares
    of_slope = np.concatenate([(dy - 2 * slope * dx) / squares, dx / squares])
    # The offset is mean(y) − slope · mean(x).
    of_offset = -mean * of_slope + np.repeat([-slope / n, 1 / n], n)
    if worst:
        return Rounding(HALF_DIGIT * np.abs(of_slope).sum(), HALF_DIGIT * np.abs(of_offset).sum())
    three = 3 * HALF_DIGIT / np.sqrt(3)
    return Rounding(three * np.sqrt(of_slope @ of_slope), three * np.sqrt(of_offset @ of_offset))


def interval_explained(
    accuracy: np.ndarray, low: np.ndarray, high: np.ndarray, n: np.ndarray | int, rounding: np.ndarray | float
) -> np.ndarray:
    """Whether some share that is printed as this accuracy has this Clopper-Pearson interval, (rows,) bool.

    All numbers are in percent. The share need not be a whole number out of ``n``: some intervals were made from
    accuracies that were rounded before.

    >>> interval_explained(np.array([95.5, 95.5]), np.array([94.5, 94.6]), np.array([96.4, 96.5]), 2021, 0.05).tolist()
    [True, False]
    """
    steps = np.linspace(-1, 1, 101)[:, None]
    successes = np.clip(accuracy + steps * rounding, 0, 100) / 100 * n
    lows, highs = clopper_pearson_bounds(successes, n, 0.95)
    # A hair, since half a digit has no exact double.
    half = HALF_DIGIT + 1e-9
    fits = (np.abs(100 * lows - low) <= half) & (np.abs(100 * highs - high) <= half)
    return np.asarray(fits.any(axis=0))


def _percent(table: Table, original: str, new: str) -> tuple[np.ndarray, np.ndarray]:
    return table.column(original), table.column(new)


def _line_checks(printed: PrintedLine, x: np.ndarray, y: np.ndarray) -> list[Check]:
    """The line, and the bounds from a bootstrap over models."""
    line = fit_line(x / 100, y / 100, scale="linear")
    draws = bootstrap_lines(x / 100, y / 100, scale="linear", draws=DRAWS)
    likely, worst = line_rounding(x, y, worst=False), line_rounding(x, y, worst=True)
    # Each with the half digit to which the paper prints it.
    slopes = _number_and_bounds("slope", line.slope, draws.slopes, printed.slope, 0.005)
    offsets = _number_and_bounds(
        "offset (percent)", 100 * line.intercept, 100 * draws.intercepts, printed.offset, HALF_DIGIT
    )
    checks = []
    for found, three, most, bound in zip((slopes, offsets), likely, worst, BOOTSTRAP_ROUNDING, strict=True):
        why = f"inputs to 0.1: three standard deviations of the rounding, {three:.2g}; {most:.2g} at the very worst"
        why_bound = f"inputs to 0.1: about {bound:g} in a bound; and the digit of the bound"
        for number in found:
            allowed, reason = (bound, why_bound) if number.is_bound else (three, why)
            what = f"{number.name}, {printed.name}"
            checks.append(
                Check(PAPER, what, "Section 3.3", number.published, number.ours, allowed + number.digit, reason)
            )
    return checks


class _Number(NamedTuple):
    name: str
    published: float
    ours: float
    digit: float
    is_bound: bool


def _number_and_bounds(
    name: str, value: float, drawn: np.ndarray, printed: tuple[float, float, float], digit: float
) -> list[_Number]:
    low, high = np.quantile(drawn, [0.025, 0.975])
    return [
        _Number(name, printed[0], value, digit, False),
        _Number(f"lower bound of the {name}", printed[1], float(low), digit, True),
        _Number(f"upper bound of the {name}", printed[2], float(high), digit, True),
    ]


def _average_checks(imagenet: Table) -> list[Check]:
    checks = []
    three = 3 * HALF_DIGIT / np.sqrt(3) * np.sqrt(2 / len(imagenet.models))
    reason = f"the average to 0.1; inputs to 0.1: three standard deviations of the rounding, {three:.2g}"
    for name, published in AVERAGE_CHANGES.items():
        change = imagenet.column(name) - imagenet.column(f"val_{name[-4:]}")
        what = f"average change of accuracy (percent), {_words(name)}, {len(change)} models"
        checks.append(Check(PAPER, what, "Table 2", published, float(change.mean()), HALF_DIGIT + three, reason))
    return checks


def _scale_checks(x: np.ndarray, y: np.ndarray) -> list[Check]:
    """That the probit scale fits better than the linear one, with the Fisher vectors, in three ways."""
    fits = {fit.line.scale: fit for fit in compare_scales(x / 100, y / 100)}
    linear, probit = fits["linear"], fits["probit"]
    narrow, wide = (_band_width(x / 100, y / 100, scale) for scale in (probit.line.scale, linear.line.scale))
    ways = (
        ("by R² on the scale", probit.line.r2 > linear.line.r2, f"{probit.line.r2:.4f} and {linear.line.r2:.4f}"),
        (
            "by leave-one-out error of the accuracy",
            probit.rmse < linear.rmse,
            f"{100 * probit.rmse:.2f} and {100 * linear.rmse:.2f} percent",
        ),
        (
            "by the mean width of the bootstrap band",
            narrow < wide,
            f"{100 * narrow:.2f} and {100 * wide:.2f} percent",
        ),
    )
    return [
        Check(
            PAPER,
            f"better of probit and linear with Fisher vectors, {way}",
            "Figure 6, Appendix C.2",
            "probit",
            "probit" if better else "linear",
            reason=f"probit and linear: {numbers}",
        )
        for way, better, numbers in ways
    ]


def _band_width(x: np.ndarray, y: np.ndarray, scale: Scale) -> float:
    """The mean width of the 95 % band over the models' accuracies, as a share."""
    draws = bootstrap_lines(x, y, scale=scale, draws=10_000)
    low, high = band(draws, np.linspace(x.min(), x.max(), 13))
    return float((high - low).mean())


def _interval_checks(table: Table, printed: Table) -> list[Check]:
    """One check per column of accuracies: how many of the printed intervals are explained."""
    checks = []
    for name, accuracy in table.columns.items():
        n = N_IMAGES.get(name, N_NEW_IMAGENET)
        low, high = printed.column(f"{name}_low"), printed.column(f"{name}_high")
        explained = interval_explained(accuracy, low, high, n, HALF_DIGIT)
        where = " and ".join(each.where for each in SETS if name == each.new)
        where = where or f"Tables {', '.join(each.where[6:] for each in SETS if name == each.original)}"
        what = f"Clopper-Pearson intervals of {_words(name)} (n = {n:,})"
        checks.append(_count(what, where, explained, table.models, "an accuracy to 0.1 gives both bounds to 0.1"))
    return checks


def _other_interval_check(printed: Table) -> Check:
    explained = interval_explained(
        printed.column("accuracy"),
        printed.column("low"),
        printed.column("high"),
        printed.column("n_of_interval"),
        0.5 * 10.0 ** -printed.column("decimals"),
    )
    what = "Clopper-Pearson intervals of the smaller experiments"
    where = "Tables 3, 4, 5, 13, 14, Appendix B.1"
    return _count(what, where, explained, printed.models, "an accuracy as printed gives both bounds to 0.1")


def _rank_check(each: NewSet, table: Table, printed: Table) -> Check:
    """How many rows have ranks that the printed accuracies allow, and the change of rank that follows from them."""
    fine = printed.column(f"{each.new}_rank_change") == (
        printed.column(f"{each.original}_rank") - printed.column(f"{each.new}_rank")
    )
    for name in (each.original, each.new):
        allowed = rank_range(table.column(name) / 100, rounding=HALF_DIGIT / 100)
        rank = printed.column(f"{name}_rank")
        fine &= (allowed.best <= rank) & (rank <= allowed.worst)
    what = f"ranks and rank changes, {_words(each.original)} to {_words(each.new)}"
    return _count(what, each.where, fine, table.models, "equal printed accuracies may stand in any order")


def _gap_check(name: str, table: Table, printed: Table) -> Check:
    """How many gaps are the difference of their accuracies."""
    fine, rows = [], []
    for each in (each for each in SETS if each.table == name):
        gap = table.column(each.original) - table.column(each.new)
        # Three roundings: of both accuracies and of the gap.
        fine.append(np.abs(printed.column(f"{each.new}_gap") - gap) <= 3 * HALF_DIGIT + 1e-9)
        rows += [f"{model} ({each.where})" for model in table.models]
    where = f"Tables {', '.join(each.where[6:] for each in SETS if each.table == name)}"
    what = f"gaps (percent) of {'CIFAR-10' if name == CIFAR else 'ImageNet'} accuracies"
    return _count(what, where, np.concatenate(fine), rows, "0.15 each: both accuracies and the gap are printed to 0.1")


def _count(what: str, where: str, fine: np.ndarray, names: Sequence[str], reason: str) -> Check:
    """How many of many published things hold; those that do not are named."""
    out = [name for name, holds in zip(names, fine, strict=True) if not holds]
    named = f"; out: {', '.join(out)}" if out else ""
    return Check(PAPER, f"{what}: how many hold", where, len(fine), int(fine.sum()), 0.0, reason + named)


def _drop_remark(imagenet: Table) -> Remark:
    convnets = without_fisher_vectors(imagenet)
    drop = convnets.column("val_top1") - convnets.column("matched_frequency_top1")
    return Remark(
        PAPER,
        "Abstract",
        f"the drops on ImageNet are said to be 11 to 14 percent; those of Table 15 go from {drop.min():.1f} "
        f"({convnets.models[int(drop.argmin())]}) to {drop.max():.1f} without the Fisher vectors",
    )


def _scale_remark(imagenet: Table) -> Remark:
    """Which scale predicts best on each of the new sets."""
    best = []
    for each in (each for each in SETS if each.table == IMAGENET):
        fits = compare_scales(imagenet.column(each.original) / 100, imagenet.column(each.new) / 100)
        best.append(f"{_words(each.new)}: {_order(fits)}")
    return Remark(
        PAPER,
        "Figures 6 and 13",
        f"scales by leave-one-out error (percent) with the Fisher vectors, best first: {'; '.join(best)}",
    )


def _order(fits: Sequence[ScaleFit]) -> str:
    return ", ".join(f"{fit.line.scale} {100 * fit.rmse:.2f}" for fit in fits)


def _words(column: str) -> str:
    """A column's name for people.

    >>> _words("matched_frequency_top1"), _words("cifar10.1")
    ('MatchedFrequency top-1', 'CIFAR-10.1')
    """
    names = {
        "cifar10_test": "CIFAR-10 test",
        "cifar10.1": "CIFAR-10.1",
        "cifar10.1_balanced": "CIFAR-10.1 balanced",
        "val": "ImageNet val",
        "matched_frequency": "MatchedFrequency",
        "threshold_0.7": "Threshold0.7",
        "top_images": "TopImages",
    }
    if column in names:
        return names[column]
    return f"{names[column[:-5]]} top-{column[-1]}"
