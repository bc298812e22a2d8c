"""Cells for tests, of made models and conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oodometer.core.dataset import Dataset
from oodometer.core.model import Card, Input
from oodometer.core.preprocessing import Geometry
from oodometer.core.records import AttackRecord, ConditionRecord, DataRef, ModelRecord, TransformRecord
from oodometer.store.cells import Cell


def made_cell(
    dataset: Dataset, *, model: str = "net", digest: str = "a" * 32, condition: str = "clean", **more: Any
) -> Cell:
    """A cell of a data set.

    Args:
        more: kind, card, input, notes, label_map, transform, attack, unit, and the fields of a cell.
    """
    record = ModelRecord(
        model,
        more.pop("kind", "onnx"),
        digest,
        more.pop("input", Input(Geometry(8, 8))),
        card=_card(more.pop("card", None)),
        notes=more.pop("notes", {}),
    )
    asked = made_condition(
        dataset,
        condition,
        **{name: more.pop(name) for name in ("label_map", "transform", "attack", "unit") if name in more},
    )
    more.setdefault("n_classes", len(dataset.space))
    return Cell(record, asked, more.pop("space", dataset.space.name), n_images=len(dataset), **more)


def made_condition(dataset: Dataset, name: str = "clean", **more: Any) -> ConditionRecord:
    """A condition of a data set; a transform or an attack by a mapping with its name and parameters."""
    transform, attack = more.pop("transform", None), more.pop("attack", None)
    return ConditionRecord(
        name,
        DataRef(dataset.digest, dataset.name, dataset.part, dataset.subset),
        transform=None if transform is None else TransformRecord(*_split(transform), Geometry(8, 8)),
        attack=None if attack is None else AttackRecord(*_split(attack)),
        **more,
    )


def _split(described: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    return described["name"], {key: value for key, value in described.items() if key != "name"}


def _card(card: Card | Mapping[str, Any] | None) -> Card:
    return card if isinstance(card, Card) else Card(**{"category": "standard", **(card or {})})
