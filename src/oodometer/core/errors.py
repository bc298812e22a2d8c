"""What can go wrong, as one tree: every error of the user's is an `OodometerError` of one line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from oodometer.core.limits import MAX_MESSAGE


class OodometerError(Exception):
    """Something the user can mend; the message says what, where, and what to do, in one line."""

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(in_one_line(message))


def in_one_line(message: str) -> str:
    r"""A message such that nothing that a file says, and that is quoted in it, can break the line or fill the screen.

    >>> in_one_line("a.csv: no column 'x\ny\udcff'")
    "a.csv: no column 'x\\ny\\udcff'"
    >>> len(in_one_line("9" * 5000))
    1000
    """
    if not message.isprintable():
        message = "".join(letter if letter.isprintable() else _escaped(letter) for letter in message)
    if len(message) <= MAX_MESSAGE:
        return message
    begin = MAX_MESSAGE * 2 // 3
    return f"{message[:begin]}…{message[begin + 1 - MAX_MESSAGE :]}"  # the end says what to do


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


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

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)  # as long as it has to be: it quotes no file


class PreflightError(OodometerError):
    """Something that can't be right was seen before the work began."""

    exit_code = 3


class CannotTellError(OodometerError):
    """The work was done, and the data can't say whether a requirement that the user stated is met."""

    exit_code = 4


class MissingExtraError(OodometerError):
    """An optional dependency is not installed.

    >>> str(MissingExtraError("onnx", "ONNX models"))
    "ONNX models need more packages: pip install 'oodometer[onnx]'"
    """

    def __init__(self, extra: str, what: str) -> None:
        super().__init__(f"{what} need more packages: pip install 'oodometer[{extra}]'")


CLOSE, CLOSE_OF_SHORT, SHORT = 0.7, 0.6, 4
"""How much of two names must agree, by difflib's ratio, for one to be a likely mistake for the other; and of names of
at most so many letters, where one wrong letter is much."""

MOST_BEGINNINGS = 3
NUMBER = re.compile(r"\d+")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint that ends an error message about an unknown name.

    >>> did_you_mean("clen", ["clean", "fog"])
    '; did you mean clean?'
    >>> did_you_mean("mCE", ["mce", "ece"]), did_you_mean("imagenet_a", ["imagenet-a", "imagenet-r"])
    ('; did you mean mce?', '; did you mean imagenet-a?')
    >>> did_you_mean("v2", ["v2-a", "v2-b", "c"])
    '; did you mean v2-a or v2-b?'
    >>> did_you_mean("smith2021", ["smith2019", "recht2019"])
    '; known: recht2019, smith2019'
    """
    names = sorted(known)
    meant = _spelled_otherwise(name, names) or _beginning_so(name, names) or _close(name, names)
    if meant:
        return f"; did you mean {' or '.join(meant)}?"
    return f"; known: {', '.join(names)}" if 0 < len(names) <= 20 else ""


def _plain(name: str) -> str:
    """Small letters, without what stands between words: capitals and hyphens are what people mistake most."""
    return "".join(one for one in name.lower() if one not in "-_ ")


def _spelled_otherwise(name: str, names: list[str]) -> list[str]:
    exact = [one for one in names if one.lower() == name.lower()]
    return (exact or [one for one in names if _plain(one) == _plain(name)])[:1]


def _beginning_so(name: str, names: list[str]) -> list[str]:
    """The names of which this one is the first word or words, where they are few."""
    begun = [one for one in names if name and one.lower().startswith(name.lower()) and not one[len(name)].isalnum()]
    return begun if len(begun) <= MOST_BEGINNINGS else []


def _close(name: str, names: list[str]) -> list[str]:
    """The name that it is a likely mistake for."""
    small = {one.lower(): one for one in names if not _of_another_number(name, one)}
    cutoff = CLOSE_OF_SHORT if len(name) <= SHORT else CLOSE
    return [small[one] for one in difflib.get_close_matches(name.lower(), small, n=1, cutoff=cutoff)]


def _of_another_number(name: str, other: str) -> bool:
    """Whether two names differ in their numbers alone, by more than a slip: then they are two things."""
    if NUMBER.sub("#", name) != NUMBER.sub("#", other):
        return False
    pairs = zip(NUMBER.findall(name), NUMBER.findall(other), strict=True)
    return not all(_is_slip(one, another) for one, another in pairs)


def _is_slip(one: str, another: str) -> bool:
    """Whether two numbers are one apart, or one of them lacks its last digits."""
    return abs(int(one) - int(another)) <= 1 or one.startswith(another) or another.startswith(one)
