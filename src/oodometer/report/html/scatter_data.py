"""What the scatter plot gets: accuracies of all models on all that they were asked about, packed small.

Accuracies are exact: as counts of right answers where there are such, as the numbers of the store otherwise, so that a
line through them is the same in the browser. Ends of intervals and ρ are whole hundred-thousandths wherever that is
written with the same digits as the number itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from oodometer.analysis.line_rules import may_be_baseline
from oodometer.analysis.robustness import Robustness
from oodometer.analysis.robustness_line import Piece
from oodometer.core.estimate import Estimate
from oodometer.report.palette import UNKNOWN, looks_of
from oodometer.study import Study, StudyShift

PARTS = 100_000
"""Of a whole: two digits more than what is shown."""

SIDES = "sides of shifts"
"""The group of columns that are no condition: means of families, and clean sets on the images of a shift alone."""


def scatter_data(study: Study) -> dict[str, Any]:
    """The plot's data.

    ``columns`` are what can be an axis. Their numbers belong to the models of one of the ``sets`` (many columns have
    the same models). A shift has the columns of its two sides, the models that are measured on both, and its line.
    """
    categories = list(looks_of(model.origin.category or UNKNOWN for model in study.models))
    packed = _Columns({model.name: place for place, model in enumerate(study.models)})
    clean = {shift.standard for shift in study.shifts}
    kinds = {name: shift.kind for shift in study.shifts for name in shift.shifted}
    for one in study.conditions:
        group = "clean sets" if one.name in clean else one.family or kinds.get(one.name, "other")
        packed.add(one.name, group, one.accuracies)
    shifts = [_shift(shift, packed) for shift in study.shifts]
    return {
        "models": [model.name for model in study.models],
        "categories": categories,
        "category": [categories.index(model.origin.category or UNKNOWN) for model in study.models],
        "baseline": [int(may_be_baseline(model.name, model.origin, study.options)) for model in study.models],
        "baselineCategory": study.options.baseline,
        "baselineAbove": study.options.baseline_above or 0.0,
        "scale": study.options.scale,
        "level": study.options.resampling.level,
        "student": student_quantiles(len(study.models), study.options.resampling.level),
        "parts": PARTS,
        "sets": packed.sets,
        "columns": packed.columns,
        "shifts": shifts,
    }


def student_quantiles(n_models: int, level: float) -> list[float]:
    """The quantiles of Student's t for a line through 3 to n models, for the lines that are drawn in the page.

    >>> [round(one, 2) for one in student_quantiles(5, 0.95)]
    [12.71, 4.3, 3.18]
    """
    from scipy.special import stdtrit

    return [float(stdtrit(free, (1 + level) / 2)) for free in range(1, max(n_models - 1, 2))]


def parts_of(value: float | None) -> float | int | None:
    """A share as hundred-thousandths: whole, unless its per cent would then be written with another digit.

    >>> parts_of(0.741237), parts_of(0.12649999), parts_of(-0.5), parts_of(None)
    (74124, 12649.999, -50000, None)
    """
    if value is None:
        return None
    whole = round(value * PARTS)
    return whole if f"{100 * (whole / PARTS):.1f}" == f"{100 * value:.1f}" else round(value * PARTS, 6)


@dataclass
class _Columns:
    """The columns so far, and the sets of models that they are about, each kept once."""

    places: Mapping[str, int]
    sets: list[list[int]] = field(default_factory=list)
    columns: list[dict[str, Any]] = field(default_factory=list)
    named: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, group: str, estimates: Mapping[str, Estimate]) -> int:
        """The place of a new column."""
        models = sorted(estimates, key=self.places.__getitem__)
        numbers = _numbers([estimates[model] for model in models])
        self.named[name] = len(self.columns)
        self.columns.append({"name": name, "group": group, "set": self.set_of(models), **numbers})
        return len(self.columns) - 1

    def side(self, condition: str, otherwise: str, estimates: Mapping[str, Estimate]) -> int:
        """The place of the condition's column where it has these numbers; else of one that is named otherwise."""
        for name in (condition, otherwise):
            if name in self.named and self.holds(self.named[name], estimates):
                return self.named[name]
        return self.add(otherwise, SIDES, estimates)

    def holds(self, place: int, estimates: Mapping[str, Estimate]) -> bool:
        """Whether the column has these numbers of these models, maybe with others."""
        column, mine = self.columns[place], _numbers(list(estimates.values()))
        rows = {model: row for row, model in enumerate(self.sets[column["set"]])}
        at = [rows.get(self.places[model]) for model in estimates]
        return all(row is not None and _row(column, row) == _row(mine, own) for own, row in enumerate(at))

    def set_of(self, models: Iterable[str]) -> int:
        """The number of the set of these models."""
        places = sorted(self.places[model] for model in models)
        if places not in self.sets:
            self.sets.append(places)
        return self.sets.index(places)


