"""What the classes of a study show: whose lead where for some models, on the clean sets and under every shift."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oodometer.analysis.asked_shifts import asked_shift
from oodometer.analysis.class_changes import ClassChanges, changes_of
from oodometer.analysis.confusion import Confusion, confusion_of
from oodometer.core.errors import OodometerError
from oodometer.store.cells import Cell
from oodometer.study.study import Study, StudyModel

MOST_MODELS = 4
MOST_SUBJECTS = 8
"""Clean sets and shifts."""
MOST_CONFUSIONS = 400
"""Of one model on one set: all of twenty classes, and many more than a page shows of a thousand."""
MOST_CHANGES = 40
"""Classes of one model under one shift, those that lose most."""
MOST_ANSWERS = 400_000
"""Of one model under one shift: all of ImageNet-C would be read for as long as all the rest."""


@dataclass(frozen=True)
class ClassView:
    """One model on a clean set or under a shift.

    Args:
        changes: What the shift does to each class; None on a clean set, and where it can't be told.
        cells: Behind it, by the names of their conditions.
    """

    confusion: Confusion
    changes: ClassChanges | None
    cells: dict[str, Cell]


@dataclass(frozen=True)
class ClassViews:
    """The views by model and by what they are on; what is left out is said in ``notes``."""

    models: tuple[str, ...]
    subjects: tuple[str, ...]
    views: dict[tuple[str, str], ClassView]
    notes: tuple[str, ...]


def class_views(study: Study) -> ClassViews:
    """The confusions of the first few models on the clean sets and under the shifts, and the change of each class."""
    models = [model for model in study.models if model.cells]
    subjects = list(_subjects(study))
    notes = [*_left_out([model.name for model in models[MOST_MODELS:]], "model"), *_left_out_subjects(subjects)]
    views: dict[tuple[str, str], ClassView] = {}
    for model in models[:MOST_MODELS]:
        for subject in subjects[:MOST_SUBJECTS]:
            try:
                view = _view(study, model, subject)
            except OodometerError as error:
                notes.append(f"{model.name} on {subject.name}: {error}")
                continue
            if view is not None:
                views[model.name, subject.name] = view
    names = [subject.name for subject in subjects]
    return ClassViews(
        tuple(dict.fromkeys(model for model, _ in views)),
        tuple(name for name in names if any(on == name for _, on in views)),
        views,
        tuple(dict.fromkeys(notes)),
    )


@dataclass(frozen=True)
class _Subject:
    """A clean set or a shift: the conditions that it is made of, and how many answers a model has there."""

    name: str
    conditions: tuple[str, ...]
    n: int
    is_shift: bool


def _subjects(study: Study) -> Iterator[_Subject]:
    """The clean sets of the shifts, then the shifts; without shifts all that was run."""
    known = {condition.name: condition for condition in study.conditions if condition.record is not None}
    clean = [shift.standard for shift in study.shifts if shift.standard in known]
    for name in dict.fromkeys(clean or list(known)):
        yield _Subject(name, (name,), _n(study, [name]), is_shift=False)
    for shift in study.shifts:
        if shift.shifted and all(name in known for name in shift.shifted) and shift.points.measure == "top-1":
            yield _Subject(shift.name, shift.shifted, _n(study, shift.shifted), is_shift=True)


def _n(study: Study, names: Sequence[str]) -> int:
    every = (study.condition(name).accuracies.values() for name in names)
    return sum(max((estimate.n or 0 for estimate in accuracies), default=0) for accuracies in every)


def _view(study: Study, model: StudyModel, subject: _Subject) -> ClassView | None:
    by_key = {cell.condition.key: cell for cell in model.cells if study.index.has_rows(cell)}
    records = [study.condition(name).record for name in subject.conditions]
    cells = [by_key[record.key] for record in records if record is not None and record.key in by_key]
    if len(cells) < len(subject.conditions) or subject.n > MOST_ANSWERS:
        return None
    level = study.options.resampling.level
    found = confusion_of(study.index, cells, subject.name, level=level, most=MOST_CONFUSIONS)
    return ClassView(found, _changes(study, model, subject), dict(zip(found.conditions, cells, strict=True)))


def _changes(study: Study, model: StudyModel, subject: _Subject) -> ClassChanges | None:
    if not subject.is_shift:
        return None
    try:
        shift = asked_shift(study.index, subject.name)
        return changes_of(study.index, model.name, shift, level=study.options.resampling.level, most=MOST_CHANGES)
    except OodometerError:  # over other classes, or judged by something else: the gap tells why
        return None


def _left_out_subjects(subjects: Sequence[_Subject]) -> list[str]:
    large = [subject for subject in subjects if subject.n > MOST_ANSWERS]
    told = [
        f"{subject.name}: {subject.n:,} answers of each model are too many here; 'oodometer confusion' counts them"
        for subject in large
    ]
    return [*told, *_left_out([subject.name for subject in subjects[MOST_SUBJECTS:]], "shift")]


def _left_out(names: Sequence[str], what: str) -> list[str]:
    if not names:
        return []
    if len(names) > 5:
        return [f"Not shown: {len(names)} more {what}s; 'oodometer confusion' tells of them."]
    return [f"Not shown: {', '.join(names)}."]
