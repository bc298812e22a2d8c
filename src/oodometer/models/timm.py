"""Models of timm, with the preprocessing of their own configuration."""

from __future__ import annotations

import math
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
from oodometer.models.paper_networks import PaperNetwork, find_paper_network
from oodometer.models.torch import to_model
from oodometer.models.torch_files import Net, fit_weights, read_state, state_digest


@dataclass(frozen=True)
class TimmNetwork:
    """The place of a network: its name in timm, and a file of weights where they are not the published ones.

    Args:
        allow_pickle: That file may run code.
    """

    name: str
    checkpoint: Path | None
    allow_pickle: bool

    def __str__(self) -> str:
        return f"timm:{self.name}@{self.checkpoint}" if self.checkpoint else f"timm:{self.name}"

    def anywhere(self) -> TimmNetwork:
        """The same place, said so that it does not depend on the current folder."""
        return replace(self, checkpoint=self.checkpoint.absolute() if self.checkpoint else None)

    def read(self) -> tuple[Net, str]:
        """The network with its weights, and their digest."""
        module = _create(_import(), self.name, pretrained=not self.checkpoint).eval()
        if self.checkpoint:
            state = read_state(self.checkpoint, allow_pickle=self.allow_pickle)
            _match_classes(module, state)
            fit_weights(module, state, self.checkpoint)
        for parameter in module.parameters():
            parameter.requires_grad_(False)
        name = self.checkpoint.stem if self.checkpoint else self.name
        net = Net(module, name=name, digest=state_digest(module, f"timm:{self.name}"), kind="timm")
        return net, net.digest


def load_timm(rest: str, declared: Declared, *, allow_pickle: bool) -> Model:
    """The model of ``NAME`` with its published weights, or of ``NAME@checkpoint`` with those of a file.

    A name as the papers write it (``ResNet-50``) is the network with the weights that they measured.

    A .toml beside that file, of the same name, is its card.
    """
    timm = _import()
    said, _, checkpoint = rest.partition("@")
    paper = find_paper_network(said)
    name = said if paper is None else _name_in_timm(paper)
    place = TimmNetwork(name, Path(checkpoint) if checkpoint else None, allow_pickle)
    net, _ = place.read()
    declared = declared.over(card_beside(Path(checkpoint))) if checkpoint else declared
    own = own_input(_config(timm, net.module, declared), name)
    space = None if checkpoint else _space(name, net.module)
    weights = {} if checkpoint else {"weights": _weights(net.module, paper)}
    net = replace(net, base=(own, "from timm"), space=space, notes=weights)
    return to_model(net, declared, place=place.anywhere())


def _name_in_timm(paper: PaperNetwork) -> str:
    kind, _, name = paper.model.partition(":")
    if kind != "timm":
        raise UsageError(f"timm has no {paper.name}; give {paper.model}")
    return name


def _weights(module: Any, paper: PaperNetwork | None) -> str:
    """Which of a network's published weights it has, for the card: timm changes those that it takes by default."""
    if paper is not None:
        return paper.in_words()
    config = module.pretrained_cfg
    return ".".join(str(one) for one in (config.get("architecture"), config.get("tag")) if one)


def _import() -> Any:
    import_extra("torch", extra="timm", what="timm models")
    try:
        timm = import_extra("timm", extra="timm", what="timm models")
        import_extra("timm.data", extra="timm", what="timm models")
    except MissingExtraError:
        raise
    except Exception as error:  # a torchvision that was built for another torch fails in its own ways
        raise ModelError(
            f"timm can't be imported ({one_line(error)}); install a torchvision that fits this torch"
        ) from error
    return timm


def _create(timm: Any, name: str, *, pretrained: bool) -> Any:
    known = timm.list_models()
    if name.partition(".")[0] not in known and "/" not in name:
        raise UsageError(f"timm has no model named {name!r}{_hint(name, known)}")
    try:
        return timm.create_model(name, pretrained=pretrained)
    except Exception as error:
        if pretrained:
            raise ModelError(
                f"timm:{name}: its weights could not be fetched ({one_line(error)}); "
                f"with a file of weights, give timm:{name}@FILE"
            ) from error
        raise ModelError(f"timm:{name}: timm can't make this network ({one_line(error)})") from error


def _match_classes(module: Any, state: Mapping[str, Any]) -> None:
    """Give the module as many classes as the weights of its classifier have: they are often trained for other ones."""
    weight = state.get(f"{module.pretrained_cfg.get('classifier')}.weight")
    if weight is not None and len(weight) != module.num_classes:
        module.reset_classifier(len(weight))
        module.eval()


def _hint(name: str, known: list[str]) -> str:
    hint = did_you_mean(name, known)
    return hint if "did you mean" in hint else ""  # timm knows a thousand names; listing them helps nobody


def _config(timm: Any, module: Any, declared: Declared) -> dict[str, Any]:
    """The module's data configuration; a geometry that is declared whole takes the place of its own."""
    config: dict[str, Any] = timm.data.resolve_model_data_config(module)
    if declared.size is not None and declared.resize is not None:
        return {**config, "input_size": (3, *declared.size), "crop_mode": "squash", "crop_pct": 1}
    return config


def own_input(config: dict[str, Any], name: str) -> Input:
    """The preprocessing that a timm data configuration describes.

    >>> print(own_input({"input_size": (3, 224, 224), "crop_pct": 0.95, "crop_mode": "center",
    ...                  "interpolation": "bicubic", "mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5)}, "vit"))
    shorter side to 235 (bicubic), centre crop 224x224; mean 0.5, 0.5, 0.5; std 0.5, 0.5, 0.5
    """
    channels, height, width = config["input_size"]
    if channels != 3:
        raise ModelError(f"timm:{name}: its input has {channels} channels; only colour images (3) can be shown")
    mode, share = config["crop_mode"], config["crop_pct"]
    if mode == "squash" and share == 1:
        resize = None
    elif mode == "center" and height == width:
        resize = math.floor(height / share)
    else:
        raise ModelError(
            f"timm:{name}: its preprocessing (crop_mode {mode}, crop_pct {share}, {height}x{width}) is not supported; "
            "declare size and resize in a card"
        )
    view = Geometry(height, width, resize=resize, interpolation=config["interpolation"])
    return Input(view=view, mean=tuple(config["mean"]), std=tuple(config["std"]))


def _space(name: str, module: Any) -> LabelSpace | None:
    """ImageNet's classes, where the weights' own name says so (``resnet50.a1_in1k``)."""
    tag = str(module.pretrained_cfg.get("tag") or name.partition(".")[2])
    return label_space(IMAGENET, folder=Path()) if tag.endswith("in1k") and module.num_classes == 1000 else None
