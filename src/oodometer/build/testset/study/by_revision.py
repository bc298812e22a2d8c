"""Accuracy at each revision (Recht et al. 2019, appendix C.3.2), and what each sampling strategy loses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.build.testset.project.pool import CANDIDATE, pool_images
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.revisions import RevisionRecord, chosen_of, revisions
from oodometer.build.testset.project.sample_request import SampleRequest
from oodometer.build.testset.study.by_frequency import MEAN
from oodometer.build.testset.study.drops import Drop, drops
from oodometer.build.testset.study.of_project import frequency_by_key, of_project
from oodometer.build.testset.study.rights import Rights
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import mean_of


@dataclass(frozen=True)
class RevisionAccuracies:
    """Of one revision.

    Args:
        strategy: By which it was sampled; of ``by-attribute`` with its set.
        n_images: That it has.
        frequency: Their mean selection frequency; None where nobody was asked.
        accuracies: By model, and for the mean of the models; a model that was asked about no image of it is left out.
    """

    number: int
    strategy: str
    n_images: int
    frequency: Estimate | None
    accuracies: dict[str, Estimate]


@dataclass(frozen=True)
class StrategyDrop:
    """What the last revision of a sampling strategy loses against the original images."""

    strategy: str
    revision: int
    frequency: Estimate | None
    drops: tuple[Drop, ...]


def accuracy_by_revision(project: Project, rights: Rights, *, level: float = 0.95) -> list[RevisionAccuracies]:
    """The accuracies at each revision, the first first.

    Args:
        rights: About all candidates, in the order of their keys.
    """
    frequency = _Frequencies(project)
    found = []
    for record in revisions(project):
        rows = _rows(project, record.number)
        known = {name: rights.accuracy(name, rows, level=level) for name in rights.models}
        if len(rights.models) > 1:
            known[MEAN] = rights.mean_accuracy(rows, level=level)
        accuracies = {name: value for name, value in known.items() if value is not None}
        reached = frequency.mean_of(record, level)
        found.append(RevisionAccuracies(record.number, _named(record), record.n_images, reached, accuracies))
    return found


def strategy_drops(project: Project, original: Rights, rights: Rights, *, level: float = 0.95) -> list[StrategyDrop]:
    """The change from the original images to the last revision of each strategy.

    Args:
        original: About the original images.
        rights: About all candidates, in the order of their keys.
    """
    last = {_named(record): record for record in revisions(project)}
    frequency = _Frequencies(project)
    found = []
    for record in last.values():
        rows = _rows(project, record.number)
        chosen = {name: values[rows] for name, values in rights.right.items()}
        asked = {name: values for name, values in chosen.items() if (values >= 0).any()}
        lost = drops(original, Rights(asked, rights.answered), level=level)
        reached = frequency.mean_of(record, level)
        found.append(StrategyDrop(_named(record), record.number, reached, tuple(lost)))
    return found


def original_frequency(project: Project, *, level: float = 0.95) -> Estimate | None:
    """The mean selection frequency of the annotated original images."""
    original = of_project(project).original
    if original is None or not original.is_annotated:
        return None
    return mean_of(original.frequency[~np.isnan(original.frequency)], level=level, bounds=(0.0, 1.0))


def _named(record: RevisionRecord) -> str:
    strategy, part = record.request.line[:2]
    return f"{strategy} {part}".strip()


def _rows(project: Project, revision: int) -> np.ndarray:
    chosen = {one.id for one in chosen_of(project, revision)}
    return np.array([one.id in chosen for one in pool_images(project, role=CANDIDATE)], dtype=bool)


class _Frequencies:
    """The selection frequencies of images as each revision was sampled by; read once for all that count alike."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.known: dict[tuple[bool, int], dict[str, float]] = {}

    def mean_of(self, record: RevisionRecord, level: float) -> Estimate | None:
        """Their mean over the images of a revision; None where nobody was asked."""
        by_key = self._by_key(record.request)
        values = [by_key[one.key] for one in chosen_of(self.project, record.number) if one.key in by_key]
        known = np.array([value for value in values if not np.isnan(value)])
        return mean_of(known, level=level, bounds=(0.0, 1.0)) if len(known) else None

    def _by_key(self, request: SampleRequest) -> dict[str, float]:
        counts = request.without_spammers, request.needed_answers
        if counts not in self.known:
            self.known[counts] = frequency_by_key(self.project, request)
        return self.known[counts]
