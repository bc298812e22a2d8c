"""What a store knows, typed: models, data, conditions and shifts as plain values that are written and read back.

Nouns such as `Condition` can do things and hold images; a record only says what they were. Equal records have equal
keys on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from types import NoneType
from typing import Any, TypeVar, cast, get_args

import numpy as np

from oodometer.core.condition import Condition, Family, Measure, Shift, ShiftKind
from oodometer.core.dataset import Dataset, title_of
from oodometer.core.digests import digest_of
from oodometer.core.errors import OodometerError
from oodometer.core.model import Card, Input, Model
from oodometer.core.preprocessing import Geometry
from oodometer.core.sample import Rule, Sample
from oodometer.core.stored_answers import StoredAnswers

R = TypeVar("R")

PREDICTIONS = "predictions"
"""The kind of a model of which only the answers are known."""


@dataclass(frozen=True)
class DataRef:
    """Which images: the digest of ids, labels and contents, and what they are called.

    Args:
        part: Which part of the data of that name (``fog/3``, ``anchors``); empty: all.
        subset: Which images of it were chosen (``100, seed 0``); empty: all.
        sample: How they were drawn, where they stand for a larger data set.

    >>> DataRef("0f", "imagenet-c", part="fog/3", subset="100, seed 0").title
    'imagenet-c/fog/3[100, seed 0]'
    """

    digest: str
    name: str
    part: str = ""
    subset: str = ""
    sample: Sample | None = None

    def __str__(self) -> str:
        return self.title

    @property
    def title(self) -> str:
        """What to call them."""
        return title_of(self.name, self.part, self.subset)

    @property
    def source(self) -> str:
        """What the parts of one data set have in common: the data that corrupted files were made from.

        A part has a digest of its own, so the name stands for it, as it does for samples that were drawn apart from
        one data set; everything else is known by its digest.
        """
        if self.sample is not None:
            return digest_of({"name": self.name, "whole": self.sample.whole, "seed": self.sample.seed})
        return title_of(self.name, "", self.subset) if self.part else self.digest


@dataclass(frozen=True)
class TransformRecord:
    """A change of the canonical pixels: its name, all it depends on, and the pixels on which it is defined.

    Args:
        view: None where it is defined on what each model wants to see.
    """

    name: str
    parameters: Mapping[str, Any]
    view: Geometry | None


@dataclass(frozen=True)
class AttackRecord:
    """An attack and all it depends on."""

    name: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class ConditionRecord:
    """What models were asked to look at.

    Args:
        label_map: The digest of the map to the classes that are answered; None: the model's own.
        unit: The column whose values tell the images that are judged as one; ``groups`` the digest of that grouping.
    """

    name: str
    data: DataRef
    label_map: str | None = None
    transform: TransformRecord | None = None
    attack: AttackRecord | None = None
    unit: str | None = None
    groups: str | None = None

    @cached_property
    def key(self) -> str:
        """The digest of everything that the answers depend on, and of the name; the data are in it by their digest."""
        return digest_of(self.identity)

    @property
    def identity(self) -> dict[str, Any]:
        """What the key is made of; what the data are called is not part of it.

        Samples of one order are one condition, however many images they have: the smaller is part of the larger.
        """
        sample = self.data.sample
        drawn = self.data.digest if sample is None else [sample.whole, sample.order, sample.seed]
        return {**asdict(self), "data": drawn}


@dataclass(frozen=True)
class ModelRecord:
    """A model.

    Args:
        kind: The runtime; ``predictions`` where only the answers are known.
        digest: Of the weights, or of the file of answers.
        input: Its preprocessing; None where the answers were computed elsewhere.
        space: The name of its classes, ``n_classes`` their number and ``classes`` the digest of their names.
    """

    name: str
    kind: str
    digest: str
    input: Input | None = None
    space: str = ""
    n_classes: int | None = None
    classes: str | None = None
    card: Card = field(default_factory=Card)
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def weights(self) -> str:
        """The digest of the weights; empty for answers computed elsewhere, whose name alone says whose they are."""
        return "" if self.kind == PREDICTIONS else self.digest

    @cached_property
    def key(self) -> str:
        """The digest of what makes a model: its name, weights, preprocessing and the order of its classes.

        Answers computed elsewhere are one model by their name, from however many files they come.
        """
        identity = self.identity
        return digest_of(identity if self.kind != PREDICTIONS else {"name": self.name})

    @property
    def identity(self) -> dict[str, Any]:
        """What answers depend on; the classes too, since by their names labels become indices of the outputs."""
        seen = None if self.input is None else _preprocessing(self.input)
        return {"name": self.name, "digest": self.digest, "input": seen, "classes": self.classes}


def _preprocessing(seen: Input) -> dict[str, Any]:
    """The preprocessing as plain values, the same whether a mean was given as 0 or as 0.0.

    The order of the channels only where it is not the usual one: so keys stay what they were before it could be said.
    """
    values = {**asdict(seen), "mean": [float(one) for one in seen.mean], "std": [float(one) for one in seen.std]}
    return {name: value for name, value in values.items() if (name, value) != ("channels", "rgb")}


@dataclass(frozen=True)
class ShiftRecord:
    """A pair of conditions, what changes between them, and the measure that it is judged by."""

    name: str
    kind: ShiftKind
    standard: ConditionRecord
    shifted: ConditionRecord
    family: Family | None = None
    measure: Measure = "top-1"

    @cached_property
    def key(self) -> str:
        """The digest of the pair and of all that is said about it."""
        said = {"name": self.name, "kind": self.kind, "measure": self.measure}
        of_family = None if self.family is None else asdict(self.family)
        return digest_of({**said, "family": of_family, "standard": self.standard.key, "shifted": self.shifted.key})

    @property
    def of_other_images(self) -> bool:
        """Whether the shifted images are others than the standard ones, even where some are called the same."""
        return self.kind in ("dataset", "adversarially filtered", "attribute")


# From the nouns


def record_of_data(dataset: Dataset) -> DataRef:
    """Which images a data set has; their contents are read, where they were not yet."""
    return DataRef(dataset.digest, dataset.name, dataset.part, dataset.subset, dataset.sample)


def record_of_condition(condition: Condition) -> ConditionRecord:
    """What a condition is."""
    transform, attack = condition.transform, condition.attack
    return ConditionRecord(
        condition.name,
        record_of_data(condition.dataset),
        condition.label_map.digest if condition.label_map else None,
        None if transform is None else TransformRecord(transform.name, dict(transform.parameters), transform.view),
        None if attack is None else AttackRecord(attack.name, dict(attack.parameters)),
        condition.unit,
        # The digest of the data does not know of columns, and here the result depends on them.
        condition.unit and digest_of({name: _texts(column) for name, column in condition.groups.items()}),
    )


def record_of_shift(shift: Shift) -> ShiftRecord:
    """What a shift is."""
    standard, shifted = record_of_condition(shift.standard), record_of_condition(shift.shifted)
    return ShiftRecord(shift.name, shift.kind, standard, shifted, shift.family, shift.measure)


def record_of_model(model: Model | StoredAnswers) -> ModelRecord:
    """What a model is."""
    if isinstance(model, StoredAnswers):
        return ModelRecord(model.name, PREDICTIONS, model.digest, card=model.card)
    return ModelRecord(
        model.name,
        model.kind,
        model.digest,
        model.input,
        model.space.name,
        len(model.space),
        digest_of({"classes": model.space.classes}),
        model.card,
        dict(model.notes),
    )


def _texts(values: np.ndarray) -> list[str]:
    return [str(value) for value in values.tolist()]


# From plain values, as JSON gives them back


def read_model(value: Any) -> ModelRecord:
    """The model that `asdict` told of; a `ValueError` or `TypeError` where it is none."""
    values = _values(ModelRecord, value)
    card = _values(Card, _since(values["card"], parameters=None))
    values["card"] = _made(Card, {**card, "interventions": tuple(card["interventions"])})
    return ModelRecord(**{**values, "input": _maybe(_read_input, values["input"])})


def read_condition(value: Any) -> ConditionRecord:
    """The condition that `asdict` told of; a `ValueError` or `TypeError` where it is none."""
    values = _values(ConditionRecord, value)
    data = _values(DataRef, _since(values["data"], sample=None))
    values["data"] = DataRef(**{**data, "sample": _maybe(_read_sample, data["sample"])})
    values["transform"] = _maybe(_read_transform, values["transform"])
    values["attack"] = _maybe(lambda attack: AttackRecord(**_values(AttackRecord, attack)), values["attack"])
    return ConditionRecord(**values)


def read_shift(value: Any) -> ShiftRecord:
    """The shift that `asdict` told of; a `ValueError` or `TypeError` where it is none."""
    values = _values(ShiftRecord, value)
    if values["kind"] not in get_args(ShiftKind) or values["measure"] not in get_args(Measure):
        raise ValueError(f"no kind {values['kind']!r} of shift, or no measure {values['measure']!r}")
    values |= {side: read_condition(values[side]) for side in ("standard", "shifted")}
    values["family"] = _maybe(lambda family: Family(**_values(Family, family)), values["family"])
    return ShiftRecord(**values)


def _read_sample(value: Any) -> Sample:
    values = _values(Sample, value)
    if values["rule"] not in get_args(Rule):
        raise ValueError(f"no rule {values['rule']!r} of a sample")
    return Sample(**{**values, "aims": tuple((int(n), float(width)) for n, width in values["aims"])})


def _read_input(value: Any) -> Input:
    values = _values(Input, _since(value, channels="rgb"))
    view, mean, std = _read_geometry(values["view"]), tuple(values["mean"]), tuple(values["std"])
    return _made(Input, {"view": view, "mean": mean, "std": std, "channels": values["channels"]})


def _read_transform(value: Any) -> TransformRecord:
    values = _values(TransformRecord, value)
    return TransformRecord(values["name"], values["parameters"], _maybe(_read_geometry, values["view"]))


def _read_geometry(value: Any) -> Geometry:
    return _made(Geometry, _values(Geometry, value))


def _since(value: Any, **added: Any) -> Any:
    """The plain values, with those that stores written before these fields do not have."""
    return {**added, **value} if isinstance(value, Mapping) else value


def _maybe(read: Callable[[Any], R], value: Any) -> R | None:
    return None if value is None else read(value)


def _made(make: Callable[..., R], values: Mapping[str, Any]) -> R:
    """What is made of these values; they are damaged where it refuses them."""
    try:
        return make(**values)
    except OodometerError as error:
        raise ValueError(str(error)) from error


PLAIN: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "str | None": (str, NoneType),
    "int | None": (int, NoneType),
    "Mapping[str, Any]": (Mapping,),
    "Mapping[str, str]": (Mapping,),
    "Category": (str,),
    "Interpolation": (str,),
    "ShiftKind": (str,),
    "Measure": (str,),
}
"""What a field may hold, by how its type is written; fields of other types are read by functions of their own."""


def _values(record: type, value: Any) -> dict[str, Any]:
    """The fields of a record, all of them and no others."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{record.__name__}: not a mapping")
    known = {field.name: str(field.type) for field in fields(cast(Any, record))}
    if set(value) != set(known):
        raise ValueError(f"{record.__name__}: expected the fields {', '.join(known)}")
    for name, written in known.items():
        if not isinstance(value[name], PLAIN.get(written, object)):
            raise TypeError(f"{record.__name__}: {name} is not {written}")
    return dict(value)
