"""What the user declares about a model: its name, its card, its preprocessing; by arguments or in a small TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from oodometer.core.errors import ModelError, UsageError, did_you_mean
from oodometer.core.labels import LabelSpace, numbered
from oodometer.core.limits import MAX_CARD_BYTES
from oodometer.core.model import CHANNELS, Card, Channels, Input
from oodometer.core.preprocessing import INTERPOLATIONS, Geometry, Interpolation
from oodometer.core.reading import check_regular, why

IMAGENET = "imagenet-1k"
Triple = tuple[float, float, float]
PLAIN_MEAN: Triple = (0.0, 0.0, 0.0)
PLAIN_STD: Triple = (1 / 255, 1 / 255, 1 / 255)  # pixel / 255 / std is the pixel


@dataclass(frozen=True)
class Declared:
    """Everything a user may say about a model; None where nothing was said.

    Args:
        name: What to call it.
        category, parent, interventions, training_data, parameters: Its card.
        classes: The classes of its outputs, in order.
        size: Height and width of the input.
        resize: The shorter side before the centre crop, or ``squash``.
        interpolation, mean, std, channels: The rest of the preprocessing; mean and std for pixels in [0, 1].
        version: For a Python function: stands for its source in the digest.
        thread_safe: For a Python function: it may be called by several threads at once.
        notes: What else there is to say (architecture, seed, epochs...), by any names.
    """

    name: str | None = None
    category: str | None = None
    parent: str | None = None
    interventions: tuple[str, ...] | None = None
    training_data: str | None = None
    parameters: int | None = None
    classes: LabelSpace | None = None
    size: tuple[int, int] | None = None
    resize: int | Literal["squash"] | None = None
    interpolation: Interpolation | None = None
    mean: Triple | None = None
    std: Triple | None = None
    channels: Channels | None = None
    version: str | None = None
    thread_safe: bool | None = None
    notes: Mapping[str, str] | None = None

    def over(self, other: Declared) -> Declared:
        """These declarations, and the other's where this says nothing.

        >>> Declared(name="a").over(Declared(name="b", parent="c"))  # doctest: +ELLIPSIS
        Declared(name='a', category=None, parent='c', ...)
        """
        said = {part.name: getattr(self, part.name) for part in fields(self) if getattr(self, part.name) is not None}
        return replace(other, **said)

    def card(self) -> Card:
        """The card, with the defaults where nothing was said."""
        said = {"category": self.category, "interventions": self.interventions}
        return Card(
            parent=self.parent,
            training_data=self.training_data,
            parameters=self.parameters,
            **{key: value for key, value in said.items() if value is not None},  # type: ignore[arg-type]
        )


def declared_input(given: Input) -> Declared:
    """A whole preprocessing as declarations."""
    view = given.view
    return Declared(
        size=(view.height, view.width),
        resize="squash" if view.resize is None else view.resize,
        interpolation=view.interpolation,
        mean=given.mean,
        std=given.std,
        channels=given.channels,
    )


def declared_card(card: Card) -> Declared:
    """A whole card as declarations."""
    return Declared(
        category=card.category or None,
        parent=card.parent,
        interventions=card.interventions,
        training_data=card.training_data,
        parameters=card.parameters,
    )


def default_view(height: int, width: int) -> Geometry:
    """The geometry that is assumed when none is declared: ImageNet's for photographs, squash for small inputs.

    >>> print(default_view(224, 224))
    shorter side to 256 (bilinear), centre crop 224x224
    >>> print(default_view(32, 32))
    squash to 32x32 (bilinear)
    """
    if min(height, width) < 128:
        return Geometry(height, width)
    return Geometry(height, width, resize=round(max(height, width) * 256 / 224))


def preprocessing(declared: Declared, base: Input, source: str) -> tuple[Input, str]:
    """The preprocessing that follows from a kind's own and the user's declarations, and a note on its origin.

    Args:
        declared: What the user said.
        base: What holds where the user said nothing.
        source: Where ``base`` comes from, in a word or two.
    """
    view = base.view
    if declared.size is not None and declared.size != (view.height, view.width):
        view = replace(default_view(*declared.size), interpolation=view.interpolation)
    if declared.resize is not None:
        view = replace(view, resize=None if declared.resize == "squash" else declared.resize)
    if declared.interpolation is not None:
        view = replace(view, interpolation=declared.interpolation)
    parts = ("size", "resize", "interpolation", "mean", "std")
    said = [part for part in parts if getattr(declared, part) is not None]
    silent = [part for part in parts if part not in said]
    note = "declared" if not silent else f"declared ({', '.join(said)}), the rest {source}" if said else source
    channels = declared.channels or base.channels
    return Input(view, declared.mean or base.mean, declared.std or base.std, channels), note


def plain_preprocessing(declared: Declared, view: Geometry, *, name: str) -> tuple[Input, str]:
    """The preprocessing of a model that is shown uint8 pixels as they are, which leaves no room for mean and std."""
    if (declared.mean or PLAIN_MEAN) != PLAIN_MEAN or (declared.std or PLAIN_STD) != PLAIN_STD:
        raise UsageError(f"model {name}: it is shown uint8 pixels as they are; leave mean and std out")
    return preprocessing(declared, Input(view=view, mean=PLAIN_MEAN, std=PLAIN_STD), "default")


def read_card(path: Path) -> Declared:
    """The declarations of a TOML file."""
    text = _read_text(path, "can't read this card, or it is not a TOML file")
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not a TOML file ({why(error)})") from error
    return parse_card(table, where=str(path), folder=path.parent)


def _read_text(path: Path, otherwise: str) -> str:
    """The text of a file of the user's; the error says what is wrong where there is none."""
    try:
        if check_regular(path, UsageError) > MAX_CARD_BYTES:
            raise UsageError(f"{path}: {otherwise} (more than {MAX_CARD_BYTES:,} bytes)")
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {otherwise} ({why(error)})") from error


