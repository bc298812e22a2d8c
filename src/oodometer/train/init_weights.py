"""The first weights from a network that was trained before, maybe on other classes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oodometer.core.errors import ModelError, UsageError
from oodometer.train.checkpoint import read_checkpoint
from oodometer.train.networks.registry import is_trained


def take_weights(network: Any, path: Path, *, net: str, classes: Sequence[str]) -> bool:
    """Give the network the weights of a checkpoint; whether its classifier came along, as for the same classes."""
    if not is_trained(net):
        raise UsageError(f"--init {path}: {net} has no weights to begin with; leave --init out")
    checkpoint = read_checkpoint(path)
    if checkpoint.net != net:
        raise UsageError(f"--init {path}: it is a {checkpoint.net}, not a {net}; train that, or begin anew")
    own, theirs = network.state_dict(), dict(checkpoint.network)
    same_classes = list(classes) == checkpoint.classes
    if not same_classes:
        for name in list(own)[-2:]:  # weight and bias of the classifier come last in every network
            theirs[name] = own[name]
    try:
        network.load_state_dict(theirs)
    except RuntimeError as error:
        raise ModelError(f"--init {path}: its weights do not fit a {net} of this input size") from error
    return same_classes
