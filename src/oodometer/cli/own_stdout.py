"""Results have stdout for themselves: what a library prints natively, past Python, goes to stderr."""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import sys
from collections.abc import Iterator

STDOUT, STDERR = 1, 2


@contextlib.contextmanager
def own_stdout() -> Iterator[None]:
    """Within, Python's stdout leads where it did, and the descriptor that C libraries print to leads to stderr."""
    if not _is_process_stdout():
        yield
        return
    before = sys.stdout
    before.flush()
    kept = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)
    sys.stdout = os.fdopen(
        kept, "w", encoding=before.encoding, errors=before.errors, buffering=1 if before.isatty() else -1, closefd=False
    )
    try:
        yield
        sys.stdout.flush()
    finally:
        _flush_native()
        os.dup2(kept, STDOUT)
        sys.stdout = before


def _is_process_stdout() -> bool:
    """Whether Python's stdout is the process's own, and not a test's or a caller's, and there is a stderr."""
    try:
        os.fstat(STDERR)
        return isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.fileno() == STDOUT
    except (OSError, ValueError):
        return False


def _flush_native() -> None:
    """What C libraries hold back would otherwise come out at the end of the process, in stdout after all."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).fflush(None)
