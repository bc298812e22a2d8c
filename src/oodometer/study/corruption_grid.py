"""Models under corruptions: the accuracy at every severity, and the means over severities and corruptions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from oodometer.analysis.measured_shifts import IMPORTED, is_clean
from oodometer.core.estimate import Estimate
from oodometer.metrics.corruption_error import COMMON, EXTRA, SEVERITIES
from oodometer.study import Study, StudyCondition, StudyShift

GROUPS = {
    "noise": ("gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise"),
    "blur": ("defocus_blur", "glass_blur", "motion_blur", "zoom_blur", "gaussian_blur"),
    "weather": ("snow", "frost", "fog", "brightness", "spatter"),
    "digital": ("contrast", "elastic_transform", "pixelate", "jpeg_compression", "saturate"),
}
"""As Hendrycks and Dietterich (2019) group the 15 corruptions, and each of the 4 extra ones with its like."""
OTHER = "other"


def group_of(corruption: str) -> str:
    """What sort of corruption it is.

    >>> group_of("fog"), group_of("plasma_noise")
    ('weather', 'other')
    """
    return next((group for group, names in GROUPS.items() if corruption in names), OTHER)


def spaced(corruption: str) -> str:
    """Its name in words.

    >>> spaced("gaussian_noise"), spaced("jpeg_compression")
    ('gaussian noise', 'JPEG compression')
    """
    return re.sub(r"^jpeg\b", "JPEG", corruption.replace("_", " "))


def severities_said(severities: Sequence[int]) -> str:
    """The severities in words.

    >>> severities_said([1, 2, 3, 4, 5]), severities_said([1, 3]), severities_said([3])
    ('severities 1 to 5', 'severities 1, 3', 'severity 3')
    """
    if len(severities) == 1:
        return f"severity {severities[0]}"
    whole = len(severities) > 2 and list(severities) == list(range(severities[0], severities[-1] + 1))
    return "severities " + (f"{severities[0]} to {severities[-1]}" if whole else ", ".join(map(str, severities)))


@dataclass(frozen=True)
class CorruptionGrid:
    """All models under one family of corruptions of one data set.

    Args:
        family, data: What the store calls them.
        accuracies: By corruption and severity, of each model that was measured.
        clean: Of each model on the images as they are, where that is known, and ``clean_name`` what they are.
        means: Of each model over all conditions, where it is known per image, so that the interval is narrower.
        names: Of its conditions in the study.
        contents: First letters of the digests of its data, as scores have them; an empty one for a table.
    """

    family: str
    data: str
    accuracies: Mapping[tuple[str, int], Mapping[str, Estimate]]
    clean: Mapping[str, Estimate] = field(default_factory=dict)
    clean_name: str = ""
    means: Mapping[str, Estimate] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    contents: frozenset[str] = frozenset()

    @property
    def title(self) -> str:
        """What it is called: the family, and the data where a run names them."""
        return self.family if self.data == IMPORTED else f"{self.family} of {self.data}"

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of images that there are; none where some are not known."""
        found = {one.n for of_models in self.accuracies.values() for one in of_models.values()}
        return () if None in found else tuple(sorted(n for n in found if n is not None))

    @cached_property
    def corruptions(self) -> tuple[str, ...]:
        """Noise, blur, weather, digital, and the others; those of the paper first and in its order."""
        places = {name: place for place, name in enumerate((*COMMON, *EXTRA))}
        kinds = [*GROUPS, OTHER]
        found = {name for name, _ in self.accuracies}
        return tuple(sorted(found, key=lambda name: (kinds.index(group_of(name)), places.get(name, len(places)), name)))

    @cached_property
    def severities(self) -> tuple[int, ...]:
        """Those that were measured."""
        return tuple(sorted({severity for _, severity in self.accuracies}))

    @cached_property
    def averaged(self) -> tuple[str, ...]:
        """The corruptions that were measured at all severities: the mean at one severity is over them."""
        return tuple(
            name
            for name in self.corruptions
            if all((name, severity) in self.accuracies for severity in self.severities)
        )

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The best in the mean first; then those that were not measured on all of it."""
        names = dict.fromkeys(model for of_models in self.accuracies.values() for model in of_models)
        means = {name: self.mean(name) for name in names}

        def place(name: str) -> float:
            mean = means[name]
            return 1.0 if mean is None else -mean.value

        return tuple(sorted(names, key=place))

    def at(self, model: str, corruption: str, severity: int) -> Estimate | None:
        """The accuracy; None where it was not measured."""
        return self.accuracies.get((corruption, severity), {}).get(model)

    def over_severities(self, model: str, corruption: str) -> Estimate | None:
        """The mean over all severities of the family; None where one is missing."""
        return mean_accuracy([self.at(model, corruption, severity) for severity in self.severities])

    def over_corruptions(self, model: str, severity: int) -> Estimate | None:
        """The mean at one severity; None where a corruption is missing."""
        return mean_accuracy([self.at(model, corruption, severity) for corruption in self.averaged])

    def mean(self, model: str) -> Estimate | None:
        """The mean over all conditions, which is the accuracy under the shift; None where one is missing."""
        if model in self.means:
            return self.means[model]
        return mean_accuracy([self.at(model, name, severity) for name, severity in self.accuracies])


def mean_accuracy(accuracies: Sequence[Estimate | None]) -> Estimate | None:
    """The mean, and the mean of the bounds; None where there are none, or one of them is not known.

    The conditions are of the same images, so their errors go together. The standard deviation of a mean is at most the
    mean of the standard deviations: the mean of the bounds is wide enough however they do.

    >>> low, high = Estimate(0.25, 0.125, 0.5, 8, "any 95%"), Estimate(0.75, 0.5, 0.875, 8, "any 95%")
    >>> print(mean_accuracy([low, high]), mean_accuracy([low, None]))
    0.5000 [0.3125, 0.6875]  n=8 None
    """
    known = [one for one in accuracies if one is not None]
    if not known or len(known) < len(accuracies):
        return None
    if len(known) == 1:
        return known[0]
    value = sum(one.value for one in known) / len(known)
    lows, highs = [one.low for one in known if one.low is not None], [one.high for one in known if one.high is not None]
    sizes = [one.n for one in known if one.n is not None]
    if len(lows) < len(known) or len(highs) < len(known) or len(sizes) < len(known):
        return Estimate(value, None, None, None, "none: n is not known")
    name = f"mean of the bounds of {len(known)} conditions, {known[0].interval}"
    return Estimate(value, sum(lows) / len(lows), sum(highs) / len(highs), min(sizes), name)


def grids_of(study: Study) -> list[CorruptionGrid]:
    """Every family of corruptions that was measured, per data set, the most complete first.

    Sequences of frames, as ImageNet-P has them, are none.
    """
    found: dict[tuple[str, str], dict[tuple[str, int], StudyCondition]] = {}
    for condition in study.conditions:
        if member := condition.member:
            key = member.name, _data(condition)
            found.setdefault(key, {})[member.corruption, member.severity] = condition
    grids = [
        _with_clean(study, _grid(family, data, conditions))
        for (family, data), conditions in found.items()
        if all(severity in SEVERITIES for _, severity in conditions)
    ]
    return sorted(grids, key=lambda grid: -len(grid.averaged))


def _data(condition: StudyCondition) -> str:
    """What was corrupted; with a digest or a number where the study's name of the condition has one."""
    if condition.record is not None and condition.record.data.part:
        return condition.record.data.source  # each condition is a part of the data, as the folders of ImageNet-C are
    mark = condition.name.removeprefix(condition.condition).removeprefix(f"@{condition.data}")
    return f"{condition.data}{mark}"


