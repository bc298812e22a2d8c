"""Local paths and fsspec addresses (anything with ``://``) behind a few plain functions."""

from __future__ import annotations

import glob
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any

from oodometer.core.errors import DataError
from oodometer.core.reading import check_regular

# What file systems call the thing that changes when a file does, the most telling first.
_MARKS = ("ETag", "etag", "md5Hash", "md5", "checksum", "mtime", "LastModified", "last_modified", "updated", "created")

_GRAIN_NS = 50_000_000
"""Clocks of file systems go by the ticks of the system, up to 10 ms apart; two changes within a tick look alike."""

_COARSE_GRAIN_NS = 2_000_000_000
"""Some file systems keep whole seconds, or every other one: times without a fraction may be of those."""


@dataclass(frozen=True)
class FoundFile:
    """A file below a folder: its path there, with ``/``, and its version (None where it can't be known)."""

    path: str
    version: str | None


def is_remote(address: str) -> bool:
    """Whether fsspec is needed for it.

    >>> is_remote("s3://bucket/val"), is_remote("val/")
    (True, False)
    """
    return "://" in address


def absolute(address: str) -> str:
    """The address such that a change of the working directory can't change its meaning."""
    return address if is_remote(address) else os.path.abspath(address)


def join(folder: str, path: str) -> str:
    """The address of a path inside a folder; an absolute path or address stays what it is.

    >>> join("memory://val/", "0/a.png"), join("zip://val::data.zip", "a.png"), join("x", "s3://b/a.png")
    ('memory://val/0/a.png', 'zip://val/a.png::data.zip', 's3://b/a.png')
    """
    if is_remote(path) or os.path.isabs(path):
        return path
    if not is_remote(folder):
        return os.path.join(folder, *path.split("/"))
    outer, mark, inner = folder.partition("::")
    gap = "" if outer.endswith("/") else "/"
    return f"{outer}{gap}{path}{mark}{inner}"


def parent(address: str) -> str:
    """The folder that holds the file.

    >>> parent("memory://val/list.csv"), parent("list.csv")
    ('memory://val', '.')
    """
    if not is_remote(address):
        return os.path.dirname(address) or "."
    outer, mark, inner = address.partition("::")
    return f"{outer.rpartition('/')[0]}{mark}{inner}"


def base_name(address: str) -> str:
    """The last part of the address.

    >>> base_name("runs/val/"), base_name("memory://val/a.tar"), base_name("zip://val::data.zip")
    ('val', 'a.tar', 'val')
    """
    outer = address.partition("::")[0].replace(os.sep, "/").rstrip("/")
    return outer.rpartition("/")[2]


def exists(address: str) -> bool:
    """Whether there is a file or folder."""
    if is_remote(address):
        fs, path = _file_system(address)
        return bool(_remote(address, fs.exists, path))
    return os.path.exists(address)


def is_folder(address: str) -> bool:
    """Whether it is a folder."""
    if is_remote(address):
        fs, path = _file_system(address)
        return bool(_remote(address, fs.isdir, path))
    return os.path.isdir(address)


def read_bytes(address: str) -> bytes:
    """The whole content of a file."""
    if is_remote(address):
        fs, path = _file_system(address)
        return bytes(_remote(address, fs.cat_file, path))
    try:
        check_regular(address)
        with open(address, "rb", buffering=0) as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise _unreadable(address, error) from error


def read_range(address: str, start: int, length: int) -> bytes:
    """Exactly these bytes of a file."""
    if is_remote(address):
        fs, path = _file_system(address)
        content = bytes(_remote(address, fs.cat_file, path, start=start, end=start + length)) if length else b""
    else:
        with open_binary(address) as file:
            file.seek(start)
            content = file.read(length)
    if len(content) != length:
        raise DataError(f"{address}: ends at byte {start + len(content)}, before {start + length}; it is cut short")
    return content


def open_binary(address: str) -> IO[bytes]:
    """The file, open for seek and read."""
    if is_remote(address):
        fs, path = _file_system(address)
        file: IO[bytes] = _remote(address, fs.open, path, "rb")
        return file
    try:
        check_regular(address)
        return open(address, "rb")
    except (OSError, ValueError) as error:
        raise _unreadable(address, error) from error


