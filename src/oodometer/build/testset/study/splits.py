"""Splits to train on: half of the new set, folds against the original (Recht et al. 2019, B.2.6, B.2.7, C.3.1).

Each split is two tables that ``oodometer train`` and ``oodometer run`` take: what is trained on, and what is held out.
``splits.json`` beside them says which are which, so that the accuracies are found again in a store.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from oodometer.build.testset.project.image_files import ENDINGS
from oodometer.build.testset.project.offered import content_of
from oodometer.build.testset.sampling.draw import places_in_line
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError
from oodometer.data import addresses
from oodometer.data.decode import header_of
from oodometer.data.source import EncodedSource, ImageFiles

FILE = "splits.json"
HALF, FOLD = "half", "fold"
MOST_HALVES = 20


@dataclass(frozen=True)
class Split:
    """What to train on, and what to ask about.

    Args:
        name: ``half-1``, ``fold-3``.
        kind: ``half`` or ``fold``.
        train: The table of the images to train on, beside ``splits.json``; ``test`` that of those that are held out.
        n_train: How many there are; ``n_test`` of those that are held out.
        seed: Of the draw.
        cut: What the set is called that held-out images are of: who trained on all of it has seen them.
    """

    name: str
    kind: str
    train: str
    test: str
    n_train: int
    n_test: int
    seed: int
    cut: str = ""


def halves(
    release: Dataset, folder: str | Path, *, train: Dataset | None = None, n: int = 2, seed: int = 0
) -> list[Split]:
    """Class-balanced halves of a release: the one is trained on, with other images besides, the other is held out.

    Args:
        train: The images that models are trained on anyway, of the same classes.
        n: So many draws, each another; the paper took two.
    """
    if not 1 <= n <= MOST_HALVES:
        raise UsageError(f"--half {n}: from 1 to {MOST_HALVES} draws")
    sets = {"release": release} | ({"train": train} if train is not None else {})
    writer = _Writer(Path(folder), sets)
    found = []
    for at in range(n):
        part = _parts(release, 2, seed + at)
        rows = {"release": np.flatnonzero(part == 0)} | ({} if train is None else {"train": np.arange(len(train))})
        held = {"release": np.flatnonzero(part == 1)}
        found.append(writer.split(f"{HALF}-{at + 1}", HALF, rows, held, seed + at))
    return writer.done(found)


def folds(
    original: Dataset, folder: str | Path, *, train: Dataset | None = None, k: int = 5, seed: int = 0
) -> list[Split]:
    """Class-balanced folds of the training images, each held out once; the others and the original are trained on.

    That is a new test set from the very distribution of the training images: if models lose on it as they do on the
    release, they had adapted to the original set; if they don't, the release is of another distribution.

    Args:
        original: The original test set, which is trained on; where no training set is given, it is what is cut.
        train: The training images, which are cut.
        k: How many folds.
    """
    cut = original if train is None else train
    least = min(Counter(cut.labels.tolist()).values())
    if not 2 <= k <= least:
        raise UsageError(f"--folds {k}: at least 2, and at most as many as the smallest class has images ({least})")
    writer = _Writer(Path(folder), {"cut": cut} | ({"original": original} if train is not None else {}))
    part = _parts(cut, k, seed)
    more = {} if train is None else {"original": np.arange(len(original))}
    found = [
        writer.split(
            f"{FOLD}-{at + 1}",
            FOLD,
            {"cut": np.flatnonzero(part != at), **more},
            {"cut": np.flatnonzero(part == at)},
            seed,
        )
        for at in range(k)
    ]
    return writer.done(found)


def read_splits(folder: str | Path) -> list[Split]:
    """The splits in a folder."""
    file = Path(folder) / FILE
    try:
        return [Split(**one) for one in json.loads(file.read_text("utf-8"))]
    except FileNotFoundError:
        raise DataError(f"{folder}: no splits there; make some with: oodometer testset splits") from None
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"{file}: can't be read ({error})") from error


def _parts(data: Dataset, n: int, seed: int) -> np.ndarray:
    """To which of n parts each image goes, (N,): of every class as many to each as can be."""
    line = places_in_line(data.ids, seed)
    order = np.lexsort((line, data.labels))
    found = np.empty(len(data), dtype=np.int64)
    found[order] = np.arange(len(data)) % n
    return found


class _Writer:
    """Writes the tables of splits."""

    def __init__(self, folder: Path, sets: Mapping[str, Dataset]) -> None:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(f"{folder}: is there already and not empty; splits go into a new folder")
        for data in sets.values():
            if (data.labels < 0).any():
                raise DataError(f"{data.name}: an image of it has no label, so nothing can be learned from it")
        _check_classes(list(sets.values()))
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.sets = folder, sets

    def split(
        self, name: str, kind: str, train: Mapping[str, np.ndarray], test: Mapping[str, np.ndarray], seed: int
    ) -> Split:
        """Write the two tables of a split."""
        files = f"{name}-train.csv", f"{name}-test.csv"
        n_train, n_test = (self._table(file, rows) for file, rows in zip(files, (train, test), strict=True))
        (held,) = test  # one set is cut
        return Split(name, kind, *files, n_train, n_test, seed, self.sets[held].name)

    def done(self, splits: list[Split]) -> list[Split]:
        """Write what there is, last."""
        (self.folder / FILE).write_text(json.dumps([asdict(one) for one in splits], indent=1) + "\n", "utf-8")
        return splits

    def _table(self, file: str, rows: Mapping[str, np.ndarray]) -> int:
        # Two sets may call different images the same; one set may not.
        lines = [
            (path, f"{which}/{name}" if len(rows) > 1 else name, label)
            for which, some in rows.items()
            for path, name, label in self._lines(which, some)
        ]
        out = io.StringIO(newline="")
        csv.writer(out, lineterminator="\n").writerows([("path", "id", "label"), *lines])
        (self.folder / file).write_text(out.getvalue(), "utf-8")
        return len(lines)

    def _lines(self, which: str, rows: np.ndarray) -> Iterator[tuple[str, str, str]]:
        data = self.sets[which]
        for row in rows.tolist():
            path = _file_of(data, row) or self._written(which, data, row)
            here = path if addresses.is_remote(path) else os.path.relpath(path, self.folder).replace(os.sep, "/")
            yield here, data.ids[row], data.space.classes[data.labels[row]]

    def _written(self, which: str, data: Dataset, row: int) -> str:
        """The file of an image that has none of its own, such as one of an array or of a shard; written once."""
        content = content_of(data, row)
        kind = header_of(io.BytesIO(content))[0]
        place = self.folder / "images" / which / f"{row}.{ENDINGS.get(kind, kind.lower())}"
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        return str(place)


def _file_of(data: Dataset, row: int) -> str:
    """The address of the image's own file; empty where it has none."""
    images = data.source.images if isinstance(data.source, EncodedSource) else None
    return images.paths[int(data.rows[row])] if isinstance(images, ImageFiles) else ""


def _check_classes(sets: Sequence[Dataset]) -> None:
    first, *others = sets
    names = {first.space.classes[label] for label in np.unique(first.labels).tolist()}
    for other in others:
        if names.isdisjoint(other.space.classes[label] for label in np.unique(other.labels).tolist()):
            raise DataError(f"{first.name} and {other.name} have no class in common; do the names of classes agree?")
