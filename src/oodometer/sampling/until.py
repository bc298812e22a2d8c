"""A run that stops when it is sure: one look after the other, until every interval is as narrow as wished.

    look 1   n images of every condition of a target  ─►  intervals  ─►  narrow enough? done
    look 2   the same and the next ones of the order  ─►  ...            else as many more as it will take

Each look is a run of its own over the first images of one order, which asks only about those that are new. What the
look before had is then removed: the store holds one sample of each condition, and it says how it was stopped.
"""

from __future__ import annotations

from collections.abc import Sequence

from oodometer.analysis.sampled import (
    accuracy_when_stopped,
    aims_of_sum,
    in_order_drawn,
    steps_of,
    stopped,
    sum_when_stopped,
)
from oodometer.core.condition import Condition
from oodometer.core.estimate import Estimate
from oodometer.core.sample import Aims, Sample
from oodometer.sampling.aim import Aim
from oodometer.sampling.asking import Asking, Models
from oodometer.sampling.plan import images_until
from oodometer.sampling.superseded import remove_superseded
from oodometer.sampling.targets import Target
from oodometer.stats.confidence_sequence import numbers_needed
from oodometer.store.cells import Cell
from oodometer.store.index import Index, look

FIRST_SHARE = 0.1
"""Of the images that a coin would need, so many are looked at first: enough to guess how many are needed."""

FEWEST = 20
"""Images at the first look, at least."""

BEYOND = 1.02
"""A little more than the guess, so that mostly one look is enough."""

LEAST_STEP = 1.05
"""A look has at least so many times the images of the one before."""

MOST_STEP = 4.0


def measure_until(asking: Asking, target: Target) -> list[Condition]:
    """Ask about one image after the other until every model's interval is as narrow as wished.

    Returns:
        The conditions of the target, on the images that were asked about in the end.
    """
    aim, store = asking.aim, asking.store
    known, aims = _before(look(store), asking.models, target, aim)
    n = max(known, _first(target, aim))
    while True:
        conditions = target.sampled(n, _sample(target, aim, aims))
        done = asking.about(conditions)
        remove_superseded(store, done.cells)
        if n >= target.of:
            return conditions
        index, of_model = look(store), _by_model(done.cells)
        if all(_half(_estimate(index, cells, target, aim)) <= aim.width for cells in of_model):
            return conditions
        guess = int(BEYOND * max(_guess(index, cells, target, aim) for cells in of_model))
        n = min(max(int(LEAST_STEP * n) + 1, min(guess, int(MOST_STEP * n))), target.of)


def _first(target: Target, aim: Aim) -> int:
    return min(max(FEWEST, int(FIRST_SHARE * images_until(target, aim))), target.of)


def _sample(target: Target, aim: Aim, aims: Aims) -> Sample:
    return Sample(target.of, "", aim.seed, "until", aims, len(target.conditions))


def _before(index: Index, models: Models, target: Target, aim: Aim) -> tuple[int, Aims]:
    """How many images were asked about by an earlier run, and the widths that were aimed at until then."""
    names, conditions = {model.name for model in models}, {condition.name for condition in target.conditions}
    earlier = [
        (cell.n_images, sample.aims)
        for cell in index.cells
        if cell.model_name in names
        and cell.condition_name in conditions
        and (sample := stopped(cell)) is not None
        and (sample.seed, sample.of) == (aim.seed, target.of)
        and sample.order in target.orders
        and index.is_complete(cell)
    ]
    if not earlier:
        return 0, ((target.of, aim.width),)
    n, aims = max(earlier)
    if aims[-1][1] == aim.width:
        return n, aims
    return n, (*aims[:-1], (n, aims[-1][1]), (target.of, aim.width))


def _by_model(cells: Sequence[Cell]) -> list[list[Cell]]:
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.model.key, []).append(cell)
    return list(groups.values())


def _estimate(index: Index, cells: Sequence[Cell], target: Target, aim: Aim) -> Estimate:
    """The number of a model with its confidence sequence."""
    if len(cells) > 1:
        return sum_when_stopped(index, cells, target.number.weights, level=aim.level)
    sample = stopped(cells[0])
    assert sample is not None
    return accuracy_when_stopped(in_order_drawn(index, cells[0]), sample, level=aim.level)


def _half(estimate: Estimate) -> float:
    assert estimate.low is not None
    assert estimate.high is not None
    return (estimate.high - estimate.low) / 2


def _guess(index: Index, cells: Sequence[Cell], target: Target, aim: Aim) -> int:
    """After how many images like those that were seen it will be enough."""
    sample, scale = stopped(cells[0]), target.number.scale
    assert sample is not None
    steps = steps_of(index, cells, target.number.weights)
    aims, width = aims_of_sum(sample, scale), aim.width / scale
    return numbers_needed(steps, sample.of, aims=aims, width=width, level=aim.level)
