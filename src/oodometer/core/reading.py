"""Files of unknown origin: only regular ones are opened, and whatever a library raises about one becomes one line."""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from oodometer.core.errors import DataError, OodometerError

MOST_DIGITS = 18
"""Of a whole number in a table: what is longer is no count of anything."""

KINDS = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))


def check_regular(
    path: str | os.PathLike[str], kind: type[OodometerError] = DataError, *, todo: str = "give a regular file"
) -> int:
    """The size of a file, after an error if it is none: a pipe may never answer, a device never end.

    Raises:
        OSError, ValueError: There is nothing, or nothing that may be looked at.
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        what = next((name for test, name in KINDS if test(status.st_mode)), "a device")
        raise kind(f"{os.fspath(path)}: {what}, not a file; {todo}")
    return status.st_size


def check_texts(texts: Sequence[str], what: str) -> None:
    r"""An error where one of them is no Unicode, as a file name of another encoding is not: no table can hold it.

    >>> check_texts(["a", "b\udcff"], "val: the image")
    Traceback (most recent call last):
    oodometer.core.errors.DataError: val: the image 'b\udcff' has a name that is not UTF-8; rename it
    """
    try:
        "\n".join(texts).encode()
    except UnicodeEncodeError:
        bad = next(text for text in texts if any("\ud800" <= letter <= "\udfff" for letter in text))
        raise DataError(f"{what} {bad!r} has a name that is not UTF-8; rename it") from None


def whole_number(text: str, what: str) -> int | None:
    """The number of a cell of a table, 1 or more; None where it is empty.

    >>> whole_number("25557032", "parameters"), whole_number(" ", "parameters")
    (25557032, None)
    >>> whole_number("25.5M", "sizes.csv: line 2: parameters")
    Traceback (most recent call last):
    oodometer.core.errors.DataError: sizes.csv: line 2: parameters '25.5M' is not a whole number of at least 1
    """
    plain = text.strip()
    if not plain:
        return None
    if not (plain.isascii() and plain.isdigit()) or len(plain) > MOST_DIGITS or int(plain) == 0:
        raise DataError(f"{what} {plain!r} is not a whole number of at least 1")
    return int(plain)


@contextmanager
def reading(where: str, what: str, kind: type[OodometerError] = DataError, *, todo: str = "") -> Iterator[None]:
    """Whatever is raised within, as one line about the file; our own errors pass.

    The readers of damaged files (NumPy, zipfile, tarfile, json, tomllib, Arrow, onnx, torch) raise some twenty kinds of
    errors that have nothing in common, RecursionError and tokenize's among them.

    Args:
        where: The file.
        what: What it should have been: "NumPy array"...
        kind: Of the error.
        todo: What to do about it, if not to look for a whole copy.

    >>> with reading("a.json", "JSON file"):
    ...     int("")
    Traceback (most recent call last):
    oodometer.core.errors.DataError: a.json: not a readable JSON file (invalid literal for int() with base 10: '')
    """
    try:
        yield
    except OodometerError:
        raise
    except FileNotFoundError as error:
        raise kind(f"{where}: no such {what}; check the path") from error
    except Exception as error:
        raise kind(f"{where}: not a readable {what} ({why(error)}){f'; {todo}' if todo else ''}") from error


@contextmanager
def unwarned() -> Iterator[None]:
    """Without warnings, such as those on what another version of a library wrote."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def why(error: BaseException) -> str:
    r"""What is wrong, in a few words.

    >>> why(ValueError("no such\n size")), why(RecursionError("maximum recursion depth")), why(EOFError())
    ('no such size', 'nested too deep', 'EOFError')
    """
    if isinstance(error, RecursionError):
        return "nested too deep"
    if isinstance(error, MemoryError):
        return "it asks for more memory than there is"
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(text.split())[:200] or type(error).__name__
