"""Pairs of models that differ in one thing only, from what their cards say.

A model and its parent differ in the interventions that the parent's card does not name. Two sizes of one network differ
in the number of parameters: the same architecture apart from the numbers in its name (resnet20, resnet56), trained on
the same data in the same way. Whoever trained otherwise says which models are sizes of one thing: by a card with a
parent and the intervention ``larger``, or by a pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from oodometer.analysis.origins import Origin
from oodometer.analysis.parents import parents_among
from oodometer.analysis.points import Points, named
from oodometer.catalogue.hypotheses import LARGER, about, is_about_none, is_known
from oodometer.core.errors import UsageError

RECIPE = (
    "epochs", "batch", "learning_rate", "schedule", "warm_up", "momentum", "weight_decay", "augment", "objective",
    "objective_weight", "adversarial", "eps", "hold_out", "share", "classes", "fold", "style_images", "style_weights",
    "init", "recipe", "loss", "label",
)  # fmt: skip
"""Notes of a card that two sizes of one network have in common; what a card does not say counts as said otherwise."""


@dataclass(frozen=True)
class Candidate:
    """A model as pairs are looked for.

    Args:
        called: All that it is called: its name here, and that of its card.
        training_data: As its card says; None where nobody does.
        notes: How it was made, as its card says.
    """

    model: str
    origin: Origin
    called: frozenset[str]
    training_data: str | None = None
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ControlledPair:
    """Two models that differ in one thing.

    Args:
        before, after: Without it and with it; the smaller and the larger.
        about: The hypothesis, or ``control``.
        differs: The one thing, in words.
    """

    before: str
    after: str
    about: str
    differs: str


@dataclass(frozen=True)
class ControlledPairs:
    """The pairs that there are, and in sentences why others are none."""

    pairs: tuple[ControlledPair, ...]
    notes: tuple[str, ...] = ()

    def of(self, *hypotheses: str) -> list[ControlledPair]:
        """Those about one of these hypotheses."""
        return [pair for pair in self.pairs if pair.about in hypotheses]


def candidates_in(several: Iterable[Points]) -> list[Candidate]:
    """The models of several shifts, each once, by name."""
    models: dict[str, Candidate] = {}
    with_card: set[str] = set()
    for points in several:
        for point in points.models:
            cells = points.cells.get(point.model)
            if point.model in with_card:  # hundreds of shifts have the same models
                continue
            if cells is None:
                models.setdefault(point.model, Candidate(point.model, point.origin, frozenset({point.model})))
                continue
            with_card.add(point.model)
            record = cells[1][0].model
            called = frozenset({point.model, record.name})
            models[point.model] = Candidate(
                point.model, point.origin, called, record.card.training_data, dict(record.notes)
            )
    return [models[name] for name in sorted(models)]


def controlled_pairs(models: Sequence[Candidate], families: Sequence[str] = ()) -> ControlledPairs:
    """All pairs of these models that differ in one thing.

    Args:
        families: Patterns (``resnet*``), each of which fits models that are sizes of one thing; by default the
            architectures of their cards tell.
    """
    sizes, said = _named_sizes(models, families) if families else _sizes(models)
    from_parents, notes = _from_parents(models, {(pair.before, pair.after) for pair in sizes})
    met = {(pair.before, pair.after) for pair in from_parents}
    return ControlledPairs(
        (*from_parents, *(pair for pair in sizes if (pair.before, pair.after) not in met)), (*notes, *said)
    )


# A model and its parent


def _from_parents(models: Sequence[Candidate], by_size: Set[tuple[str, str]]) -> tuple[list[ControlledPair], list[str]]:
    """Models with their parents, and why others are no pairs but for those that are sizes of one network."""
    by_name = {model.model: model for model in models}
    parents = parents_among(
        {model.model: model.origin.parent for model in models}, {model.model: model.called for model in models}
    )
    pairs, notes = [], []
    for name, parent in parents.items():
        child, before = by_name[name], by_name[parent]
        added = _added(child.origin.interventions, before.origin.interventions)
        if added is None:
            notes.append(f"{name} and {parent} are no pair: {parent} has interventions that {name} has not")
            continue
        hypothesis = about(added, child.origin.category)
        if hypothesis is None:
            if (parent, name) not in by_size:
                notes.append(f"{name} and {parent} are no pair: {_why_none(added)}")
            continue
        pairs.append(ControlledPair(parent, name, hypothesis, " + ".join(added) or child.origin.category))
    lost = [model.model for model in models if model.origin.parent is not None and model.model not in parents]
    if lost:
        notes.append(f"no pair of {named(lost)}: the parent was not measured, or several models have its name")
    return pairs, notes


def _added(interventions: Sequence[str], of_parent: Sequence[str]) -> list[str] | None:
    """What was done beyond what was done to the parent; None where something was undone.

    >>> _added(("augmix", "se"), ("se",)), _added(("augmix",), ("se",))
    (['augmix'], None)
    """
    left = list(interventions)
    for name in of_parent:
        if name not in left:
            return None
        left.remove(name)
    return left


def _why_none(added: Sequence[str]) -> str:
    if not added:
        return "its card names no intervention"
    if aside := [name for name in added if is_about_none(name)]:
        return f"{', '.join(aside)} is about none of the hypotheses"
    if unknown := [name for name in added if not is_known(name)]:
        return f"nobody says which hypothesis {', '.join(unknown)} is about"
    return f"they differ in {' and '.join(added)}, which are about several hypotheses"


# Two sizes of one network


def _sizes(models: Sequence[Candidate]) -> tuple[list[ControlledPair], list[str]]:
    """Pairs of the smallest and each larger one, of the same architecture and made in the same way."""
    families: dict[tuple[object, ...], list[Candidate]] = {}
    for model in models:
        architecture = model.notes.get("architecture")
        if architecture and model.origin.parameters:
            same = (without_numbers(architecture), model.origin.category, sorted(model.origin.interventions))
            families.setdefault((*same[:2], *same[2], "of", model.training_data), []).append(model)
    pairs, notes = [], []
    for family in families.values():
        alike: dict[tuple[str, ...], list[Candidate]] = {}
        for model in family:
            alike.setdefault(tuple(str(model.notes.get(key, "")) for key in RECIPE), []).append(model)
        pairs += [pair for group in alike.values() for pair in _from_smallest(group)]
        if len(alike) > 1:
            notes.append(_made_otherwise(family))
    return pairs, notes


def _made_otherwise(family: Sequence[Candidate]) -> str:
    differing = [key for key in RECIPE if len({str(model.notes.get(key, "")) for model in family}) > 1]
    return (
        f"not all of {named([model.model for model in family])} are pairs by their size: "
        f"they differ in {', '.join(differing)} too"
    )


def _named_sizes(models: Sequence[Candidate], families: Sequence[str]) -> tuple[list[ControlledPair], list[str]]:
    """The same of models that the user says are sizes of one thing; what was done to them is the same all the same."""
    pairs: list[ControlledPair] = []
    for pattern in families:
        fit = [model for model in models if fnmatchcase(model.model, pattern) and model.origin.parameters]
        if len({model.origin.parameters for model in fit}) < 2:
            raise UsageError(f"--sizes {pattern}: fits no two models of known and different numbers of parameters")
        done: dict[tuple[str, tuple[str, ...]], list[Candidate]] = {}
        for model in fit:
            done.setdefault((model.origin.category, tuple(sorted(model.origin.interventions))), []).append(model)
        pairs += [pair for group in done.values() for pair in _from_smallest(group)]
    return pairs, []


def _from_smallest(group: Sequence[Candidate]) -> list[ControlledPair]:
    """The smallest with each larger one, as in the paper."""
    ordered = sorted(group, key=lambda model: (model.origin.parameters or 0, model.model))
    first = ordered[0]
    return [
        ControlledPair(first.model, model.model, LARGER, _growth(first, model))
        for model in ordered[1:]
        if model.origin.parameters != first.origin.parameters
    ]


def _growth(small: Candidate, large: Candidate) -> str:
    ratio = (large.origin.parameters or 0) / (small.origin.parameters or 1)
    return f"{ratio:.3g} times the parameters"


def without_numbers(architecture: str) -> str:
    """A network's name without its numbers: networks that differ in them alone are sizes of one.

    >>> without_numbers("resnet20x0.5") == without_numbers("resnet56"), without_numbers("wrn16-2")
    (True, 'wrn')
    >>> without_numbers("resnet20-se") == without_numbers("resnet20")
    False
    """
    return re.sub(r"[x_-]?\d+(?:\.\d+)?d?", "", architecture)
