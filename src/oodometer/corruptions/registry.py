"""What a corruption is, and the names of all of them.

Three layers. ``draw`` makes all random numbers of one image from its key. ``apply`` is plain, deterministic, and what
is tested against the reference. ``fast`` does both at once, and is tested against ``apply``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from oodometer.core.errors import UsageError
from oodometer.core.registry import Registry
from oodometer.corruptions.severities import Strength, strength_of, tables

Group = Literal["common", "extra", "bar", "own"]
Draw = Callable[[np.random.Generator, int, int, Strength], Any]
"""(generator, height, width, constants) -> the draws."""
Apply = Callable[[np.ndarray, Any, Strength], np.ndarray]
"""((H, W, 3) uint8, draws, constants) -> (H, W, 3) uint8; never changes its input."""
Fast = Callable[[np.ndarray, np.random.Generator, Strength], np.ndarray]
"""((H, W, 3) uint8, generator, constants) -> (H, W, 3) uint8."""


@dataclass(frozen=True)
class Corruption:
    """One corruption.

    Args:
        group: ``common`` are the 15 of ImageNet-C, ``extra`` its 4 others, ``bar`` the 10 of ImageNet-C-bar.
        exact: Whether ``fast`` gives what ``apply`` gives for the same generator, to a level; noises instead share
            only the distribution.
        strengths: The constants at severities 1 to 5 where the tables have none (a user's own corruption).
    """

    name: str
    group: Group
    draw: Draw
    apply: Apply
    fast: Fast | None = None
    exact: bool = True
    strengths: tuple[Strength, ...] | None = None

    def strength(self, severity: int, height: int, width: int) -> Strength:
        """The constants for an image of this size."""
        if self.strengths is not None:
            return self.strengths[severity - 1]
        return strength_of(self.name, severity, height, width)


def constants_of(name: str, severity: int, size: tuple[int, int] | None) -> list[float] | dict[str, list[float]]:
    """The constants of a corruption, for a cell's key: where they are others, so is the cell.

    Args:
        size: Height and width of the images; None: those of every side that has some.

    >>> constants_of("fog", 3, (224, 224)), constants_of("brightness", 1, None)
    ([2.5, 1.7], {'224': [0.1], '32': [0.05], '64': [0.1]})
    """
    if name not in tables():  # a user's own has the same for every size
        own = corruptions.get(name).strengths
        return list(own[severity - 1]) if own else []
    if size is not None:
        return list(strength_of(name, severity, *size))
    return {str(side): list(levels[severity - 1]) for side, levels in tables()[name].items()}


COMMON = {
    "gaussian_noise": "noise",
    "shot_noise": "noise",
    "impulse_noise": "noise",
    "defocus_blur": "defocus",
    "glass_blur": "glass",
    "motion_blur": "motion",
    "zoom_blur": "zoom",
    "snow": "snow",
    "frost": "frost",
    "fog": "fog",
    "brightness": "colour",
    "contrast": "colour",
    "elastic_transform": "elastic",
    "pixelate": "digital",
    "jpeg_compression": "digital",
}
EXTRA = {"speckle_noise": "noise", "gaussian_blur": "gaussian", "spatter": "spatter", "saturate": "colour"}
BAR = dict.fromkeys(
    (
        "blue_noise_sample",
        "brownish_noise",
        "caustic_refraction",
        "checkerboard_cutout",
        "cocentric_sine_waves",
        "inverse_sparkles",
        "perlin_noise",
        "plasma_noise",
        "single_frequency_greyscale",
        "sparkles",
    ),
    "c_bar",
)
"""Name to the module that holds it, in the order of the papers."""

corruptions: Registry[Corruption] = Registry(
    "corruption",
    {name: f"oodometer.corruptions.{module}:{name}" for name, module in {**COMMON, **EXTRA, **BAR}.items()},
    group="oodometer.corruptions",
)


def corruption(
    name: str, *, strengths: Sequence[float | Sequence[float]]
) -> Callable[[Callable[..., np.ndarray]], Corruption]:
    """A decorator that makes a corruption of a function (image, *constants, generator) -> image.

    >>> @corruption("darker_for_the_example", strengths=(10, 20, 30, 40, 50))
    ... def darker(image, amount, rng):
    ...     return np.clip(image.astype(np.int64) - int(amount), 0, 255).astype(np.uint8)
    >>> corruptions.get("darker_for_the_example").group
    'own'
    """
    if len(strengths) != 5:
        raise UsageError(f"corruption {name}: {len(strengths)} strengths; give one for each severity, 1 to 5")
    levels = tuple(tuple(map(float, one)) if isinstance(one, Sequence) else (float(one),) for one in strengths)

    def register(function: Callable[..., np.ndarray]) -> Corruption:
        made = Corruption(
            name=name,
            group="own",
            draw=lambda rng, height, width, strength: rng,  # noqa: ARG005 - the function draws for itself
            apply=lambda image, rng, strength: function(image.copy(), *strength, rng),
            strengths=levels,
        )
        return corruptions.register(name)(made)

    return register
