"""Which distortions are drawn, how many, and where: one plan for super-resolution, one for auto-encoders.

Blocks are named on the scale of the networks of the release, 16 residual blocks of EDSR and 21 convolutions of the
auto-encoder; in a network of n blocks, block p of 16 is block p n // 16.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from oodometer.core.errors import UsageError, did_you_mean
from oodometer.train.augment.deepaugment.places import Places
from oodometer.train.augment.deepaugment.weights import weight_distortions


@dataclass(frozen=True)
class WeightDraw:
    """An operation on weights that can be drawn.

    Args:
        name: What it is called.
        first, second: The distortion of the first and of the last convolution of the block; None: it stays.
        blocks: Of the release's network, one of which is drawn.
        times: How many blocks are drawn, one after the other and with replacement.
        either: One of the two convolutions, by chance, gets the first distortion, and the other none.
    """

    name: str
    first: str | None
    second: str | None
    blocks: tuple[int, ...]
    times: int = 1
    either: bool = False


EVERY_THIRD, EVERY_FOURTH = (0, 3, 6, 9), (1, 5, 9)
ALL_BUT_THE_LAST = tuple(range(15))
OF_EDSR = (
    WeightDraw("reverse channels", "reverse_channels", "reverse_channels", EVERY_THIRD),
    WeightDraw("negate", "negate", None, (1, 4, 7)),
    WeightDraw("zero", "zero", None, EVERY_THIRD),
    WeightDraw("minus gelu", "minus_gelu", "minus_gelu", EVERY_THIRD),
    WeightDraw("laplacian", "laplacian", None, EVERY_THIRD),
    WeightDraw("edge", "edge", None, EVERY_THIRD),
    WeightDraw("gain", None, "gain", EVERY_THIRD),
    WeightDraw("flip and negate", "flip_columns", "negate_weight", EVERY_THIRD),
    WeightDraw("random shifts", "random_shifts", None, EVERY_FOURTH),
    WeightDraw("noisy kernels", "noisy_kernels", None, EVERY_THIRD),
    WeightDraw("dirichlet kernels", None, "dirichlet_kernels", EVERY_FOURTH),
    WeightDraw("add noise", None, "add_noise", ALL_BUT_THE_LAST),
    WeightDraw("rotate", "rotate", None, ALL_BUT_THE_LAST, times=5, either=True),
    WeightDraw("random signs", "random_signs", None, ALL_BUT_THE_LAST, times=5),
    WeightDraw("random mask", "random_mask", None, ALL_BUT_THE_LAST, times=5),
    WeightDraw("negate half", "negate_half", None, ALL_BUT_THE_LAST, times=5),
    WeightDraw("keep largest", "keep_largest", None, ALL_BUT_THE_LAST, times=5, either=True),
)
"""The 17 operations on EDSR."""

MIDDLE, DECODER = tuple(range(8, 14)), tuple(range(11, 16))
OF_CAE = (
    WeightDraw("reverse channels", "reverse_channels", None, DECODER, times=2),
    WeightDraw("negate some", "negate_some", None, MIDDLE),
    WeightDraw("zero some", "zero_some", None, MIDDLE),
    WeightDraw("minus gelu some", "minus_gelu_some", None, (10, 11, 12, 13)),
    WeightDraw("strong gain", "strong_gain", None, MIDDLE, times=2),
    WeightDraw("mask or signs", "mask_or_signs", None, MIDDLE),
    WeightDraw("rotate kernels", "rotate_kernels", None, MIDDLE),
    WeightDraw("negate fifth", "negate_fifth", None, MIDDLE),
)
"""The operations on the auto-encoder. The release has a ninth, the largest entry alone, which it never draws."""


@dataclass(frozen=True)
class Plan:
    """How a network is distorted.

    Args:
        draws: The operations on weights.
        n_draws: How many of them are drawn, with replacement.
        n_blocks: How many blocks the release's network has.
        has_head, has_body, has_bottleneck: Where activations are distorted.
    """

    name: str
    draws: tuple[WeightDraw, ...]
    n_draws: int
    n_blocks: int
    has_head: bool = False
    has_body: bool = False
    has_bottleneck: bool = False


PLANS: Mapping[str, Plan] = {
    "edsr": Plan("edsr", OF_EDSR, n_draws=3, n_blocks=16, has_head=True, has_body=True),
    "cae": Plan("cae", OF_CAE, n_draws=1, n_blocks=21, has_bottleneck=True),
}


def plan_for(places: Places, name: str | None = None) -> Plan:
    """The plan of that name; else EDSR's for networks with a body, and the auto-encoder's for all others."""
    if name is None:
        return PLANS["edsr" if places.body else "cae"]
    if name not in PLANS:
        raise UsageError(f"no plan of distortions named {name!r}{did_you_mean(name, PLANS)}")
    return PLANS[name]


def drawn_operations(plan: Plan, rng: np.random.Generator) -> tuple[WeightDraw, ...]:
    """The operations of one draw of weights."""
    return tuple(plan.draws[index] for index in rng.integers(len(plan.draws), size=plan.n_draws).tolist())


def drawn_weights(network: Any, places: Places, plan: Plan, rng: np.random.Generator) -> dict[str, Any]:
    """The distorted weights and biases by the names of the parameters; those that stay as they are, are not in it."""
    modules = dict(network.named_modules())
    made: dict[str, Any] = {}

    def apply(distortion: str, name: str) -> None:
        own = modules[name]
        weight = made.get(f"{name}.weight", own.weight.detach())
        bias = made.get(f"{name}.bias", None if own.bias is None else own.bias.detach())
        weight, bias = weight_distortions.get(distortion)(weight, bias, rng)
        made[f"{name}.weight"] = weight.contiguous()
        if bias is not None:
            made[f"{name}.bias"] = bias.contiguous()

    for operation in drawn_operations(plan, rng):
        for distortion, name in _sites(operation, places, plan, rng):
            apply(distortion, name)
    return made


def _sites(operation: WeightDraw, places: Places, plan: Plan, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Which distortion goes to which convolution."""
    sites: list[tuple[str, str]] = []
    for _ in range(operation.times):
        drawn = operation.blocks[int(rng.integers(len(operation.blocks)))]
        block = places.blocks[drawn * len(places.blocks) // plan.n_blocks]
        if operation.either:
            assert operation.first is not None  # the table above
            sites.append((operation.first, block[-1] if rng.integers(2) else block[0]))
            continue
        sites += [(operation.first, block[0])] if operation.first else []
        # A block of one convolution is distorted once by what is meant for two.
        if operation.second and (len(block) > 1 or not operation.first):
            sites.append((operation.second, block[-1]))
    return sites
