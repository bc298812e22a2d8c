"""Where in a network DeepAugment distorts: found by the network's own word, or by how it is built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from oodometer.core.errors import ModelError


@dataclass(frozen=True)
class Places:
    """Modules of a network by their names.

    Args:
        blocks: The convolutions of each block, in the order in which images pass them.
        head: After it the head distortions take place; None: nowhere.
        body: The modules of a body that keep the shape, each of which can be skipped.
        bottleneck: After it the bottleneck distortions take place; None: nowhere.
        code: What rounds the values of the bottleneck; None: nothing does.
    """

    blocks: tuple[tuple[str, ...], ...]
    head: str | None = None
    body: tuple[str, ...] = ()
    bottleneck: str | None = None
    code: str | None = None


def places_of(network: Any) -> Places:
    """The places that a network names itself (``places()``); of any other, by how it is built.

    The largest container of modules with convolutions is its body, the first convolution its head, the middle one
    its bottleneck. Where there is no such container, each convolution is a block of its own.
    """
    if hasattr(network, "places"):
        named: Places = network.places()
        return named
    convolutions = convolutions_below(network)
    if len(convolutions) < 3:
        raise ModelError(
            f"{type(network).__name__}: has {len(convolutions)} plain convolutions (Conv2d), and DeepAugment distorts "
            "those between the first and the last; give another network"
        )
    body = _largest_container(network)
    inside = tuple(_within(one, convolutions) for one in body)
    blocks = inside or tuple((one,) for one in convolutions[1:-1])
    return Places(blocks, head=convolutions[0], body=body, bottleneck=convolutions[len(convolutions) // 2])


def convolutions_below(module: Any) -> tuple[str, ...]:
    """The names of all plain convolutions, in the order in which they were defined."""
    from torch import nn

    return tuple(name for name, one in module.named_modules() if isinstance(one, nn.Conv2d))


def _within(module: str, convolutions: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in convolutions if name == module or name.startswith(f"{module}."))


def _largest_container(network: Any) -> tuple[str, ...]:
    """The members with convolutions of the container that has most of them; none where that are fewer than four."""
    from torch import nn

    best: tuple[str, ...] = ()
    for name, module in network.named_modules():
        if isinstance(module, nn.Sequential | nn.ModuleList):
            prefix = f"{name}." if name else ""
            members = [(f"{prefix}{key}", child) for key, child in module.named_children()]
            holding = tuple(member for member, child in members if convolutions_below(child))
            best = max(best, holding, key=len)
    return best if len(best) >= 4 else ()
