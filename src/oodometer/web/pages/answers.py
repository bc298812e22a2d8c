"""What pages about single answers share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oodometer.report.study import CLEAN_NAMES
from oodometer.store.shifts import shifts_in
from oodometer.web.catalogue import Held
from oodometer.web.explorer import Explorer

PER_PAGE = 24


def called(names: Mapping[int, str], answer: int) -> str:
    """The name of a class that a model answered; its number where it has none."""
    return names.get(answer, f"class {answer}")


def first_condition(explorer: Explorer, held: Sequence[Held]) -> Held:
    """The cell that is looked at when nobody says which: on a clean set where there is one."""
    clean = {*CLEAN_NAMES, *(str(one.standard["name"]) for one in shifts_in(explorer.store))}
    return min(held, key=lambda one: (one.cell.condition_name not in clean, one.condition))


def n_pages(total: int) -> int:
    """How many pages so many images fill."""
    return max(1, -(-total // PER_PAGE))
