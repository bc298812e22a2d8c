"""The attribute shifts of the many-faces paper (Hendrycks et al. 2021): DeepFashion Remixed, StreetView StoreFronts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from oodometer.core.condition import Condition, Shift
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, OodometerError
from oodometer.shifts.attribute import attribute_shifts, fewer_images, pairs_of
from oodometer.shifts.constraint import Constraint, matches, parse_base
from oodometer.shifts.known_shift import KnownShift
from oodometer.shifts.sources import Sources

DFR_BASE = parse_base("scale=2,occlusion=2,viewpoint=2,zoom_in=1")
"""Medium scale and occlusion, seen from the front, no zoom.

The paper's text says that the base is seen from the side or back, and its table of results that this is a shift. The
script that made the table trains on viewpoint 2, which is frontal in DeepFashion2.
"""

DFR_SHIFTS = (
    Constraint("scale", ("1",), "size_small"),
    Constraint("scale", ("3",), "size_large"),
    Constraint("occlusion", ("1",), "occlusion_slight"),
    Constraint("occlusion", ("3",), "occlusion_heavy"),
    Constraint("viewpoint", ("1",), "viewpoint_not_worn"),
    Constraint("viewpoint", ("3",), "viewpoint_side_back"),
    Constraint("zoom_in", ("2",), "zoom_medium"),
    Constraint("zoom_in", ("3",), "zoom_large"),
)

SVSF_BASE = parse_base("country=us|mx|ca,year=2019,camera=new")
SVSF_SHIFTS = (
    Constraint("camera", ("old",), "camera_old"),
    Constraint("year", ("2017",), "year_2017"),
    Constraint("year", ("2018",), "year_2018"),
    Constraint("country", ("fr",), "country_france"),
)


def _make(
    sources: Sources, *, name: str, of: str, base: Sequence[Constraint], shifts: Sequence[Constraint]
) -> list[Shift]:
    """The pairs ``NAME/iid`` and ``NAME/SHIFT``."""
    data = sources.whole(of)
    base = [_occurring(data, one) for one in base]
    if sources.root is not None and sources.root.partial:
        shifts = [one for one in shifts if _can_be_made(data, base, one)] or shifts
    try:
        split = attribute_shifts(data, base, shifts, seed=sources.seed)
    except OodometerError as error:
        raise DataError(f"{name}: {error}; --partial runs on what is there") from error
    if sources.images is not None:
        split = fewer_images(split, sources.images, seed=sources.seed)
    return [_shared(sources, pair) for pair in pairs_of(split, prefix=f"{name}/")]


def _shared(sources: Sources, pair: Shift) -> Shift:
    """The pair over the conditions of a run, also when it is asked for shift by shift."""
    standard, shifted = (sources.once(side.name, partial(_same, side)) for side in (pair.standard, pair.shifted))
    return Shift(pair.name, pair.kind, standard, shifted)


def _same(condition: Condition) -> Condition:
    return condition


def _occurring(data: Dataset, constraint: Constraint) -> Constraint:
    """The constraint without values that no image has, unless that leaves none."""
    having = tuple(value for value in constraint.values if _occurs(data, Constraint(constraint.column, (value,))))
    return Constraint(constraint.column, having) if having else constraint


def _occurs(data: Dataset, constraint: Constraint) -> bool:
    try:
        return bool(matches(data, constraint, what="base").any())
    except OodometerError:
        return False


def _can_be_made(data: Dataset, base: Sequence[Constraint], shift: Constraint) -> bool:
    try:
        attribute_shifts(data, base, [shift])
    except OodometerError:
        return False
    return True


DFR = KnownShift(
    "dfr",
    "attribute",
    ("deepfashion-remixed",),
    partial(_make, name="dfr", of="deepfashion-remixed", base=DFR_BASE, shifts=DFR_SHIFTS),
)

SVSF = KnownShift(
    "svsf",
    "attribute",
    ("streetview-storefronts",),
    partial(_make, name="svsf", of="streetview-storefronts", base=SVSF_BASE, shifts=SVSF_SHIFTS),
)
