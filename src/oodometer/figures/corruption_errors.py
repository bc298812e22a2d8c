"""Corruption errors as figures need them: of every model of one family, measured or imported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oodometer.analysis.family_number import MEAN_ERROR
from oodometer.analysis.score_table import LeftOut, Score
from oodometer.core.errors import StoreError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.figures.options import FigureOptions
from oodometer.figures.published import has_printed_errors, printed_scores
from oodometer.figures.selection import grid_of, that_fit
from oodometer.figures.style import note
from oodometer.metrics.corruption_error import COMMON, EXTRA, SEVERITIES
from oodometer.study import Study
from oodometer.study.corruption_grid import grids_of
from oodometer.study.scores import family_scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METRICS = ("ce", "mce", "relative-mce", MEAN_ERROR)


@dataclass(frozen=True)
class CorruptionErrors:
    """The corruption errors of the models of one family.

    Args:
        family: What the store calls it.
        mean: mCE of each model; where there is nothing to divide by, the mean error.
        relative: Relative mCE, where it is defined.
        each: CE by model and corruption; none where there is nothing to divide by.
        clean: Clean accuracy, where it is known.
        normalised: Whether ``mean`` is mCE; ``said`` by what it is divided.
    """

    family: str
    mean: Mapping[str, Estimate]
    relative: Mapping[str, Estimate]
    each: Mapping[tuple[str, str], Estimate]
    clean: Mapping[str, Estimate]
    normalised: bool
    said: str

    @property
    def corruptions(self) -> list[str]:
        """Those of the paper first, in its order."""
        known = (*COMMON, *EXTRA)
        names = {name for _, name in self.each}
        return sorted(names, key=lambda name: (known.index(name) if name in known else len(known), name))


def corruption_errors_of(study: Study, options: FigureOptions) -> CorruptionErrors:
    """The errors under the family that is asked for, or the only one that there is."""
    scores: list[Score] = []
    why = ""
    for one in _scores(study, options):
        if isinstance(one, Score):
            scores.append(one)
        else:
            why = why or one.why
    family = _family(scores, options, why or f"{study.address}: no corruption was measured at all five severities")
    of_family = [one for one in scores if one.condition.partition("/")[0] == family]
    if len({(one.model, one.metric, one.condition) for one in of_family}) < len(of_family):
        contents = grid_of(study, options).contents
        of_family = [one for one in of_family if one.content in contents]
    by_metric = {name: [one for one in of_family if one.metric == name] for name in METRICS}
    shown = set(that_fit(list(dict.fromkeys(one.model for one in of_family)), options.models))
    normalised = bool(by_metric["mce"])
    means = by_metric["mce"] or by_metric[MEAN_ERROR]
    clean = _clean(study, family)

    def wanted(model: str) -> bool:
        return model in shown and (not options.above or (model in clean and clean[model].value >= options.above))

    return CorruptionErrors(
        family,
        {one.model: one.estimate for one in means if wanted(one.model)},
        {one.model: one.estimate for one in by_metric["relative-mce"] if wanted(one.model)},
        {(one.model, one.condition.partition("/")[2]): one.estimate for one in by_metric["ce"] if wanted(one.model)},
        clean,
        normalised,
        means[0].convention if means else "",
    )


def say_what_it_is(figure: Figure, found: CorruptionErrors) -> None:
    """Note by what mCE is divided, and where its frost is from."""
    if found.normalised:
        note(figure, f"mCE of {found.family}: {found.said}")


def _scores(study: Study, options: FigureOptions) -> Iterator[Score | LeftOut]:
    names = set(that_fit([model.name for model in study.models], options.models))
    models = [model for model in study.models if model.name in names]
    yield from family_scores(study, models, normaliser=options.normaliser)
    yield from printed_scores(study.sources)


def _family(scores: list[Score], options: FigureOptions, why: str) -> str:
    """The family that the figure is about."""
    known = list(dict.fromkeys(one.condition.partition("/")[0] for one in scores))
    if not known:
        raise StoreError(why)
    if options.shifts:
        wanted = options.shifts[0].partition("~")[0]
        if wanted not in known:
            raise UsageError(f"no corruption errors of {wanted!r}; there are those of {', '.join(known)}")
        return wanted
    if len(known) > 1:
        raise UsageError(f"several families of corruptions; name one with --shift: {', '.join(known)}")
    return known[0]


def _clean(study: Study, family: str) -> dict[str, Estimate]:
    """Clean accuracies: of the other side of the family's shift where it is in the study, else of the first set."""
    for shift in study.shifts:
        if shift.name.partition("~")[0] == family:
            return {point.model: point.x[0] for point in shift.points.models}
    return dict(study.conditions[0].accuracies)


def lacking_corruptions(study: Study) -> str:
    """Why there are no corruption errors; empty where there may be some."""
    measured = any(
        all((name, severity) in grid.accuracies for severity in SEVERITIES)
        for grid in grids_of(study)
        for name in grid.corruptions
    )
    return "" if measured or has_printed_errors(study.sources) else "corruptions at all five severities"
