"""What all targets of a sampled run have in common: who is asked, how, and where the answers are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from oodometer.core.condition import Condition, Shift
from oodometer.core.model import Model
from oodometer.core.stored_answers import StoredAnswers
from oodometer.engine.run import RunOptions, Watcher, run
from oodometer.sampling.aim import Aim
from oodometer.store.run import Run
from oodometer.store.store import Store

Models = Sequence[Model | StoredAnswers]


@dataclass(frozen=True)
class Asking:
    """Models to be asked until an aim is reached."""

    models: Models
    aim: Aim
    store: Store
    options: RunOptions
    watcher: Watcher

    def about(self, conditions: Sequence[Condition | Shift]) -> Run:
        """Ask them about these; what the store has is not asked again."""
        return run(self.models, conditions, store=self.store, options=self.options, watcher=self.watcher)