def card_beside(path: Path) -> Declared:
    """The declarations in the .toml of the same name, if there is one."""
    card = path.with_suffix(".toml")
    return read_card(card) if card.is_file() else Declared()


def parse_card(table: Mapping[str, Any], *, where: str, folder: Path) -> Declared:
    """The declarations in a table of plain values; ``classes`` files are looked for in the folder."""
    top = {key: value for key, value in table.items() if key != "input"}
    below = table.get("input", {})
    if not isinstance(below, Mapping):
        raise UsageError(f"{where}: input must be a table ([input]), not {_kind(below)}")
    _check_keys(top, TOP_KEYS, where=where, also=("input",))
    _check_keys(below, INPUT_KEYS, where=f"{where} [input]", also=())
    said = {key: TOP_KEYS[key](value, f"{where}: {key}") for key, value in top.items()}
    said |= {key: INPUT_KEYS[key](value, f"{where} [input]: {key}") for key, value in below.items()}
    said.setdefault("parameters", _noted_parameters(table.get("notes", {})))
    if "classes" in said:
        said["classes"] = label_space(said["classes"], folder=folder, where=f"{where}: classes")
    _check(Declared(**said), where)
    return Declared(**said)


def _noted_parameters(notes: Mapping[str, Any]) -> int | None:
    """The number that a card of a trained model has among its notes."""
    number = notes.get("parameters")
    return number if isinstance(number, int) and _whole(number) and number > 0 else None


def _check(declared: Declared, where: str) -> None:
    """An error that names the card, where there is no such category or preprocessing."""
    try:
        declared.card()
        Input(mean=declared.mean or PLAIN_MEAN, std=declared.std or PLAIN_STD)
        if declared.size is not None:
            preprocessing(declared, Input(view=default_view(*declared.size)), "default")
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


def label_space(classes: str | tuple[str, ...], *, folder: Path, where: str = "classes") -> LabelSpace:
    """The classes that ``imagenet-1k``, a file with one class per line, or a list names."""
    if not isinstance(classes, str):
        return _distinct("card", classes, where)
    if classes == IMAGENET:
        from oodometer.data.imagenet import imagenet

        return imagenet()
    path = folder / classes
    lines = _read_text(path, "can't read the classes; expected a text file, one class per line").splitlines()
    return _distinct(path.stem, tuple(line.strip() for line in lines if line.strip()), str(path))


