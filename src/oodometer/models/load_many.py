"""Models by several specifications and patterns, and in words what each of them is shown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from oodometer.core.errors import UsageError
from oodometer.core.model import Model
from oodometer.core.stored_answers import StoredAnswers
from oodometer.core.talk import Tell, unheard
from oodometer.models.card import Declared
from oodometer.models.load import expand, load_model

NAMED = re.compile(r"([\w.+-]+)=(.+)", re.DOTALL)


def load_models(
    specs: Sequence[str], said: Declared | None = None, *, allow_pickle: bool = False, tell: Tell = unheard
) -> list[Model | StoredAnswers]:
    """The models that specifications (``zoo:*``, ``mine=onnx:a.onnx``) name.

    Args:
        said: What is declared of all of them.
        allow_pickle: Load files that may run code; only those that you trust.
        tell: Told what each model is shown, and where nobody declared it.
    """
    models: list[Model | StoredAnswers] = []
    for given in specs:
        match = NAMED.fullmatch(given)
        name, pattern = (match[1], match[2]) if match else (None, given)
        meant = expand(pattern)
        if name and len(meant) > 1:
            raise UsageError(f"{given}: one name for {len(meant)} models")
        models += [load_model(spec, name=name, card=said, allow_pickle=allow_pickle) for spec in meant]
    for model in models:
        if isinstance(model, Model):
            _tell_input(model, tell)
    return models


def _tell_input(model: Model, tell: Tell) -> None:
    origin = model.notes.get("input", "")
    tell(f"{model.name}: {model.input}" + (f" ({origin})" if origin else ""))
    if origin == "default":
        tell(
            f"warning: {model.name}: nobody declared this preprocessing; if it is not what the model was "
            "trained with, its accuracy will be wrong (flags --size, --resize, --mean..., or a card)"
        )
