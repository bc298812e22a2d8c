"""Names of corruptions and the families that they are of, here and in the table of the 204-model testbed."""

from __future__ import annotations

import re
from dataclasses import dataclass

CORRUPTED = re.compile(r"(?P<family>[^/]+)/(?P<name>[^/]+)/(?P<severity>\d+)")
OF_THE_TESTBED = re.compile(r"imagenet-c\.(?P<name>\w+)\.(?P<severity>[1-5])_(?P<family>on-disk|in-memory)")


@dataclass(frozen=True)
class Corrupted:
    """What the name of a corrupted condition says."""

    family: str
    name: str
    severity: int


def corrupted(condition: str) -> Corrupted | None:
    """The family, the corruption and its severity; None for a name of another kind.

    >>> corrupted("imagenet-c/fog/3")
    Corrupted(family='imagenet-c', name='fog', severity=3)
    >>> corrupted("imagenet-c.fog.3_on-disk")
    Corrupted(family='imagenet-c_on-disk', name='fog', severity=3)
    >>> corrupted("icons-styles/google")
    """
    if match := CORRUPTED.fullmatch(condition):
        return Corrupted(match["family"], match["name"], int(match["severity"]))
    if match := OF_THE_TESTBED.fullmatch(condition):
        return Corrupted(f"imagenet-c_{match['family']}", match["name"], int(match["severity"]))
    return None


def family_of(condition: str) -> str | None:
    """The family of corruptions that a condition is one of, by its name.

    >>> family_of("imagenet-c.fog.3_in-memory"), family_of("imagenet-a")
    ('imagenet-c_in-memory', None)
    """
    found = corrupted(condition)
    return found.family if found else None
