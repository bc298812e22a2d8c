"""Text files with one thing a line."""

from __future__ import annotations

from pathlib import Path

from oodometer.core.errors import DataError
from oodometer.core.reading import check_regular, why


def read_lines(file: Path, what: str) -> tuple[str, ...]:
    """The lines of a text file.

    Args:
        what: What they should be, for the errors.
    """
    try:
        check_regular(file, todo=f"it should hold {what}, one a line")
        return tuple(file.read_text(encoding="utf-8-sig").splitlines())
    except FileNotFoundError:
        raise DataError(f"{file}: no such file; it should hold {what}, one a line") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{file}: not a text file; it should hold {what}, one a line") from error
    except (OSError, ValueError) as error:
        raise DataError(f"{file}: can't be read ({why(error)}); it should hold {what}, one a line") from error


def read_ids(path: str | None) -> tuple[str, ...] | None:
    """The ids of images, one a line; None where no file is named."""
    return None if path is None else read_lines(Path(path), "the image ids")
