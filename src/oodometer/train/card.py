"""The card of a trained model, as TOML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oodometer.core.labels import LabelSpace
from oodometer.core.model import Card, Input


@dataclass(frozen=True)
class Written:
    """What the card of a trained model says.

    Args:
        name: Of the model.
        card: Its place among other models.
        space: Its classes.
        given: Its preprocessing.
        notes: How it was made: architecture, parameters, seed, epochs...
    """

    name: str
    card: Card
    space: LabelSpace
    given: Input
    notes: Mapping[str, Any]


def card_text(written: Written) -> str:
    """The card as the text of a TOML file, which `oodometer.models.card.read_card` reads."""
    card = written.card
    top = {
        "name": written.name,
        "category": card.category,
        "parent": card.parent,
        "interventions": list(card.interventions),
        "training_data": card.training_data,
        "classes": list(written.space.classes),
    }
    view = written.given.view
    below = {
        "size": [view.height, view.width],
        "resize": "squash" if view.resize is None else view.resize,
        "interpolation": view.interpolation,
        "mean": list(written.given.mean),
        "std": list(written.given.std),
    }
    return "\n".join([*_lines(top), "", "[input]", *_lines(below), "", "[notes]", *_lines(written.notes), ""])


def _lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in table.items() if value not in (None, [])]


def _value(value: Any) -> str:
    """A plain value as TOML writes it; lists of many texts get a line for each."""
    if isinstance(value, list) and len(value) > 3 and isinstance(value[0], str):
        return "[\n" + "".join(f"    {_value(one)},\n" for one in value) + "]"
    if isinstance(value, list):
        return f"[{', '.join(_value(one) for one in value)}]"
    if isinstance(value, float):
        return repr(value)
    # What JSON writes of texts, whole numbers, true and false is TOML too, but for one control character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
