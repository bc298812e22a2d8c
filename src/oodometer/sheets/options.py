"""Which images a sheet shows, and how."""

from __future__ import annotations

from dataclasses import dataclass

from oodometer.core.model import Model


@dataclass(frozen=True)
class SheetOptions:
    """Which images are drawn, where they are, and how; of one image ``by``, ``rows``, ``classes``, ``per`` say nothing.

    Args:
        image: Of data the image of this id alone, drawn with the very noise that a run of the same seed gives it: the
            draws of a file that is given by itself are keyed by its own name.
        by: A column whose values are the columns of the sheet; ``ROWCOLUMN+COLUMN`` names one for the rows too.
        rows: How many rows; None: 8.
        classes: The rows that are wanted, by name; empty: any.
        per: Images of each row in each column; None: as many as there is room for.
        side: Of an image, in pixels; None: 112, and of one image its own.
        seed: Of the choice of images, and of every draw.
        data_kind: What the data are, where the address does not tell.
        data_root: The folder of published sets; by default what ``OODOMETER_DATA`` names.
        partial: Use published sets that are not whole.
        model: Whose answers stand beneath the images.
        force: Write over what is there.
    """

    image: str = ""
    by: str = ""
    rows: int | None = None
    classes: tuple[str, ...] = ()
    per: int | None = None
    side: int | None = None
    seed: int = 0
    data_kind: str | None = None
    data_root: str | None = None
    partial: bool = False
    model: Model | None = None
    force: bool = False

    @property
    def of_classes(self) -> list[str]:
        """The flags given that are about data of several classes."""
        names = ("by", "rows", "classes", "per", "data_kind")
        return [f"--{name.replace('_', '-')}" for name in names if getattr(self, name)]


DEFAULT = SheetOptions()
