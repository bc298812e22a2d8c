"""Names of corruptions and the families that they are of, as tables and stores write them."""

from __future__ import annotations

from dataclasses import dataclass

from oodometer.catalogue import names


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
    member = names.family_of(condition)
    return None if member is None else Corrupted(member.name, member.corruption, member.severity)


def family_of(condition: str) -> str | None:
    """The family of corruptions that a condition is one of, by its name.

    >>> family_of("imagenet-c.fog.3_in-memory"), family_of("imagenet-a")
    ('imagenet-c_in-memory', None)
    """
    member = names.family_of(condition)
    return member.name if member else None
