"""From a name such as ``resnet20x2`` to a network: a table of families, each with the form of its names."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.extras import import_extra
from oodometer.core.random import key_words


@dataclass(frozen=True)
class Family:
    """Networks that differ in numbers.

    Args:
        form: What the names look like; its groups are the numbers.
        examples: Names of the family, for messages.
        builder: ``module:function``; it takes (n_classes, size, **numbers) and gives back a ``torch.nn.Module``.
        defaults: The numbers where a name doesn't say them.
        trained: Whether gradients train it; otherwise it is done once it is prepared.
        intervention: What it has beyond the plain network of its kind, as a card names it.
    """

    form: str
    examples: tuple[str, ...]
    builder: str
    defaults: Mapping[str, float] = field(default_factory=dict)
    trained: bool = True
    intervention: str | None = None


_NETWORKS = "oodometer.train.networks"
_NUMBER = r"\d+(?:\.\d+)?"
FAMILIES: Mapping[str, Family] = {
    "ResNet": Family(
        rf"resnet(?P<depth>\d+)(?:x(?P<width>{_NUMBER}))?",
        ("resnet20", "resnet20x2", "resnet32", "resnet56"),
        f"{_NETWORKS}.resnet:resnet",
        {"width": 1},
    ),
    "Wide ResNet": Family(
        rf"wrn(?P<depth>\d+)-(?P<width>{_NUMBER})", ("wrn16-2", "wrn28-10"), f"{_NETWORKS}.wide_resnet:wide_resnet"
    ),
    "DenseNet": Family(
        r"densenet(?P<depth>\d+)(?:-(?P<growth>\d+))?",
        ("densenet40", "densenet40-24"),
        f"{_NETWORKS}.densenet:densenet",
        {"growth": 12},
    ),
    "ResNeXt": Family(
        r"resnext(?P<depth>\d+)(?:-(?P<cardinality>\d+)x(?P<base>\d+)d)?",
        ("resnext29", "resnext29-8x32d", "resnext29-8x64d"),
        f"{_NETWORKS}.resnext:resnext",
        {"cardinality": 8, "base": 8},
    ),
    "SE-ResNet": Family(
        rf"se-resnet(?P<depth>\d+)(?:x(?P<width>{_NUMBER}))?",
        ("se-resnet20",),
        f"{_NETWORKS}.squeeze_excitation:se_resnet",
        {"width": 1},
        intervention="se",
    ),
    "SE-ResNeXt": Family(
        r"se-resnext(?P<depth>\d+)(?:-(?P<cardinality>\d+)x(?P<base>\d+)d)?",
        ("se-resnext29",),
        f"{_NETWORKS}.squeeze_excitation:se_resnext",
        {"cardinality": 8, "base": 8},
        intervention="se",
    ),
    "CBAM-ResNet": Family(
        rf"cbam-resnet(?P<depth>\d+)(?:x(?P<width>{_NUMBER}))?",
        ("cbam-resnet20",),
        f"{_NETWORKS}.cbam:cbam_resnet",
        {"width": 1},
        intervention="cbam",
    ),
    "CBAM-ResNeXt": Family(
        r"cbam-resnext(?P<depth>\d+)(?:-(?P<cardinality>\d+)x(?P<base>\d+)d)?",
        ("cbam-resnext29",),
        f"{_NETWORKS}.cbam:cbam_resnext",
        {"cardinality": 8, "base": 8},
        intervention="cbam",
    ),
    "Shake-Shake ResNet": Family(
        r"shake-shake(?P<depth>\d+)-2x(?P<base>\d+)d",
        ("shake-shake26-2x32d", "shake-shake26-2x96d"),
        f"{_NETWORKS}.shake_shake:shake_shake",
        intervention="shake-shake",
    ),
    "Shake-Shake ResNeXt": Family(
        r"shake-shake(?P<depth>\d+)-2x(?P<cardinality>\d+)x(?P<base>\d+)d",
        ("shake-shake29-2x4x64d",),
        f"{_NETWORKS}.shake_shake:shake_shake_resnext",
        intervention="shake-shake",
    ),
    "MSDNet": Family(
        r"msdnet(?P<classifiers>\d+)(?:-(?P<growth>\d+))?",
        ("msdnet5", "msdnet11"),
        f"{_NETWORKS}.msdnet:msdnet",
        {"growth": 6},
    ),
    "multigrid": Family(
        rf"multigrid(?P<depth>\d+)(?:x(?P<width>{_NUMBER}))?",
        ("multigrid14",),
        f"{_NETWORKS}.multigrid:multigrid",
        {"width": 1},
    ),
    "AlexNet": Family(
        rf"alexnet(?:x(?P<width>{_NUMBER}))?", ("alexnet",), f"{_NETWORKS}.alexnet:alexnet", {"width": 1}
    ),
    "SqueezeNet": Family(
        rf"squeezenet(?:x(?P<width>{_NUMBER}))?", ("squeezenet",), f"{_NETWORKS}.squeezenet:squeezenet", {"width": 1}
    ),
    "linear": Family(r"linear", ("linear",), f"{_NETWORKS}.linear:linear"),
    "random features": Family(
        r"random-features(?:-(?P<filters>\d+))?",
        ("random-features",),
        f"{_NETWORKS}.random_features:random_features",
        {"filters": 256},
    ),
    "nearest neighbour": Family(
        r"nearest(?:-(?P<components>\d+))?",
        ("nearest",),
        f"{_NETWORKS}.nearest:nearest",
        {"components": 48},
        trained=False,
    ),
}


def network_names() -> list[str]:
    """A few names of every family.

    >>> network_names()[:3]
    ['alexnet', 'cbam-resnet20', 'cbam-resnext29']
    """
    return sorted(one for family in FAMILIES.values() for one in family.examples)


def parse_network(name: str) -> tuple[str, Mapping[str, float]]:
    """The family that a name belongs to and the numbers in it.

    >>> parse_network("resnet20x2")
    ('ResNet', {'width': 2, 'depth': 20})
    >>> parse_network("resnt20")
    Traceback (most recent call last):
    oodometer.core.errors.UsageError: no network named 'resnt20'; did you mean resnet20?
    """
    for title, family in FAMILIES.items():
        if found := re.fullmatch(family.form, name):
            said = {key: _number(text) for key, text in found.groupdict().items() if text is not None}
            return title, {**family.defaults, **said}
    raise UsageError(f"no network named {name!r}{did_you_mean(name, network_names())}")


def with_width(name: str, width: float) -> str:
    """The name of the same ResNet with so many times the channels.

    >>> with_width("resnet20", 0.5), with_width("resnet20", 2.0)
    ('resnet20x0.5', 'resnet20x2')
    """
    title, _ = parse_network(name)
    if title != "ResNet" or "x" in name:
        raise UsageError(f"--width is for a plain ResNet such as resnet20; the width of {name} is in its name")
    wide = f"{name}x{width:g}"
    parse_network(wide)
    return wide


def build_network(name: str, *, n_classes: int, size: tuple[int, int], seed: int = 0) -> Any:
    """The network of that name as a torch module, with weights drawn by the seed, on (N, 3, H, W)."""
    torch = import_extra("torch", extra="train", what="networks to train")
    title, numbers = parse_network(name)
    module, _, function = FAMILIES[title].builder.partition(":")
    build: Callable[..., Any] = getattr(importlib.import_module(module), function)
    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(int(key_words("weights", name, seed=seed)[0] >> 1))
        return build(n_classes, size, **numbers).to(memory_format=torch.channels_last)


def is_trained(name: str) -> bool:
    """Whether gradients train this network; nearest neighbours need none.

    >>> is_trained("resnet20"), is_trained("nearest")
    (True, False)
    """
    return FAMILIES[parse_network(name)[0]].trained


def network_interventions(name: str) -> tuple[str, ...]:
    """What a network has beyond the plain one of its kind, for the card.

    >>> network_interventions("se-resnet20"), network_interventions("resnet20")
    (('se',), ())
    """
    intervention = FAMILIES[parse_network(name)[0]].intervention
    return () if intervention is None else (intervention,)


def n_parameters(network: Any) -> int:
    """How many numbers its answer is made with: weights, and what it keeps of the training images.

    Statistics of normalisation don't count, nor do the weights of what only helps to learn (``n_aside``).
    """
    kept: int = network.n_kept() if hasattr(network, "n_kept") else 0
    aside: int = network.n_aside() if hasattr(network, "n_aside") else 0
    return kept - aside + sum(int(one.numel()) for one in network.parameters())


def _number(text: str) -> float:
    return int(text) if text.isdigit() else float(text)
