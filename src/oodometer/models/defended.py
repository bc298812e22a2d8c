"""A model behind a defence: a model of its own, made from the bare one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from oodometer.core.digests import digest_of
from oodometer.core.errors import UsageError
from oodometer.core.model import Compute, Forward, Model, Stoppable
from oodometer.core.stored_answers import StoredAnswers
from oodometer.models.defences.registry import GROUPS, defences

NONE = "none"
"""In place of a defence: the bare model."""


@dataclass(frozen=True)
class OpenDefended:
    """Gives the function from pixels to logits of a defended model; a value that can be sent elsewhere."""

    open: Callable[[Compute], Forward]
    defence: str

    def __call__(self, compute: Compute) -> Forward:
        """The function, on a device."""
        return _Defended(self.open(compute), self.defence)


@dataclass(frozen=True)
class _Defended:
    bare: Forward
    defence: str

    def __call__(self, images: np.ndarray) -> np.ndarray:
        return defences.get(self.defence).answer(self.bare, images)

    def stop(self) -> None:
        """As of the bare model."""
        bare: object = self.bare
        if isinstance(bare, Stoppable):
            bare.stop()


def defended(model: Model, name: str) -> Model:
    """The model behind a defence, called ``NAME+DEFENCE``; its parent is the bare one.

    It has no gradients: an attack on the bare model is no attack on this one.
    """
    defence = defences.get(name)
    card = model.card
    return replace(
        model,
        name=f"{model.name}+{name}",
        digest=digest_of({"model": model.digest, "defence": name, "settings": dict(defence.settings)}),
        open=OpenDefended(model.open, name),
        card=replace(
            card,
            # No line of standard models goes through it.
            category="robust intervention" if card.category == "standard" else card.category,
            parent=model.name,
            interventions=(*card.interventions, name),
        ),
        differentiable=None,
        notes={
            **model.notes,
            "defence": ", ".join([name, *(f"{key} {value}" for key, value in defence.settings.items())]),
        },
    )


def with_defences(models: Sequence[Model | StoredAnswers], names: Sequence[str]) -> list[Model | StoredAnswers]:
    """Every model behind each defence; ``none`` is the bare model, and so is no name at all.

    The name of a group, such as ``each-crop``, stands for its defences, one after the other.
    """
    names = [name for asked in names for name in GROUPS.get(asked, (asked,))]
    if not names:
        return list(models)
    stored = [model.name for model in models if isinstance(model, StoredAnswers)]
    if stored and set(names) != {NONE}:
        raise UsageError(f"{stored[0]}: of files of predictions only the answers are known; a defence needs the model")
    return [
        model if name == NONE or isinstance(model, StoredAnswers) else defended(model, name)
        for model in models
        for name in dict.fromkeys(names)
    ]
