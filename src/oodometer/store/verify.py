"""Whether a store holds what it promises: every file is read and compared with the digest in its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from oodometer.core.dataset import Progress, silent
from oodometer.store.checked import Checked, DamagedError, parse_name, read_checked
from oodometer.store.folder import CELL, FINDINGS, PARTS, folder_of
from oodometer.store.index import Index, forget_gone, look
from oodometer.store.store import FOLDERS, MARK, Store, open_store

THREADS = 8
IMPORT_AGAIN = "import the table again"
RUN_AGAIN = "run again to replace it"


@dataclass(frozen=True)
class Damage:
    """A file that does not hold what it should, or is not there, and what to do."""

    path: str
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}; {self.remedy}"


@dataclass(frozen=True)
class Verified:
    """What was looked at, and what is wrong with it; prints as a list."""

    store: str
    n_cells: int
    n_files: int
    damage: tuple[Damage, ...]

    def __str__(self) -> str:
        seen = f"{self.store}: {self.n_files} files of {self.n_cells} cells, "
        if not self.damage:
            return f"{seen}each as it was written"
        return "\n".join([f"{seen}{len(self.damage)} damaged or missing", *map(str, self.damage)])

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


def verify(store: str | Store, *, forget: bool = False, progress: Progress = silent) -> Verified:
    """Read every file of a store, and say which are damaged or missing.

    Args:
        forget: Keep in mind no longer what is missing, so that it is told no more.
        progress: Told the number of files that were read, and of all.
    """
    damage: list[Damage] = []
    opened = store if isinstance(store, Store) else _opened(str(store), damage)
    index = look(opened)
    if forget:
        forget_gone(opened)
        index = look(opened)
    names = list(_names(opened))
    damage += [*_strange(opened), *_without_images(index)]
    with ThreadPoolExecutor(THREADS) as pool:
        for done, found in enumerate(pool.map(lambda name: _damage(opened, name), names), start=1):
            progress(done, len(names))
            damage += [found] if found else []
    damage += list(_only_in_index(index, damage))
    return Verified(str(opened), len(opened.cell_keys()), len(names), tuple(damage))


def _opened(address: str, damage: list[Damage]) -> Store:
    """The store; where its mark is damaged, a new one is written, since its other files say what they are."""
    try:
        return open_store(address)
    except DamagedError:
        damage.append(Damage(MARK, "damaged", "it has been written anew"))
        return open_store(address, create=True)


def _names(store: Store) -> Iterator[Checked]:
    """The files of a store, but for the index, which is made anew."""
    folders = ["datasets", "shifts", "tables"]
    for key in store.cell_keys():
        folder = folder_of(key)
        folders += [folder, f"{folder}/{PARTS}", f"{folder}/{FINDINGS}"]
    for folder in folders:
        yield from (name for text in store.files.names(folder) if (name := parse_name(folder, text)))


def _damage(store: Store, name: Checked) -> Damage | None:
    try:
        read_checked(store.files, name)
    except FileNotFoundError:  # a run has sealed the cell since
        return None
    except DamagedError:
        return Damage(name.path, "damaged", IMPORT_AGAIN if name.folder == "tables" else RUN_AGAIN)
    return None


def _strange(store: Store) -> Iterator[Damage]:
    """Files that are none of a store's."""
    known = {MARK, *FOLDERS}
    for text in store.files.names(""):
        if text not in known and not text.startswith("index."):
            yield Damage(text, "no file of a store", "remove it")
    for key in store.cell_keys():
        folder = folder_of(key)
        names = store.files.names(folder)
        for text in names:
            if text not in (PARTS, FINDINGS) and parse_name(folder, text) is None:
                yield Damage(f"{folder}/{text}", "no file of a store", "remove it")
        if not any(text.startswith(f"{CELL}.") for text in names):
            yield Damage(f"{folder}/{CELL}", "missing", RUN_AGAIN)


def _without_images(index: Index) -> Iterator[Damage]:
    """Tables of images that cells need and that can't be read."""
    for digest in dict.fromkeys(cell.data.digest for cell in index.cells):
        if index.store.images_table(digest) is None:
            yield Damage(f"datasets/{digest}", "missing or damaged", RUN_AGAIN)


def _only_in_index(index: Index, damage: Sequence[Damage]) -> Iterator[Damage]:
    """What the index remembers and is not there any more; what is there and damaged was found by reading it."""
    at = f"{index.store.files.locate('')}/"
    for line in index.problems:
        path, _, rest = line.removeprefix(at).partition(": ")
        what, _, remedy = rest.partition("; ")
        known = any(found.path.startswith(path) for found in damage)
        if not known and not (what.endswith("damaged") and " on " in path):
            yield Damage(path, what, remedy)
