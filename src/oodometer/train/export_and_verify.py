"""A trained network becomes a file with a card, and is not done before it answers as the network does."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from oodometer.core.errors import ModelError, OodometerError, UsageError
from oodometer.core.labels import LabelSpace
from oodometer.core.model import Card, Model
from oodometer.models.load import load_model
from oodometer.train.card import Written, card_text
from oodometer.train.export import halved, to_onnx
from oodometer.train.loop import Work, logits_of
from oodometer.train.networks.registry import n_parameters
from oodometer.train.writing import writing

N_COMPARED = 256
# Of the spread of the logits. Two runtimes add float32 numbers in different orders (1e-6 or so); float16 keeps 11 bits
# of every weight (1e-3 or so). A layer that was exported wrongly shows in tens of percents.
MOST_APART, MOST_APART_HALF = 1e-3, 2e-2


def write_model(work: Work, notes: Mapping[str, Any], out: Path, *, half: bool, card: Card, space: LabelSpace) -> Model:
    """The model, read back from ``out``; it appears there only after its logits were compared with the network's."""
    proto = to_onnx(work.network, (work.recipe.size, work.recipe.size))
    told = {"architecture": notes["architecture"], "parameters": n_parameters(work.network), **notes}
    text = card_text(Written(out.stem, card, space, work.given, told))
    aside = out.with_name(f".{out.stem}.partial")
    content = (halved(proto) if half else proto).SerializeToString()
    try:
        with writing(out):
            aside.mkdir(exist_ok=True)
            (aside / out.name).write_bytes(content)
            (aside / f"{out.stem}.toml").write_text(text, encoding="utf-8")
        compare(work, loaded(aside / out.name), half=half)
        with writing(out):
            (aside / f"{out.stem}.toml").replace(out.with_suffix(".toml"))
            (aside / out.name).replace(out)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return loaded(out)


def compare(work: Work, model: Model, *, half: bool) -> None:
    """Refuse a file that answers otherwise than the network."""
    work.network.to(work.device)
    images = work.iid.images[:N_COMPARED]
    ours, theirs = logits_of(work, images), model.logits(images)
    apart, spread = float(np.abs(ours - theirs).max()), float(np.ptp(ours))
    if apart > (MOST_APART_HALF if half else MOST_APART) * max(spread, 1e-6):
        hint = "; export it without --half" if half else ""
        raise ModelError(f"{model.name}: the exported logits are up to {apart:.2g} apart from the network's{hint}")


def finished_model(out: Path, key: str, *, half: bool, card: Card, force: bool = False) -> Model | None:
    """The model that this very training wrote before; None where it has yet to be written."""
    if not out.exists():
        return None
    try:
        model = loaded(out)
    except OodometerError:
        if force:
            return None
        raise
    if model.notes.get("key") != key and force:
        return None
    if model.notes.get("key") != key:
        raise UsageError(f"{out}: there is a model of another training; give another --out, or --force to replace it")
    own = replace(model.card, parameters=card.parameters)  # which are counted when a model is opened
    return model if (model.notes.get("weights"), own) == (precision(half=half), card) else None


def precision(*, half: bool) -> str:
    """The name of the type that weights are stored in."""
    return "float16" if half else "float32"


def loaded(path: Path) -> Model:
    """The model of a file, with the card beside it."""
    model = load_model(f"onnx:{path}")
    assert isinstance(model, Model)  # stored answers come from predictions: alone
    return model
