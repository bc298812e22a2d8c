"""What sort of shift a name stands for, and what it is compared with, where nobody says."""

from __future__ import annotations

CLEAN_NAMES = ("clean", "val")
"""What a clean set is called, here and in the testbed's table."""

V2 = "imagenetv2-matched-frequency-format-val"
EIGHTH = "_subsampled_class_1_8"

CLEAN_OF_TABLE = {
    "imagenet-a": "val-on-imagenet-a-classes",
    "imagenet-r": "val-on-imagenet-r-classes",
    "objectnet-1.0-beta": "val-on-objectnet-classes",
    "imagenet-vid-robust_pm0": "val-on-vid-robust-classes",
    "imagenet-vid-robust_pm10": "imagenet-vid-robust_pm0",
    "ytbb-robust_pm0": "val-on-ytbb-robust-classes",
    "ytbb-robust_pm10": "ytbb-robust_pm0",
    f"{V2}{EIGHTH}": f"val{EIGHTH}",
}
"""The testbed's clean sets over the same classes; the others are compared with ``val``."""

CLEAN_SETS = {*CLEAN_NAMES, *CLEAN_OF_TABLE.values()} - set(CLEAN_OF_TABLE)
"""All that are clean by name and no shift themselves, as anchor frames are."""

KINDS = (
    "dataset", "consistency", "adversarially filtered", "style", "attribute", "corruption", "adversarial", "other"
)  # fmt: skip
"""Natural ones first."""

NATURAL = KINDS[:5]

KIND_OF_NAMES = (
    ("imagenet-a", "adversarially filtered"),
    ("imagenet-o", "adversarially filtered"),
    ("imagenet-c", "corruption"),
    ("imagenet-p", "corruption"),
    ("cifar10-c", "corruption"),
    ("greyscale", "corruption"),
    ("imagenet-vid-robust_pm10", "consistency"),
    ("ytbb-robust_pm10", "consistency"),
    ("pm-", "consistency"),
    ("imagenet", "dataset"),
    ("objectnet", "dataset"),
    ("ytbb", "dataset"),
    ("cifar-10.1", "dataset"),
    ("cifar-100-subtypes", "attribute"),
    ("icons-style", "style"),
    ("icons-", "attribute"),
    ("stylized", "style"),
    ("adain", "style"),
    ("pgd", "adversarial"),
    ("fgsm", "adversarial"),
)
"""How names begin, and the kind that they mean where a table or a plain run does not say."""

KNOWN_BEST = (
    V2,
    "objectnet-1.0-beta",
    "imagenet-a",
    "imagenet-r",
    "imagenet-sketch",
    "imagenet-c_on-disk",
    "imagenet-vid-robust_pm10",
    "pgd.linf.eps0.5",
)
"""Of the testbed's shifts those that stand for the others, where there is no room for all."""

MADE = ("stylized", "adain")
"""Styles that are painted over the clean images."""


def kind_of(name: str) -> str:
    """What sort of shift a name means.

    >>> kind_of("imagenet-c_on-disk"), kind_of("objectnet-1.0-beta"), kind_of("mine")
    ('corruption', 'dataset', 'other')
    """
    return next((kind for start, kind in KIND_OF_NAMES if name.startswith(start)), "other")


def is_natural(name: str, kind: str, *, same_images: bool) -> bool:
    """Whether the shifted images are photographs of their own; a style painted over the clean ones is not.

    >>> is_natural("imagenet-r", "dataset", same_images=False), is_natural("adain/3", "style", same_images=True)
    (True, False)
    """
    painted = kind == "style" and (same_images or name.startswith(MADE))
    return kind in NATURAL and not painted
