"""The corruption families, made on the fly: nothing is written to disk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from oodometer.catalogue.names import ShiftEntry
from oodometer.core.condition import Condition, Family, Shift, Transform
from oodometer.core.dataset import Dataset
from oodometer.core.errors import UsageError
from oodometer.core.preprocessing import Geometry
from oodometer.corruptions.corrupt import check_severity, corrupt
from oodometer.corruptions.digital import PUBLISHED_QUALITY, jpeg_round_trip
from oodometer.corruptions.greyscale import greyscale
from oodometer.corruptions.registry import constants_of, corruptions
from oodometer.shifts.make import pair_of
from oodometer.shifts.sources import Sources

CANONICAL = Geometry(224, 224, resize=256)
CROPPED = Geometry(CANONICAL.height, CANONICAL.width)
"""What files of canonical pixels hold."""
SMALL = Geometry(32, 32)
AS_IT_IS, GREYSCALE = "as it is", "greyscale"


@dataclass(frozen=True)
class Corrupting:
    """A corruption at a severity, as a transform; a value, so that it can be sent to other processes."""

    name: str
    severity: int
    seed: int
    quality: int | None

    def __call__(self, image: np.ndarray, image_id: str) -> np.ndarray:
        """The corrupted image, after the JPEG round trip where the family has one."""
        made = corrupt(image, self.name, self.severity, key=image_id, seed=self.seed)
        return made if self.quality is None else jpeg_round_trip(made, self.quality)


def family(
    standard: Condition,
    entry: ShiftEntry,
    names: Iterable[str],
    *,
    quality: int | None,
    view: Geometry = CANONICAL,
    seed: int = 0,
) -> list[Shift]:
    """The members of a family, every corruption at every severity, each against the clean images it is made of."""
    low, high = entry.declared.severities
    return [
        _member(standard, entry, Family(entry.of, name, severity), quality=quality, view=view, seed=seed)
        for name in names
        for severity in range(low, high + 1)
    ]


def _member(
    standard: Condition, entry: ShiftEntry, member: Family, *, quality: int | None, view: Geometry, seed: int
) -> Shift:
    name = entry.declared.member.format(corruption=member.corruption, severity=member.severity)
    transform = corrupting(member.corruption, member.severity, quality=quality, view=view, seed=seed)
    return pair_of(entry, standard, Condition(name, standard.dataset, transform=transform), member)


def corrupted(
    dataset: Dataset, family_name: str, name: str, severity: int, *, quality: int | None, view: Geometry, seed: int
) -> Condition:
    """One corruption at one severity."""
    transform = corrupting(name, severity, quality=quality, view=view, seed=seed)
    return Condition(f"{family_name}/{name}/{severity}", dataset, transform=transform)


def corrupting(name: str, severity: int, *, quality: int | None, view: Geometry | None, seed: int) -> Transform:
    """One corruption at one severity, of whatever images; without a view, at the size of each model."""
    check_severity(severity)
    constants = constants_of(name, severity, None if view is None else (view.height, view.width))
    parameters: dict[str, object] = {"severity": severity, "constants": constants, "seed": seed, "quality": quality}
    if name == "frost":
        from oodometer.corruptions.frost import frost_source

        parameters["textures"] = frost_source()
    return Transform(name, parameters, Corrupting(name, severity, seed, quality), view=view)


def made(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """The corruptions of a family, pixels straight to the model."""
    return family(sources.clean(), entry, entry.declared.corruptions, quality=None, seed=sources.seed)


def made_with_jpeg(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """The corruptions of a family as published, with the JPEG round trip of the files."""
    return family(sources.clean(), entry, entry.declared.corruptions, quality=PUBLISHED_QUALITY, seed=sources.seed)


def own_corruptions(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """The corruptions that the user registered, pixels straight to the model."""
    names = [name for name in corruptions.names() if corruptions.get(name).group == "own"]
    return family(sources.clean(), entry, names, quality=None, seed=sources.seed)


def grey(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """The images without their colours."""
    standard = sources.clean()
    return [pair_of(entry, standard, Condition(entry.name, standard.dataset, transform=without_colours()))]


def imagenet_c_on_disk(dataset: Dataset) -> list[Condition]:
    """The files of ImageNet-C as they lie on disk: they are canonical pixels and never resized-and-cropped again."""
    if not {"corruption", "severity"} <= set(dataset.columns):
        raise UsageError(f"{dataset.name}: imagenet-c:disk wants the folder of ImageNet-C; add --data-kind imagenet-c")
    kept = as_it_is(CROPPED)
    names, codes = np.unique(dataset.columns["corruption"], return_inverse=True)
    # All parts in one sorting: a search for each of 95 among 4,750,000 rows would take a minute.
    keys, starts = np.unique(codes * 10 + dataset.columns["severity"], return_inverse=True)
    order = np.argsort(starts, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(starts))[:-1])
    return [
        Condition(f"imagenet-c:disk/{part}", part_of(dataset, rows, part), transform=kept)
        for part, rows in zip((f"{names[key // 10]}/{key % 10}" for key in keys), parts, strict=True)
    ]


def part_of(dataset: Dataset, rows: np.ndarray, part: str) -> Dataset:
    """The images of one corruption at one severity, under the ids of the clean images they were made from.

    Args:
        part: ``CORRUPTION/SEVERITY``, with which their own ids begin.
    """
    taken = dataset.take(rows, part=part)
    return replace(taken, ids=tuple(one.split("/", 2)[2] for one in taken.ids))


def as_it_is(view: Geometry | None) -> Transform:
    """The transform of files that are canonical pixels: nothing is changed, and nothing resized and cropped again.

    Args:
        view: The pixels of the files; a model of another size sees them after one resize. None: each model's own
            resize and crop.
    """
    return Transform(AS_IT_IS, {}, _as_it_is, view=view)


def _as_it_is(image: np.ndarray, image_id: str) -> np.ndarray:  # noqa: ARG001 - nothing is drawn
    return image


def without_colours(view: Geometry | None = CANONICAL) -> Transform:
    """The transform to grey, of whatever images."""
    return Transform(GREYSCALE, {}, _grey, view=view)


def _grey(image: np.ndarray, image_id: str) -> np.ndarray:  # noqa: ARG001 - nothing is drawn
    return greyscale(image)
