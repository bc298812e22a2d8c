"""A run over samples: of every target as many images as its aim needs, kept as the pairs that were asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from oodometer.core.condition import Condition, Shift
from oodometer.core.dataset import Progress
from oodometer.core.errors import UsageError
from oodometer.engine.answerable import same_condition
from oodometer.engine.run import RunOptions, Watcher
from oodometer.sampling.aim import Aim
from oodometer.sampling.asking import Asking, Models
from oodometer.sampling.control import check_controls
from oodometer.sampling.superseded import remove_superseded
from oodometer.sampling.targets import targets_of
from oodometer.sampling.until import measure_until
from oodometer.sampling.within import planned_conditions
from oodometer.store.index import look
from oodometer.store.run import Run
from oodometer.store.store import Store, open_store

Sampled = list[tuple[Condition, Condition]]
"""Conditions on whole data sets, and on what is measured of them."""


def run_sampled(
    models: Models,
    asked: Sequence[Condition | Shift],
    aim: Aim,
    *,
    store: str | Store,
    options: RunOptions | None = None,
    watcher: Watcher | None = None,
) -> Run:
    """Ask the models about as many images as an interval of the wished width needs, and keep the answers.

    Accuracies under single conditions are measured on the first images of one order, which they share; of a family of
    corruptions each condition has images of its own, so that the errors of the number that sums it up average out.
    What was asked about before counts, and a later run with a narrower aim goes on from there.

    Returns:
        What the run was about; `score`, `gaps` and their like know that its cells are samples.
    """
    if not models or not asked:
        raise UsageError("nothing to run: give at least one model and one shift, or clean images")
    opened = store if isinstance(store, Store) else open_store(os.fspath(store), create=True)
    mine = watcher or Watcher()
    parts = _Parts(mine.running)
    asking = Asking(models, aim, opened, options or RunOptions(), replace(mine, running=parts))
    sampled: Sampled = []
    targets = targets_of(asked, seed=aim.seed)
    if aim.control is not None:
        check_controls(look(opened), targets, aim.control)
    for target in targets:
        conditions = measure_until(asking, target) if aim.rule == "until" else planned_conditions(asking, target)
        sampled += zip(target.conditions, conditions, strict=True)
    shifts = [_on_samples(one, sampled) for one in asked]
    # With --until everything is there already: this pairs it, and tells what the run was about.
    done = asking.about(shifts)
    remove_superseded(opened, done.cells)
    parts.end()
    return done


class _Parts:
    """Tells how a run of several parts goes: nothing of a part that asks for nothing, unless all of them do."""

    def __init__(self, tell: Progress) -> None:
        self._tell = tell
        self._asked = False

    def __call__(self, done: int, total: int) -> None:
        if total:
            self._asked = True
            self._tell(done, total)

    def end(self) -> None:
        if not self._asked:
            self._tell(0, 0)


def _on_samples(one: Condition | Shift, sampled: Sampled) -> Condition | Shift:
    if isinstance(one, Condition):
        return _on_sample(one, sampled)
    return replace(one, standard=_on_sample(one.standard, sampled), shifted=_on_sample(one.shifted, sampled))


def _on_sample(condition: Condition, sampled: Sampled) -> Condition:
    return next(on for whole, on in sampled if same_condition(whole, condition))
