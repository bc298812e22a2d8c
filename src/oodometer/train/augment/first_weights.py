"""The first weights of the small networks that make copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from oodometer.core.random import rng_for

SMALL = 0.1
"""Of the last convolution of a residual block, which otherwise would double the variance."""


def give_first_weights(network: Any, name: str, *, seed: int, gain: float = 2.0) -> None:
    """Weights by He's rule, without which plain stacks of convolutions hardly begin to learn; biases of zero.

    What is called ``body`` is added to what went in, and ends in a smaller convolution. Frozen layers stay as they are.

    Args:
        gain: The variance of a weight times how many it is added with; 2 is He's.
    """
    import torch
    from torch import nn

    ends = {id(one.body[-1]) for one in network.modules() if isinstance(getattr(one, "body", None), nn.Sequential)}
    for place, module in network.named_modules():
        if isinstance(module, nn.Conv2d) and module.weight.requires_grad:
            deviation = float(np.sqrt(gain / module.weight[0].numel())) * (SMALL if id(module) in ends else 1)
            drawn = rng_for("first weights", name, place, seed=seed).normal(0, deviation, tuple(module.weight.shape))
            with torch.no_grad():
                module.weight.copy_(torch.from_numpy(drawn.astype(np.float32)))
                if module.bias is not None:
                    module.bias.zero_()
