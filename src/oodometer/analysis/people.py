"""People whose answers are in a store: by their cards they are told apart from the models.

Their answers may be about some of the images only, which would be a second condition of the same name.
"""

from __future__ import annotations

from dataclasses import replace

from oodometer.core.model import HUMAN
from oodometer.store.index import Index


def models_alone(index: Index) -> Index:
    """The index without what people answered."""
    cells = [entry.cell for entry in index.entries]
    models = [cell for cell in cells if cell.model.card.category != HUMAN]
    return index if len(models) == len(cells) else index.only(models)


def people_alone(index: Index) -> Index:
    """The index of what people answered, without models and tables."""
    cells = [entry.cell for entry in index.entries if entry.cell.model.card.category == HUMAN]
    return replace(index.only(cells), tables=())
