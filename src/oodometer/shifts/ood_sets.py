"""Images of no class, to be told from those of the classes: any folder will do."""

from __future__ import annotations

from collections.abc import Sequence

from oodometer.core.condition import Condition
from oodometer.core.errors import UsageError
from oodometer.data.load import load_data
from oodometer.data.subset import stratified

TAKEN = ("clean", "iid")


def ood_conditions(folders: Sequence[str], *, images: int | None = None, seed: int = 0) -> list[Condition]:
    """A condition for each folder, called by its name, of all its images or of some.

    Args:
        images: How many of each, at most.
        seed: Of the choice.
    """
    data = [load_data(folder, kind="images") for folder in folders]
    names = [dataset.name for dataset in data]
    for name in names:
        if name in TAKEN or names.count(name) > 1:
            raise UsageError(f"--ood {name}: the folder's name is that of another condition; rename the folder")
    if images is not None:
        data = [stratified(dataset, min(images, len(dataset)), seed=seed) for dataset in data]
    return [Condition(dataset.name, dataset) for dataset in data]
