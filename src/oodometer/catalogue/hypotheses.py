"""The hypotheses about robustness, and what decides which measurement is about which of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from oodometer.catalogue.names import find_shift
from oodometer.catalogue.tables import key_of, table

CONTROL: Final = "control"
"""What an intervention is about that is compared with its parent and is evidence for no method."""

LARGER: Final = "larger_models"
DIVERSE: Final = "diverse_data_augmentation"
TEXTURE: Final = "texture_bias"
ONLY_IID: Final = "only_iid_accuracy_matters"
SYNTHETIC: Final = "synthetic_not_natural"
MULTIVARIATE: Final = "multivariate"


@dataclass(frozen=True)
class Hypothesis:
    """One hypothesis.

    Args:
        name: As the bundled table of the paper's verdicts has it.
        title: As the paper prints it.
        says: What is claimed, in a few words.
        is_method: Whether it is about a method, and models with and without it are compared.
    """

    name: str
    title: str
    says: str
    is_method: bool


@cache
def every_hypothesis() -> dict[str, Hypothesis]:
    """All of them by name, those about methods first.

    >>> [each.title for each in every_hypothesis().values() if each.is_method]
    ['Larger Models', 'Self-Attention', 'Diverse Data Augmentation', 'Pretraining']
    """
    return {
        values["name"]: Hypothesis(values["name"], values["title"], values["says"], kind == "method")
        for kind in ("method", "abstract")
        for values in table("hypotheses")[kind]
    }


def threshold() -> float:
    """From which improvement on there is evidence, as a share of the images.

    >>> threshold()
    0.015
    """
    return float(table("hypotheses")["threshold"]) / 100


def one_number() -> float:
    """The share of the variance of robustness from which on one number is said to explain it."""
    return float(table("hypotheses")["one_number"])


def about(interventions: Iterable[str], category: str = "") -> str | None:
    """The hypothesis that all of some interventions are about; None where they are about several, or nobody knows.

    Args:
        category: Of the model; it counts where no intervention is named.

    >>> about(["DeepAugment", "augmix:severity=3"]), about(["augmix", "se"]), about([], "more data"), about(["pgd"])
    ('diverse_data_augmentation', None, 'pretraining', 'control')
    """
    names = list(interventions)
    of_each = {_homes("interventions").get(plain_name(name)) for name in names}
    if not names:
        of_each = {_homes("categories").get(key_of(category))}
    return of_each.pop() if len(of_each) == 1 else None


def is_known(intervention: str) -> bool:
    """Whether it is known what an intervention is about."""
    return plain_name(intervention) in _homes("interventions")


def is_about_none(intervention: str) -> bool:
    """Whether an intervention is known to be about no hypothesis.

    >>> is_about_none("Shake-Shake"), is_about_none("augmix")
    (True, False)
    """
    return plain_name(intervention) in {key_of(name) for name in table("hypotheses")["aside"]["interventions"]}


def plain_name(intervention: str) -> str:
    """An intervention as it is compared: without its parameters.

    >>> plain_name("Style-Transfer (AdaIN)"), plain_name("pgd=8/255")
    ('styletransfer', 'pgd')
    """
    return key_of(re.split(r"[:(=\[]", intervention, maxsplit=1)[0])


def is_in_result(shift: str, kind: str) -> bool:
    """Whether a shift is measured by its result itself, not by the gap to the clean one.

    >>> is_in_result("imagenet-a", "adversarially filtered"), is_in_result("imagenet-r", "dataset")
    (True, False)
    """
    return _is_among("result", shift, kind)


def changes_texture(shift: str, kind: str) -> bool:
    """Whether the textures are what changes.

    >>> changes_texture("ImageNet-R", "dataset"), changes_texture("imagenetv2-matched-frequency", "dataset")
    (True, False)
    """
    return _is_among("texture", shift, kind)


def _is_among(group: str, shift: str, kind: str) -> bool:
    said: dict[str, Any] = table("hypotheses")[group]
    entry = find_shift(shift)
    return kind in said["kinds"] or (entry is not None and entry.of in said["shifts"])


@cache
def _homes(what: str) -> dict[str, str]:
    """An intervention, or a category, to what it is about."""
    said = table("hypotheses")
    homes = {key_of(name): method["name"] for method in said["method"] for name in method.get(what, ())}
    return homes | {key_of(name): CONTROL for name in said["controls"][what]}
