"""A network with other weights and with distorted activations for a while; afterwards it is as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from oodometer.core.random import rng_for
from oodometer.train.augment.deepaugment.activations import BODY, BOTTLENECK, HEAD, activation_distortions
from oodometer.train.augment.deepaugment.places import Places
from oodometer.train.augment.deepaugment.plans import Plan

Skip = Literal["intended", "release"]
"""What skipping blocks means: those blocks are left out and the others are passed in turn; or, as in the release, where
each block is given what the head made, so that of all blocks the last one that is not skipped counts alone."""

AFTER_BLOCK = 5
"""Of 16: after it the body's activations are distorted."""
FIRST_SKIPPED, LAST_SKIPPED, N_BODY = 2, 16, 17
"""Members of the release's body that can be skipped, and how many it has: 16 blocks and a convolution."""

PerImage = Callable[[Any, Any], Any]
"""From what a module was given of one image and what it made of it, to what is taken instead."""


@dataclass
class Activations:
    """What happens to the activations of a batch: module to image to function.

    Args:
        after: What is taken instead of a module's output.
        from_head: The images of which a module is given what the head made.
    """

    after: dict[str, dict[int, list[PerImage]]] = field(default_factory=dict)
    from_head: dict[str, list[int]] = field(default_factory=dict)

    def add(self, module: str, image: int, function: PerImage) -> None:
        """One more function for an image, after those that are there."""
        self.after.setdefault(module, {}).setdefault(image, []).append(function)


@dataclass(frozen=True)
class Draws:
    """What the draws of an image are keyed by.

    Args:
        network: Name of the network's copies, so that two networks draw independently.
        keys: Of each image of the batch.
    """

    network: str
    keys: Sequence[str]
    seed: int

    def rng(self, place: str, image: int) -> np.random.Generator:
        """The generator of one image at one place."""
        return rng_for("deepaugment", self.network, place, self.keys[image], seed=self.seed)


def drawn_activations(places: Places, plan: Plan, draws: Draws, *, skip: Skip = "intended") -> Activations:
    """One distortion for each image at each place of the plan."""
    activations = Activations()
    for image in range(len(draws.keys)):
        if plan.has_head and places.head is not None:
            rng = draws.rng("head", image)
            activations.add(places.head, image, _named(str(rng.choice(HEAD)), rng))
        if plan.has_body and places.body:
            _add_body(activations, places, image, draws.rng("body", image), skip)
        if plan.has_bottleneck and places.bottleneck is not None:
            _add_bottleneck(activations, places, image, draws)
    return activations


def _named(name: str, rng: np.random.Generator) -> PerImage:
    distortion = activation_distortions.get(name)
    return lambda given, made: distortion(made, rng)  # noqa: ARG005


def _add_body(activations: Activations, places: Places, image: int, rng: np.random.Generator, skip: Skip) -> None:
    name = str(rng.choice(BODY))
    if name == "skip":
        _add_skip(activations, places, image, rng, skip)
        return
    n_blocks = max(1, len(places.body) - 1)  # the last member of the release's body is a convolution, not a block
    after = places.body[max(1, AFTER_BLOCK * n_blocks // (N_BODY - 1)) - 1]
    activations.add(after, image, _named(name, rng))


def _add_skip(activations: Activations, places: Places, image: int, rng: np.random.Generator, skip: Skip) -> None:
    drawn = rng.integers(FIRST_SKIPPED, LAST_SKIPPED + 1, size=3)
    skipped = set((drawn * len(places.body) // N_BODY).tolist())
    if skip == "release":
        last = max(index for index in range(len(places.body)) if index not in skipped)
        activations.from_head.setdefault(places.body[last], []).append(image)
    for index in skipped:
        activations.add(places.body[index], image, lambda given, made: given)  # noqa: ARG005


def _add_bottleneck(activations: Activations, places: Places, image: int, draws: Draws) -> None:
    rng = draws.rng("bottleneck", image)
    name = str(rng.choice(BOTTLENECK))
    # Scaled is the code, not what it is rounded from.
    place = places.code if name == "scale" and places.code is not None else places.bottleneck
    assert place is not None  # who calls has looked
    activations.add(place, image, _named(name, rng))


@contextlib.contextmanager
def distorted(network: Any, weights: Mapping[str, Any], activations: Activations, head: str | None) -> Iterator[None]:
    """While this holds, the network has these weights and its activations are distorted; it is never trained so."""
    parameters = dict(network.named_parameters())
    modules = dict(network.named_modules())
    before = {name: parameters[name].data for name in weights}
    modes = {name: module.training for name, module in modules.items()}
    handles = []
    try:
        network.eval()
        for name, weight in weights.items():
            parameters[name].data = weight
        for name, functions in activations.after.items():
            handles.append(modules[name].register_forward_hook(_after(functions)))
        handles += _feeding(modules, activations, head)
        yield
    finally:
        for handle in handles:
            handle.remove()
        for name, weight in before.items():
            parameters[name].data = weight
        for name, mode in modes.items():
            modules[name].training = mode


def _after(functions: Mapping[int, Sequence[PerImage]]) -> Callable[[Any, Any, Any], Any]:
    """A hook that takes other values for some images; what does not fit its place (a skipped change of shape) stays."""

    def hook(module: Any, given: tuple[Any, ...], made: Any) -> Any:  # noqa: ARG001
        result = made.clone()
        for image, several in functions.items():
            for function in several:
                other = function(given[0][image], result[image])
                if other.shape == result[image].shape:
                    result[image] = other
        return result

    return hook


def _feeding(modules: Mapping[str, Any], activations: Activations, head: str | None) -> list[Any]:
    """Hooks that give modules what the head made; none where no image asks for that."""
    if head is None or not activations.from_head:
        return []
    kept: list[Any] = []

    def keep(module: Any, given: Any, made: Any) -> None:  # noqa: ARG001
        kept[:] = [made]

    def feed(images: Sequence[int]) -> Callable[[Any, tuple[Any, ...]], tuple[Any, ...]]:
        def hook(module: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:  # noqa: ARG001
            values = given[0].clone()
            values[list(images)] = kept[0][list(images)]
            return (values, *given[1:])

        return hook

    handles = [modules[head].register_forward_hook(keep)]
    return handles + [
        modules[name].register_forward_pre_hook(feed(images)) for name, images in activations.from_head.items()
    ]
