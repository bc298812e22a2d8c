"""The shifts that have a name, the clean sides that they are compared with, and groups of them, as declared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from oodometer.catalogue.sets import set_entries
from oodometer.catalogue.tables import key_of, table
from oodometer.core.condition import Measure, ShiftKind

EntryKind = ShiftKind | Literal["clean"]

CLEAN = "clean"
"""The images as they are: the only condition that stands alone."""

NATURAL_KINDS: tuple[ShiftKind, ...] = ("dataset", "consistency", "adversarially filtered", "style", "attribute")
"""Kinds whose images are photographs or drawings of their own, where nothing else is said."""

SEVERITIES = (1, 5)
"""The least and the greatest."""


@dataclass(frozen=True)
class FilteredBy:
    """The model whose mistakes a set's images are.

    Args:
        models: What it is called.
        clean_accuracy: Its published accuracy on the shift's x axis, so that a knee can be placed without it.
    """

    models: tuple[str, ...]
    clean_accuracy: float

    def is_called(self, model: str) -> bool:
        """Whether a model of that name is the one.

        >>> FilteredBy(("resnet50",), 0.9).is_called("ResNet-50")
        True
        """
        return key_of(model) in {key_of(name) for name in self.models}


@dataclass(frozen=True)
class Declared:
    """An entry of the table: a shift, a family of them, or a clean side.

    Args:
        name: By which it is asked for; where the 204-model testbed has it, its name there.
        kind: What sort of shift it is; ``clean`` for a side that others are compared with.
        make: ``module:function`` below `oodometer.shifts`; empty where it is made along with its shift.
        aliases: What else it is called.
        sets: The published sets that it is made of.
        clean: The name of the standard condition (a clean side is its own); ``{part}`` is that of the member.
        measure: What it is judged by.
        natural: Whether its images are their own, not made of the clean ones.
        n: Images behind an accuracy; None where that is not published, or differs from member to member.
        baseline_above: The least clean accuracy, on its own x axis, of the models that the line goes through.
        filtered_by: Of images that were chosen by a model's mistakes.
        member: How its members are called, with ``{corruption}`` and ``{severity}``, or ``{part}``.
        corruptions: Those of a family; empty where any may occur.
        corruption: What its parts do to an image, where these are its severities (``adain/3``).
        severities: The least and the greatest of a family; of a perturbation sequence the frames.
        attack: What it is called outside of the testbed.
        brought: What the user brings besides images.
        relabels: Whether its images are the clean ones with other labels.
        of_any_images: Whether the images of ``--data`` serve instead of its set.
        means: Of a clean side: another one, of the same images.
        side_of: Of a clean side: a shift that is compared with it.
    """

    name: str
    kind: EntryKind
    make: str = ""
    aliases: tuple[str, ...] = ()
    sets: tuple[str, ...] = ("imagenet",)
    clean: str = CLEAN
    measure: Measure = "top-1"
    natural: bool = False
    n: int | None = None
    baseline_above: float | None = None
    filtered_by: FilteredBy | None = None
    member: str = ""
    corruptions: tuple[str, ...] = ()
    corruption: str = ""
    severities: tuple[int, int] = SEVERITIES
    attack: str = ""
    brought: str = ""
    relabels: bool = False
    of_any_images: bool = False
    means: str = ""
    side_of: str = ""

    @property
    def is_family(self) -> bool:
        """Whether its members are corruptions at several severities."""
        return "{severity" in self.member

    def members(self) -> Iterator[str]:
        """The names of a family's members, where its corruptions are known."""
        low, high = self.severities
        for corruption in self.corruptions:
            for severity in range(low, high + 1):
                yield self.member.format(corruption=corruption, severity=severity)


@dataclass(frozen=True)
class Pattern:
    """Shifts whose names hold numbers: attacks of any budget, ``pm-K``."""

    pattern: str
    declared: Declared


@cache
def declared_shifts() -> dict[str, Declared]:
    """Every shift and family by name, in the order of the table.

    >>> declared_shifts()["imagenet-a"].clean
    'val-on-imagenet-a-classes'
    """
    return {values["name"]: _shift(values) for values in table("shifts")["shift"]}


@cache
def clean_sides() -> dict[str, Declared]:
    """Every clean side by name, in the order of the table.

    >>> clean_sides()["val-on-imagenet-a-classes"].sets
    ('imagenet', 'imagenet-a')
    """
    return {values["name"]: _clean(values) for values in table("shifts")["clean"]}


@cache
def patterns() -> tuple[Pattern, ...]:
    """The shifts whose names hold numbers."""
    found = []
    for values in table("shifts")["pattern"]:
        others = {key: value for key, value in values.items() if key != "pattern"}
        found.append(Pattern(values["pattern"], _shift({"name": "", **others})))
    return tuple(found)


@cache
def declared_groups() -> dict[str, tuple[tuple[str, ...], ...]]:
    """The members of each group, each a choice of names of which the first counts whose data are there."""
    return {
        values["name"]: tuple(tuple(one) if isinstance(one, list) else (one,) for one in values["members"])
        for values in table("shifts")["group"]
    }


def best_known() -> tuple[str, ...]:
    """Of the testbed's shifts those that stand for the others, where there is no room for all.

    >>> best_known()[0]
    'imagenetv2-matched-frequency-format-val'
    """
    return tuple(table("shifts")["best_known"])


def clean_names() -> tuple[str, ...]:
    """What a clean set over all classes is called, here and in the testbed's table.

    >>> clean_names()
    ('clean', 'val')
    """
    return (CLEAN, *(side.name for side in clean_sides().values() if side.means == CLEAN))


def _shift(values: dict[str, Any]) -> Declared:
    groups, without = values.get("corruptions", []), values.get("without", [])
    corruptions = [name for group in groups for name in table("shifts")["corruptions"][group] if name not in without]
    by = values.get("filtered_by")
    known: dict[str, Any] = {
        "natural": values["kind"] in NATURAL_KINDS,
        **_plain(values),
        "corruptions": tuple(corruptions),
        "filtered_by": None if by is None else FilteredBy(tuple(by["models"]), by["clean_accuracy"]),
    }
    return Declared(**known)


def _clean(values: dict[str, Any]) -> Declared:
    shift = declared_shifts().get(values.get("side_of", ""))
    of_shift = {} if shift is None else {"sets": shift.sets, "make": "given:clean_side"}
    known: dict[str, Any] = {"kind": "clean", **of_shift, **_plain(values)}
    return Declared(**known)


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """The values as a declaration has them: tuples, and the number of images of the set that ``n`` names."""
    found: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    found.pop("without", None)
    if isinstance(found.get("n"), str):
        found["n"] = set_entries()[found["n"]].n_images
    return found
