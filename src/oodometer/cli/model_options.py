"""The flags that say which models are meant, and what they are shown; shared by run and preflight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from oodometer.models.card import Declared

F = TypeVar("F", bound=Callable[..., Any])


def numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:  # noqa: ARG001
    """Three numbers with commas between them."""
    if value is None:
        return None
    try:
        parts = tuple(float(part) for part in value.split(","))
    except ValueError:
        parts = ()
    if len(parts) != 3:
        raise click.BadParameter(f"{value!r}: expected three numbers, for example 0.5,0.5,0.5")
    return parts


def resize_rule(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:  # noqa: ARG001
    """A number of pixels, or ``squash``."""
    if value is None or value == "squash":
        return value
    if not value.isdigit():
        raise click.BadParameter(f"{value!r}: expected a number of pixels for the shorter side, or squash")
    return int(value)


MODELS = (
    click.option(
        "--model",
        "models",
        multiple=True,
        required=True,
        metavar="[NAME=]KIND:REST",
        help="onnx:FILE, torch:MODULE:FUNCTION or FILE, timm:NAME, torchvision:NAME, zoo:NAME, "
        "callable:MODULE:FUNCTION, predictions:FILE; may be given several times.",
    ),
    click.option("--allow-pickle", is_flag=True, help="Load model files that may run code; only those you trust."),
)

SHOWN = (
    click.option("--size", type=click.IntRange(min=1), help="Input: height and width in pixels."),
    click.option("--resize", callback=resize_rule, help="Input: shorter side before the centre crop, or squash."),
    click.option("--interpolation", help="Input: nearest, box, bilinear, hamming, bicubic or lanczos."),
    click.option("--mean", callback=numbers, metavar="R,G,B", help="Input: for pixels in [0, 1]."),
    click.option("--std", callback=numbers, metavar="R,G,B", help="Input: for pixels in [0, 1]."),
    click.option("--channels", type=click.Choice(["rgb", "bgr"]), help="Input: the order that the network wants."),
)


def which_models(command: F) -> F:
    """The flags that name models."""
    return _with(command, MODELS)


def what_they_are_shown(command: F) -> F:
    """The flags of their preprocessing."""
    return _with(command, SHOWN)


def _with(command: F, options: Sequence[Callable[[F], F]]) -> F:
    return reduce(lambda inner, option: option(inner), reversed(options), command)


def declared_by(flags: dict[str, Any]) -> Declared:
    """What the flags say about the models."""
    from oodometer.models.card import Declared

    size = flags["size"]
    return Declared(
        category=flags.get("category"),
        parent=flags.get("parent"),
        interventions=flags.get("interventions") or None,
        training_data=flags.get("training_data"),
        size=None if size is None else (size, size),
        resize=flags["resize"],
        interpolation=flags["interpolation"],
        mean=flags["mean"],
        std=flags["std"],
        channels=flags["channels"],
    )
