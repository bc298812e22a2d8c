"""The mark on the names of conditions that are shown in the 204-model testbed's way, and not in ours.

It stands behind the first part of a name, so that a family is marked as each of its members is.
"""

from __future__ import annotations

TESTBED = "@testbed"


def marked(name: str) -> str:
    """The name with the mark.

    >>> marked("imagenet-c:raw/fog/3"), marked("pgd.linf.eps2")
    ('imagenet-c:raw@testbed/fog/3', 'pgd.linf.eps2@testbed')
    """
    head, slash, part = name.partition("/")
    return f"{head}{TESTBED}{slash}{part}"


def unmarked(name: str) -> str:
    """The name without the mark, wherever a user wrote it.

    >>> unmarked("imagenet-c:raw@testbed/fog/3"), unmarked("imagenet-c:raw/fog/3@testbed"), unmarked("imagenet-a")
    ('imagenet-c:raw/fog/3', 'imagenet-c:raw/fog/3', 'imagenet-a')
    """
    return name.replace(TESTBED, "", 1)


def is_marked(name: str) -> bool:
    """Whether a name has the mark.

    >>> is_marked("stylized_imagenet@testbed"), is_marked("stylized_imagenet")
    (True, False)
    """
    return TESTBED in name
