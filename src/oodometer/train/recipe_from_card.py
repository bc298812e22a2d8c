"""The training that a card describes, so that a model can be trained again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from oodometer.core.errors import UsageError
from oodometer.models.card import Declared, read_card

NOTES: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "epochs": ("epochs", int),
    "batch": ("batch", int),
    "seed": ("seed", int),
    "threads": ("threads", int),
    "learning_rate": ("lr", float),
    "momentum": ("momentum", float),
    "weight_decay": ("weight_decay", float),
    "schedule": ("schedule", str),
    "warm_up": ("warm_up", int),
    "objective": ("objective", str),
    "objective_weight": ("weight", float),
    "adversarial": ("adversarial", str),
    "eps": ("eps", float),
    "precision": ("precision", str),
}
"""Notes of a card that are numbers or names, with their names among the options of a training."""


def options_like(path: Path) -> dict[str, Any]:
    """The options of the training that made a model, by their names in the command; only those that its card tells."""
    card = read_card(path)
    notes = card.notes or {}
    if "architecture" not in notes or card.size is None:
        raise UsageError(f"{path}: not the card of a model that oodometer train made: it does not say how")
    found: dict[str, Any] = {"net": notes["architecture"], "size": card.size[0], **_place(card)}
    try:
        found |= {name: kind(notes[note]) for note, (name, kind) in NOTES.items() if note in notes}
    except ValueError as error:
        raise UsageError(f"{path}: a number in its notes is none ({error})") from error
    found["augment"] = notes.get("augment", "none").replace(" ", "")
    found["hold_outs"] = tuple(one for one in notes.get("hold_out", "").split(", ") if one)
    found["label"] = notes.get("label")
    found |= {
        name: kind(notes[name]) for name, kind in (("share", str), ("classes", int), ("fold", str)) if name in notes
    }
    found["half"] = notes.get("weights") == "float16"
    found["began_with"] = notes.get("init")
    found["brought"] = {name: notes[name] for name in ("style_images", "style_weights") if name in notes}
    return found


def _place(card: Declared) -> dict[str, Any]:
    """Its place among other models, where the card tells it."""
    told = {"category": card.category, "parent": card.parent}
    return {name: value for name, value in told.items() if value is not None}
