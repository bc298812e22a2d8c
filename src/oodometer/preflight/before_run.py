"""The preflight of a run: what is always looked at, and what only before much work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from oodometer.core.condition import Condition, Shift
from oodometer.core.dataset import Dataset
from oodometer.core.errors import PreflightError
from oodometer.core.model import Model
from oodometer.core.records import record_of_model
from oodometer.core.stored_answers import StoredAnswers
from oodometer.core.talk import Tell, unheard
from oodometer.engine.run import conditions_of
from oodometer.preflight.finding import Preflight
from oodometer.preflight.known_data import about_data, has_no_classes
from oodometer.preflight.preflight import flown
from oodometer.store.index import look
from oodometer.store.store import open_store

MANY = 10_000
"""Predictions of a model before which some are worth a look: asking 1,000 to 3,000 then costs a tenth to a third more,
and for ImageNet-C nothing."""

Models = Sequence[Model | StoredAnswers]


def cleared_models(
    models: Models,
    asked: Sequence[Condition | Shift],
    *,
    store: str,
    address: str | None = None,
    predictions: int | None = None,
    accept: bool = False,
    skip_broken: bool = False,
    tell: Tell = unheard,
) -> list[Model | StoredAnswers]:
    """The models, with what a preflight found on their cards; an error where it found something.

    Every model is looked at once: not again where the store has answers of it.

    Args:
        address: Where the user's own data lie.
        predictions: How many each model will be asked for, where not all images are asked about.
        accept: Go on as it is, whatever is found.
        tell: Told what is found.
    """
    conditions = conditions_of(asked)
    plain = next((one for one in conditions if _is_plain(one)), None)
    looked_at = plain or next((one for one in conditions if _is_masked(one)), None)
    if looked_at is None:
        return list(models)
    if plain is not None:
        _check_data(plain.dataset, address, models, accept=accept)
    n = sum(len(condition.dataset) for condition in conditions) if predictions is None else predictions
    known = _known_models(store)
    found: list[Model | StoredAnswers] = []
    lines: list[str] = []
    for model in models:
        if not isinstance(model, Model) or n < MANY or record_of_model(model).key in known:
            found.append(model)
            continue
        tell(f"preflight of {model.name}: some images, before {n:,} predictions")
        data = _readable(looked_at.dataset, skip_broken=skip_broken)
        # The clean images of some classes have the classes of a published set, and are not that set.
        of_data = () if plain is None else tuple(about_data(data, None, len(model.space)))
        seen = flown(model, data, of_data)
        lines += Preflight((seen,)).lines()
        found.append(replace(model, notes={**model.notes, "preflight": seen.summary}))
    for line in lines:
        tell(f"preflight: {line}")
    if lines and not accept:
        raise PreflightError(_how_to_go_on(len(lines)))
    return found


def _check_data(dataset: Dataset, address: str | None, models: Models, *, accept: bool) -> None:
    """An error where the data are a published set that is not scored so; of one without classes in any case."""
    never = has_no_classes(dataset, address)
    if accept and not never:
        return
    more = "" if never else "; --accept-preflight goes on as it is"
    for model in (model for model in models if isinstance(model, Model)):
        for finding in about_data(dataset, address, len(model.space)):
            raise PreflightError(f"{address or dataset.name}: {finding.said}; {finding.remedy}{more}")


def _how_to_go_on(n: int) -> str:
    what = "one thing" if n == 1 else f"{n} things"
    return f"the preflight found {what} that can't be right; settle it as told above, or go on with --accept-preflight"


def _is_plain(one: Condition) -> bool:
    return _is_untouched(one) and one.label_map is None


def _is_masked(one: Condition) -> bool:
    """Whether it is images of some of the classes, labelled as all are: they can be asked about without the mask."""
    return _is_untouched(one) and one.label_map is not None and one.dataset.space != one.label_map.target


def _is_untouched(one: Condition) -> bool:
    labelled = bool((one.dataset.labels >= 0).any())
    return labelled and one.transform is None and one.attack is None and one.unit is None


def _readable(dataset: Dataset, *, skip_broken: bool) -> Dataset:
    broken = dataset.scan().broken if skip_broken else {}
    return dataset.take(np.setdiff1d(np.arange(len(dataset)), list(broken))) if broken else dataset


def _known_models(store: str) -> set[str]:
    """The keys of the models that a store has answers of."""
    return {entry.cell.model.key for entry in look(open_store(store, create=True)).answered}
