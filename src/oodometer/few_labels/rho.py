"""Effective robustness of the models of a store on a set with few labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from oodometer.analysis.common_images import right_on_common
from oodometer.analysis.line_rules import baseline_models
from oodometer.analysis.origins import Origin, origin_of
from oodometer.analysis.points import Point, Points
from oodometer.analysis.text import plural
from oodometer.catalogue.names import find_shift
from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.few_labels.evidence import Evidence
from oodometer.few_labels.options import FewLabelOptions
from oodometer.few_labels.pool import CleanSide
from oodometer.stats.intervals import share_of
from oodometer.stats.lines import Line
from oodometer.stats.prediction_powered import FromFewLabels
from oodometer.stats.rho_from_few import rho_beside, rho_from_few
from oodometer.store.index import Index


class Beside(NamedTuple):
    """What every model has beyond its clean accuracy; None where that is not known.

    Args:
        line: Which line it is; empty where there is none.
        clean: Accuracy on the clean images.
        notes: Why there is no ρ.
    """

    line: str
    clean: tuple[Estimate | None, ...]
    rho: tuple[FromFewLabels | None, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Beyond:
    """What ρ is asked of.

    Args:
        accuracies: Of every model of the pool on the set.
        clean: Of the models that have it, by place, accuracy on the clean images.
        right: Whether each of these models is right on each clean image, (models, Nx) bool.
    """

    evidence: Evidence
    accuracies: Sequence[FromFewLabels]
    side: CleanSide
    clean: Mapping[int, Estimate]
    right: np.ndarray
    options: FewLabelOptions
    origins: Mapping[str, Origin]


def rho_of_models(
    index: Index,
    evidence: Evidence,
    side: CleanSide | None,
    accuracies: Sequence[FromFewLabels],
    options: FewLabelOptions,
    origins: Mapping[str, Origin],
) -> Beside:
    """ρ of every model, beside the line that is given or one through models of the store."""
    none = (None,) * len(accuracies)
    cells = {at: cell for at, cell in enumerate(side.cells if side else ()) if cell is not None}
    if side is None or not cells:
        return Beside("", none, none, ("no effective robustness: no clean images with labels; --clean says which",))
    right = np.stack(right_on_common(index, list(cells.values())).values)
    clean = {at: share_of(int(own.sum()), len(own), level=options.level) for at, own in zip(cells, right, strict=True)}
    of_all = tuple(clean.get(at) for at in range(len(accuracies)))
    asked = Beyond(evidence, accuracies, side, clean, right, options, origins)
    try:
        line, found = _of_given_line(asked, options.line) if options.line else _of_models(asked)
    except OodometerError as error:
        return Beside("", of_all, none, (f"no effective robustness: {error}",))
    return Beside(line, of_all, tuple(found.get(at) for at in range(len(accuracies))))


def _of_given_line(asked: Beyond, line: Line) -> tuple[str, dict[int, FromFewLabels]]:
    level = asked.options.level
    found = {
        at: rho_beside(line, asked.accuracies[at], own, level=level)
        for at, own in zip(asked.clean, asked.right, strict=True)
    }
    return f"the line that is given, against {asked.side.name}", found


def _of_models(asked: Beyond) -> tuple[str, dict[int, FromFewLabels]]:
    """Beside a line through those models of the store that it usually goes through."""
    evidence, options = asked.evidence, asked.options
    entry = find_shift(evidence.pool.condition.name)
    if entry is not None and entry.filtered_by is not None:
        raise OodometerError(
            f"the line of {entry.name} has a knee, where few labels do not tell it; give one by --line"
        )
    places = list(asked.clean)
    points = Points((asked.side.name,), evidence.pool.title, (evidence.pool.title,), tuple(_points(asked)))
    baseline, scale = baseline_models(points, options.robustness), options.robustness.scale
    found = rho_from_few(
        evidence.right[places],
        [one[places] for one in evidence.proxies.values()],
        evidence.labelled,
        asked.right,
        baseline,
        scale=scale,
        level=options.level,
    )
    line = f"a line through {plural(int(baseline.sum()), 'model')} against {asked.side.name}, {scale} scale"
    return line, dict(zip(places, found, strict=True))


def _points(asked: Beyond) -> Iterator[Point]:
    pool = asked.evidence.pool
    for at, clean in asked.clean.items():
        origin = origin_of(pool.cells[at], pool.models[at], asked.origins)
        yield Point(pool.models[at], origin, (clean,), asked.accuracies[at].estimate)
