"""What ``oodometer run`` prints when it is done."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.output import print_json, say

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from oodometer.analysis.gaps import Gaps
    from oodometer.core.condition import Condition, Shift
    from oodometer.core.model import Model
    from oodometer.core.stored_answers import StoredAnswers
    from oodometer.store.store import Store


def show(
    store: Store,
    models: Sequence[Model | StoredAnswers],
    asked: Sequence[Condition | Shift],
    flags: dict[str, Any],
    *,
    precision: str,
) -> None:
    """Print what this run was about: the accuracies of its cells, and both sides of its shifts with their gaps."""
    from oodometer.analysis.score import score
    from oodometer.core.condition import Shift
    from oodometer.engine.plan import cell_for
    from oodometer.engine.run import conditions_of

    def keys(some: Sequence[Condition | Shift]) -> set[str]:
        return {cell_for(model, one, precision=precision).key for model in models for one in conditions_of(some)}

    shifts = {one.name: one for one in asked if isinstance(one, Shift)}
    of_shifts = keys(list(shifts.values()))
    plain = keys([one for one in asked if not isinstance(one, Shift)])
    found = gaps_among(store, of_shifts).only(lambda row: row.shift in shifts) if shifts else None
    if flags["as_json"]:
        from oodometer.analysis.shift_scores import score_of

        rows = score(store).only(lambda row: row.cell in plain | of_shifts).as_json()
        print_json(rows + [score_of(row).as_json() for row in (found.rows if found else ())])
        return
    if plain:
        click.echo(score(store).only(lambda row: row.cell in plain))
    if found and found.rows:
        click.echo(found.table(plot=sys.stdout.isatty()))


def gaps_among(store: Store, keys: Container[str]) -> Gaps:
    """The gaps between the cells of these keys; why one is undefined is told on stderr."""
    from oodometer.analysis.gaps import gaps_between
    from oodometer.analysis.intervals import IntervalOptions

    found = gaps_between(store, [cell for cell in store.cells() if cell.key in keys], IntervalOptions())
    for line in found.left_out:
        say(f"left out: {line}")
    return found
