"""The shifts of ICONS-50: a vendor, subtypes, and, as the control, renditions that were held out from training."""

from __future__ import annotations

from collections.abc import Callable

from oodometer.core.condition import Condition, Shift, ShiftKind
from oodometer.data.sets.icons50 import Experiment, split_icons
from oodometer.shifts.known_shift import KnownShift
from oodometer.shifts.sources import Sources

SET = "icons-50"


def _experiment(experiment: Experiment, kind: ShiftKind) -> KnownShift:
    """The held-out icons, against a tenth of the others.

    It is about a model that was trained on the ``training`` part of `oodometer.data.sets.icons50.split_icons`.
    """
    name = f"{SET}-{experiment}"
    return KnownShift(name, kind, (SET,), _made(name, experiment, kind))


def _made(name: str, experiment: Experiment, kind: ShiftKind) -> Callable[[Sources], list[Shift]]:
    def make(sources: Sources) -> list[Shift]:
        split = split_icons(sources.whole(SET), experiment)
        standard = Condition(f"{name}-standard", sources.fewer(split.standard))
        return [Shift(name, kind, standard, Condition(name, sources.fewer(split.shifted)))]

    return make


ICONS_50_STYLE = _experiment("style", "style")
ICONS_50_SUBTYPES = _experiment("subtypes", "attribute")
ICONS_50_RENDITIONS = _experiment("renditions", "attribute")