def size_of(address: str) -> int:
    """The bytes of a file."""
    if is_remote(address):
        fs, path = _file_system(address)
        return int(_remote(address, fs.size, path))
    try:
        return check_regular(address)
    except (OSError, ValueError) as error:
        raise _unreadable(address, error) from error


def version_of(address: str) -> str | None:
    """A text that changes when the file does; None where that can't be known.

    Of a file that was changed just now it is another text each time: the next change may bear the same time.
    """
    asked_ns = time.time_ns()
    if is_remote(address):
        fs, path = _file_system(address)
        return _version_of_info(_remote(address, fs.info, path), asked_ns)
    try:
        return _version_of_stat(os.stat(address), asked_ns)
    except (OSError, ValueError) as error:
        raise _unreadable(address, error) from error


def list_files(folder: str) -> list[FoundFile]:
    """All files below a folder, sorted by path; symbolic links are followed, hidden files and folders left out."""
    if is_remote(folder):
        fs, root = _file_system(folder)
        asked_ns = time.time_ns()
        found: dict[str, Any] = _remote(folder, fs.find, root, detail=True)
        files = [FoundFile(_below(root, path), _version_of_info(info, asked_ns)) for path, info in found.items()]
        shown = [file for file in files if not any(part.startswith(".") for part in file.path.split("/"))]
        return sorted(shown, key=lambda file: file.path)
    try:
        return sorted(_walk(folder, "", frozenset()), key=lambda file: file.path)
    except OSError as error:
        raise _unreadable(folder, error) from error


def list_folders(folder: str) -> list[str]:
    """The names of the folders directly inside, sorted, without the hidden ones."""
    if is_remote(folder):
        fs, root = _file_system(folder)
        entries: list[dict[str, Any]] = _remote(folder, fs.ls, root, detail=True)
        names = [base_name(entry["name"]) for entry in entries if entry["type"] == "directory"]
    else:
        try:
            with os.scandir(folder) as local:
                names = [entry.name for entry in local if entry.is_dir()]
        except OSError as error:
            raise _unreadable(folder, error) from error
    return sorted(name for name in names if not name.startswith("."))


def list_names(folder: str) -> list[str]:
    """The names of the files and folders directly inside, sorted, without the hidden ones."""
    if is_remote(folder):
        fs, root = _file_system(folder)
        names = [base_name(str(path)) for path in _remote(folder, fs.ls, root, detail=False)]
    else:
        try:
            names = os.listdir(folder)
        except OSError as error:
            raise _unreadable(folder, error) from error
    return sorted(name for name in names if not name.startswith("."))


def expand(pattern: str) -> list[str]:
    """The files that a pattern with braces or wildcards names, in order.

    Braces may name files that do not exist (reading them is then an error); wildcards find those that do.
    """
    if exists(pattern):
        return [pattern]
    return [found for one in expand_braces(pattern) for found in _expand_wildcards(one)]


def is_pattern(address: str) -> bool:
    """Whether braces or wildcards are in it.

    >>> is_pattern("val-{0..3}.tar"), is_pattern("val-*.tar"), is_pattern("val.tar")
    (True, True, False)
    """
    return any(mark in address for mark in "{*?[")


def expand_braces(pattern: str) -> list[str]:
    """Every text that a pattern with braces stands for, as a shell would say it.

    >>> expand_braces("val-{08..10}.tar")
    ['val-08.tar', 'val-09.tar', 'val-10.tar']
    >>> expand_braces("{a,b}/{1..2}")
    ['a/1', 'a/2', 'b/1', 'b/2']
    """
    match = re.search(r"\{([^{}]*)\}", pattern)
    if match is None:
        return [pattern]
    head, tail = pattern[: match.start()], pattern[match.end() :]
    return [one for choice in _choices(match[1]) for one in expand_braces(f"{head}{choice}{tail}")]


