"""The models that ``oodometer run`` asks, from its flags."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from oodometer.cli.output import say
from oodometer.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oodometer.core.model import Model
    from oodometer.core.stored_answers import StoredAnswers
    from oodometer.models.card import Declared

NAMED = re.compile(r"([\w.+-]+)=(.+)", re.DOTALL)


def declared_by(flags: dict[str, Any]) -> Declared:
    """What the flags say about the models."""
    from oodometer.models.card import Declared

    size = flags["size"]
    return Declared(
        category=flags["category"],
        parent=flags["parent"],
        interventions=flags["interventions"] or None,
        training_data=flags["training_data"],
        size=None if size is None else (size, size),
        resize=flags["resize"],
        interpolation=flags["interpolation"],
        mean=flags["mean"],
        std=flags["std"],
    )


def load_models(specs: Sequence[str], said: Declared, *, allow_pickle: bool) -> list[Model | StoredAnswers]:
    """The models that the specifications name; what they are shown is told on stderr."""
    from oodometer.core.model import Model
    from oodometer.models.load import expand, load_model

    models: list[Model | StoredAnswers] = []
    for given in specs:
        match = NAMED.fullmatch(given)
        name, pattern = (match[1], match[2]) if match else (None, given)
        found = expand(pattern)
        if name and len(found) > 1:
            raise UsageError(f"{given}: one name for {len(found)} models")
        models += [load_model(spec, name=name, card=said, allow_pickle=allow_pickle) for spec in found]
    for model in models:
        if isinstance(model, Model):
            origin = model.notes.get("input", "")
            say(f"{model.name}: {model.input}" + (f" ({origin})" if origin else ""))
            if origin == "default":
                say(
                    f"warning: {model.name}: nobody declared this preprocessing; if it is not what the model was "
                    "trained with, its accuracy will be wrong (flags --size, --resize, --mean..., or a card)"
                )
    return models
