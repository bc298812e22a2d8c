"""The zoos that are shipped with the package: small networks for 32 px images as ONNX files with their cards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from oodometer.core.errors import ModelError, UsageError, did_you_mean
from oodometer.core.model import Model
from oodometer.models.card import Declared
from oodometer.models.onnx import from_file, read_onnx
from oodometer.models.session import Network

ZOOS: Mapping[str, str] = MappingProxyType({"cifar10": "CIFAR-10", "icons": "icons"})
"""The first part of a name, ``icons/resnet20``, and what its models are of."""

INSTALLED = Path(__file__).parent
"""Where a wheel has the folders of the zoos."""

IN_THE_REPOSITORY = Path(__file__).parents[3] / "zoo"
"""Where a clone has them, and a package that was installed from it with ``pip install -e``."""


def zoo_of(name: str) -> str | None:
    """The zoo that a name or a pattern is about; None where it is about none of these.

    >>> zoo_of("icons/resnet20"), zoo_of("cifar10/*"), zoo_of("efficientnet-lite0")
    ('icons', 'cifar10', None)
    """
    first, slash, _ = name.partition("/")
    return first if slash and first in ZOOS else None


def folder_of(zoo: str) -> Path:
    """The folder of a zoo, be it there or not."""
    return INSTALLED / zoo if (INSTALLED / zoo).is_dir() else IN_THE_REPOSITORY / zoo


def shipped_names(zoo: str) -> list[str]:
    """The names of all models of a zoo, ``icons/resnet20`` for one; none where it is not there."""
    return sorted(f"{zoo}/{path.stem}" for path in folder_of(zoo).glob("*.onnx") if not path.name.startswith("."))


def check_is_there(zoo: str) -> None:
    """An error where a zoo has no models at all."""
    if not shipped_names(zoo):
        raise ModelError(
            f"{folder_of(zoo)}: the models of {ZOOS[zoo]} are not there; install oodometer again, or train them with "
            "zoo/train.py of its repository"
        )


def load_shipped(name: str, declared: Declared) -> Model:
    """The model of that name, ``icons/resnet20`` for one; its card lies beside it."""
    zoo = name.partition("/")[0]
    check_is_there(zoo)
    if name not in shipped_names(zoo):
        raise UsageError(f"no model named {name!r} in the zoo{did_you_mean(name, shipped_names(zoo))}")
    model = from_file(_path(name), declared, place=ShippedModel(name))
    # By this name it can be had again, whatever it is called.
    return replace(model, kind="zoo", notes={**model.notes, "zoo": name})


@dataclass(frozen=True)
class ShippedModel:
    """The place of a network: its name in the zoo, since each installation has the zoo in a folder of its own."""

    name: str

    def __str__(self) -> str:
        return f"zoo:{self.name}"

    def read(self) -> tuple[Network, str]:
        """The network of that name, and the digest of its file."""
        check_is_there(self.name.partition("/")[0])
        return read_onnx(_path(self.name))


def _path(name: str) -> Path:
    zoo, _, model = name.partition("/")
    return folder_of(zoo) / f"{model}.onnx"
