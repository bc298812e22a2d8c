"""What pages share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from oodometer.analysis.families import family_in
from oodometer.analysis.measured_shifts import is_clean
from oodometer.core.estimate import Estimate
from oodometer.explorer.catalogue import Held, UnknownName
from oodometer.explorer.explorer import Explorer

PER_PAGE = 24


def called(names: Mapping[int, str], answer: int) -> str:
    """The name of a class that a model answered; its number where it has none."""
    name = names.get(answer)
    return f"class {answer}" if name is None else name


def sizes_of(estimates: Iterable[Estimate]) -> list[int]:
    """How many images the numbers are of, each size once."""
    return sorted({one.n for one in estimates if one.n is not None})


def clean_names(explorer: Explorer) -> list[str]:
    """What a store calls the conditions that shifts are compared with."""
    run = [one.standard.name for one in explorer.pairs_run(explorer.catalogue())]
    named = [one for one in explorer.catalogue().by_condition if is_clean(one)]
    return list(dict.fromkeys([*run, *named]))


def in_order(explorer: Explorer, held: Sequence[Held]) -> list[Held]:
    """Cells on clean sets first, those of families of corruptions last."""
    clean, index = clean_names(explorer), explorer.catalogue().index

    def place(one: Held) -> tuple[bool, bool, str]:
        return one.cell.condition_name not in clean, family_in(index, one.cell.condition) is not None, one.condition

    return sorted(held, key=place)


def first_condition(explorer: Explorer, held: Sequence[Held]) -> Held:
    """The cell that is looked at when nobody says which: on a clean set where there is one."""
    return in_order(explorer, held)[0]


def n_pages(total: int, page: int) -> int:
    """How many pages so many images fill, of which the one asked for must be one."""
    pages = max(1, -(-total // PER_PAGE))
    if page > pages:
        raise UnknownName(f"page={page}: the last page is {pages}")
    return pages
