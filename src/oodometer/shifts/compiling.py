"""A word before a wait that looks like a hang."""

from __future__ import annotations

from oodometer.core.talk import Tell
from oodometer.corruptions.jit import nothing_compiled


def tell_if_compiling(tell: Tell) -> None:
    """A line where kernels are still to be compiled, which is done when they are first used; then they are kept."""
    if nothing_compiled():
        tell("compiling the corruptions, this once: about half a minute")
