"""Images of no class, to be told from those of the classes: any folder will do, or noise that is made here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from oodometer.core.condition import Condition
from oodometer.core.errors import UsageError
from oodometer.core.preprocessing import Geometry
from oodometer.data.load import load_data
from oodometer.data.noise import is_noise, made_noise, parse_noise
from oodometer.data.subset import stratified
from oodometer.shifts.imagenet_c import as_it_is

TAKEN = ("clean", "iid")


def ood_conditions(folders: Sequence[str], *, images: int | None = None, seed: int = 0) -> list[Condition]:
    """A condition for each folder, called by its name, of all its images or of some.

    Args:
        folders: Or ``noise:gaussian``, ``noise:bernoulli``, ``noise:blobs``, ``noise:uniform``: made images.
        images: How many of each, at most.
        seed: Of the choice, and of what is made.
    """
    conditions = [
        _of_noise(folder, images, seed) if is_noise(folder) else _of_folder(folder, images, seed) for folder in folders
    ]
    names = [condition.name for condition in conditions]
    for name in names:
        if name in TAKEN or names.count(name) > 1:
            raise UsageError(f"--ood {name}: two conditions would have this name; rename the folder")
    return conditions


def _of_folder(folder: str, images: int | None, seed: int) -> Condition:
    dataset = load_data(folder, kind="images")
    if images is not None:
        dataset = stratified(dataset, min(images, len(dataset)), seed=seed)
    return Condition(dataset.name, dataset)


def _of_noise(text: str, images: int | None, seed: int) -> Condition:
    """Made images as they are: a resize and crop would blur what they are about."""
    asked = parse_noise(text, seed=seed)
    noise = replace(asked, n=asked.n if images is None else min(images, asked.n))
    return Condition(noise.title, made_noise(noise), transform=as_it_is(Geometry(noise.side, noise.side)))
