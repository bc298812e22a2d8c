"""From a specification such as ``zoo:efficientnet-lite0`` or ``onnx:mine.onnx`` to a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Protocol

import numpy as np

from oodometer.core.errors import UsageError
from oodometer.core.model import Card, Input, Model
from oodometer.core.registry import Registry
from oodometer.core.stored_answers import StoredAnswers
from oodometer.core.talk import Tell, unheard
from oodometer.models.card import Declared, declared_card, declared_input, read_card


class Kind(Protocol):
    """How the models of one runtime are loaded."""

    def __call__(self, rest: str, declared: Declared, *, allow_pickle: bool) -> Model | StoredAnswers:
        """The model that ``KIND:rest`` names."""
        ...


model_kinds: Registry[Kind] = Registry(
    "model kind",
    {
        "onnx": "oodometer.models.onnx:load_onnx",
        "predictions": "oodometer.models.predictions:load_predictions",
        "torch": "oodometer.models.torch:load_torch",
        "timm": "oodometer.models.timm:load_timm",
        "torchvision": "oodometer.models.torchvision:load_torchvision",
        "zoo": "oodometer.models.zoo:load_zoo",
        "callable": "oodometer.models.callable:load_callable",
    },
    group="oodometer.models",
)

KIND = re.compile(r"([A-Za-z][\w-]+):(.*)", re.DOTALL)  # two letters at least: C:\mine.onnx is a path


def load_model(
    spec: str | PathLike[str] | Callable[[np.ndarray], np.ndarray],
    *,
    name: str | None = None,
    card: Declared | Card | str | PathLike[str] | None = None,
    input: Input | None = None,  # noqa: A002 - the word of the card and of Model
    allow_pickle: bool = False,
) -> Model | StoredAnswers:
    """The model that a specification names; of ``predictions:`` only the answers are known.

    Args:
        spec: ``KIND:REST``, a path that ends in .onnx, or a function (N, H, W, 3) uint8 -> (N, K).
        name: What to call it.
        card: What is known of it: declarations, a card, or the path of a TOML file.
        input: Its preprocessing, if not its own or the default.
        allow_pickle: Whether a file may run code of its own while it is loaded; only for files you trust.
    """
    declared = Declared(name=name).over(_declarations(card))
    if input is not None:
        declared = declared_input(input).over(declared)
    if callable(spec):
        from oodometer.models.callable import from_function

        return from_function(spec, declared)
    kind, rest = split_spec(str(spec))
    loader = model_kinds.get(kind)
    if kind != "callable" and (declared.version, declared.thread_safe) != (None, None):
        raise UsageError(f"{spec}: version and thread_safe are for Python functions (callable:) only")
    return loader(rest, declared, allow_pickle=allow_pickle)


def _declarations(card: Declared | Card | str | PathLike[str] | None) -> Declared:
    if card is None:
        return Declared()
    if isinstance(card, Declared):
        return card
    if isinstance(card, Card):
        return declared_card(card)
    return read_card(Path(card))


def split_spec(spec: str) -> tuple[str, str]:
    """A specification as kind and rest.

    >>> split_spec("zoo:efficientnet-lite0"), split_spec("nets/mine.onnx")
    (('zoo', 'efficientnet-lite0'), ('onnx', 'nets/mine.onnx'))
    >>> split_spec("resnet50")
    Traceback (most recent call last):
    oodometer.core.errors.UsageError: model 'resnet50': expected KIND:NAME, for example timm:resnet50; known kinds: \
callable, onnx, predictions, timm, torch, torchvision, zoo
    """
    match = KIND.fullmatch(spec)
    if match and match[2]:
        return match[1], match[2]
    if match is None and spec.lower().endswith(".onnx"):
        return "onnx", spec
    kinds = ", ".join(model_kinds.names())
    raise UsageError(f"model {spec!r}: expected KIND:NAME, for example timm:resnet50; known kinds: {kinds}")


def model_names() -> list[str]:
    """What a model can be named by: the kinds (``onnx:``), and the models of the zoo."""
    from oodometer.models.zoo import zoo_names

    kinds = [kind for kind in model_kinds.names() if kind != "zoo"]
    return [*(f"{kind}:" for kind in kinds), *(f"zoo:{name}" for name in zoo_names())]


def expand(spec: str) -> list[str]:
    """The specifications that a pattern stands for: ``zoo:*``, or ``zoo:icons/*`` for all models of icons.

    >>> expand("zoo:efficientnet-lite[01]*")
    ['zoo:efficientnet-lite0', 'zoo:efficientnet-lite1']
    >>> expand("onnx:mine.onnx")
    ['onnx:mine.onnx']
    """
    kind, _, pattern = spec.partition(":")
    if kind != "zoo" or "*" not in pattern:
        return [spec]
    from oodometer.models.zoo import zoo_names_like

    return [f"zoo:{name}" for name in zoo_names_like(pattern)]


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


def load_answering(
    spec: str, said: Declared | None = None, *, allow_pickle: bool = False, tell: Tell = unheard
) -> Model:
    """The one model that a specification names, which can be asked: of files of predictions only answers are known."""
    first, *others = load_models([spec], said, allow_pickle=allow_pickle, tell=tell)
    if others:
        raise UsageError(f"{spec}: {len(others) + 1} models; name one of them")
    if not isinstance(first, Model):
        raise UsageError(f"{spec}: stored answers can't be asked about other pixels; give a model")
    return first


def _tell_input(model: Model, tell: Tell) -> None:
    origin = model.notes.get("input", "")
    tell(f"{model.name}: {model.input}" + (f" ({origin})" if origin else ""))
    if origin == "default":
        tell(
            f"warning: {model.name}: nobody declared this preprocessing; if it is not what the model was "
            "trained with, its accuracy will be wrong (flags --size, --resize, --mean..., or a card)"
        )
