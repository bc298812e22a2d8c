"""Checkpoints: all that a killed training needs to go on as if nothing had happened.

Every draw is keyed by its epoch and step, so that no state of a generator has to be kept.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oodometer.core.errors import ModelError
from oodometer.core.messages import one_line
from oodometer.models.files import read_file
from oodometer.models.pickle_texts import check_pickles
from oodometer.train.writing import writing

FORMAT = 1


@dataclass(frozen=True)
class Checkpoint:
    """A training after some of its epochs.

    Args:
        key: The digest of recipe and data: a training goes on from a checkpoint of its own key alone.
        net: Name of the network.
        classes: What its outputs stand for.
        epochs_done: How many epochs are behind it.
        network, optimizer: Their state dicts.
        threads: How many threads computed it; another number may round otherwise.
    """

    key: str
    net: str
    classes: list[str]
    epochs_done: int
    network: Any
    optimizer: Any
    threads: int


def write_checkpoint(checkpoint: Checkpoint, path: Path) -> None:
    """Write it aside and rename it into place: a kill leaves the old one or the new one, never half of one."""
    import torch

    aside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    content = io.BytesIO()  # in a file, torch would write its name into it
    torch.save({"format": FORMAT, **vars(checkpoint)}, content)
    with writing(path):
        try:
            aside.write_bytes(content.getvalue())
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)


def read_checkpoint(path: Path) -> Checkpoint:
    """The checkpoint in a file; a file can hold tensors and plain values only, and runs no code."""
    import torch

    content = read_file(path)
    try:
        check_pickles(content, path)
        table = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        if table.pop("format") != FORMAT:
            raise ValueError("of another version")
        return Checkpoint(**table)
    except Exception as error:  # torch.load raises whatever the bytes lead to
        raise ModelError(
            f"{path}: not a checkpoint of oodometer train, or a damaged one ({one_line(error)})"
        ) from error
