"""Which sections of the report are pages of the explorer, and when each has something to show.

A section gets its page by a line in `SECTION_PAGES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from oodometer.analysis.controlled_pairs import candidates_in, controlled_pairs
from oodometer.study import Study, StudyShift
from oodometer.study.value_slices import has_columns


@dataclass(frozen=True)
class SectionPage:
    """A section of the report as a page.

    Args:
        path: Of the page.
        text: What the navigation calls it.
        module: Of `oodometer.report.html.sections`.
        has: Whether a study has anything to show there; cheap, for every page asks it.
        of_model: Whether it can be about one model, ``?model=``, so that the model's page links to it.
        of_shift: Which shifts it can be about alone, ``?shift=``.
        costly: Whether it takes so long that a made site has it of the whole study alone.
    """

    path: str
    text: str
    module: str
    has: Callable[[Study], bool]
    of_model: bool = True
    of_shift: Callable[[StudyShift], bool] = lambda _: True
    costly: bool = False


def has_confidences(study: Study) -> bool:
    """Whether some model says how sure it is."""
    return any(cell.known_classes is None for model in study.models for cell in model.cells)


def has_predictions(study: Study) -> bool:
    """Whether it is known what some model answers to each image."""
    return any(model.cells for model in study.models)


def has_families(study: Study) -> bool:
    """Whether something was corrupted by a family of corruptions."""
    return any(condition.member is not None for condition in study.conditions)


def has_parents(study: Study) -> bool:
    """Whether some model was measured beside the one that it was made from."""
    return any(model.tau is not None for shift in study.shifts for model in shift.of_model.values())


def has_pairs(study: Study) -> bool:
    """Whether two models differ in one thing only."""
    return bool(controlled_pairs(candidates_in(shift.points for shift in study.shifts)).pairs)


def is_family(shift: StudyShift) -> bool:
    """Whether the shift is a family of corruptions."""
    return shift.family is not None


def has_cells(shift: StudyShift) -> bool:
    """Whether there are predictions under the shift."""
    return bool(shift.points.cells)


SECTION_PAGES = (
    SectionPage("/scatter", "Scatter", "scatter", lambda study: len(study.conditions) > 1, of_model=False),
    SectionPage("/quadrants", "Quadrants", "quadrants", has_parents, of_model=False),
    SectionPage("/hypotheses", "Hypotheses", "hypotheses", has_pairs, of_model=False, of_shift=lambda _: False),
    SectionPage("/corruptions", "Corruptions", "corruptions", has_families, of_shift=is_family),
    # Calibration errors have bootstrapped intervals.
    SectionPage("/calibration", "Calibration", "uncertainty", has_confidences, of_shift=has_cells, costly=True),
    SectionPage("/classes", "Classes", "classes", has_predictions, of_shift=has_cells, costly=True),
    SectionPage("/slices", "Slices", "slices", has_columns, of_shift=has_cells, costly=True),
    SectionPage("/pictures", "Pictures", "shift_pictures", lambda study: study.picture is not None, of_model=False),
)
"""In the order of the navigation."""
