"""The attribute shifts of the many-faces paper (Hendrycks et al. 2021): DeepFashion Remixed, StreetView StoreFronts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from oodometer.catalogue.names import ShiftEntry
from oodometer.core.condition import Shift
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, OodometerError
from oodometer.data.layouts.attribute_sets import open_deepfashion_halves
from oodometer.data.layouts.deepfashion2 import BASE, TESTED, TRAINED
from oodometer.shifts.attribute import attribute_shifts, fewer_images, pairs_of, places_of
from oodometer.shifts.constraint import Constraint, matches, parse_base
from oodometer.shifts.sources import Sources

DFR_BASE = [Constraint(column, (str(value),)) for column, value in BASE.items()]

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
SPELLINGS = {
    "us": ("usa", "u.s.", "u.s.a.", "united states", "united states of america"),
    "mx": ("mex", "mexico", "méxico"),
    "ca": ("can", "canada"),
    "fr": ("fra", "france"),
}
"""What people write instead of a value of a preset; capitals don't matter."""


def deepfashion_remixed(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """Garments that differ in one attribute from those of the base."""
    return _make(sources, entry, sources.whole(entry.sets[0]), DFR_BASE, DFR_SHIFTS)


def deepfashion_remixed_of_both_halves(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """The same with more images: those of the train half too, which no model of the base is trained on."""
    sources.whole(entry.sets[0])  # where it is not there or not whole, this says so
    place = sources.root.place_of(entry.sets[0]) if sources.root else None
    if place is None:
        raise DataError(f"{entry.of}: DeepFashion2 is not below a data root")
    clothes = open_deepfashion_halves(place, name=entry.sets[0])
    return _make(sources, entry, _untrained_as_tests(clothes), DFR_BASE, DFR_SHIFTS)


def _untrained_as_tests(clothes: Dataset) -> Dataset:
    """What of the train half is not of the base counts as tests, unless its photograph is trained on as well."""
    columns, places = clothes.columns, np.array(places_of(clothes))
    in_train = columns.get("split", np.full(len(clothes), TESTED)) == TRAINED
    is_base = np.logical_and.reduce([matches(clothes, constraint, what="base") for constraint in DFR_BASE])
    trained_on = np.isin(places, places[in_train & is_base])
    kept = np.flatnonzero(~in_train | is_base | ~trained_on)
    halves = np.where(in_train & is_base, TRAINED, TESTED)
    return replace(clothes, columns={**columns, "split": halves}).take(kept)


def streetview_storefronts(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """Shop fronts of another country, year or camera than those of the base."""
    return _make(sources, entry, sources.whole(entry.sets[0]), SVSF_BASE, SVSF_SHIFTS)


def _make(
    sources: Sources, entry: ShiftEntry, data: Dataset, base: Sequence[Constraint], shifts: Sequence[Constraint]
) -> list[Shift]:
    """The pairs ``NAME/iid`` and ``NAME/SHIFT``."""
    base = [_occurring(data, _as_written(data, one)) for one in base]
    shifts = [_as_written(data, one) for one in shifts]
    partial = sources.root is not None and sources.root.partial
    if partial:
        shifts = [one for one in shifts if _can_be_made(data, base, one)] or shifts
    try:
        split = attribute_shifts(data, base, shifts, seed=sources.seed)
    except OodometerError as error:
        advice = "" if partial else "; --partial runs on what is there"
        raise DataError(f"{entry.of}: {error}{advice}") from error
    if sources.images is not None:
        split = fewer_images(split, sources.images, seed=sources.seed)
    pairs = pairs_of(split, prefix=f"{entry.of}/")
    return [replace(pair, kind=entry.kind, measure=entry.measure) for pair in pairs if entry.kind != "clean"]


def _as_written(data: Dataset, constraint: Constraint) -> Constraint:
    """The constraint with its values as the data spell them: ``US`` or ``United States`` where it says ``us``."""
    column = data.columns.get(constraint.column)
    if column is None or column.dtype.kind in "biuf":
        return constraint
    written = [str(value) for value in np.unique(column.astype(str)).tolist()]
    spelled: list[str] = []
    for value in constraint.values:
        known = (value, *SPELLINGS.get(value, ()))
        spelled += [text for text in written if text.strip().lower() in known] or [value]
    return replace(constraint, values=tuple(spelled))


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
