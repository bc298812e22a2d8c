"""Models of torchvision, with the preprocessing of their weights. Its first weights are the networks of the papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from oodometer.core.errors import MissingExtraError, ModelError, UsageError, did_you_mean
from oodometer.core.extras import import_extra
from oodometer.core.labels import LabelSpace
from oodometer.core.messages import one_line
from oodometer.core.model import Input, Model
from oodometer.core.preprocessing import Geometry
from oodometer.models.card import IMAGENET, Declared, card_beside, label_space
from oodometer.models.torch import to_model
from oodometer.models.torch_files import Net, fit_weights, read_state, state_digest

FIRST = "IMAGENET1K_V1"
"""The weights that the papers measured: AlexNet, SqueezeNet, VGG, ResNet, DenseNet, ResNeXt as first published."""
N_CLASSES = 1000


@dataclass(frozen=True)
class TorchvisionNetwork:
    """The place of a network: its name, and which weights: published ones by name, or those of a file.

    Args:
        allow_pickle: That file may run code.
    """

    name: str
    weights: str
    checkpoint: Path | None
    allow_pickle: bool

    def __str__(self) -> str:
        return f"torchvision:{self.name}{f'@{self.checkpoint}' if self.checkpoint else f'.{self.weights}'}"

    def anywhere(self) -> TorchvisionNetwork:
        """The same place, said so that it does not depend on the current folder."""
        return replace(self, checkpoint=self.checkpoint.absolute() if self.checkpoint else None)

    def read(self) -> tuple[Net, str]:
        """The network with its weights, and their digest."""
        module = self._module().eval()
        for parameter in module.parameters():
            parameter.requires_grad_(False)
        published = self.name if self.weights == FIRST else f"{self.name}.{self.weights}"
        name = self.checkpoint.stem if self.checkpoint else published
        net = Net(module, name=name, digest=state_digest(module, f"torchvision:{self.name}"), kind="torchvision")
        return net, net.digest

    def _module(self) -> Any:
        models = _import()
        if self.checkpoint:
            state = read_state(self.checkpoint, allow_pickle=self.allow_pickle)
            module = models.get_model(self.name, weights=None, num_classes=_n_classes(state))
            fit_weights(module, state, self.checkpoint)
            return module
        try:
            return models.get_model(self.name, weights=self.weights)
        except Exception as error:
            raise ModelError(
                f"{self}: its weights could not be fetched ({one_line(error)}); "
                f"with a file of weights, give torchvision:{self.name}@FILE"
            ) from error


def load_torchvision(rest: str, declared: Declared, *, allow_pickle: bool) -> Model:
    """The model of ``NAME`` with the papers' weights, ``NAME.WEIGHTS`` with others, ``NAME@FILE`` with one's own.

    A .toml beside that file, of the same name, is its card.
    """
    models = _import()
    text, _, checkpoint = rest.partition("@")
    name, _, asked = text.partition(".")
    weights = _weights(models, name, asked)
    place = TorchvisionNetwork(name, weights.name, Path(checkpoint) if checkpoint else None, allow_pickle)
    net, _ = place.read()
    declared = declared.over(card_beside(Path(checkpoint))) if checkpoint else declared
    own = own_input(weights.transforms(), str(place))
    return to_model(
        replace(net, base=(own, "from torchvision"), space=None if checkpoint else _space(weights)),
        declared,
        place=place.anywhere(),
    )


def _import() -> Any:
    import_extra("torch", extra="torchvision", what="torchvision models")
    try:
        return import_extra("torchvision.models", extra="torchvision", what="torchvision models")
    except MissingExtraError:
        raise
    except Exception as error:  # one that was built for another torch fails in its own ways
        raise ModelError(
            f"torchvision can't be imported ({one_line(error)}); install one that fits this torch"
        ) from error


def _weights(models: Any, name: str, asked: str) -> Any:
    known = models.list_models(module=models)
    if name not in known:
        hint = did_you_mean(name, known)
        raise UsageError(f"torchvision has no model named {name!r}{hint if 'did you mean' in hint else ''}")
    every = {one.name: one for one in models.get_model_weights(name)}
    if asked and asked not in every:
        raise UsageError(f"torchvision:{name} has no weights named {asked!r}; there are: {', '.join(every)}")
    return every[asked] if asked else every.get(FIRST, next(iter(every.values())))


def own_input(transforms: Any, name: str) -> Input:
    """The preprocessing that belongs to weights."""
    (size,), (resize,) = transforms.crop_size, transforms.resize_size
    interpolation = transforms.interpolation.value
    if interpolation not in ("nearest", "bilinear", "bicubic", "box", "hamming", "lanczos"):
        raise ModelError(f"{name}: its interpolation ({interpolation}) is not supported")
    view = Geometry(size, size, resize=resize, interpolation=interpolation)
    return Input(view=view, mean=tuple(transforms.mean), std=tuple(transforms.std))


def _n_classes(state: Mapping[str, Any]) -> int:
    """As many as the last layer of weights has: they are often trained for other classes than ImageNet's."""
    return max((len(value) for name, value in list(state.items())[-1:] if getattr(value, "ndim", 0)), default=N_CLASSES)


def _space(weights: Any) -> LabelSpace | None:
    """ImageNet's classes, where the weights have as many."""
    known = weights.meta.get("categories", ())
    return label_space(IMAGENET, folder=Path()) if len(known) == N_CLASSES else None
