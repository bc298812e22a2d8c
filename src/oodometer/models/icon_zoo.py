"""The zoo of icons: small networks for 32 px icons as ONNX files with their cards, shipped with the package."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from oodometer.core.errors import ModelError, UsageError, did_you_mean
from oodometer.core.model import Model
from oodometer.models.card import Declared
from oodometer.models.onnx import from_file, read_onnx
from oodometer.models.session import Network

PREFIX = "icons/"
INSTALLED = Path(__file__).with_name("icons")
"""Where a wheel has them."""

IN_THE_REPOSITORY = Path(__file__).parents[3] / "zoo" / "icons"
"""Where a clone has them, and a package that was installed from it with ``pip install -e``."""


def icon_folder() -> Path:
    """The folder of the models, be it there or not."""
    return INSTALLED if INSTALLED.is_dir() else IN_THE_REPOSITORY


def icon_names() -> list[str]:
    """The names of all models of icons, with the prefix; none where the zoo is not there."""
    return sorted(f"{PREFIX}{path.stem}" for path in icon_folder().glob("*.onnx") if not path.name.startswith("."))


def check_icons_are_there() -> None:
    """An error where there are no models of icons at all."""
    if not icon_names():
        raise ModelError(
            f"{icon_folder()}: the models of icons are not there; install oodometer again, or train them with "
            "zoo/train.py of its repository"
        )


def load_icon_model(name: str, declared: Declared) -> Model:
    """The model of that name, ``icons/resnet20`` for one; its card lies beside it."""
    check_icons_are_there()
    if name not in icon_names():
        raise UsageError(f"no model named {name!r} in the zoo{did_you_mean(name, icon_names())}")
    model = from_file(_path(name), declared, place=IconModel(name))
    # By this name it can be had again, whatever it is called.
    return replace(model, kind="zoo", notes={**model.notes, "zoo": name})


@dataclass(frozen=True)
class IconModel:
    """The place of a network: its name in the zoo, since each installation has the zoo in a folder of its own."""

    name: str

    def __str__(self) -> str:
        return f"zoo:{self.name}"

    def read(self) -> tuple[Network, str]:
        """The network of that name, and the digest of its file."""
        check_icons_are_there()
        return read_onnx(_path(self.name))


def _path(name: str) -> Path:
    return icon_folder() / f"{name.removeprefix(PREFIX)}.onnx"
