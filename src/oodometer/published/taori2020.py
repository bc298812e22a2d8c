"""Taori et al. 2020: 204 ImageNet models under 213 test conditions, from the table that the authors published.

The table is not bundled: its folder is given. Accuracies and ρ are shown in percent, as in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from oodometer.catalogue.names import find_shift
from oodometer.catalogue.papers import papers
from oodometer.catalogue.shifts import CLEAN, declared_shifts
from oodometer.core.errors import OodometerError
from oodometer.published.checks import Check, Remark, Reproduction
from oodometer.published.testbed_table import Grid, read_testbed
from oodometer.stats.effective_robustness import effective_robustness, relative_robustness
from oodometer.stats.lines import Line, fit_line
from oodometer.stats.shift_correlation import Shifts, average_setting, shift_correlation

PAPER = "taori2020"
TITLE = papers()[PAPER].title

OTHER_STUDIES = ("aws", "batch64", "subsample")
"""In the names of models that were trained for comparisons of their own and take no part in a fit."""


class Shift(NamedTuple):
    """A distribution shift.

    Args:
        x: The column of the clean set that matches its classes.
        y: Its own.
        least: The accuracy on x from which on a standard model takes part in the fit.
    """

    name: str
    x: str
    y: str
    least: float


VAL = "val"
"""The column of the clean images of all classes."""


def _shift(name: str, setting: str) -> Shift:
    """A shift of the testbed, with the clean set and the cut of the catalogue."""
    entry = find_shift(setting)
    assert entry is not None  # every setting is in the catalogue
    return Shift(name, VAL if entry.clean == CLEAN else entry.clean, setting, entry.baseline_above or 0.0)


V2 = _shift("ImageNetV2", "imagenetv2-matched-frequency-format-val")
V2_PLAIN = _shift("ImageNetV2 (plain column)", "imagenetv2-matched-frequency")
OBJECTNET = _shift("ObjectNet", "objectnet-1.0-beta")
VID = _shift("ImageNet-Vid-Robust pm-0", "imagenet-vid-robust_pm0")
YTBB = _shift("YTBB-Robust pm-0", "ytbb-robust_pm0")
VID_10 = _shift("ImageNet-Vid-Robust pm-0 to pm-10", "imagenet-vid-robust_pm10")
YTBB_10 = _shift("YTBB-Robust pm-0 to pm-10", "ytbb-robust_pm10")
SKETCH = _shift("ImageNet-Sketch", "imagenet-sketch")
RENDITION = _shift("ImageNet-R", "imagenet-r")

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

OF_CORRUPTIONS = 0.2403
"""Pearson's r of ρ under the corruption average with ρ on ImageNetV2: derived from the table apart from this code."""

OF_LP = ((VID_10, 6.7, -8.5), (YTBB_10, 4.9, -0.7))
"""Section 4.1: mean ρ and mean τ in percent of the adversarially trained models."""


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
    """The standard models that were not trained for a study of their own; each shift has a cut on its own axis."""
    standard = (grid.categories == "standard") & ~grid.named(*OTHER_STUDIES)
    return Baselines(standard, standard & ~np.isnan(grid.settings("imagenet-c.")).any(axis=1))


def fitted(grid: Grid, shift: Shift, models: np.ndarray) -> np.ndarray:
    """Those of the models that are good enough on the shift's own x axis to take part in its fit, (M,) bool."""
    return np.asarray(models & (grid.accuracy(shift.x) >= shift.least))


def reproduce(folder: Path | str) -> Reproduction:
    """The fits, effective and relative robustness and correlations of the paper, from a folder with its table."""
    grid = read_testbed(folder)
    over = baselines(grid)
    n_standard = int(fitted(grid, V2, over.paper).sum())
    checks = (
        Check(PAPER, "standard models measured under every corruption", "Section 3.2", 78, n_standard),
        *_fit_checks(grid, over.table),
        *_r2_checks(grid, over.paper),
        *_rho_checks(grid, over.paper),
        *_drop_checks(grid, over.paper),
        *_lp_checks(grid, over.paper),
        *_correlation_checks(grid, over.paper),
    )
    return Reproduction(PAPER, TITLE, checks, _remarks(grid, over))


def baseline_line(grid: Grid, shift: Shift, models: np.ndarray) -> Line:
    """The logit line through those of the models that were measured on both sets."""
    x, y = grid.accuracy(shift.x), grid.accuracy(shift.y)
    chosen = fitted(grid, shift, models) & ~np.isnan(x) & ~np.isnan(y)
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
            checks.append(Check(PAPER, what, where, published, value, 0.0005, "kept to three digits", "own"))
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
    return [*checks, _percent("accuracy (percent) on ImageNet-R of AdvProp", "Section 5", 57.8, best), _tau_of(grid)]


