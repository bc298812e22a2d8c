"""A manifest cut into train, IID test and test sets that differ in one attribute each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from oodometer.core.columns import columns
from oodometer.core.errors import UsageError
from oodometer.data.load import kind_of, load_data, manifest_at
from oodometer.shifts.attribute import attribute_shifts, check_contents
from oodometer.shifts.attribute_files import SplitFile, write_split
from oodometer.shifts.constraint import parse_base, parse_shift


@dataclass(frozen=True)
class SplitOptions:
    """How a manifest is cut.

    Args:
        test_share: Of the base, for the IID test, where no column ``split`` says; 1: all of it. None: a tenth, and at
            least 100 images or half of the base.
        seed: Of the choice of the IID test.
        check: Read every file: the same content in train and in a test is an error.
        force: Write over what is there.
    """

    test_share: float | None = None
    seed: int = 0
    check: bool = False
    force: bool = False


DEFAULT = SplitOptions()


@dataclass(frozen=True)
class SplitFiles:
    """The sets of a split, each with its file; prints as a table.

    Args:
        notes: What one should know about these sets, a line each.
    """

    files: tuple[SplitFile, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        header = ["set", "file", "images", "classes", "also in iid"]
        return columns([header, *([str(value) for value in asdict(file).values()] for file in self.files)])

    def as_json(self) -> list[dict[str, Any]]:
        """The sets as plain values."""
        return [asdict(file) for file in self.files]


def split(manifest: str, *, base: str, shifts: Sequence[str], out: str, options: SplitOptions = DEFAULT) -> SplitFiles:
    """The sets that a manifest is cut into, written as manifests: train, IID test, and one for each shift.

    Args:
        manifest: A CSV or Parquet table with a column path; where it has a column ``split``, that is kept to.
        base: What all base images have, as ``camera=new,country=us|mx``.
        shifts: What changes, each as ``camera=old``: as the base in all attributes but this.
        out: The folder where the manifests are written.
    """
    wanted = parse_base(base), [parse_shift(text) for text in shifts]
    dataset = load_data(manifest)
    if kind_of(manifest) != "manifest":
        raise UsageError(f"{manifest}: no manifest; give a CSV or Parquet table with a column path")
    cut = attribute_shifts(dataset, *wanted, seed=options.seed, test_share=options.test_share)
    if options.check:
        check_contents(cut)
    files = write_split(cut, manifest_at(manifest), out, force=options.force)
    return SplitFiles(tuple(files), cut.notes)
