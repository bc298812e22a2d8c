"""Taori et al. 2020: 204 ImageNet models under 213 test conditions, from the table that the authors published.

The table is not bundled: its folder is given. Accuracies and ρ are shown in percent, as in the paper.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from oodometer.core.errors import DataError, OodometerError, did_you_mean
from oodometer.published.checks import Check, Remark, Reproduction
from oodometer.published.tables import Table, parse_table
from oodometer.stats.effective_robustness import effective_robustness, relative_robustness
from oodometer.stats.lines import Line, fit_line
from oodometer.stats.shift_correlation import Shifts, average_setting, shift_correlation

PAPER = "taori2020"
TITLE = "Measuring Robustness to Natural Distribution Shifts in Image Classification"

ACCURACIES, CATEGORIES = "robustness_top1s.csv", "model_categories.csv"
LAYOUT = (
    f"expected the layout of the public testbed: {ACCURACIES} (a column 'model', then one column of top-1 accuracies "
    f"in percent for each setting, empty where not measured) and {CATEGORIES} (columns 'model' and 'category')"
)

FEWEST = 0.55
"""The clean accuracy from which on a model takes part."""

OTHER_STUDIES = ("aws", "batch64", "subsample")
"""In the names of models that were trained for comparisons of their own and take no part in a fit."""


class Shift(NamedTuple):
    """A distribution shift: the column of the clean set that matches its classes, and its own."""

    name: str
    x: str
    y: str


V2 = Shift("ImageNetV2", "val", "imagenetv2-matched-frequency-format-val")
V2_PLAIN = Shift("ImageNetV2 (plain column)", "val", "imagenetv2-matched-frequency")
OBJECTNET = Shift("ObjectNet", "val-on-objectnet-classes", "objectnet-1.0-beta")
VID = Shift("ImageNet-Vid-Robust pm-0", "val-on-vid-robust-classes", "imagenet-vid-robust_pm0")
YTBB = Shift("YTBB-Robust pm-0", "val-on-ytbb-robust-classes", "ytbb-robust_pm0")
VID_10 = Shift("ImageNet-Vid-Robust pm-0 to pm-10", "imagenet-vid-robust_pm0", "imagenet-vid-robust_pm10")
YTBB_10 = Shift("YTBB-Robust pm-0 to pm-10", "ytbb-robust_pm0", "ytbb-robust_pm10")
SKETCH = Shift("ImageNet-Sketch", "val", "imagenet-sketch")
RENDITION = Shift("ImageNet-R", "val-on-imagenet-r-classes", "imagenet-r")

FITS = {
    V2: (0.923, -0.498, 0.996),
    V2_PLAIN: (0.911, -0.481, 0.996),
    OBJECTNET: (0.981, -1.928, 0.953),
    VID: (0.534, -1.462, 0.949),
    YTBB: (0.339, -1.112, 0.830),
    VID_10: (1.090, -0.795, 0.967),
    YTBB_10: (1.270, -0.690, 0.903),
    SKETCH: (1.071, -2.370, 0.869),
    RENDITION: (0.637, -2.108, 0.889),
}
"""Slope, intercept and R² on the logit scale over the standard models: fits of the table made apart from this code."""

PAPER_R2 = {V2: 1.00, OBJECTNET: 0.95, VID: 0.95, YTBB: 0.83}
"""Section 4.1."""

NOISY_STUDENT = "efficientnet-l2-noisystudent"
INSTAGRAM = tuple(f"instagram-resnext101_32x{width}d" for width in (8, 16, 32, 48))
DENOISED = "facebook_adv_trained_resnet152_denoise"
AWS_BASELINE = "resnet50_aws_baseline"

RHO = (
    (V2, ("resnet152-imagenet11k",), "ResNet-152 trained on 11,000 classes", 2.1, "Section 4.1"),
    (V2, INSTAGRAM, "four ResNeXt trained on Instagram, mean", 1.5, "Section 4.1"),
    (V2, (NOISY_STUDENT,), "EfficientNet-L2 (NoisyStudent)", 1.1, "Section 4.1"),
    (V2, ("google_resnet101_jft-300M",), "ResNet-101 trained on JFT-300M", -0.23, "Section 4.1"),
    (VID_10, (NOISY_STUDENT,), "EfficientNet-L2 (NoisyStudent)", 2.4, "Section 4.1"),
    (YTBB_10, (NOISY_STUDENT,), "EfficientNet-L2 (NoisyStudent)", 7.4, "Section 4.1"),
    (RENDITION, ("instagram-resnext101_32x16d",), "ResNeXt-101 32x16d (Instagram)", 29.1, "Section 5"),
    (RENDITION, ("resnext101_32x8d_deepaugment_augmix",), "DeepAugment with AugMix", 11.2, "Section 5"),
    (RENDITION, ("efficientnet-b8-advprop-autoaug",), "AdvProp", 7.5, "Section 5"),
    (RENDITION, (DENOISED,), "feature denoising", 22.7, "Section 5"),
)
"""Effective robustness in percent: the shift, the models, their name in the paper, ρ and where it stands."""

OF_LP = ((VID_10, 6.7, -8.5), (YTBB_10, 4.9, -0.7))
"""Section 4.1: mean ρ and mean τ in percent of the adversarially trained models."""


@dataclass(frozen=True)
class Grid:
    """The testbed's table.

    Args:
        models: One name per row.
        accuracies: Of each setting, shares (M,), NaN where not measured.
        categories: Of each model, (M,); empty where it has none.
    """

    models: tuple[str, ...]
    accuracies: dict[str, np.ndarray]
    categories: np.ndarray

    def accuracy(self, setting: str) -> np.ndarray:
        """The accuracies under one setting, shares (M,)."""
        if setting not in self.accuracies:
            hint = did_you_mean(setting, self.accuracies)
            raise DataError(f"{ACCURACIES}: no column named {setting!r}{hint}; {LAYOUT}")
        return self.accuracies[setting]

    def settings(self, prefix: str) -> np.ndarray:
        """The accuracies under all settings whose names start so, (M, S)."""
        columns = [column for name, column in self.accuracies.items() if name.startswith(prefix)]
        if not columns:
            raise DataError(f"{ACCURACIES}: no column whose name starts with {prefix!r}; {LAYOUT}")
        return np.stack(columns, axis=1)

    def rows(self, models: tuple[str, ...]) -> list[int]:
        """The places of models."""
        for model in models:
            if model not in self.models:
                raise DataError(f"{ACCURACIES}: no model named {model!r}{did_you_mean(model, self.models)}")
        return [self.models.index(model) for model in models]

    def named(self, *parts: str) -> np.ndarray:
        """Which models have one of these in their names, (M,) bool."""
        return np.array([any(part in model for part in parts) for model in self.models])


def read_testbed(folder: Path | str) -> Grid:
    """The table of a testbed's folder."""
    folder = Path(folder)
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; {LAYOUT}")
    table, listed = _read(folder / ACCURACIES), _read(folder / CATEGORIES)
    if "category" not in listed.columns:
        raise DataError(f"{folder / CATEGORIES}: no column named 'category'; {LAYOUT}")
    known = dict(zip(listed.models, listed.columns["category"], strict=True))
    return Grid(
        table.models,
        {name: _shares(folder / ACCURACIES, name, column) for name, column in table.columns.items()},
        np.array([str(known.get(model, "")) for model in table.models]),
    )


