"""Power cuts without a power cut: what a disk may hold when the current fails after any of a program's operations.

`Trace` watches what a program does below a folder; `states_after` gives the folders that a journalling file system may
show after a cut. What counts, as POSIX and the file systems have it:

- The content of a file is safe from the moment it is fsynced. Before, it may be empty, begin right and end anywhere,
  have zeros where the data should be, or be there.
- A new, renamed or removed name is safe from the moment its directory is fsynced. Before, it may be lost. The names
  of one directory change in the order of the program; of two directories, either may be ahead.
- So a rename may be safe where the data of the file are not: the name is there, and the file is empty.
"""

from __future__ import annotations

import builtins
import functools
import io
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Rng = np.random.Generator


@dataclass(frozen=True)
class Operation:
    """One step of a program.

    Args:
        verb: ``create``, ``mkdir``, ``rename``, ``remove``, ``write``, ``sync`` or ``sync folder``.
        path: Relative to the folder that is watched; the new name where it is renamed.
        inode: Of the file; 0 for a folder.
        content: What is written.
        source: The old name where it is renamed.
    """

    verb: str
    path: str
    inode: int = 0
    content: bytes = b""
    source: str = ""

    @property
    def folder(self) -> str:
        """The directory whose fsync makes the name safe."""
        return os.path.dirname(self.path)


@dataclass
class Trace:
    """The operations of a program below a folder, in order; `watched` fills it."""

    root: Path
    operations: list[Operation] = field(default_factory=list)
    _inodes: dict[str, int] = field(default_factory=dict)
    _contents: dict[int, bytes] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.RLock)

    def relative(self, path: Any) -> str | None:
        """The place of a path below the folder; None where it is elsewhere."""
        if isinstance(path, int):
            path = os.readlink(f"/proc/self/fd/{path}")
        where = os.path.abspath(os.fsdecode(path))
        root = str(self.root)
        return os.path.relpath(where, root) if where == root or where.startswith(f"{root}/") else None

    def created(self, path: str) -> None:
        """A file was opened for writing."""
        if path not in self._inodes:
            self._inodes[path] = 1 + len(self._contents)
            self._contents[self._inodes[path]] = b""
            self.operations.append(Operation("create", path, self._inodes[path]))
        self._look(path)

    def synced(self, path: str) -> None:
        """A file or a folder was fsynced."""
        if (self.root / path).is_dir():
            self.operations.append(Operation("sync folder", "" if path == "." else path))
        else:
            self.created(path)
            self.operations.append(Operation("sync", path, self._inodes[path]))

    def renamed(self, source: str, path: str) -> None:
        """A file has another name now."""
        self.operations.append(Operation("rename", path, self._inodes[source], source=source))
        self._inodes[path] = self._inodes.pop(source)

    def linked(self, source: str, path: str) -> None:
        """A file has a second name now."""
        self._inodes[path] = self._inodes[source]
        self.operations.append(Operation("create", path, self._inodes[source]))

    def synced_all(self) -> None:
        """Everything was written to the disk."""
        self.look_at_all()
        for path in [self.root, *sorted(self.root.rglob("*"))]:
            self.synced(path.relative_to(self.root).as_posix())

    def removed(self, path: str) -> None:
        """A name is gone."""
        self.operations.append(Operation("remove", path, self._inodes.pop(path, 0)))

    def made_folder(self, path: str) -> None:
        """A folder is new."""
        self.operations.append(Operation("mkdir", path))

    def _look(self, path: str) -> None:
        """Note what was written to a file since it was last looked at."""
        content, inode = (self.root / path).read_bytes(), self._inodes[path]
        if content != self._contents[inode]:
            self._contents[inode] = content
            self.operations.append(Operation("write", path, inode, content))

    def look_at_all(self) -> None:
        """Note what was written to every file that is there."""
        for path in sorted(self.root.rglob("*")):
            if path.is_file():
                self.created(path.relative_to(self.root).as_posix())


@contextmanager
def watched(root: Path) -> Iterator[Trace]:
    """The trace of what this process does below a folder that does not exist yet, or is empty."""
    root.mkdir(parents=True, exist_ok=True)
    trace = Trace(root.resolve())
    with pytest.MonkeyPatch.context() as patch:
        _patch(patch, trace)
        yield trace
    trace.look_at_all()
    missed = state_of(trace.operations) != folder_content(trace.root)
    assert not missed, "the program changed files in a way that is not traced"


