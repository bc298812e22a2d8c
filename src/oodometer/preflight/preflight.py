"""A few hundred images are asked before the first hours are spent, and the answers looked at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import UsageError
from oodometer.core.model import Model
from oodometer.core.stored_answers import StoredAnswers
from oodometer.preflight.finding import Finding, ModelPreflight, Preflight, Tried
from oodometer.preflight.inputs import about_input, ask
from oodometer.preflight.known_data import about_data
from oodometer.preflight.order import about_order, order_in_words
from oodometer.preflight.outputs import LEAST_ASKED, about_outputs, are_probabilities
from oodometer.preflight.sample import IMAGES, MORE, Sample, sample_of
from oodometer.stats.intervals import share_of


def preflight(
    models: Sequence[Model | StoredAnswers],
    data: Dataset,
    *,
    address: str | None = None,
    n: int = IMAGES,
    seed: int = 0,
) -> Preflight:
    """Whether the answers of models to a few images can be right: preprocessing, labels, outputs, and the data.

    Nothing is changed: what is found is told, with the flag that would settle it.

    Args:
        data: Clean images with labels, of which some are asked about.
        address: Where the data lie, whose name may tell that they are a published set.
        n: At most so many images.
        seed: Of the choice of images.
    """
    if n < 1:
        raise UsageError(f"a preflight of {n} images: ask for at least 1, better {IMAGES}")
    asked = [model for model in models if isinstance(model, Model)]
    if not asked:
        raise UsageError("a preflight asks models, and these are answers computed elsewhere: there is nothing to ask")
    of_data = [tuple(about_data(data, address, len(model.space))) for model in asked]
    return Preflight(
        tuple(flown(model, data, said, n=n, seed=seed) for model, said in zip(asked, of_data, strict=True))
    )


def flown(
    model: Model, data: Dataset, of_data: tuple[Finding, ...] = (), *, n: int = IMAGES, seed: int = 0
) -> ModelPreflight:
    """What is seen of one model.

    Args:
        of_data: What is known to be wrong with the data.
    """
    order = order_in_words(model.space, data.space)
    if of_data:  # what the answers are compared with is not right, so they can't tell more
        return ModelPreflight(model.name, str(model.input), None, order, of_data, ())
    sample = sample_of(data, model.space, n=MORE * n, seed=seed, model=model.name)
    if not len(sample):
        return ModelPreflight(model.name, str(model.input), None, order, (), ())
    logits = ask(model, sample.pixels(model.input.view, slice(0, n)))
    right = logits.argmax(axis=1) == sample.labels[:n]
    accuracy = share_of(int(right.sum()), len(right))
    findings, tried = _findings(model, data, sample, logits)
    return ModelPreflight(model.name, str(model.input), accuracy, order, tuple(findings), tuple(tried))


def _findings(model: Model, data: Dataset, sample: Sample, logits: np.ndarray) -> tuple[list[Finding], list[Tried]]:
    """What explains the answers: the outputs, the order of the classes, or else the preprocessing."""
    answers, labels = logits.argmax(axis=1), sample.labels[: len(logits)]
    of_outputs = list(about_outputs(logits, labels, model.space))
    if len(logits) < LEAST_ASKED:
        return of_outputs, []
    of_order = list(about_order(answers, labels, model.space, data.space))
    if of_order:
        # It explains why so few are right; another preprocessing could only be judged by the right order.
        return (of_outputs if are_probabilities(logits) else []) + of_order, []
    of_input, tried = about_input(model, sample, answers == labels)
    return of_outputs + of_input, tried
