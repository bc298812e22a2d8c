"""What others' errors say, short enough for one of ours."""

from __future__ import annotations


def one_line(error: BaseException, *, limit: int = 200) -> str:
    r"""The kind of an error and its message in one line.

    >>> one_line(ValueError("no such size:\n 3"))
    'ValueError: no such size: 3'
    """
    text = " ".join(str(error).split())
    if len(text) > limit:
        text = f"{text[:limit].rstrip()}…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
