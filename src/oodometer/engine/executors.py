"""Who does the chunks: a ``map``, so that a cluster can take the place of this machine's threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import islice
from typing import Protocol, TypeVar

from oodometer.core.registry import Registry

T = TypeVar("T")
R = TypeVar("R")


class Executor(Protocol):
    """Does work on items, in any order, and yields each result when it is there.

    ``work`` may run in other threads, or be sent to other machines. When it raises, or when the caller stops
    asking (Ctrl-C), no further item is begun, ``stop`` is called to hasten those that are running, and the exception
    comes out here.
    """

    def map(self, work: Callable[[T], R], items: Iterable[T], *, stop: Callable[[], None]) -> Iterator[R]:
        """The results, as they come."""
        ...


class Threads:
    """Threads of this process; they share memory, and what they do releases the interpreter's lock."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads

    def map(self, work: Callable[[T], R], items: Iterable[T], *, stop: Callable[[], None]) -> Iterator[R]:
        """The results, as they come; only as many items are held as there are threads."""
        rest = iter(items)
        pool = ThreadPoolExecutor(self.n_threads, thread_name_prefix="oodometer")
        try:
            running = {pool.submit(work, item) for item in islice(rest, self.n_threads)}
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                running |= {pool.submit(work, item) for item in islice(rest, len(done))}
                for future in done:
                    yield future.result()
        finally:
            stop()
            pool.shutdown(wait=True, cancel_futures=True)


executors: Registry[Callable[[int], Executor]] = Registry(
    "executor", {"threads": "oodometer.engine.executors:Threads"}, group="oodometer.executors"
)
