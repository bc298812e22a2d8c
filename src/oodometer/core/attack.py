"""An attack: a change of the pixels that depends on the model which is shown them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from oodometer.core.labels import LabelMap


@dataclass(frozen=True)
class Attacked:
    """What an attack did to a batch.

    Args:
        logits: The answers to the perturbed images over the classes that are answered, (N, M) float32.
        findings: How often something was seen that tells how well the attack worked; counts of batches add up.
    """

    logits: np.ndarray
    findings: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Target:
    """What is attacked.

    Args:
        network: A torch module on pixels in [0, 1], (N, 3, H, W) -> (N, K), with gradients; on any device.
        device: Where it is.
        label_map: From the K classes of the network to those that are answered; None: all are.
        check_stop: To be called between steps; raises when the run is being stopped.
    """

    network: Any
    device: str = "cpu"
    label_map: LabelMap | None = None
    check_stop: Callable[[], None] = lambda: None


class AttackFunction(Protocol):
    """Perturbs a batch and asks the network again."""

    def __call__(self, target: Target, images: np.ndarray, labels: np.ndarray, ids: Sequence[str]) -> Attacked:
        """The answers under attack.

        Args:
            images: What the model would be shown, (N, H, W, 3) uint8.
            labels: The true classes among those that are answered, (N,).
            ids: Of the images; the key of every random draw.
        """
        ...


@dataclass(frozen=True)
class Attack:
    """A perturbation within a budget, made anew for every model.

    Args:
        parameters: Everything the result depends on, budget and seed included; part of the cell's key.
        apply: A value that can be sent to other processes.
        judge: From the findings of all batches to what the user should be warned of, a line each.
    """

    name: str
    parameters: Mapping[str, Any]
    apply: AttackFunction
    judge: Callable[[Counter[str]], Sequence[str]] = lambda findings: ()  # noqa: ARG005
