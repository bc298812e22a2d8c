"""What a figure is asked to show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from oodometer.core.errors import UsageError


@dataclass(frozen=True)
class FigureOptions:
    """What a figure is asked to show; each kind takes what it needs.

    Args:
        shifts: By the names that they have in the study; none: the only one that there is.
        columns: Of the paper that the figure fills, 1 or 2.
        models: Patterns (``*resnet*``) of the models that are shown; none: all, or as many as there is room for.
        label: Patterns of the models whose names stand beside their marks; none: all, where they are few.
        above: The least clean accuracy of the models that are shown, a share.
        normaliser: A model by whose errors corruption errors are divided, where AlexNet's do not fit.
        ood: A condition whose images belong to none of the classes.
        hypothetical: A model that nobody has: its accuracy on the clean set and under the shift, shares.
        mark_top: How many models of the highest effective robustness are marked.
        join: Patterns of models that a line joins, where they stand by size.
        measure: What is shown against size: ``error`` or ``accuracy``.
        people: What people answered, beside the models: person to image to answer (`read_people_answers`).
    """

    shifts: tuple[str, ...] = ()
    columns: int = 1
    models: tuple[str, ...] = ()
    label: tuple[str, ...] = ()
    above: float = 0.0
    normaliser: str | None = None
    ood: str | None = None
    hypothetical: tuple[float, float] | None = None
    mark_top: int = 0
    join: tuple[str, ...] = ()
    measure: Literal["error", "accuracy"] = "error"
    people: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.hypothetical is not None and not all(0 < share < 1 for share in self.hypothetical):
            raise UsageError(
                "a hypothetical model is two shares between 0 and 1, on the clean set and under the shift, as 0.76,0.70"
            )


DEFAULT_OPTIONS = FigureOptions()
