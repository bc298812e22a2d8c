"""How an image becomes the pixels that a model is shown."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from oodometer.core.errors import UsageError
from oodometer.core.limits import MAX_INPUT_SIDE

Interpolation = Literal["nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"]
INTERPOLATIONS: tuple[Interpolation, ...] = ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos")


@dataclass(frozen=True)
class Geometry:
    """A resize followed by a centre crop, on uint8 pixels, antialiased as Pillow does it.

    Args:
        height, width: The size of the result.
        resize: The shorter side before the crop; None squashes the whole image to (height, width).
        interpolation: Pillow's name for the filter.

    >>> print(Geometry(224, 224, resize=256))
    shorter side to 256 (bilinear), centre crop 224x224
    """

    height: int
    width: int
    resize: int | None = None
    interpolation: Interpolation = "bilinear"

    def __post_init__(self) -> None:
        if min(self.height, self.width) < 1:
            raise UsageError(f"an input of {self.width}x{self.height} pixels: both sides must be at least 1")
        if max(self.height, self.width, self.resize or 0) > MAX_INPUT_SIDE:
            raise UsageError(f"{self}: no side may be longer than {MAX_INPUT_SIDE} pixels")
        if self.resize is not None and self.resize < max(self.height, self.width):
            raise UsageError(
                f"resize {self.resize} is smaller than the crop {self.width}x{self.height}: "
                "the shorter side must be at least as long as the crop"
            )
        if self.interpolation not in INTERPOLATIONS:
            raise UsageError(f"no interpolation named {self.interpolation!r}; known: {', '.join(INTERPOLATIONS)}")

    def __str__(self) -> str:
        size = f"{self.width}x{self.height}"
        if self.resize is None:
            return f"squash to {size} ({self.interpolation})"
        return f"shorter side to {self.resize} ({self.interpolation}), centre crop {size}"

    def describe(self) -> dict[str, Any]:
        """The view as plain values, for cards and keys."""
        return asdict(self)