def _read(path: Path) -> Table:
    if not path.is_file():
        raise DataError(f"{path}: no such file; {LAYOUT}")
    try:
        return parse_table(str(path), path.read_text(encoding="utf-8-sig").splitlines())
    except (UnicodeDecodeError, OSError, csv.Error) as error:
        raise DataError(f"{path}: not a text file; {LAYOUT}") from error


def _shares(path: Path, name: str, column: np.ndarray) -> np.ndarray:
    """Percent as shares."""
    if column.dtype.kind != "f":
        raise DataError(f"{path}: column {name!r} holds something that is no number; {LAYOUT}")
    if ((column < 0) | (column > 100)).any():
        raise DataError(f"{path}: column {name!r} holds something that is no percentage; {LAYOUT}")
    return column / 100


@dataclass(frozen=True)
class Baselines:
    """Which models the lines go through, each (M,) bool.

    Args:
        table: The standard models of the published table.
        paper: Those of them that were measured under every corruption: as many as the paper has.
    """

    table: np.ndarray
    paper: np.ndarray


def baselines(grid: Grid) -> Baselines:
    """The standard models of enough clean accuracy that were not trained for a study of their own."""
    standard = (grid.categories == "standard") & (grid.accuracy("val") >= FEWEST) & ~grid.named(*OTHER_STUDIES)
    return Baselines(standard, standard & ~np.isnan(grid.settings("imagenet-c.")).any(axis=1))