def _patch(patch: pytest.MonkeyPatch, trace: Trace) -> None:
    def around(module: Any, name: str, note: Callable[..., None], prepare: Callable[..., None] | None = None) -> None:
        real = getattr(module, name)

        @functools.wraps(real)
        def call(*args: Any, **more: Any) -> Any:
            with trace._lock:
                if prepare:
                    prepare(*args)
                result = real(*args, **more)
                note(*args, **more)
            return result

        patch.setattr(module, name, call)

    def place(path: Any, more: dict[str, Any]) -> str | None:
        if more.get("dir_fd") is None:
            return trace.relative(path)
        folder = os.readlink(f"/proc/self/fd/{more['dir_fd']}")  # as shutil.rmtree does it
        return trace.relative(os.path.join(folder, os.fsdecode(path)))

    def note_open(file: Any, mode: str = "r", *_: Any, **__: Any) -> None:
        if set(mode) & set("wax+") and not isinstance(file, int) and (path := trace.relative(file)):
            trace.created(path)

    def note_os_open(file: Any, flags: int, *_: Any, **more: Any) -> None:
        if flags & (os.O_WRONLY | os.O_RDWR) and (path := place(file, more)):
            trace.created(path)

    def note_sync(descriptor: Any) -> None:
        number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
        if path := trace.relative(number):
            trace.synced(path)

    def look_before(source: Any, *_: Any) -> None:
        if (path := trace.relative(source)) and os.path.isfile(source):
            trace.created(path)

    def note_rename(source: Any, target: Any, **_: Any) -> None:
        old, new = trace.relative(source), trace.relative(target)
        assert (old is None) == (new is None), "a rename into or out of the folder is not traced"
        if old and new:
            assert not os.path.isdir(target), "the rename of a folder is not traced"
            trace.renamed(old, new)

    def note_link(source: Any, target: Any, **_: Any) -> None:
        old, new = trace.relative(source), trace.relative(target)
        if old and new:
            trace.linked(old, new)

    def note_removal(path: Any, **more: Any) -> None:
        if where := place(path, more):
            trace.removed(where)

    def note_mkdir(path: Any, *_: Any, **__: Any) -> None:
        if (where := trace.relative(path)) and where != ".":
            trace.made_folder(where)

    for module in (builtins, io):
        around(module, "open", note_open)
    around(os, "open", note_os_open)
    for name in ("fsync", "fdatasync"):
        around(os, name, note_sync)
    for name in ("rename", "replace"):
        around(os, name, note_rename, look_before)
    for name in ("remove", "unlink", "rmdir"):
        around(os, name, note_removal)
    around(os, "mkdir", note_mkdir)
    around(os, "link", note_link, look_before)
    around(os, "sync", trace.synced_all)


def folder_content(root: Path) -> dict[str, bytes | None]:
    """What a folder holds: the content of files, None for folders."""
    paths = sorted(root.rglob("*"))
    return {one.relative_to(root).as_posix(): one.read_bytes() if one.is_file() else None for one in paths}


def state_of(operations: list[Operation]) -> dict[str, bytes | None]:
    """What a folder holds where the current never fails."""
    contents = {step.inode: step.content for step in operations if step.verb == "write"}
    return _named([step for step in operations if step.verb in NAMING], contents)


NAMING = ("create", "mkdir", "rename", "remove")


def state_after(operations: list[Operation], cut: int, rng: Rng) -> dict[str, bytes | None]:
    """What the disk may hold after a cut behind so many operations; the draw decides among the states allowed."""
    done = operations[:cut]
    kept = _kept_names(done, rng)
    return _named(kept, {inode: _kept_content(done, inode, rng) for inode in {step.inode for step in done}})


def materialise(state: dict[str, bytes | None], root: Path) -> None:
    """Write the state as a folder."""
    root.mkdir(parents=True)
    for path, content in sorted(state.items()):
        if content is None:
            (root / path).mkdir(parents=True, exist_ok=True)
        else:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)


def _kept_names(done: list[Operation], rng: Rng) -> list[Operation]:
    """The changes of names that reached the disk: in each folder the first few, at least all before its last fsync."""
    by_folder: dict[str, list[int]] = {}
    safe: dict[str, int] = {}
    for place, step in enumerate(done):
        if step.verb in NAMING:
            by_folder.setdefault(step.folder, []).append(place)
        elif step.verb == "sync folder":
            safe[step.path] = len(by_folder.get(step.path, []))
    greed = rng.choice(["none", "all", "some"])  # the extremes are the likely ones, and the nasty ones
    kept: list[int] = []
    for folder, places in by_folder.items():
        least, most = safe.get(folder, 0), len(places)
        count = {"none": least, "all": most}.get(str(greed), int(rng.integers(least, most + 1)))
        kept += places[:count]
    return [done[place] for place in sorted(kept)]


def _kept_content(done: list[Operation], inode: int, rng: Rng) -> bytes:
    """What of a file's data reached the disk."""
    written = synced = b""
    is_safe = False
    for step in done:
        if step.inode == inode and step.verb == "write":
            written, is_safe = step.content, False
        elif step.inode == inode and step.verb == "sync":
            synced, is_safe = written, True
    if is_safe:
        return written
    part = written[: rng.integers(len(written) + 1)]
    zeros = bytes(len(written))
    allowed = [b"", synced, written, part, zeros, part + bytes(len(written) - len(part))]
    return allowed[rng.integers(len(allowed))]


def _named(steps: list[Operation], contents: dict[int, bytes]) -> dict[str, bytes | None]:
    """The files by name; what lies in a folder that was lost is lost too."""
    names: dict[str, int] = {}
    folders: set[str] = {""}
    for step in steps:
        if step.verb == "mkdir":
            folders.add(step.path)
        elif step.verb in ("create", "rename"):
            names.pop(step.source, None)
            names[step.path] = step.inode
        else:
            names.pop(step.path, None)
            folders.discard(step.path)

    def is_there(path: str) -> bool:
        folder = os.path.dirname(path)
        return folder in folders and (not folder or is_there(folder))

    files = {path: contents.get(inode, b"") for path, inode in names.items() if is_there(path)}
    return files | {path: None for path in folders if path and is_there(path)}
