"""Whether another model's answers can help a sampled run."""

from __future__ import annotations

from collections.abc import Sequence

from oodometer.analysis.controlled import whole_cell
from oodometer.analysis.family_number import MCE, MEAN_ERROR
from oodometer.core.errors import UsageError
from oodometer.sampling.targets import Target
from oodometer.store.index import Index


def check_controls(index: Index, targets: Sequence[Target], name: str) -> None:
    """An error where a control can't help, or has not answered everything: before anything is asked."""
    families = [target for target in targets if len(target.conditions) > 1]
    if not families:
        raise UsageError(f"--control {name}: it counts in numbers over a family of corruptions alone; leave it out")
    for target in families:
        _check_control(index, target, name)


def _check_control(index: Index, target: Target, name: str) -> None:
    if target.metric not in (MCE, MEAN_ERROR):
        raise UsageError(
            f"--control {name}: it counts in numbers over all five severities of a corruption, and {target.name} is "
            "asked about at some of them; leave it out"
        )
    for condition in target.conditions:
        whole_cell(index, name, condition.name, condition.dataset.name, len(condition.dataset))