def reproduce(folder: Path | str) -> Reproduction:
    """The fits, effective and relative robustness and correlations of the paper, from a folder with its table."""
    grid = read_testbed(folder)
    over = baselines(grid)
    checks = (
        Check(PAPER, "standard models measured under every corruption", "Section 3.2", 78, int(over.paper.sum())),
        *_fit_checks(grid, over.table),
        *_r2_checks(grid, over.paper),
        *_rho_checks(grid, over.paper),
        *_drop_checks(grid, over.paper),
        *_lp_checks(grid, over.paper),
        *_correlation_checks(grid, over.table),
    )
    return Reproduction(PAPER, TITLE, checks, _remarks(grid, over))


def baseline_line(grid: Grid, shift: Shift, models: np.ndarray) -> Line:
    """The logit line through those of the models that were measured on both sets."""
    x, y = grid.accuracy(shift.x), grid.accuracy(shift.y)
    chosen = models & ~np.isnan(x) & ~np.isnan(y)
    try:
        return fit_line(x[chosen], y[chosen])
    except OodometerError as error:
        raise OodometerError(f"the standard models of the testbed, {shift.y} against {shift.x}: {error}") from error


def rho(grid: Grid, shift: Shift, models: np.ndarray) -> np.ndarray:
    """ρ of every model in percent, (M,); NaN where it was not measured."""
    line = baseline_line(grid, shift, models)
    return np.asarray(100 * effective_robustness(grid.accuracy(shift.x), grid.accuracy(shift.y), line))


def _fit_checks(grid: Grid, models: np.ndarray) -> list[Check]:
    checks = []
    for shift, numbers in FITS.items():
        line = baseline_line(grid, shift, models)
        ours = (line.slope, line.intercept, line.r2)
        for name, published, value in zip(("slope", "intercept", "R²"), numbers, ours, strict=True):
            what, where = f"{name} (logit) of {shift.name}, {line.n} standard models", "the testbed's table"
            checks.append(Check(PAPER, what, where, published, value, 0.0005, "printed to three digits"))
    return checks


def _r2_checks(grid: Grid, models: np.ndarray) -> list[Check]:
    lines = {shift: baseline_line(grid, shift, models) for shift in PAPER_R2}
    return [
        Check(
            PAPER,
            f"R² (logit) of {shift.name}, {lines[shift].n} standard models",
            "Section 4.1",
            published,
            lines[shift].r2,
            0.005,
            "printed to two digits",
        )
        for shift, published in PAPER_R2.items()
    ]


def _rho_checks(grid: Grid, models: np.ndarray) -> list[Check]:
    checks = []
    for shift, names, title, published, where in RHO:
        ours = float(rho(grid, shift, models)[grid.rows(names)].mean())
        checks.append(_percent(f"ρ (percent) on {shift.name} of {title}", where, published, ours))
    best = 100 * float(grid.accuracy("imagenet-r")[grid.rows(("efficientnet-b8-advprop-autoaug",))[0]])
    return [*checks, _percent("accuracy (percent) on ImageNet-R of AdvProp", "Section 5", 57.8, best)]


def _drop_checks(grid: Grid, models: np.ndarray) -> list[Check]:
    """What a model of NoisyStudent's clean accuracy would lose on ImageNetV2, and what it loses."""
    (row,) = grid.rows((NOISY_STUDENT,))
    x, y = grid.accuracy(V2.x)[row], grid.accuracy(V2.y)[row]
    expected = baseline_line(grid, V2, models).at(x)
    what = "drop (percent) on ImageNetV2 at the clean accuracy of EfficientNet-L2 (NoisyStudent)"
    return [
        _percent(f"{what}, by the line", "Section 4.3", 8.6, 100 * float(x - expected)),
        _percent(f"{what}, its own", "Section 4.3", 7.5, 100 * float(x - y)),
    ]


def _lp_checks(grid: Grid, models: np.ndarray) -> list[Check]:
    """Mean ρ and τ of the adversarially trained ResNet-50 on the consistency shifts."""
    chosen = lp_resnet50(grid)
    (before,) = grid.rows((AWS_BASELINE,))
    checks = []
    for shift, mean_rho, mean_tau in OF_LP:
        y = grid.accuracy(shift.y)
        tau = 100 * float(relative_robustness(y[chosen], y[before]).mean())
        ours = float(rho(grid, shift, models)[chosen].mean())
        of = f"(percent) on {shift.name} of {chosen.sum()} adversarially trained ResNet-50"
        checks.append(_percent(f"mean ρ {of}", "Section 4.1", mean_rho, ours))
        checks.append(_percent(f"mean τ {of}", "Section 4.1", mean_tau, tau))
    return checks


