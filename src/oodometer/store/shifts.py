"""Which conditions of a store are the two sides of a shift."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oodometer.core.errors import StoreError
from oodometer.store.cells import Cell

if TYPE_CHECKING:
    from oodometer.store.store import Store


@dataclass(frozen=True)
class StoredShift:
    """A pair of conditions, each as `Condition.describe` gave it."""

    name: str
    kind: str
    standard: dict[str, Any]
    shifted: dict[str, Any]

    @property
    def of_other_images(self) -> bool:
        """Whether the shifted images are others than the standard ones, even where some are called the same."""
        return self.kind in ("dataset", "adversarially filtered", "attribute")

    def is_standard(self, cell: Cell) -> bool:
        """Whether the cell is of the side that the other is compared with."""
        return cell.condition == self.standard

    def is_shifted(self, cell: Cell) -> bool:
        """Whether the cell is of the shifted side."""
        return cell.condition == self.shifted


def shifts_in(store: Store) -> list[StoredShift]:
    """All pairs that were run, by name."""
    found = []
    for name in store.files.names("shifts"):
        path = f"shifts/{name}"
        if not name.endswith(".json"):
            continue
        try:
            one = StoredShift(**json.loads(store.files.read(path)))
            found.append(((one.name, str(one.standard["data"])), one))
        except (ValueError, TypeError, KeyError) as error:
            raise StoreError(f"{store.files.locate(path)}: not a shift's description ({error})") from error
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]
