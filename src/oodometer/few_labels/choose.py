"""Which images of a set to label, so that few labels tell much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oodometer.analysis.text import plural
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.random import rng_for
from oodometer.few_labels.label_table import (
    IN_SHORT,
    NEYMAN,
    NONE,
    UNIFORM,
    Design,
    table_text,
    words_for_none,
    write_text,
)
from oodometer.few_labels.pool import Pool, pool_of
from oodometer.few_labels.proxies import agreement_with_others
from oodometer.stats.prediction_powered import FEWEST_LABELS
from oodometer.stats.unequal_sample import draw, inclusion_probabilities, neyman_sizes
from oodometer.store.index import Source, index_at

DESIGNS = (NEYMAN, UNIFORM)


@dataclass(frozen=True)
class ChosenImages:
    """Images to label, in a random order: whoever stops in the middle has a smaller sample of the same kind.

    Args:
        store, shifted: Where from, as `estimate_from_labels` wants to know it.
        ids: Of the images.
        probabilities: With which each was to be chosen.
        labels: What the data say, where the choice is a trial; empty otherwise.
        answered: The classes that models gave to each image, by name or number, the most frequent first.
        classes: What the models can answer, by name.
        notes: What a reader should know.
    """

    store: str
    shifted: str
    title: str
    ids: tuple[str, ...]
    probabilities: tuple[float, ...]
    labels: tuple[str, ...]
    design: Design
    seed: int
    answered: tuple[tuple[str, ...], ...] = field(repr=False)
    classes: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def __str__(self) -> str:
        how = {
            UNIFORM: "each as likely as any other",
            NEYMAN: "those the more likely on which the models disagree",
        }[self.design.name]
        return f"{self.title}: {len(self)} of {self.design.pool_size:,} images to label, {how}; seed {self.seed}"

    @property
    def csv(self) -> str:
        """The table to fill in."""
        return table_text(self.ids, self.labels, self.probabilities, self.design)

    def write_csv(self, path: str) -> None:
        """Write the table to fill in."""
        write_text(path, self.csv)

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        rows = zip(self.ids, self.probabilities, self.labels, strict=True)
        return {
            "set": self.title,
            "design": self.design.name,
            "seed": self.seed,
            "pool_size": self.design.pool_size,
            "pool": self.design.pool,
            "images": [{"id": one, "inclusion_probability": chance, "label": label} for one, chance, label in rows],
            "notes": list(self.notes),
        }


def choose_images_to_label(
    store: Source,
    shifted: str,
    budget: int,
    *,
    models: Sequence[str] = (),
    design: str | None = None,
    seed: int = 0,
    trial: bool = False,
) -> ChosenImages:
    """Which images of a set to label, for the accuracy of the models that answered to it.

    Args:
        shifted: A condition of the store, or the name of data that were seen as they are; they need no labels.
        budget: How many images. Another number is another draw, not the same images and some more.
        models: The models whose accuracy is asked for; none: all.
        design: ``neyman``: in proportion to √(p(1 − p)), where p is the share of the other models that agree;
            ``uniform``: every image is as likely as any other. None: neyman from 100 labels on; below, only the
            interval from the labels alone is given, which is exact and narrowest where all are as likely.
        seed: Of the draw.
        trial: Fill in the labels that the data have, to try how well few of them would do.
    """
    design = design or (NEYMAN if budget >= FEWEST_LABELS else UNIFORM)
    if design not in DESIGNS:
        raise UsageError(f"no design {design!r}{did_you_mean(design, DESIGNS)}; there are {', '.join(DESIGNS)}")
    index = index_at(store)
    pool = pool_of(index, shifted)
    if not 1 <= budget <= len(pool):
        raise UsageError(f"{pool.title}: {budget} of {plural(len(pool), 'image')}: choose at least 1 and at most all")
    if trial and not all(pool.names):
        raise UsageError(f"{pool.title}: not all images have labels, so there are none to try with")
    wanted = [pool.place(name) for name in models] or list(range(len(pool.models)))
    sizes, notes = _sizes(pool, wanted, design)
    used = NEYMAN if design == NEYMAN and np.ptp(sizes) > 0 else UNIFORM
    chances = inclusion_probabilities(sizes, budget)
    rng = rng_for("images to label", pool.condition.key, budget, seed=seed)
    places = rng.permutation(draw(chances, rng))
    if budget < FEWEST_LABELS:
        notes.append(
            f"below {FEWEST_LABELS} labels the answers of the models do not help: the interval is the exact one"
        )
    names = _answer_names(index, pool)
    if IN_SHORT not in words_for_none(names.values()):
        notes.append(f"a class is called {IN_SHORT!r}: write {NONE!r} where an image shows no class")
    return ChosenImages(
        store=str(index),
        shifted=shifted,
        title=pool.title,
        ids=tuple(str(pool.ids[at]) for at in places),
        probabilities=tuple(chances[places].tolist()),
        labels=tuple(pool.names[at] if trial else "" for at in places),
        design=Design(used, len(pool), pool.digest),
        seed=seed,
        answered=tuple(_answered(pool.answers[:, at], names) for at in places),
        classes=tuple(names.values()),
        notes=(*pool.notes, *notes),
    )


def _sizes(pool: Pool, wanted: Sequence[int], design: str) -> tuple[np.ndarray, list[str]]:
    """How much each image should be drawn, and what there is to say about it."""
    equal = np.ones(len(pool))
    if design == UNIFORM:
        return equal, []
    n_others = len(pool.models) - 1
    if n_others:
        # One vote more on each side: a handful of models that agree are not certain of it.
        chances = (agreement_with_others(pool.answers)[wanted] * n_others + 1) / (n_others + 2)
        return neyman_sizes(chances), []
    if np.isnan(pool.confidences).any():
        return equal, ["one model whose confidences are not known: every image is as likely as any other"]
    return neyman_sizes(np.clip(pool.confidences, 0, 1)), ["one model: by its confidence, as no others can disagree"]


def _answer_names(index: Any, pool: Pool) -> dict[int, str]:
    from oodometer.analysis.class_names import answer_names, name_in

    known = answer_names(index, pool.cells[0])
    return {number: name_in(known, number) for number in sorted({*known, *np.unique(pool.answers).tolist()})}


def _answered(answers: np.ndarray, names: dict[int, str]) -> tuple[str, ...]:
    classes, times = np.unique(answers, return_counts=True)
    return tuple(names[number] for number in classes[np.argsort(-times, kind="stable")].tolist())
