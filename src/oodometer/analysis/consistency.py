"""Who fails on the same images: error consistency of every two models, and of people beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from oodometer.analysis.class_names import answer_names
from oodometer.analysis.common_images import right_on_common
from oodometer.analysis.consistency_text import text_of
from oodometer.analysis.named import cells_on, hint_for, with_labels
from oodometer.analysis.people import models_alone, people_alone
from oodometer.analysis.people_answers import PeopleAnswers, judged, plain
from oodometer.analysis.sampled import first_stopped, if_fixed, notes_of_stopped
from oodometer.core.errors import DataError, StoreError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.core.sample import Sample
from oodometer.stats.bootstrap import DEFAULT, Resampling
from oodometer.stats.error_consistency import PairConsistency, consistency_of_pairs, mean_consistency
from oodometer.stats.intervals import share_of
from oodometer.store.cells import Cell
from oodometer.store.index import Index, Source, index_at

Group = Literal["models", "a model and a person", "people"]
GROUPS: tuple[Group, ...] = ("models", "a model and a person", "people")


@dataclass(frozen=True)
class Rater:
    """A model or a person.

    Args:
        accuracy: Over the images that it answered, of those that all models saw.
    """

    name: str
    is_person: bool
    accuracy: Estimate


@dataclass(frozen=True)
class RaterPair:
    """Two raters on the images that both answered.

    Args:
        together: The share of images on which both are right or both wrong.
        by_chance: What it would be, were their errors independent.
        kappa: Error consistency; None where both are always right, or both always wrong.
    """

    a: str
    b: str
    among: Group
    n: int
    together: float
    by_chance: float
    kappa: Estimate | None


@dataclass(frozen=True)
class Consistencies:
    """Error consistency of every two raters on one condition; prints as a table.

    Args:
        n: How many images all models saw; people may have answered some of them.
        raters: Models, then people.
        pairs: The most consistent first.
        means: Of each group of pairs the mean, with an interval over images.
        level: Of the intervals.
        notes: What was left out, and why.
    """

    condition: str
    data: str
    n: int
    raters: tuple[Rater, ...]
    pairs: tuple[RaterPair, ...]
    means: dict[Group, Estimate]
    level: float
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text()

    def text(self, top: int = 20) -> str:
        """The means, the map where it fits, and the pairs at both ends, at most so many."""
        return text_of(self, top)

    def matrix(self) -> np.ndarray:
        """Kappa of every two raters in their order, (R, R); 1 on the diagonal, NaN where it is not known."""
        places = {rater.name: at for at, rater in enumerate(self.raters)}
        table = np.full((len(places), len(places)), np.nan)
        np.fill_diagonal(table, 1.0)
        for pair in self.pairs:
            if pair.kappa is not None:
                a, b = places[pair.a], places[pair.b]
                table[a, b] = table[b, a] = pair.kappa.value
        return table

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


def consistency(
    store: Source, *, on: str = "clean", people: PeopleAnswers | None = None, resampling: Resampling = DEFAULT
) -> Consistencies:
    """Error consistency of every two models of a store on one condition, and of people.

    Args:
        on: The condition, as ``NAME@DATA`` where several data sets have one of that name.
        people: What people answered besides those in the store: person to image to answer (`read_people_answers`).
        resampling: Of the images, for the interval of each pair.
    """
    every = index_at(store)
    models = models_alone(every)
    cells = with_labels(models, [cell for cell in cells_on(on, models.cells) if models.row_files(cell)])
    if not cells:
        raise UsageError(
            f"{models}: no model was run on {on!r}{hint_for(on, (cell.condition_name for cell in models.cells))}"
        )
    some = people_alone(every)
    asked = [cell for cell in some.cells if cell.condition_name == cells[0].condition_name and some.row_files(cell)]
    return consistency_of(every, cells, people_cells=asked, people=people or {}, resampling=resampling)


def consistency_of(
    index: Index,
    cells: Sequence[Cell],
    *,
    people_cells: Sequence[Cell] = (),
    people: PeopleAnswers | None = None,
    resampling: Resampling = DEFAULT,
) -> Consistencies:
    """The same of the cells of one condition that have rows, and of cells that people answered."""
    common = right_on_common(index, cells)
    place = {one: at for at, one in enumerate(common.ids.tolist())}
    right = [np.asarray(one) for one in common.values]
    answered = [np.ones(len(common), dtype=bool) for _ in cells]
    called = {entry.cell.key: name for name, model in index.models.items() for entry in model.entries}
    names = [called[cell.key] for cell in cells]
    notes = [f"{common.left_out} images left out that not all models have"] if common.left_out else []
    for cell in people_cells:
        own = right_on_common(index, [cell])
        at = np.array([place.get(one, -1) for one in own.ids.tolist()])
        if (at < 0).all():
            notes.append(f"{called[cell.key]}: left out, asked about other images than the models")
            continue
        _add(right, answered, at, np.asarray(own.values[0]))
        names.append(called[cell.key])
    told = _told(index, cells[0], common.labels, common.ids) if people else {}
    for person, said in (people or {}).items():
        at = np.array([place.get(one, -1) for one in said])
        kept = [answer for answer, where in zip(said.values(), at, strict=True) if where >= 0]
        if not kept:
            raise DataError(
                f"{person}: none of {len(said)} answers is about an image that all models saw; do ids agree?"
            )
        if len(kept) < len(said):
            notes.append(f"{person}: {len(said) - len(kept)} of {len(said)} answers are about other images, left out")
        _add(right, answered, at[at >= 0], judged(kept, common.labels[at[at >= 0]].tolist(), told))
        names.append(person)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise StoreError(f"{index}: two models or people are called {twice!r}; name them apart")
    if len(names) < 2:
        raise StoreError(f"{index}: {names[0]} alone: error consistency is of two models or people, or more")
    people_at = np.arange(len(names)) >= len(cells)
    stopped = first_stopped([*cells, *people_cells])
    return _found(cells[0], names, people_at, np.stack(right), np.stack(answered), tuple(notes), resampling, stopped)


def _add(right: list[np.ndarray], answered: list[np.ndarray], at: np.ndarray, correct: np.ndarray) -> None:
    """One rater more, from the places of the images that it answered, -1 for others, and whether it was right."""
    seen, hits = (np.zeros(len(right[0]), dtype=bool) for _ in range(2))
    seen[at[at >= 0]] = True
    hits[at[at >= 0]] = correct[at >= 0]
    right.append(hits)
    answered.append(seen)


def _found(
    cell: Cell,
    names: Sequence[str],
    people_at: np.ndarray,
    right: np.ndarray,
    answered: np.ndarray,
    notes: tuple[str, ...],
    resampling: Resampling,
    stopped: Sample | None,
) -> Consistencies:
    level, was_stopped = resampling.level, stopped is not None
    raters = tuple(
        Rater(
            name,
            bool(person),
            if_fixed(share_of(int(hits.sum()), int(seen.sum()), level=level), was_stopped=was_stopped),
        )
        for name, person, hits, seen in zip(names, people_at, right, answered, strict=True)
    )
    n_people = people_at.astype(int)[:, None] + people_at.astype(int)[None]
    pairs = [
        _named(pair, names, GROUPS[int(n_people[pair.a, pair.b])], was_stopped=was_stopped)
        for pair in consistency_of_pairs(right, answered, resampling=resampling)
    ]
    means = {
        group: if_fixed(mean, was_stopped=was_stopped)
        for at, group in enumerate(GROUPS)
        if (mean := mean_consistency(right, answered, among=n_people == at, level=level)) is not None
    }
    return Consistencies(
        condition=cell.condition_name,
        data=cell.data.title,
        n=right.shape[1],
        raters=raters,
        pairs=tuple(sorted(pairs, key=lambda pair: -2.0 if pair.kappa is None else pair.kappa.value, reverse=True)),
        means=means,
        level=level,
        notes=(*notes, *notes_of_stopped("the intervals of accuracies and κ", stopped)),
    )


def _named(pair: PairConsistency, names: Sequence[str], among: Group, *, was_stopped: bool) -> RaterPair:
    kappa = None if pair.kappa is None else if_fixed(pair.kappa, was_stopped=was_stopped)
    return RaterPair(names[pair.a], names[pair.b], among, pair.counts.n, pair.together, pair.by_chance, kappa)


def _told(index: Index, cell: Cell, labels: np.ndarray, ids: np.ndarray) -> dict[str, int]:
    """All that a class may be called (its name, its number, what the data call it) to its number; -1 for several."""
    found: dict[str, int] = {}

    def call(name: str, place: int) -> None:
        known = found.setdefault(plain(name), place)
        if known != place:
            found[plain(name)] = -1

    for place, name in answer_names(index, cell).items():
        call(name, place)
    images = index.images(cell)
    codes = dict(zip(images.ids.tolist(), images.labels.tolist(), strict=True))
    own = {codes[one]: label for one, label in zip(ids.tolist(), labels.tolist(), strict=True)}
    for code, label in own.items():
        call(images.space.classes[code], label)
    for place in range(cell.n_classes):
        # A class may be called like another's number; names come first.
        found.setdefault(str(place), place)
    return found