def _numbers(found: Sequence[Estimate]) -> dict[str, Any]:
    """Values or counts of right answers, n, and the ends of the intervals."""
    sizes = [one.n for one in found]
    right = [None if one.n is None else round(one.value * one.n) for one in found]
    exact = all(k is not None and one.n and k / one.n == one.value for k, one in zip(right, found, strict=True))
    return {
        "right" if exact else "value": right if exact else [one.value for one in found],
        "n": sizes[0] if len(set(sizes)) == 1 else sizes,
        "low": [parts_of(one.low) for one in found],
        "high": [parts_of(one.high) for one in found],
        "interval": "; ".join(dict.fromkeys(one.interval for one in found)),
    }


def _row(numbers: Mapping[str, Any], row: int) -> tuple[Any, ...]:
    """Value, n and interval of one model of a column."""
    n = numbers["n"][row] if isinstance(numbers["n"], list) else numbers["n"]
    value = numbers["right"][row] / n if "right" in numbers else numbers["value"][row]
    return value, n, numbers["low"][row], numbers["high"][row]


def _shift(shift: StudyShift, packed: _Columns) -> dict[str, Any]:
    """A shift: its two columns, and what the line says."""
    points = shift.points
    x = {point.model: point.x[0] for point in points.models}
    y = {point.model: point.y for point in points.models}
    whole = shift.shifted[0] if len(shift.shifted) == 1 else f"{shift.name} (mean of {len(points.conditions)})"
    x_column = packed.side(shift.standard, f"{shift.standard}, the images of {shift.name}", x)
    y_column = packed.side(whole, whole if len(shift.shifted) != 1 else f"{whole}, the images of {shift.standard}", y)
    found = shift.robustness
    order = sorted(x, key=packed.places.__getitem__)
    return {
        "name": shift.name,
        "kind": shift.kind,
        "x": x_column,
        "y": y_column,
        "set": packed.set_of(order),
        "others": list(points.x[1:]),
        "baselineAbove": shift.rules.options.baseline_above,
        "why": shift.why,
        "notes": list(shift.notes if found else points.notes),
        **(_line(found, order) if found else {"line": None}),
    }


def _line(found: Robustness, order: Sequence[str]) -> dict[str, Any]:
    """The line, and ρ of the models in that order."""
    rho = {one.model: one.rho for one in found.models}
    return {
        "line": {
            "kind": found.fitted.kind,
            "scale": found.fitted.scale,
            "r2": found.fitted.r2,
            "n": found.fitted.n,
            "leftOut": found.fitted.left_out,
            "knee": found.fitted.knee,
            "pieces": [_piece(piece) for piece in found.fitted.pieces],
            "band": [[_short(number) for number in place] for place in found.band],
        },
        "rho": [parts_of(rho[model].value) for model in order],
        "rhoLow": [parts_of(rho[model].low) for model in order],
        "rhoHigh": [parts_of(rho[model].high) for model in order],
    }


def _piece(piece: Piece) -> dict[str, Any]:
    slope = piece.slopes[0]
    return {
        "slope": slope.value,
        "slopeLow": slope.low,
        "slopeHigh": slope.high,
        "intercept": piece.intercept.value,
        "r2": piece.r2,
        "n": piece.n,
    }


def _short(value: float) -> float:
    """Six digits of a place of the band: it is only drawn."""
    return float(f"{value:.6g}")
