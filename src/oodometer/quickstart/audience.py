"""Who is told how a quickstart goes; by default nobody."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from oodometer.core.dataset import Progress, silent
from oodometer.core.talk import Tell, unheard
from oodometer.document.table import Table
from oodometer.engine.run import Watcher

Watch = Callable[[str], AbstractContextManager[Watcher]]
"""From what is counted ("predictions") to whoever watches it, as long as it takes."""


def nobody(what: str) -> AbstractContextManager[Watcher]:  # noqa: ARG001 - nobody wants to know
    """The watcher that does not look."""
    return contextlib.nullcontext(Watcher())


def unread(board: Table) -> None:
    """The reader who is not there."""


@dataclass(frozen=True)
class Audience:
    """Who is told how a quickstart goes.

    Args:
        tell: Told in words what is done.
        watch: Watches what takes a while.
        fetching: Told how many packages of icons are there.
        measured: Given the leaderboard, as soon as it is there: the report takes a while.
    """

    tell: Tell = unheard
    watch: Watch = nobody
    fetching: Progress = silent
    measured: Callable[[Table], None] = unread


NOBODY = Audience()