def _tau_of(grid: Grid) -> Check:
    """A number of the text that does not come out."""
    after, before = 100 * grid.accuracy("imagenet-r")[grid.rows((DENOISED, "resnet152"))]
    known = "known: no pair of the table gives it"
    what = f"τ (percent) on ImageNet-R of {DENOISED} against resnet152"
    return Check(PAPER, what, "Section 5", 5.7, float(after - before), 0.05, "to 0.05 points", known=known)


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
    """Pearson's r of ρ under the corruption average and under PGD with ρ on ImageNetV2, and over how many models.

    By the authors' convention, which their repository shows: the lines go through the paper's standard models, and all
    others are correlated, whatever their clean accuracy.
    """
    averages = [corruption_average(grid), average_setting(grid.settings("pgd."))]
    found = shift_correlation(
        Shifts(("corruptions", "PGD"), grid.accuracy(VAL), np.stack(averages, axis=1)),
        Shifts((V2.name,), grid.accuracy(V2.x), grid.accuracy(V2.y)[:, None]),
        baseline=fitted(grid, V2, models),
        models=others(grid),
    )
    return found.r[:, 0], found.n[:, 0]


def corruption_average(grid: Grid) -> np.ndarray:
    """The mean over the 37 types of corruptions, on disk and in memory, greyscale and Stylized ImageNet, (M,)."""
    families = [declared_shifts()[name] for name in ("imagenet-c_on-disk", "imagenet-c_in-memory")]
    means = []
    for family in families:
        low, high = family.severities
        for corruption in family.corruptions:
            name = partial(family.member.format, corruption=corruption)
            columns = [grid.accuracy(name(severity=severity)) for severity in range(low, high + 1)]
            means.append(average_setting(np.stack(columns, axis=1)))
    others = [grid.accuracy(name) for name in ("greyscale", "stylized_imagenet")]
    return average_setting(np.stack([*means, *others], axis=1))


def others(grid: Grid) -> np.ndarray:
    """Which models have an intervention or more data, (M,) bool."""
    return np.isin(grid.categories, ("robust_intervention", "lp_adversarial", "more_data"))


def _correlation_checks(grid: Grid, models: np.ndarray) -> list[Check]:
    (of_corruptions, of_pgd), n = correlations(grid, models)
    what = [f"r of ρ under {name} with ρ on ImageNetV2" for name in ("image corruptions", "PGD")]
    what = [f"{one}, {number} non-standard models" for one, number in zip(what, n.tolist(), strict=True)]
    two = (0.005, "printed to two digits")
    return [
        Check(PAPER, what[0], "Section 4.2", 0.24, float(of_corruptions), *two),
        Check(
            PAPER, what[0], "the testbed's table", OF_CORRUPTIONS, float(of_corruptions), 5e-5, "kept to four", "own"
        ),
        Check(PAPER, what[1], "Section 4.2, Appendix D.1", -0.05, float(of_pgd), *two),
    ]


def _size(shift: Shift) -> int:
    """The number of images of a shift."""
    entry = find_shift(shift.y)
    assert entry is not None
    assert entry.n is not None
    return entry.n


def _remarks(grid: Grid, over: Baselines) -> tuple[Remark, ...]:
    n_table, n_paper = (int(fitted(grid, V2, models).sum()) for models in (over.table, over.paper))
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
            f"the paper's 78 standard models are taken to be the {n_paper} of the table that were measured under every "
            f"corruption, since they are as many and give its ρ; the table has {n_table - n_paper} more "
            f"({n_table}), which the fits marked 'the testbed's table' go through too. With these the ρ on "
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
            "the convention for r is that of the authors' repository: the mean over the 37 types of corruptions, on "
            "disk and in memory, greyscale and Stylized ImageNet, and over the four of PGD; lines through the paper's "
            "standard models; all other models that were measured under all of these, without a cut",
        ),
        (
            "Section 3.2",
            "each shift has a cut of its own for the standard models, on its own clean axis, as in the authors' plots: "
            f"{', '.join(sorted({f'{100 * shift.least:.0f}' for shift in FITS}))} percent; on this table they choose "
            "the same models as 55 percent of all clean images",
        ),
        (
            "Section 4.1",
            f"YTBB-Robust has {_size(YTBB):,} anchors in the table, of which all its accuracies are whole shares, and "
            "2,530 in the paper",
        ),
        (
            "Section 5",
            f"τ = 5.7 percent on ImageNet-R is said of the model with ρ = 22.7, which is {DENOISED} with "
            f"τ = {denoised - resnet:.1f} against resnet152; denoiseAll against resnext101_64x4d gives "
            f"{denoise_all - resnext:.1f}",
        ),
    )
    return tuple(Remark(PAPER, where, text) for where, text in texts)
