"""The files of a store: a local folder or any fsspec address, each file written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from dataclasses import dataclass
from typing import Any

from oodometer.core.errors import StoreError


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
        try:
            if self.is_local:
                return sorted(os.listdir(where))
            filesystem = self.filesystem()
            filesystem.invalidate_cache(where)  # other machines may have written since the last look
            listed = filesystem.ls(where, detail=False)
            return sorted(name.rstrip("/").rsplit("/", 1)[-1] for name in listed)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise StoreError(f"{where}: can't be read ({error.strerror or error})") from error

    def read(self, path: str) -> bytes:
        """The content of a file."""
        where = self.locate(path)
        try:
            if self.is_local:
                with open(where, "rb") as file:
                    return file.read()
            return bytes(self.filesystem().cat_file(where))
        except FileNotFoundError:
            raise
        except OSError as error:
            raise StoreError(f"{where}: can't be read ({error.strerror or error})") from error

    def write(self, path: str, content: bytes, *, durable: bool = False) -> None:
        """Write a file aside and rename it into place, so that nobody ever sees half of it.

        Args:
            durable: Survive a power cut too, not only a kill; it costs a wait for the disk.
        """
        where = self.locate(path)
        try:
            if self.is_local:
                try:
                    _write_local(where, content, durable=durable)
                except FileNotFoundError:  # another run has just removed the folder: make it again
                    _write_local(where, content, durable=durable)
            else:
                # An object store shows an object only when it is whole.
                self.filesystem().pipe_file(where, content)
        except OSError as error:
            raise StoreError(_why(where, error)) from error

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

    def filesystem(self) -> Any:
        """The fsspec file system of the address."""
        import fsspec

        try:
            return fsspec.core.url_to_fs(self.address)[0]
        except (ImportError, ValueError) as error:
            raise StoreError(f"{self.address}: {error}") from error


def _write_local(where: str, content: bytes, *, durable: bool) -> None:
    os.makedirs(os.path.dirname(where), exist_ok=True)
    aside = f"{where}.{uuid.uuid4().hex}.tmp"
    try:
        with open(aside, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(aside, where)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(aside)
        raise


def _why(where: str, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"{where}: no space left; what is finished is kept: free some space and run the same command again"
    return f"{where}: can't be written ({error.strerror or error})"
