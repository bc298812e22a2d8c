"""What stands below a table about shifts: what each is compared with, and how its line was drawn."""

from __future__ import annotations

from collections.abc import Sequence

from oodometer.study import Study, StudyShift


def clean_sides(study: Study, shifts: Sequence[StudyShift]) -> list[str]:
    """The clean set, and those of shifts that are compared with another."""
    if not study.conditions:
        return []
    clean = study.conditions[0]
    others = [f"{one.name} with {', '.join(one.points.x)}" for one in shifts if one.points.x != (clean.condition,)]
    known = [f"Clean: {clean.name}."] if clean.name != "clean" else []
    return [*known, *([f"Compared with another clean set: {'; '.join(others)}."] if others else [])]


def means_and_measures(shifts: Sequence[StudyShift]) -> list[str]:
    """The shifts that are means, and those that are judged by another measure."""
    found = [f"{one.name} over {len(one.points.conditions)}" for one in shifts if len(one.points.conditions) > 1]
    by_map = [one.name for one in shifts if one.points.measure == "map"]
    means = [f"Means over conditions: {'; '.join(found)}."] if found else []
    return means + ([f"By mAP, not top-1: {', '.join(by_map)}."] if by_map else [])


def lines(study: Study, shifts: Sequence[StudyShift], columns: Sequence[str]) -> list[str]:
    """What ρ, τ and drops are, and how the lines were drawn."""
    found = []
    if "rho" in columns:
        found += _about_rho(study, shifts)
    if "tau" in columns:
        found.append("τ (relative robustness): accuracy under the shift minus that of the parent, in points.")
    if "drop" in columns:
        found.append("Drop: clean minus shifted accuracy, in points; a model that is always wrong has none.")
    return found


def without_line(shifts: Sequence[StudyShift]) -> list[str]:
    """Why some have no line, a line each."""
    return [f"no ρ under {one.name}: {one.why}" for one in shifts if not one.robustness]


def _about_rho(study: Study, shifts: Sequence[StudyShift]) -> list[str]:
    drawn = [(one, one.robustness.fitted) for one in shifts if one.robustness]
    if not drawn:
        return []
    missing = [one.name for one in shifts if not one.robustness]
    found = [f"No line, so no ρ: {', '.join(missing)}."] if missing else []
    who = f"{study.options.baseline} models" if study.options.baseline else "all models"
    each = "; ".join(f"{one.name}: {fit.kind}, {fit.n} models, R² {fit.r2:.2f}" for one, fit in drawn)
    what = "accuracy under the shift minus what the line through"
    scale = study.options.scale
    return [f"ρ (effective robustness): {what} {who} expects, in points; {scale} scale; {each}.", *found]
