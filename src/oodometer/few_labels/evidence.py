"""What is known when some images of a set have labels: who is right on these, and the proxies of all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from oodometer.analysis.text import plural
from oodometer.core.errors import DataError, did_you_mean
from oodometer.few_labels.label_table import NONE, FewLabels, words_for_none
from oodometer.few_labels.pool import CleanSide, Pool, class_numbers
from oodometer.few_labels.proxies import proxies_of
from oodometer.stats.prediction_powered import Labelled, labelled_images
from oodometer.store.index import Index


@dataclass(frozen=True)
class Evidence:
    """Labels of some images, and answers to all.

    Args:
        labelled: Which images have labels.
        right: Whether each model is right on each of these, (M, n) bool.
        proxies: By name, each of every model and image, (M, N).
        notes: What a reader should know.
    """

    pool: Pool
    labelled: Labelled
    right: np.ndarray
    proxies: Mapping[str, np.ndarray]
    notes: tuple[str, ...]

    def of_model(self, at: int) -> np.ndarray:
        """The proxies of a model as columns, (N, k)."""
        return self._columns([one[at] for one in self.proxies.values()])

    def of_pair(self, at: int, base: int) -> np.ndarray:
        """The proxies of a model minus those of another, (N, k)."""
        return self._columns([one[at] - one[base] for one in self.proxies.values()])

    def _columns(self, rows: list[np.ndarray]) -> np.ndarray:
        return np.stack(rows, axis=1) if rows else np.zeros((len(self.pool), 0))


def evidence_of(
    index: Index, pool: Pool, given: FewLabels, clean: CleanSide | None, proxies: tuple[str, ...]
) -> Evidence:
    """What labels and answers together are.

    Args:
        proxies: By name; none: all that can be had.
    """
    labelled, kept, said = labelled_of(pool, given)
    known, notes = proxies_of(index, pool, clean, proxies)
    right = right_of(index, pool, given, kept, labelled.places)
    return Evidence(pool, labelled, right, {name: known[name] for name in known}, (*said, *notes))


def labelled_of(pool: Pool, given: FewLabels) -> tuple[Labelled, np.ndarray, list[str]]:
    """The labelled images of a pool, which of the labels these are, and what there is to say."""
    if given.design is not None and given.design.pool not in ("", pool.digest):
        raise DataError(f"{given.source}: its images were chosen from others than those of {pool.title}")
    check_one_draw(given)
    place_of = {one: at for at, one in enumerate(pool.ids.tolist())}
    kept = np.array([at for at, one in enumerate(given.ids) if one in place_of], dtype=np.int64)
    notes = []
    if len(kept) < len(given.ids):
        lost = next(one for one in given.ids if one not in place_of)
        n_lost = len(given.ids) - len(kept)
        if given.design is None or not len(kept):
            raise DataError(
                f"{given.source}: {n_lost} of {plural(len(given.ids), 'image')} are none of {pool.title}, for example "
                f"{lost!r}; ids look like {str(pool.ids[0])!r}"
            )
        notes.append(f"{plural(n_lost, 'labelled image')} left out that not all models answered, such as {lost}")
    places = np.array([place_of[given.ids[at]] for at in kept], dtype=np.int64)
    if given.probabilities is None:
        notes.append(
            f"{given.source} does not say how its images were chosen: taken for a plain random sample; if they were "
            "not drawn at random, none of this holds"
        )
        return labelled_images(places, len(pool)), kept, notes
    answered = min(len(given.ids) / given.n_chosen, 1.0) if given.n_chosen else 1.0
    if answered < 1:
        notes.append(
            f"{given.n_chosen - len(given.ids)} of {given.n_chosen} chosen images have no label yet: right if those "
            "that have one are the first of the table, or others that have nothing to do with how hard they are"
        )
    chances = np.array(given.probabilities)[kept] * answered
    return labelled_images(places, len(pool), chances), kept, notes


def check_one_draw(given: FewLabels) -> None:
    """An error where the labels are of more images than one draw gives.

    Each labelled image stands for 1/π others, and those of one draw together for the N of the set, more or less: images
    differ in π by a factor of 2 at most (`FLOOR`), so the sum over N has a standard deviation of at most 0.36/√n, of
    which 2/√n are more than five. Two draws joined stand for 2 N.
    """
    if given.design is None or given.probabilities is None:
        return
    stand_for = sum(1 / chance for chance in given.probabilities)
    if stand_for > given.design.pool_size * (1 + 2 / math.sqrt(len(given.ids))):
        raise DataError(
            f"{given.source}: its images are of several draws, which can't be joined: the same image could come by "
            "each, more likely than the table says; choose once with the whole budget, copy the labels of images that "
            "have one already, and label the others"
        )


def right_of(index: Index, pool: Pool, given: FewLabels, kept: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Whether each model is right on each labelled image, (M, n) bool."""
    texts = [given.labels[at] for at in kept]
    own: dict[str, dict[str, int]] = {}
    for cell in pool.cells:
        # Models that name the same classes in the same order number them alike.
        alike = cell.model.classes or cell.key
        if alike not in own:
            own[alike] = class_numbers(index, cell)
    shared = {name: number for numbers in reversed(own.values()) for name, number in numbers.items()}
    for_none = words_for_none(shared)
    rows = []
    for answers, cell in zip(pool.answers, pool.cells, strict=True):
        known = {**shared, **own[cell.model.classes or cell.key]}
        n_classes = cell.n_classes
        labels = np.array(
            [-1 if text.lower() in for_none else _number(text, known, n_classes, given.source) for text in texts]
        )
        rows.append(answers[places] == labels)
    return np.array(rows)


def _number(text: str, known: Mapping[str, int], n_classes: int, source: str) -> int:
    """The answer that a label stands for."""
    if text in known:
        return known[text]
    if text.isdecimal() and int(text) < n_classes:
        return int(text)
    raise DataError(
        f"{source}: no class {text!r}{did_you_mean(text, known) or f'; there are {n_classes}, by name or number'}; "
        f"write {NONE!r} where an image shows none of them"
    )
