"""What the flags of ``oodometer run`` say about the models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oodometer.models.card import Declared


def declared_by(flags: dict[str, Any]) -> Declared:
    """What the flags say about the models."""
    from oodometer.models.card import Declared

    size = flags["size"]
    return Declared(
        category=flags["category"],
        parent=flags["parent"],
        interventions=flags["interventions"] or None,
        training_data=flags["training_data"],
        size=None if size is None else (size, size),
        resize=flags["resize"],
        interpolation=flags["interpolation"],
        mean=flags["mean"],
        std=flags["std"],
    )
