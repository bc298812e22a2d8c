"""The leaderboard: models by what they are on the clean set, under each shift, and beyond their clean accuracy."""

from __future__ import annotations

from collections.abc import Sequence

from oodometer.analysis.text import listed
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.document.table import Table
from oodometer.report.tables.board_columns import KINDS, OF_CONDITIONS, SCORES, board_numbers, measure_of
from oodometer.report.tables.footnotes import common_footnotes
from oodometer.report.tables.model_table import Numbers, Words, study_table, wanted_models
from oodometer.report.tables.options import TableOptions
from oodometer.report.tables.shift_footnotes import clean_sides, lines, means_and_measures, without_line
from oodometer.report.tables.shifts import chosen_shifts
from oodometer.study import Study, StudyShift

USUAL = ("clean", "accuracy", "rho")

LONG = {
    "drop": "drop of accuracy under shift",
    "rho": "effective robustness ρ",
    "tau": "relative robustness τ",
    **{kind: score.long for kind, score in SCORES.items()},
}
"""What a table is of that has no accuracies."""


def leaderboard_table(study: Study, options: TableOptions | None = None) -> Table:
    """The leaderboard of a study."""
    options = options or TableOptions()
    shifts, notes = chosen_shifts(study, options)
    kinds = _kinds(study, shifts, options)
    models = frozenset(wanted_models(study, options.models))
    numbers = [known for one in board_numbers(study, kinds, shifts) if (known := one.of(models)).values]
    if not numbers:
        raise UsageError(f"{study.address}: nothing is known of {', '.join(kinds)}; ask for other --columns")
    shown = [shift for shift in shifts if any(one.column.over == shift.name for one in numbers)]
    about_shifts = [*clean_sides(study, shown), *means_and_measures(shown), *lines(study, shown, kinds)]
    footnotes = (*common_footnotes(numbers), *about_shifts, *_conventions(study, kinds))
    why = without_line(shifts) if "rho" in kinds else []
    words = Words("leaderboard", caption_of(numbers, shifts), footnotes, (*notes, *why), ranked=True)
    return study_table(study, numbers, words, options)


def _kinds(study: Study, shifts: Sequence[StudyShift], options: TableOptions) -> tuple[str, ...]:
    for name in options.columns:
        if name not in KINDS:
            raise UsageError(f"no column {name!r}{did_you_mean(name, KINDS)}")
    # mCE is divided by AlexNet's errors on ImageNet-C: elsewhere it takes long to find that there is none.
    whole = any(one.kind == "corruption" and one.name.startswith("imagenet-c") for one in shifts)
    usual = (*USUAL, "mce") if whole and study.shifts else USUAL
    return options.columns or usual


def caption_of(numbers: Sequence[Numbers], shifts: Sequence[StudyShift]) -> str:
    """What the numbers are: accuracies, where there are some, else what is told instead of them."""
    kinds = dict.fromkeys(one.kind for one in numbers)
    places = {one.column.over for one in numbers if one.kind in OF_CONDITIONS}
    clean = "clean" in kinds or "clean" in places
    shifted = "accuracy" in kinds or bool(places - {"clean"})
    where = {(True, True): ", clean and under shift", (False, True): ", under shift"}.get((clean, shifted), "")
    units = {one.column.unit for one in numbers}
    if {"clean", "accuracy"} & set(kinds):
        return f"{measure_of(shifts)} of each model in per cent{where}."
    unit = " in per cent" if units == {"percent"} else " in points" if units == {"points"} else ""
    said = listed([LONG[kind] for kind in kinds], len(kinds))
    return f"{said[:1].upper()}{said[1:]} of each model{unit}{where}."


def _conventions(study: Study, kinds: Sequence[str]) -> list[str]:
    """What each score is, as it was computed."""
    titles = {SCORES[kind].metric: SCORES[kind].title for kind in kinds if kind in SCORES}
    scores = study.scores if titles else ()
    said = dict.fromkeys((titles[one.metric], one.convention) for one in scores if one.metric in titles)
    return [f"{title}: {one}{'' if one.endswith('.') else '.'}" for title, one in said if one]
