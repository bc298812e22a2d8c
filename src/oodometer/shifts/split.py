"""A manifest cut into train, IID test and test sets that differ in one attribute each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from oodometer.core.columns import columns
from oodometer.core.dataset import Dataset
from oodometer.core.errors import UsageError
from oodometer.data import addresses
from oodometer.data.layouts.attribute_sets import open_deepfashion_halves
from oodometer.data.layouts.deepfashion2 import TESTED, TRAINED, has_half
from oodometer.data.load import MANIFEST, default_name, kind_of, load_data, manifest_at
from oodometer.shifts.attribute import attribute_shifts, check_contents
from oodometer.shifts.attribute_files import SplitFile, Table, table_of, write_split
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
        manifest: A CSV or Parquet table with a column path; where it has a column ``split``, that is kept to. Or the
            folder of DeepFashion2, whose annotations say as much.
        base: What all base images have, as ``camera=new,country=us|mx``.
        shifts: What changes, each as ``camera=old``: as the base in all attributes but this.
        out: The folder where the manifests are written.
    """
    wanted = parse_base(base), [parse_shift(text) for text in shifts]
    dataset, place, table = _described(manifest)
    cut = attribute_shifts(dataset, *wanted, seed=options.seed, test_share=options.test_share)
    if options.check:
        check_contents(cut)
    files = write_split(cut, place, out, table=table, force=options.force)
    return SplitFiles(tuple(files), cut.notes)


def _described(address: str) -> tuple[Dataset, str, Table | None]:
    """The images, where their manifest lies or would lie, and what it would say; None where it is there."""
    if addresses.is_folder(address) and kind_of(address) != "manifest":
        place = addresses.absolute(address)
        if not any(has_half(place, half) for half in (TRAINED, TESTED)):
            raise UsageError(f"{address}: no manifest; give a CSV or Parquet table with a column path")
        clothes = open_deepfashion_halves(place, name=default_name(place))
        return clothes, addresses.join(place, MANIFEST), table_of(clothes, place)
    dataset = load_data(address)
    if kind_of(address) != "manifest":
        raise UsageError(f"{address}: no manifest; give a CSV or Parquet table with a column path")
    return dataset, manifest_at(address), None
