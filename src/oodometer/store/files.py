"""The files of a store: a local folder or any fsspec address, each file written whole or not at all.

On a local disk a file is written aside, synced, renamed into place, and its folder synced: after a power cut it is
there as it was meant, or not at all. Files that belong together get into place together (`Batch`), so that the disk
is waited for once. An object store shows an object only when it is whole.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from oodometer.core.errors import StoreError

ASIDE = "writing"
"""The folder of files that are being written: nothing in it counts."""
OLD_SECONDS = 7 * 24 * 3600
"""Files that another machine began to write are given up after so long."""


class Signature(NamedTuple):
    """What tells that a file has changed without reading it."""

    size: int
    modified: int
    changed: int
    inode: int


@dataclass(frozen=True)
class Files:
    """A folder by address; all paths are relative to it, with ``/``."""

    address: str

    @property
    def is_local(self) -> bool:
        """Whether the address is a path of this machine."""
        return "://" not in self.address

    def locate(self, path: str) -> str:
        """The full address of a file."""
        return f"{self.address.rstrip('/')}/{path}" if path else self.address

    def exists(self, path: str) -> bool:
        """Whether there is such a file or folder."""
        where = self.locate(path)
        return os.path.exists(where) if self.is_local else bool(self.filesystem().exists(where))

    def names(self, path: str) -> list[str]:
        """The names in a folder, sorted; none where there is no folder."""
        where = self.locate(path)
        with self._readable(where):
            try:
                if self.is_local:
                    return sorted(os.listdir(where))
                filesystem = self.filesystem()
                filesystem.invalidate_cache(where)  # other machines may have written since the last look
                listed = filesystem.ls(where, detail=False)
                return sorted(name.rstrip("/").rsplit("/", 1)[-1] for name in listed)
            except (FileNotFoundError, NotADirectoryError):
                return []

    def read(self, path: str) -> bytes:
        """The content of a file; a `FileNotFoundError` where there is none."""
        where = self.locate(path)
        with self._readable(where):
            if self.is_local:
                with open(where, "rb") as file:
                    return file.read()
            return bytes(self.filesystem().cat_file(where))

    def signature(self, path: str) -> Signature | None:
        """What tells that a file has changed; None where it is not there, or where that can't be told."""
        if not self.is_local:
            return None
        try:
            found = os.stat(self.locate(path))
        except OSError:
            return None
        return Signature(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)

    def has(self, path: str, signature: Signature) -> bool:
        """Whether a file is there, and the one of that signature."""
        try:
            found = os.stat(f"{self.address}/{path}")
        except OSError:
            return False
        return (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino) == signature

    @contextlib.contextmanager
    def _readable(self, where: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            raise StoreError(f"{where}: can't be read ({error.strerror or error})") from error

    def write(self, path: str, content: bytes) -> None:
        """Write a file that nobody ever sees half of, and that survives a power cut."""
        with self.batch() as batch:
            batch.add(path, content)

    @contextlib.contextmanager
    def batch(self) -> Iterator[Batch]:
        """Files that get into place together, when the block ends without an error."""
        batch = Batch(self)
        try:
            yield batch
            batch.commit()
        except OSError as error:
            raise StoreError(_why(error.filename or self.address, error)) from error
        finally:
            batch.forget()

    def remove(self, path: str) -> None:
        """Remove a file or a folder with its files; nothing happens where there is none."""
        where = self.locate(path)
        with contextlib.suppress(FileNotFoundError):
            if not self.is_local:
                self.filesystem().rm(where, recursive=True)
            elif os.path.isdir(where):
                import shutil

                shutil.rmtree(where, ignore_errors=True)
            else:
                os.remove(where)

    def sweep(self) -> None:
        """Remove what killed processes were writing."""
        if self.is_local:
            for name in self.names(ASIDE):
                if _is_given_up(name, self.signature(f"{ASIDE}/{name}")):
                    self.remove(f"{ASIDE}/{name}")
            with contextlib.suppress(OSError):  # another process is writing
                os.rmdir(self.locate(ASIDE))

    def filesystem(self) -> Any:
        """The fsspec file system of the address."""
        import fsspec

        try:
            return fsspec.core.url_to_fs(self.address)[0]
        except (ImportError, ValueError) as error:
            raise StoreError(f"{self.address}: {error}") from error


@dataclass
class Batch:
    """Files that are written aside, and get into place together."""

    files: Files
    _aside: dict[str, str] = field(default_factory=dict)
    _new_in: set[str] = field(default_factory=set)

    def add(self, path: str, content: bytes) -> None:
        """Write a file aside."""
        if not self.files.is_local:
            self.files.filesystem().pipe_file(self.files.locate(path), content)
            return
        folder = self.files.locate(ASIDE)
        aside = f"{folder}/{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex}"
        try:
            _write(aside, content)
        except FileNotFoundError:  # it is made when it is needed, and removed when nobody writes
            self._make(folder)
            _write(aside, content)
        self._aside[path] = aside

    def commit(self) -> None:
        """Sync the files, rename them into place, and sync the folders that changed."""
        for aside in self._aside.values():
            _sync(aside)
        for path, aside in self._aside.items():
            where = self.files.locate(path)
            folder = os.path.dirname(where)
            try:
                os.replace(aside, where)
            except FileNotFoundError:  # the folder is new, or another run has just removed it
                self._make(folder)
                os.replace(aside, where)
            self._new_in.add(folder)
        for folder in sorted(self._new_in):
            with contextlib.suppress(FileNotFoundError):  # another run has sealed the cell and removed its parts
                _sync(folder)
        self._aside.clear()
        self._new_in.clear()

    def forget(self) -> None:
        """Remove what did not get into place."""
        for aside in self._aside.values():
            with contextlib.suppress(OSError):
                os.remove(aside)

    def _make(self, folder: str) -> None:
        """Make a folder, and those above it; they are synced with the files."""
        above = folder
        while not os.path.isdir(above):
            above = os.path.dirname(above) or "."
            self._new_in.add(above)
        os.makedirs(folder, exist_ok=True)


def _write(where: str, content: bytes) -> None:
    try:
        with open(where, "wb") as file:
            file.write(content)
    except FileNotFoundError:
        raise
    except OSError:
        with contextlib.suppress(OSError):
            os.remove(where)
        raise


def _sync(where: str) -> None:
    """Wait until a file's content, or a folder's names, are on the disk."""
    if os.name == "nt" and os.path.isdir(where):  # folders can't be opened there, and need not be
        return
    handle = os.open(where, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems can't sync folders
            raise
    finally:
        os.close(handle)


def _is_given_up(name: str, signature: Signature | None) -> bool:
    """Whether nobody will finish a file that is being written: its process has ended, or it is very old."""
    if signature is None:
        return False
    host, _, rest = name.rpartition("-")[0].rpartition("-")
    if host == socket.gethostname() and rest.isdigit():
        return not _is_running(int(rest))
    return time.time_ns() - signature.modified > OLD_SECONDS * 1_000_000_000


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is somebody else's
        return True
    return True


def _why(where: str, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"{where}: no space left; what is finished is kept: free some space and run the same command again"
    return f"{where}: can't be written ({error.strerror or error})"
