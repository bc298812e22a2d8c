"""What a figure is asked to show."""

from __future__ import annotations

from dataclasses import dataclass


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
    """

    shifts: tuple[str, ...] = ()
    columns: int = 1
    models: tuple[str, ...] = ()
    label: tuple[str, ...] = ()
    above: float = 0.0
    normaliser: str | None = None
    ood: str | None = None


DEFAULT_OPTIONS = FigureOptions()
