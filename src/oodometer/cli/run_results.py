"""What ``oodometer run`` prints when it is done."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from oodometer.cli.output import print_json, say

if TYPE_CHECKING:
    from oodometer.store.run import Run


def show(run: Run, *, as_json: bool) -> None:
    """Print what a run was about: both sides of its shifts with their gaps, and accuracies on clean images alone."""
    from oodometer.analysis.gaps import gaps_in
    from oodometer.analysis.intervals import IntervalOptions
    from oodometer.analysis.score import score
    from oodometer.analysis.shift_scores import score_of
    from oodometer.store.index import index_at

    index = index_at(run)
    gaps = gaps_in(index, IntervalOptions()) if run.shifts else None
    for line in gaps.left_out if gaps else ():
        say(f"left out: {line}")
    if as_json:
        print_json(score(index).as_json() + [score_of(row).as_json() for row in (gaps.rows if gaps else ())])
        return
    sides = {side.key for shift in run.shifts for side in (shift.standard, shift.shifted)}
    alone = {cell.key for cell in run.cells if cell.condition.key not in sides}
    if alone:
        click.echo(score(index).only(lambda row: row.cell in alone))
    if gaps and gaps.rows:
        click.echo(gaps.table(plot=sys.stdout.isatty()))