def _grid(family: str, data: str, conditions: Mapping[tuple[str, int], StudyCondition]) -> CorruptionGrid:
    return CorruptionGrid(
        family,
        data,
        {place: one.accuracies for place, one in conditions.items()},
        names=frozenset(one.name for one in conditions.values()),
        contents=frozenset(one.record.data.digest[:8] if one.record else "" for one in conditions.values()),
    )


def _with_clean(study: Study, grid: CorruptionGrid) -> CorruptionGrid:
    """With the other side of its shift, on the same photographs where both have them; else with its data."""
    shift = shift_of(study, grid)
    if shift is None:
        clean = [one for one in study.conditions if is_clean(one.condition) and one.data == grid.data]
        return replace(grid, clean=clean[0].accuracies, clean_name=clean[0].condition) if clean else grid
    points = shift.points.models
    places = {one.name: (one.member.corruption, one.member.severity) for one in study.conditions if one.member}
    said = {places.get(name) for name in shift.shifted}
    return replace(
        grid,
        clean={point.model: point.x[0] for point in points},
        clean_name=shift.points.x[0],
        means={point.model: point.y for point in points if point.y.low is not None}
        if said == set(grid.accuracies)
        else {},
    )


def shift_of(study: Study, grid: CorruptionGrid) -> StudyShift | None:
    """The shift that is the mean of the grid."""
    return next((one for one in study.shifts if grid.names.issuperset(one.shifted) and one.shifted), None)
