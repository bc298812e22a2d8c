"""The mean over all gaps of a store: of an experiment that holds out something else in each of its trainings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from oodometer.analysis.points import Points
from oodometer.analysis.sampled import if_fixed
from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.mean_of_shares import Answers, mean_of_differences, mean_of_shares

CONVENTION = (
    "plain mean, each model under each shift counting once; intervals over images, one behind several shares being one "
    "draw; other seeds of the trainings are not in them"
)


@dataclass(frozen=True)
class MeanGap:
    """The plain mean over models and shifts.

    Args:
        n_pairs: How many models under shifts it is the mean of.
        accuracy_standard, accuracy_shifted: On each side.
        gap: The first minus the second.
    """

    n_pairs: int
    accuracy_standard: Estimate
    accuracy_shifted: Estimate
    gap: Estimate
    convention: str = CONVENTION

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {key: dict(vars(value)) if isinstance(value, Estimate) else value for key, value in vars(self).items()}


def mean_gap(several: Iterable[Points], *, level: float = 0.95) -> MeanGap:
    """The mean over every model of every shift."""
    standard, shifted, was_stopped = [], [], False
    for points in several:
        if points.apart:
            raise OodometerError(
                f"{points.y}: each condition has images of its own, drawn apart, of which there is no mean over "
                "shifts; leave out --mean"
            )
        if points.right_x is None or points.right_y is None or points.ids_x is None or points.ids_y is None:
            raise OodometerError(f"{points.y}: a mean over shifts needs the answers to images, not accuracies or mAP")
        standard += [Answers(points.ids_x, right) for right in points.right_x]
        shifted += [Answers(points.ids_y, right) for right in points.right_y]
        was_stopped = was_stopped or points.stopped_x is not None or points.stopped_y is not None
    if not shifted:
        raise OodometerError("a mean over shifts needs one or more")
    found = (
        mean_of_shares(standard, level=level),
        mean_of_shares(shifted, level=level),
        mean_of_differences(standard, shifted, level=level),
    )
    on_standard, on_shifted, gap = (if_fixed(one, was_stopped=was_stopped) for one in found)
    return MeanGap(len(shifted), on_standard, on_shifted, gap)
