"""The nouns of a study: its models, its conditions, its shifts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from oodometer.analysis.line_rules import DEFAULT_OPTIONS, RobustnessOptions, Rules
from oodometer.analysis.origins import Origin
from oodometer.analysis.points import Points
from oodometer.analysis.robustness import ModelRobustness, Robustness
from oodometer.analysis.score_table import Score
from oodometer.core.condition import Family
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.core.records import ConditionRecord
from oodometer.store.cells import Cell
from oodometer.store.index import Index

Picture = Callable[[Cell, str], np.ndarray | None]
"""What a model was shown in a cell as the image of that id, corrupted or not: uint8 (H, W, 3), before it was cut and
scaled for the model; None where it can't be had."""


@dataclass(frozen=True)
class StudyModel:
    """One model; without cells where a table alone knows it."""

    name: str
    origin: Origin
    cells: tuple[Cell, ...] = ()

    @property
    def digest(self) -> str:
        """Of its weights; empty where they are not known."""
        return self.cells[0].model.weights if self.cells else ""

    def as_json(self) -> dict[str, Any]:
        """The model as plain values."""
        origin = self.origin
        return {"name": self.name, "category": origin.category, "parent": origin.parent, "digest": self.digest}


@dataclass(frozen=True)
class StudyCondition:
    """What models were asked about: one column of the grid.

    Args:
        name: Its own in the study: ``fog/3``, or ``clean@DATA`` where several data sets have one of that name.
        condition, data: What the store calls it, and the images.
        accuracies: Top-1 of each model that was measured.
        record: All that it depends on; None where a table alone knows it.
        member: Which member of a family of corruptions it is.
        people: What people reach here, as imported; they are no models.
    """

    name: str
    condition: str
    data: str
    accuracies: Mapping[str, Estimate]
    record: ConditionRecord | None = None
    member: Family | None = None
    people: Mapping[str, Estimate] = field(default_factory=dict)

    @property
    def family(self) -> str | None:
        """The family of corruptions that it is one of."""
        return self.member.name if self.member else None

    def as_json(self) -> dict[str, Any]:
        """The condition as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class StudyShift:
    """A shift: every model on both sides, and the line where there is one.

    Args:
        name: Of its shifted side; of a family, whose mean it is, the family's.
        kind: ``dataset``, ``corruption`` and so on; ``other`` where nobody says.
        natural: Whether its images are their own, not made from the clean ones.
        points: The models that were measured on both sides.
        robustness: The line, and ρ and τ of every model; None where no line can be drawn, and ``why`` says it.
        rules: How the line is drawn.
        standard, shifted: Names of the study's conditions: the clean set, and what the shift is the mean of.
        family: The name of the family of corruptions, where it is one.
    """

    name: str
    kind: str
    natural: bool
    points: Points
    robustness: Robustness | None
    rules: Rules
    why: str = ""
    standard: str = ""
    shifted: tuple[str, ...] = ()
    family: str | None = None

    @cached_property
    def of_model(self) -> dict[str, ModelRobustness]:
        """Each model beside the line; none where there is no line."""
        return {one.model: one for one in self.robustness.models} if self.robustness else {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of its numbers should know."""
        said = self.robustness.notes if self.robustness else self.points.notes
        return (*said, self.why) if self.why else said

    def as_json(self) -> dict[str, Any]:
        """The shift as plain values."""
        points = self.points
        return {
            "name": self.name,
            "kind": self.kind,
            "natural": self.natural,
            "standard": self.standard,
            "shifted": list(self.shifted),
            "clean": list(points.x),
            "conditions": list(points.conditions),
            "same_images": points.same_images,
            "points": [asdict(one) for one in points.models],
            "robustness": self.robustness.as_json() if self.robustness else None,
            "why": self.why,
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Study:
    """Everything that is measured.

    Args:
        models: The best on the first condition first.
        conditions: The clean sets first.
        shifts: Natural ones first.
        notes: What a reader should know: what was left out, and why.
        options: How the lines were drawn.
        picture: The images behind the predictions, where they are on disk.
        sources: Names of imported tables.
    """

    index: Index
    models: tuple[StudyModel, ...]
    conditions: tuple[StudyCondition, ...]
    shifts: tuple[StudyShift, ...]
    notes: tuple[str, ...] = ()
    options: RobustnessOptions = field(default=DEFAULT_OPTIONS)
    picture: Picture | None = None
    sources: tuple[str, ...] = ()
    _scoring: threading.Lock = field(init=False, default_factory=threading.Lock, repr=False, compare=False)

    @property
    def address(self) -> str:
        """Of the store that it is about."""
        return str(self.index)

    def shift(self, name: str) -> StudyShift:
        """The shift of that name."""
        found = {one.name: one for one in self.shifts}
        if name not in found:
            raise UsageError(f"{self.index}: no shift named {name!r}{did_you_mean(name, found)}")
        return found[name]

    def condition(self, name: str) -> StudyCondition:
        """The condition of that name."""
        found = {one.name: one for one in self.conditions}
        if name not in found:
            raise UsageError(f"{self.index}: nothing was measured on {name!r}{did_you_mean(name, found)}")
        return found[name]

    @property
    def scores(self) -> tuple[Score, ...]:
        """What is told of each model besides accuracies: mCE, calibration error and AURRA, where they are defined.

        Under the names of the study's models and conditions; computed when first asked for, for whoever asks meanwhile
        too.
        """
        with self._scoring:
            return self._scores

    @cached_property
    def _scores(self) -> tuple[Score, ...]:
        from oodometer.study.scores import scores_of

        return scores_of(self)

    def as_json(self) -> dict[str, Any]:
        """The study as plain values."""
        return {
            "store": str(self.index),
            "models": [one.as_json() for one in self.models],
            "conditions": [one.as_json() for one in self.conditions],
            "shifts": [one.as_json() for one in self.shifts],
            "scores": [one.as_json() for one in self.scores],
            "notes": list(self.notes),
            "options": asdict(self.options),
            "sources": list(self.sources),
        }
