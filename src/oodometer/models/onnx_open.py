"""How a described ONNX network is readied for work, wherever that is: files and zoo alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from oodometer.core.model import Compute, Forward, Input
from oodometer.models.described import Described
from oodometer.models.onnx_autograd.convert import differentiable
from oodometer.models.session import Network, open_session


@dataclass(frozen=True)
class OpenSession:
    """Gives the function from pixels to logits."""

    described: Described[Network]
    input: Input

    def __call__(self, compute: Compute) -> Forward:
        """The function, on a device."""
        return open_session(self.described.network, self.input, compute, name=self.described.name)


@dataclass(frozen=True)
class OpenGradients:
    """Gives the same network as a torch module."""

    described: Described[Network]
    input: Input

    def __call__(self, compute: Compute) -> Any:
        """The module, on a device."""
        return differentiable(self.described.network, self.input, compute, name=self.described.name)
