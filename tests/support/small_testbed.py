"""A made table in the form of the 204-model testbed's, for tests of rules; its numbers are nobody's.

The columns are real ones, and so are the names of the models that a rule names. Every standard model lies exactly on
the line of each shift, so that slopes, intercepts and the knee of ImageNet-A are known beforehand; all others lie off
it by a hidden strength of their own. Some cells are empty, as in the real table.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

from oodometer.catalogue.names import testbed_settings

STANDARD = (*(f"plain-{at:02d}" for at in range(1, 15)), "resnet152", "resnext101_64x4d", "resnet50")
OTHER_STUDIES = ("resnet50_aws_baseline", "resnet50_batch64", "resnet50_subsample_1_2")
"""Standard, but trained for comparisons of their own: they lie off the line and take no part in a fit."""
CATEGORIES = {
    **dict.fromkeys((*STANDARD, *OTHER_STUDIES), "standard"),
    **dict.fromkeys((f"intervention-{at}" for at in range(1, 7)), "robust_intervention"),
    "resnext101_32x8d_deepaugment_augmix": "robust_intervention",
    "efficientnet-b8-advprop-autoaug": "robust_intervention",
    "resnet50_l2_eps3_robust": "lp_adversarial",
    "resnet50_linf_eps4_robust": "lp_adversarial",
    "facebook_adv_trained_resnet152_denoise": "lp_adversarial",
    "facebook_adv_trained_resnext101_denoiseAll": "lp_adversarial",
    **dict.fromkeys((f"instagram-resnext101_32x{width}d" for width in (8, 16, 32, 48)), "more_data"),
    "resnet152-imagenet11k": "more_data",
    "efficientnet-l2-noisystudent": "more_data",
    "google_resnet101_jft-300M": "more_data",
}
"""By model; the models of no category come after these."""
MODELS = (*CATEGORIES, "unlisted-1", "unlisted-2")


@dataclass(frozen=True)
class MadeLine:
    """How a column was made: ``logit(y) = intercept + slope logit(x)``, plus ``share`` of the hidden strength."""

    x: str
    slope: float
    intercept: float
    share: float = 0.0


CLEAN = {
    "val-on-imagenet-a-classes": MadeLine("val", 1.1, 1.0),
    "val-on-imagenet-r-classes": MadeLine("val", 1.05, 0.9),
    "val-on-objectnet-classes": MadeLine("val", 0.95, 0.3),
    "val-on-vid-robust-classes": MadeLine("val", 0.9, 2.3),
    "val-on-ytbb-robust-classes": MadeLine("val", 0.85, 2.8),
}
"""The clean sets that match the classes of a shift: no model is better or worse there than ``val`` says.

