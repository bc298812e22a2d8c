"""Attribute shifts: a base of images, and test sets that differ from it in one attribute each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from oodometer.core.condition import Condition, Shift
from oodometer.core.dataset import Dataset, Progress, silent
from oodometer.core.errors import DataError, UsageError
from oodometer.data.source import EncodedSource
from oodometer.data.subset import stratified
from oodometer.shifts.constraint import Constraint, matches, parse_base, parse_shift
from oodometer.shifts.sources import Sources

IID = "iid"
TRAIN = "train"
SPLIT = "split"
"""The column that says which images are for training and which for testing, where the data have one."""

PARTS = {
    "train": TRAIN,
    "training": TRAIN,
    "val": "val",
    "valid": "val",
    "validation": "val",
    "dev": "val",
    "test": "test",
}
TEST_SHARE = 0.1
"""Of the base images, for the IID test, where no column and nobody says which."""
ENOUGH = 100
"""Images that an IID test has at least by default, where half of the base is as many."""
FEW = 30
"""Images of a test set below which its accuracy is told to say little: with 30, 90 % is 73 to 98."""


@dataclass(frozen=True)
class AttributeSplit:
    """The sets that the attributes of the images make.

    Args:
        train: The base images to train on; None where the data have test images alone.
        iid: Base images that are kept for testing.
        shifted: By name the test images that are as the base in all attributes but one.
        notes: What one should know about these sets, a line each.
    """

    train: Dataset | None
    iid: Dataset
    shifted: Mapping[str, Dataset]
    notes: tuple[str, ...]

    @property
    def sets(self) -> dict[str, Dataset]:
        """All sets by name."""
        train = {} if self.train is None else {TRAIN: self.train}
        return {**train, **self.tests}

    @property
    def tests(self) -> dict[str, Dataset]:
        """The test sets by name, the IID test first."""
        return {IID: self.iid, **self.shifted}


def attribute_shifts(
    dataset: Dataset,
    base: Sequence[Constraint],
    shifts: Sequence[Constraint],
    *,
    seed: int = 0,
    test_share: float | None = None,
) -> AttributeSplit:
    """The base images cut into train and IID test, and a test set per shift, one attribute at a time.

    Where the data have a column ``split``, it says what is train and what is test. Otherwise the IID test is a share of
    the base, of each class in proportion, by id and seed; and all images that match a shift are its test set.

    Args:
        base: What the base images have; all of it.
        shifts: Each changes one attribute of the base to values that the base has not.
        test_share: Of the base images, for the IID test where no column says which; 1: all of them, with none left to
            train on. None: a tenth, and at least 100 images or half of the base.

    Raises:
        DataError: A set is empty, or a file is in train and in a test set.
    """
    _check(base, shifts, test_share)
    having = {one.column: matches(dataset, one, what="base") for one in base}
    parts = _parts(dataset)
    of_base = np.logical_and.reduce(list(having.values()))
    train, iid, note = _base(dataset, of_base, parts, seed=seed, test_share=test_share)
    shifted = {}
    for one in shifts:
        changed = _changed(dataset, one, having[one.column])
        others = {column: rows for column, rows in having.items() if column != one.column}
        rows = np.logical_and.reduce([changed, parts.test, *others.values()])
        wanted = [Constraint(one.column, one.values), *(other for other in base if other.column in others)]
        shifted[str(one)] = _taken(dataset, rows, str(one), f"{', '.join(map(str, wanted))}{parts.among}")
    split = AttributeSplit(train, iid, shifted, ())
    _check_train(split, places_of)
    return replace(split, notes=(note, *_class_notes(split), *_file_notes(split), *_small_notes(split)))


def pairs_of(split: AttributeSplit, *, prefix: str = "") -> list[Shift]:
    """The shifts: the IID test against each shifted one, both under names that begin with ``prefix``."""
    standard = Condition(f"{prefix}{IID}", split.iid)
    return [
        Shift(f"{prefix}{name}", "attribute", standard, Condition(f"{prefix}{name}", data))
        for name, data in split.shifted.items()
    ]


def shifts_of_flags(
    sources: Sources,
    base: str | None,
    shifts: Sequence[str],
    *,
    test_share: float | None = None,
    tell: Callable[[str], None] | None = None,
) -> list[Shift]:
    """The shifts that ``--base`` and ``--shift`` name, of the data that ``--data`` names.

    Args:
        tell: Called with what one should know about the sets, a line at a time.
    """
    if base is None or not shifts:
        given, other = ("--shift", "--base country=us") if base is None else ("--base", "--shift country=fr")
        raise UsageError(f"{given} alone is half a shift; give the other half, for example {other}")
    wanted = parse_base(base), [parse_shift(one) for one in shifts]
    if sources.dataset is None:
        raise UsageError("--base: say which images, with --data MANIFEST; its columns are the attributes")
    split = attribute_shifts(sources.dataset, *wanted, seed=sources.seed, test_share=test_share)
    if tell:
        for note in split.notes:
            tell(note)
    return pairs_of(split if sources.images is None else fewer_images(split, sources.images, seed=sources.seed))


def fewer_images(split: AttributeSplit, n: int, *, seed: int = 0) -> AttributeSplit:
    """At most so many images of each test set, shared out among the classes."""
    shifted = {name: stratified(data, n, seed=seed) for name, data in split.shifted.items()}
    return replace(split, iid=stratified(split.iid, n, seed=seed), shifted=shifted)


def check_contents(split: AttributeSplit, progress: Progress = silent) -> None:
    """An error where an image of a test set is also in train, whatever its name, or can't be read; reads every file.

    Args:
        progress: Called with the number of sets that are read, and of all.
    """
    total = len(split.sets)
    for done, data in enumerate(split.sets.values()):
        progress(done, total)
        broken = data.scan().broken
        if broken:
            # They would all count as the same content.
            raise DataError(
                f"{data.title}: {len(broken)} of its {len(data)} images can't be read, "
                f"first {broken[min(broken)]}; mend them, or leave them out of the manifest"
            )
    progress(total, total)
    _check_train(split, lambda data: list(data.scan().contents))


def also_in_iid(split: AttributeSplit, name: str) -> int:
    """How many images of a set have a file that is in the IID test too: other things are labelled in it."""
    of_iid = set(places_of(split.iid))
    return sum(place in of_iid for place in places_of(split.sets[name]))


def classes_of(dataset: Dataset) -> list[str]:
    """The classes that occur, by name, in their order."""
    others = (one for some in dataset.other_labels or () for one in some)
    used = {*dataset.labels.tolist(), *others} - {-1}
    return [dataset.space.classes[one] for one in sorted(used)]


@dataclass(frozen=True)
class _Parts:
    """Which images may be trained on and which are for tests, (N,) bool each; None: nobody says."""

    train: np.ndarray | None
    test: np.ndarray
    tested: str = ""

    @property
    def among(self) -> str:
        """Where test images were looked for, as the end of an error."""
        return f" in the {self.tested} part (column {SPLIT})" if self.tested else ""


def _check(base: Sequence[Constraint], shifts: Sequence[Constraint], test_share: float | None) -> None:
    if not base or not shifts:
        raise UsageError(
            "an attribute shift needs a base and a shift, for example --base country=us --shift country=fr"
        )
    if test_share is not None and not 0 < test_share <= 1:
        raise UsageError(f"a test share of {test_share:g}: expected a number between 0 and 1, for example 0.1")
    columns = [one.column for one in base]
    for one in shifts:
        if one.column not in columns:
            raise UsageError(
                f"shift {one}: the base does not say which {one.column} it has; add {one.column}=... to --base"
            )
    names = [str(one) for one in shifts]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise UsageError(f"shift {twice}: given twice; once is enough")


def _changed(dataset: Dataset, shift: Constraint, of_base: np.ndarray) -> np.ndarray:
    """The images that have what the shift names, (N,) bool; an error where the base has it too."""
    for value in shift.values:
        same = matches(dataset, Constraint(shift.column, (value,)), what="shift") & of_base
        if same.any():
            raise UsageError(f"shift {shift}: the base has {shift.column}={value} too; name another value")
    return matches(dataset, shift, what="shift")


def _parts(dataset: Dataset) -> _Parts:
    if SPLIT not in dataset.columns:
        return _Parts(None, np.ones(len(dataset), dtype=bool))
    texts = [str(one).strip().lower() for one in dataset.columns[SPLIT].tolist()]
    for text in texts:
        if text not in PARTS:
            raise DataError(f"{dataset.name}: column {SPLIT} has the value {text!r}; expected train, val or test")
    parts = np.array([PARTS[text] for text in texts])
    # Where there is no test part, the validation part is what one tests on.
    test = "test" if (parts == "test").any() else "val"
    return _Parts(parts == TRAIN, parts == test, test)


def _base(
    dataset: Dataset, of_base: np.ndarray, parts: _Parts, *, seed: int, test_share: float | None
) -> tuple[Dataset | None, Dataset, str]:
    """Train, the IID test, and how they were told apart."""
    if parts.train is not None:
        rows = of_base & parts.train
        train = _taken(dataset, rows, TRAIN, "") if rows.any() else None
        iid = _taken(dataset, of_base & parts.test, IID, f"the whole base{parts.among}")
        trained = "no images to train on" if train is None else "train is its train part"
        return train, iid, f"column {SPLIT}: {trained}, tests are its {parts.tested} part"
    whole = _taken(dataset, of_base, "base", "the whole base")
    if test_share == 1:
        iid = whole.take(np.arange(len(whole)), part=IID)
        return None, iid, f"{IID} is all {len(whole)} base images; none is left to train on"
    if len(whole) < 2:
        raise DataError(f"{dataset.name}: the base has 1 image, which can't be both train and test")
    n = min(max(_n_iid(len(whole), test_share), 1), len(whole) - 1)
    iid = stratified(whole, n, seed=seed)
    kept = set(iid.ids)
    rest = np.flatnonzero([one not in kept for one in whole.ids])
    note = f"{IID} is {n} of {len(whole)} base images, by id with seed {seed}; the others are train"
    return (
        whole.take(rest, part=TRAIN),
        iid.take(np.arange(n), part=IID, subset=dataset.subset),
        note,
    )


def _n_iid(n: int, test_share: float | None) -> int:
    """How many of n base images are for the IID test.

    >>> _n_iid(5000, None), _n_iid(400, None), _n_iid(40, None), _n_iid(40, 0.1)
    (500, 100, 20, 4)
    """
    if test_share is not None:
        return round(test_share * n)
    return max(round(TEST_SHARE * n), min(ENOUGH, n // 2))


def _taken(dataset: Dataset, rows: np.ndarray, name: str, wanted: str) -> Dataset:
    if not rows.any():
        raise DataError(f"{dataset.name}: no image for {name}: none has {wanted}")
    return dataset.take(np.flatnonzero(rows), part=name)


def places_of(dataset: Dataset) -> list[str | bytes]:
    """Where each image lies, (N,): two rows may be about the same file."""
    source = dataset.source
    if isinstance(source, EncodedSource):
        return [source.images.name(int(row)) for row in dataset.rows]
    return [f"image {row}" for row in dataset.rows]


def _check_train(split: AttributeSplit, keys_of: Callable[[Dataset], Sequence[str | bytes]]) -> None:
    if split.train is None:
        return
    of_train = dict(zip(keys_of(split.train), split.train.ids, strict=True))
    for data in split.tests.values():
        both = [(one, of_train[key]) for key, one in zip(keys_of(data), data.ids, strict=True) if key in of_train]
        if both:
            raise DataError(
                f"{data.title}: {len(both)} of its {len(data)} images are in train too, for example {both[0][0]!r} "
                f"(in train {both[0][1]!r}); remove one of each, or say in a column {SPLIT} which is which"
            )


def _small_notes(split: AttributeSplit) -> list[str]:
    small = [f"{name} {len(data)}" for name, data in split.tests.items() if len(data) < FEW]
    return [f"few images: {', '.join(small)}; an accuracy on fewer than {FEW} says little"] if small else []


def _class_notes(split: AttributeSplit) -> list[str]:
    notes = []
    of_iid = classes_of(split.iid)
    trained = None if split.train is None else classes_of(split.train)
    for name, data in split.tests.items():
        here = classes_of(data)
        if trained is not None and (new := [one for one in here if one not in trained]):
            notes.append(f"{name}: {_listed(new)} without a training image")
        if lost := [one for one in of_iid if one not in here]:
            notes.append(f"{name}: {_listed(lost)} of {IID} not in it; the two are not over the same classes")
        if more := [one for one in here if one not in of_iid]:
            notes.append(f"{name}: {_listed(more)} not in {IID}; the two are not over the same classes")
    return notes


def _listed(classes: list[str]) -> str:
    shown = ", ".join(classes[:5]) + (", ..." if len(classes) > 5 else "")
    return f"{len(classes)} {'class' if len(classes) == 1 else 'classes'} ({shown})"


def _file_notes(split: AttributeSplit) -> list[str]:
    found = {name: also_in_iid(split, name) for name in split.shifted}
    return [f"{name}: {n} of its files are in {IID} too, with other labels" for name, n in found.items() if n]
