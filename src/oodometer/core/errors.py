"""What can go wrong, as one tree: every error of the user's is an `OodometerError` of one line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class OodometerError(Exception):
    """Something the user can mend; the message says what, where, and what to do."""

    exit_code = 1


class UsageError(OodometerError):
    """A name, flag or specification that means nothing."""

    exit_code = 2


class DataError(OodometerError):
    """Images or labels that can't be used as they are."""


class ModelError(OodometerError):
    """A model that can't be loaded or that answers wrongly."""


class StoreError(OodometerError):
    """A store that can't be read or written."""


class RequirementNotMetError(OodometerError):
    """The work was done, and a requirement that the user stated is not met."""

    exit_code = 3


class MissingExtraError(OodometerError):
    """An optional dependency is not installed.

    >>> str(MissingExtraError("onnx", "ONNX models"))
    "ONNX models need more packages: pip install 'oodometer[onnx]'"
    """

    def __init__(self, extra: str, what: str) -> None:
        super().__init__(f"{what} need more packages: pip install 'oodometer[{extra}]'")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint that ends an error message about an unknown name.

    >>> did_you_mean("clen", ["clean", "fog"])
    '; did you mean clean?'
    >>> did_you_mean("mCE", ["mce", "ece"])
    '; did you mean mce?'
    >>> did_you_mean("zzz", ["clean", "fog"])
    '; known: clean, fog'
    """
    names = sorted(known)
    small = {one.lower(): one for one in names}  # capitals are what people mistake most
    close = difflib.get_close_matches(name, names, n=1)
    close = close or [small[one] for one in difflib.get_close_matches(name.lower(), small, n=1)]
    if close:
        return f"; did you mean {close[0]}?"
    return f"; known: {', '.join(names)}" if 0 < len(names) <= 20 else ""