As in the real table, every standard model is above the cut of each shift's fit.
"""

CORRUPTIONS = {
    f"imagenet-c.{name}.{severity}_{where}": MadeLine("val", 1.2, -0.3 * severity - 0.1 * at, share)
    for at, (name, where, share) in enumerate(
        (("fog", "on-disk", 1.0), ("gaussian_noise", "on-disk", 1.4), ("fog", "in-memory", 0.9))
    )
    for severity in (1, 3, 5)
}
ATTACKS = {
    f"pgd.{ball}": MadeLine("val", 0.8, -2.0 - 0.3 * at, -1.5)
    for at, ball in enumerate(("l2.eps0.1", "l2.eps0.5", "linf.eps0.5", "linf.eps2"))
}
NATURAL = {
    "imagenetv2-matched-frequency": MadeLine("val", 0.9, -0.45, 0.6),
    "imagenetv2-matched-frequency-format-val": MadeLine("val", 0.92, -0.5, 0.6),
    "imagenetv2-topimages": MadeLine("val", 0.95, 0.2, 0.5),
    "objectnet-1.0-beta": MadeLine("val-on-objectnet-classes", 1.0, -1.9, 0.8),
    "imagenet-vid-robust_pm0": MadeLine("val-on-vid-robust-classes", 0.55, -1.4, 0.4),
    "ytbb-robust_pm0": MadeLine("val-on-ytbb-robust-classes", 0.35, -1.1, 0.4),
    "imagenet-vid-robust_pm10": MadeLine("imagenet-vid-robust_pm0", 1.1, -0.8, 0.5),
    "ytbb-robust_pm10": MadeLine("ytbb-robust_pm0", 1.25, -0.7, 0.5),
    "imagenet-sketch": MadeLine("val", 1.05, -2.4, 1.2),
    "imagenet-r": MadeLine("val-on-imagenet-r-classes", 0.65, -2.1, 1.3),
}
OTHERS = {"greyscale": MadeLine("val", 1.1, -0.4, 0.3), "stylized_imagenet": MadeLine("val", 0.9, -3.0, 1.0)}
LINES = {**CLEAN, **NATURAL, **CORRUPTIONS, **ATTACKS, **OTHERS}

BELOW, AT, ABOVE = 0.5, -4.5, 3.0
"""ImageNet-A: the slope below the knee, the height of the line at it, and the slope above it, on the logit scale."""

NOT_MEASURED = {
    "plain-03": CORRUPTIONS,
    "intervention-1": CORRUPTIONS,
    "google_resnet101_jft-300M": ATTACKS,
    "instagram-resnext101_32x48d": ATTACKS,
    "unlisted-2": ("imagenetv2-matched-frequency-format-val",),
}
"""The empty cells, by model."""


def accuracies() -> dict[str, np.ndarray]:
    """The accuracies of all models by column, shares (M,), NaN where a cell is empty."""
    rng = np.random.default_rng(2020)
    n = len(MODELS)
    off_the_line = np.array([model not in STANDARD for model in MODELS])
    hidden = np.where(off_the_line, rng.normal(0.15, 0.25, n), 0.0)
    columns = {"val": _clean(rng)}
    for name, line in LINES.items():
        own = np.where(off_the_line & (line.share != 0), rng.normal(0, 0.05, n), 0.0)
        columns[name] = expit(line.intercept + line.slope * logit(columns[line.x]) + line.share * hidden + own)
    columns["imagenet-a"] = _imagenet_a(columns["val-on-imagenet-a-classes"], hidden)
    for model, settings in NOT_MEASURED.items():
        for name in settings:
            columns[name][MODELS.index(model)] = np.nan
    return columns


def _clean(rng: np.random.Generator) -> np.ndarray:
    """Standard models from 56 % to 83 %, ResNet-50 in their middle; the others anywhere there; the unlisted below."""
    standard = np.linspace(0.56, 0.83, len(STANDARD))
    middle = len(STANDARD) // 2
    ordered = np.r_[np.delete(standard, middle), standard[middle]]  # resnet50 is the last of STANDARD
    others = rng.uniform(0.58, 0.86, len(CATEGORIES) - len(STANDARD))
    return np.r_[ordered, others, 0.30, 0.40]


def _imagenet_a(clean: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Two straight pieces that meet at ResNet-50, which has nothing right: the images are those that it got wrong."""
    row = MODELS.index("resnet50")
    beyond = logit(clean) - logit(clean[row])
    shares = expit(AT + np.where(beyond < 0, BELOW, ABOVE) * beyond + hidden)
    shares[row] = 0.0
    return np.asarray(shares)


def write_small_testbed(folder: Path, *, whole: bool = False) -> Path:
    """Write both files of the testbed's layout, in percent; the folder comes back.

    Args:
        whole: With all 213 settings; those that have no line of their own here are like ``val``, a little below.
    """
    folder.mkdir(parents=True, exist_ok=True)
    columns = accuracies()
    if whole:
        columns |= {name: 0.95 * columns["val"] for name in testbed_settings() if name not in columns}
    rows = [
        ",".join([model, *("" if np.isnan(cell) else repr(100 * float(cell)) for cell in cells)])
        for model, cells in zip(MODELS, np.stack(list(columns.values()), axis=1), strict=True)
    ]
    (folder / "robustness_top1s.csv").write_text("\n".join([",".join(["model", *columns]), *rows]) + "\n")
    listed = [f"{model},{category}" for model, category in CATEGORIES.items()]
    (folder / "model_categories.csv").write_text("\n".join(["model,category", *listed]) + "\n")
    return folder
