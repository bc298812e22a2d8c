"""Where models come from: their category, parent and size, by their cards or by a table of categories."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass

from oodometer.core.errors import DataError
from oodometer.core.model import HUMAN
from oodometer.core.reading import check_regular, whole_number, why
from oodometer.store.cells import Cell


@dataclass(frozen=True)
class Origin:
    """Where a model comes from.

    Args:
        category: ``standard``, or what was done to it; empty where nobody says.
        parent: The model that it was made from, where it is known.
        parameters: How many numbers it has learned, where it is known.
        interventions: What was done to it, as its card or the table says it.
    """

    category: str = ""
    parent: str | None = None
    parameters: int | None = None
    interventions: tuple[str, ...] = ()

    @property
    def is_human(self) -> bool:
        """Whether these are people's answers: no line goes through them, and none is the best model."""
        return self.category == HUMAN


def origin_of(cell: Cell, model: str, origins: Mapping[str, Origin]) -> Origin:
    """What the user says of the model, and where that is silent its card."""
    card = cell.model.card
    said = origins.get(model) or origins.get(cell.model_name) or Origin()
    return Origin(
        said.category or card.category,
        said.parent or card.parent,
        said.parameters or card.parameters,
        said.interventions or card.interventions,
    )


COLUMNS = ("model", "category", "parent", "parameters", "interventions")


def read_origins(path: str) -> dict[str, Origin]:
    """Model to where it comes from: a CSV table with the columns model, category and maybe more.

    These are parent, parameters, and interventions with a plus between them (``augmix + deepaugment``).
    """
    try:
        check_regular(path)
        with open(path, newline="", encoding="utf-8-sig") as lines:
            reader = csv.DictReader(lines)
            reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
            if not {"model", "category"} <= set(reader.fieldnames):
                raise DataError(f"{path}: expected the columns model,category and maybe parent")
            rows = [{name: (row.get(name) or "").strip() for name in COLUMNS} for row in reader]
    except FileNotFoundError:
        raise DataError(f"{path}: no such table of categories") from None
    except (ValueError, csv.Error, OSError) as error:
        raise DataError(f"{path}: not a CSV table ({why(error)})") from error
    found: dict[str, Origin] = {}
    for row in rows:
        parameters = whole_number(row["parameters"], f"{path}: {row['model']}: parameters")
        interventions = tuple(name.strip() for name in row["interventions"].split("+") if name.strip())
        origin = Origin(row["category"], row["parent"] or None, parameters, interventions)
        if found.setdefault(row["model"], origin) != origin:
            raise DataError(f"{path}: two different lines about {row['model']}")
    return found