def _choices(inside: str) -> list[str]:
    span = re.fullmatch(r"(\d+)\.\.(\d+)", inside)
    if span is None:
        return inside.split(",")
    width = len(span[1]) if span[1].startswith("0") else 0
    return [str(number).zfill(width) for number in range(int(span[1]), int(span[2]) + 1)]


def _expand_wildcards(pattern: str) -> list[str]:
    if not any(mark in pattern for mark in "*?["):
        return [pattern]
    if is_remote(pattern):
        fs, path = _file_system(pattern)
        return sorted(str(fs.unstrip_protocol(found)) for found in _remote(pattern, fs.glob, path))
    return sorted(glob.glob(pattern, recursive=True))


def _walk(folder: str, prefix: str, above: frozenset[tuple[int, int]]) -> Iterator[FoundFile]:
    status = os.stat(folder)
    here = (status.st_dev, status.st_ino)
    if here in above:  # a symbolic link that leads back up
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            path = f"{prefix}{entry.name}"
            if entry.is_dir():
                yield from _walk(entry.path, f"{path}/", above | {here})
            else:
                yield FoundFile(path, _version_of_entry(entry))


def _version_of_entry(entry: os.DirEntry[str]) -> str | None:
    asked_ns = time.time_ns()
    try:
        return _version_of_stat(entry.stat(), asked_ns)
    except OSError:  # a dangling link: whoever reads it gets the error
        return None


def _version_of_stat(status: os.stat_result, asked_ns: int) -> str:
    # The time of the content (mtime) can be set back, that of the entry (ctime) can't; a file that is put in the place
    # of another has an inode of its own.
    version = f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
    return _once_settled(version, (status.st_mtime_ns, status.st_ctime_ns), asked_ns)


def _version_of_info(info: dict[str, Any], asked_ns: int) -> str | None:
    mark = next((one for one in _MARKS if info.get(one) is not None), None)
    if mark is None:
        return None
    more = f" {info.get('created')} {info.get('ino')}" if mark == "mtime" else ""
    times = [info[mark], *([info["created"]] if more and info.get("created") is not None else [])]
    return _once_settled(f"{info.get('size')} {mark}={info[mark]}{more}", _nanoseconds(times), asked_ns)


def _nanoseconds(times: list[Any]) -> tuple[int, ...]:
    """Those that are times; what a file system gives as text or as the digest of the content is none."""
    seconds = [one.timestamp() if isinstance(one, datetime) else one for one in times]
    return tuple(int(one * 1e9) for one in seconds if isinstance(one, (int, float)))


def _once_settled(version: str, times_ns: tuple[int, ...], asked_ns: int) -> str:
    """The version, if a change from now on is sure to bear another time; otherwise a text that never comes again.

    >>> _once_settled("9 bytes", (1_000_000_001,), 2_000_000_000)
    '9 bytes'
    >>> _once_settled("9 bytes", (1_000_000_000,), 2_000_000_000)
    '9 bytes, seen at 2000000000'
    """
    for one in times_ns:
        grain = _GRAIN_NS if one % 1_000_000_000 else _COARSE_GRAIN_NS
        if one >= asked_ns - grain:
            return f"{version}, seen at {asked_ns}"
    return version


def _below(root: str, path: str) -> str:
    return path[len(root) :].lstrip("/") if path.startswith(root) else path


def _file_system(address: str) -> tuple[Any, str]:
    import fsspec

    try:
        fs, path = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise DataError(f"{address}: {_one_line(error)}") from error
    except Exception as error:  # of an archive: it is opened here, or is none
        raise _unreadable(address, error) from error
    return fs, str(path)


def _remote(address: str, call: Any, *args: Any, **options: Any) -> Any:
    """What the file system answers; its errors, whatever they are, in one line."""
    try:
        return call(*args, **options)
    except Exception as error:  # every back end has errors of its own
        raise _unreadable(address, error) from error


def _unreadable(address: str, error: Exception) -> DataError:
    if isinstance(error, FileNotFoundError):
        return DataError(f"{address}: no such file or folder; check the path")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else _one_line(error)
    return DataError(f"{address}: can't be read ({reason})")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
