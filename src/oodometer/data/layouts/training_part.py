"""What is said where a published set has no training images beside its test images."""

from __future__ import annotations

from oodometer.core.errors import DataError


class NoTrainingPartError(DataError):
    """The training part of a set is not there, though the rest may be."""