def lp_resnet50(grid: Grid) -> np.ndarray:
    """Which models are adversarially trained ResNet-50, (M,) bool."""
    resnet50 = np.array([model.startswith("resnet50") for model in grid.models])
    return np.asarray((grid.categories == "lp_adversarial") & resnet50)


def _percent(what: str, where: str, published: float, ours: float) -> Check:
    return Check(PAPER, what, where, published, ours, 0.05, "to 0.05 points; the published table has later models too")


def correlations(grid: Grid, models: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pearson's r of ρ under the corruption average and under PGD with ρ on ImageNetV2, and over how many models."""
    averages = [average_setting(grid.settings(prefix)) for prefix in ("imagenet-c.", "pgd.")]
    found = shift_correlation(
        Shifts(("corruptions", "PGD"), grid.accuracy("val"), np.stack(averages, axis=1)),
        Shifts((V2.name,), grid.accuracy(V2.x), grid.accuracy(V2.y)[:, None]),
        baseline=models,
        models=others(grid) & (grid.accuracy("val") >= FEWEST),
    )
    return found.r[:, 0], found.n[:, 0]


def others(grid: Grid) -> np.ndarray:
    """Which models have an intervention or more data, (M,) bool."""
    return np.isin(grid.categories, ("robust_intervention", "lp_adversarial", "more_data"))


def _correlation_checks(grid: Grid, models: np.ndarray) -> list[Check]:
    r, n = correlations(grid, models)
    checks = []
    for row, (name, of_paper, where, of_table) in enumerate(
        (("image corruptions", 0.24, "Section 4.2", 0.27), ("PGD", -0.05, "Section 4.2, Appendix D.1", -0.050))
    ):
        what = f"r of ρ under {name} with ρ on ImageNetV2, {n[row]} non-standard models"
        why = "to 0.05: which columns and models were averaged is not printed"
        checks.append(Check(PAPER, what, where, of_paper, float(r[row]), 0.05, why))
        why = "printed to two digits"
        checks.append(Check(PAPER, what, "the testbed's table", of_table, float(r[row]), 0.005, why))
    return checks


def _remarks(grid: Grid, over: Baselines) -> tuple[Remark, ...]:
    later = int(over.table.sum() - over.paper.sum())
    on_all = rho(grid, V2, over.table)[grid.rows(tuple(names[0] for _, names, *_ in RHO[:4] if len(names) == 1))]
    said = ", ".join(f"{value:.2f}" for value in on_all)
    denoise_all, resnext, resnet, denoised = (
        100
        * grid.accuracy("imagenet-r")[
            grid.rows(("facebook_adv_trained_resnext101_denoiseAll", "resnext101_64x4d", "resnet152", DENOISED))
        ]
    )
    lp = grid.categories == "lp_adversarial"
    mean_lp = float(np.nanmean(rho(grid, YTBB_10, over.paper)[lp]))
    texts = (
        (
            "the testbed's table",
            "fits so marked are not printed in the paper: they are least-squares fits of the public table made "
            "independently of this code, to three digits, so that a change of either is noticed",
        ),
        (
            "Section 3.2",
            f"the paper's 78 standard models are taken to be the {over.paper.sum()} of the table that were measured "
            f"under every corruption, since they are as many and give its ρ; the table has {later} more "
            f"({over.table.sum()}), which the fits marked 'the testbed's table' go through too. With these the ρ on "
            f"ImageNetV2 of the three single models are {said}",
        ),
        ("Section 3.2", "78 standard, 86 robust and 30 models trained on more data are 194, not 204"),
        (
            "Section 4.1",
            f"the means over Lp-adversarially robust models come out over the {lp_resnet50(grid).sum()} ResNet-50 "
            f"among them (over all {lp.sum()} the mean ρ on YTBB-Robust is {mean_lp:.1f}), and τ against "
            f"{AWS_BASELINE}, which the paper does not name",
        ),
        (
            "Section 4.2",
            f"choice of columns for r: the mean over all {grid.settings('imagenet-c.').shape[1]} columns of "
            f"corruptions, on disk and in memory, and over {grid.settings('pgd.').shape[1]} of PGD; a model must have "
            "all of them; non-standard models with a clean accuracy of at least 55 percent",
        ),
        (
            "Section 5",
            f"τ = 5.7 percent on ImageNet-R is said of the model with ρ = 22.7, which is {DENOISED} with "
            f"τ = {denoised - resnet:.1f} against resnet152; denoiseAll against resnext101_64x4d gives "
            f"{denoise_all - resnext:.1f}",
        ),
    )
    return tuple(Remark(PAPER, where, text) for where, text in texts)
