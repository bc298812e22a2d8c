"""The training images that are published with a test set, where they lie beside it."""

from __future__ import annotations

from oodometer.core.errors import DataError
from oodometer.data.check.files import short
from oodometer.data.check.rows import CheckRow
from oodometer.data.layouts.known_set import KnownSet
from oodometer.data.layouts.training_part import NoTrainingPartError


def training_rows(place: str, known: KnownSet | None) -> list[CheckRow]:
    """Whether ``oodometer train`` can read them; nothing where they are not there, since no test needs them."""
    if known is None or known.training is None:
        return []
    try:
        dataset = known.training(place, name=known.name)
    except NoTrainingPartError:
        return []
    except DataError as error:
        line = short(str(error).removeprefix(f"{place}: "), place)
        return [CheckRow("training part", "readable", "not readable", "wrong", (line,))]
    n = len(dataset)
    return [CheckRow("training part", "readable", f"{n:,} image{'' if n == 1 else 's'}", "ok")]