def space_of(declared: Declared, n_classes: int, name: str) -> LabelSpace:
    """The declared classes, if there are as many as outputs; without any, numbers."""
    if declared.classes is None:
        return numbered(n_classes)
    if len(declared.classes) != n_classes:
        raise ModelError(
            f"model {name}: it has {n_classes} outputs, but {len(declared.classes)} classes are declared "
            f"({declared.classes.name})"
        )
    return declared.classes


def _distinct(name: str, classes: tuple[str, ...], where: str) -> LabelSpace:
    if not classes:
        raise UsageError(f"{where}: no classes in it")
    seen: set[str] = set()
    for label in classes:
        if label in seen:
            raise UsageError(f"{where}: the class {label!r} is there twice")
        seen.add(label)
    return LabelSpace(name, classes)


def _check_keys(table: Mapping[str, Any], known: Mapping[str, object], *, where: str, also: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"{where}: no key named {key!r}{did_you_mean(key, [*known, *also])}")


def _kind(value: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list", dict: "a table"}
    return names.get(type(value), type(value).__name__)


def _wrong(what: str, expected: str, value: object) -> UsageError:
    return UsageError(f"{what} must be {expected}, not {_kind(value)}")


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise _wrong(what, "a text", value)
    return value


def _notes(value: object, what: str) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        raise UsageError(f"{what} must be a table ([notes]), not {_kind(value)}")
    return {str(key): _note(note, f"{what}: {key}") for key, note in value.items()}


def _note(value: object, what: str) -> str:
    """A note as a text: numbers and lists of texts are written out."""
    if isinstance(value, list):
        return ", ".join(_texts(value, what))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise _wrong(what, "a text, a number, true or false, or a list of texts", value)


def _flag(value: object, what: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(what, "true or false", value)
    return value


def _texts(value: object, what: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise _wrong(what, "a list of texts", value)
    return tuple(value)


def _classes(value: object, what: str) -> str | tuple[str, ...]:
    return value if isinstance(value, str) else _texts(value, what)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _count(value: object, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(what, "a whole number", value)
    return value


def _number(value: object) -> bool:
    return _whole(value) or isinstance(value, float)


def _size(value: object, what: str) -> tuple[int, int]:
    if isinstance(value, int) and _whole(value):
        return value, value
    if isinstance(value, list) and len(value) == 2 and all(_whole(side) for side in value):
        return value[0], value[1]
    raise _wrong(what, "a number of pixels or [height, width]", value)


def _resize(value: object, what: str) -> int | str:
    if value == "squash" or _whole(value):
        return value  # type: ignore[return-value]
    raise _wrong(what, 'a number of pixels or "squash"', value)


def _interpolation(value: object, what: str) -> str:
    name = _text(value, what)
    if name not in INTERPOLATIONS:
        raise UsageError(f"{what}: no interpolation named {name!r}{did_you_mean(name, INTERPOLATIONS)}")
    return name


def _triple(value: object, what: str) -> Triple:
    if isinstance(value, list) and len(value) == 3 and all(map(_number, value)):
        return float(value[0]), float(value[1]), float(value[2])
    raise _wrong(what, "three numbers for pixels in [0, 1]", value)


def _channels(value: object, what: str) -> str:
    order = _text(value, what)
    if order not in CHANNELS:
        raise UsageError(f"{what}: expected rgb or bgr, not {order!r}")
    return order


Parser = Callable[[object, str], Any]
TOP_KEYS: Mapping[str, Parser] = {
    "name": _text,
    "category": _text,
    "parent": _text,
    "interventions": _texts,
    "training_data": _text,
    "parameters": _count,
    "classes": _classes,
    "version": _text,
    "thread_safe": _flag,
    "notes": _notes,
}
INPUT_KEYS: Mapping[str, Parser] = {
    "size": _size,
    "resize": _resize,
    "interpolation": _interpolation,
    "mean": _triple,
    "std": _triple,
    "channels": _channels,
}
