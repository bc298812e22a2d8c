"""Native work that may never end: it is waited for so long and no longer, and a stop need not wait for it at all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Generic, TypeVar

from oodometer.core.errors import OodometerError
from oodometer.core.model import PENDING

T = TypeVar("T")


class Pending(Generic[T]):
    """Work in a thread of its own, which is left behind where nobody waits for it any more.

    The thread is a daemon: a process can end while a library computes, which a signal does not interrupt.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._future: Future[T] = Future()
        threading.Thread(target=self._do, args=(work,), name=PENDING, daemon=True).start()

    def _do(self, work: Callable[[], T]) -> None:
        with suppress(InvalidStateError):  # it was stopped meanwhile
            try:
                self._future.set_result(work())
            except BaseException as error:
                self._future.set_exception(error)

    def result(self, seconds: float, late: OodometerError) -> T:
        """What the work gave; an error where that takes longer."""
        try:
            return self._future.result(seconds)
        except TimeoutError:
            if self._future.done():  # the work's own
                raise
            raise late from None

    def look(self, seconds: float) -> None:
        """Wait a little, and raise what the work raised until then."""
        with suppress(TimeoutError):
            self._future.result(seconds)

    def stop(self) -> None:
        """Whoever waits is told so at once."""
        with suppress(InvalidStateError):
            self._future.set_exception(OodometerError("stopped"))
