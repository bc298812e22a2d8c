"""How much a sampled run will ask, and what it will know: told before anything is asked."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from oodometer.analysis.text import columns
from oodometer.core.condition import Condition, Shift
from oodometer.core.model import Compute, Model, n_cores
from oodometer.core.stored_answers import StoredAnswers
from oodometer.sampling.aim import Aim
from oodometer.sampling.control import check_controls
from oodometer.sampling.targets import Target, targets_of
from oodometer.stats.confidence_sequence import numbers_needed
from oodometer.stats.images_for_width import images_for_share, images_for_sum
from oodometer.store.index import index_at
from oodometer.store.store import Store

COIN = 0.25
"""The variance of right or wrong, at most."""

PILOT = 40
"""Images of each condition by which it is found out how much a control helps; they count in the end."""

TIMED = 16
"""Images by which the time is estimated."""


@dataclass(frozen=True)
class PlannedNumber:
    """A number that is to be known.

    Args:
        name: A condition, or a family of corruptions, and in ``metric`` what `score` calls the number.
        conditions: How many conditions it is about.
        images: How many images of each are asked about, by each model; with ``until`` about so many at the most.
        of: How many there are.
        width: Half of its interval; 0 where all images are asked about.
    """

    name: str
    metric: str
    conditions: int
    images: int
    of: int
    width: float

    @property
    def passes(self) -> int:
        """Forward passes of a model."""
        return self.conditions * self.images

    @property
    def all_passes(self) -> int:
        """Forward passes of a model over all images."""
        return self.conditions * self.of


@dataclass(frozen=True)
class SamplingPlan:
    """What a sampled run will ask and know; prints as a table.

    Args:
        models: How many.
        seconds: How long it will take about; None where that was not measured.
    """

    aim: Aim
    numbers: tuple[PlannedNumber, ...]
    models: int
    seconds: float | None = None

    @property
    def passes(self) -> int:
        """Forward passes in all."""
        return self.models * sum(number.passes for number in self.numbers)

    def __str__(self) -> str:
        lines = [["number", "of", "conditions", "images of each", "passes of a model", "share", "will be known"]]
        for one in self.numbers:
            known = "exactly" if one.width == 0 else f"± {one.width:g} at {100 * self.aim.level:g} %"
            share = f"{100 * one.passes / one.all_passes:.2g} %"
            images = f"{one.images:,} of {one.of:,}"
            lines.append([one.metric, one.name, f"{one.conditions}", images, f"{one.passes:,}", share, known])
        models = "1 model" if self.models == 1 else f"{self.models} models"
        all_passes = self.models * sum(number.all_passes for number in self.numbers)
        most = "at most about " if self.aim.rule == "until" else "at most " if self.aim.control else ""
        said = f"{models}: {most}{self.passes:,} forward passes of {all_passes:,}"
        if self.seconds is not None:
            said += f", about {duration(self.seconds)} (estimated from {TIMED} images, besides reading the data)"
        if self.aim.control:
            said += f"\nwith the answers of {self.aim.control} fewer: {PILOT} images of each condition tell how many"
        said += "\nwhat the store has already is not asked again"
        return f"{columns(lines)}\n{said}"

    def as_json(self) -> dict[str, Any]:
        """The plan as plain values."""
        numbers = [{**asdict(one), "passes": one.passes, "all_passes": one.all_passes} for one in self.numbers]
        return {**asdict(self.aim), "models": self.models, "seconds": self.seconds, "numbers": numbers}


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(40), duration(400), duration(40_000)
    ('40 s', '7 min', '11 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"


def plan_sampling(
    models: Sequence[Model | StoredAnswers],
    asked: Sequence[Condition | Shift],
    aim: Aim,
    *,
    store: str | Store | None = None,
    timed: bool = True,
) -> SamplingPlan:
    """What a run of these models with this aim will ask and know.

    Args:
        store: Where the run will keep its answers; whether a control has answered everything is looked up there.
        timed: Estimate the time, by some images and every model.
    """
    targets = targets_of(asked, seed=aim.seed)
    if aim.control is not None and store is not None:
        check_controls(index_at(store), targets, aim.control)
    numbers = tuple(planned(target, aim) for target in targets)
    plan = SamplingPlan(aim, numbers, len(models))
    live = [model for model in models if isinstance(model, Model)]
    if not timed or not live:
        return plan
    each = sum(_seconds_of_an_image(model, targets[0].conditions[0]) for model in live) / len(live)
    return SamplingPlan(aim, numbers, len(models), plan.passes * each / n_cores())


def planned(target: Target, aim: Aim) -> PlannedNumber:
    """How many images a target needs, whatever the accuracy is."""
    n = min(images_needed(target, aim), target.of)
    width = 0.0 if n == target.of else aim.width
    return PlannedNumber(target.name, target.metric, len(target.conditions), n, target.of, width)


def images_needed(target: Target, aim: Aim) -> int:
    """The images of each condition: as many as a coin would need; with ``until`` that is the most."""
    if aim.rule == "until":
        return images_until(target, aim)
    if len(target.conditions) == 1:
        return images_for_share(aim.width, level=aim.level)
    return images_for_sum(target.number.weights, COIN, aim.width, level=aim.level)


def images_until(target: Target, aim: Aim) -> int:
    """After how many images a confidence sequence would be as narrow as wished, if every answer were a coin's."""
    scale = target.number.scale
    deviation = float(np.sqrt(COIN * np.square(target.number.weights / scale).sum()))
    coins = np.array([0.5 + deviation, 0.5 - deviation])
    width = aim.width / scale
    return numbers_needed(coins, target.of, aims=[(target.of, width)], width=width, level=aim.level)


def _seconds_of_an_image(model: Model, condition: Condition) -> float:
    """Decoding, changing and answering one image by one thread."""
    forward = model.open(Compute(threads=1))
    data, transform, view = condition.dataset, condition.transform, model.input.view
    n = min(TIMED, len(data))
    images = [np.zeros((view.height, view.width, 3), dtype=np.uint8)] * n

    def answer(n: int) -> None:
        for place in range(n):
            pixels = data.views(place, [(transform and transform.view) or view])[0]
            if transform is not None:
                transform.apply(pixels, data.ids[place])
        forward(np.stack(images))

    answer(1)  # the first call makes ready
    start = time.perf_counter()
    answer(n)
    return (time.perf_counter() - start) / n
