"""A look at the answers of a run that was too short for a preflight: what can't be right is told, and kept."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from oodometer.core.errors import StoreError
from oodometer.preflight.outputs import LEAST_ASKED, is_chance
from oodometer.store.cells import Cell
from oodometer.store.run import Run

REMEDY = "are weights, order of the classes and preprocessing right? 'oodometer preflight' looks into it"


def suspicious(run: Run) -> list[str]:
    """A line for each model whose answers on clean images are all the same, or right no more often than by chance.

    A model that a preflight looked at before is not judged again.
    """
    lines: dict[str, str] = {}
    for cell in _clean_cells(run):
        if cell.model_name not in lines and (said := _said(run, cell)):
            lines[cell.model_name] = f"warning: {cell.model_name}: {said} of {cell.condition_name}; {REMEDY}"
    return list(lines.values())


def _clean_cells(run: Run) -> Iterator[Cell]:
    """Those of untouched images that are not the shifted side of a shift."""
    shifted = {shift.shifted.key for shift in run.shifts}
    for cell in run.cells:
        condition = cell.condition
        is_clean = condition.transform is None and condition.attack is None and condition.key not in shifted
        if is_clean and "preflight" not in cell.model.notes:
            yield cell


def _said(run: Run, cell: Cell) -> str:
    """What is wrong with the answers, if n is enough to tell."""
    try:
        rows = run.store.read(cell)
    except StoreError:  # damaged since: whoever reads numbers of it is told
        return ""
    labelled = rows.label >= 0
    answers, labels = rows.prediction[labelled], rows.label[labelled]
    n, n_true = len(labels), len(np.unique(labels))
    if n < LEAST_ASKED or n_true < 2:
        return ""
    if len(np.unique(answers)) == 1:
        return f"class {int(answers[0])} is the answer to all {n:,} images"
    right = int((rows.rank[labelled] == 0).sum())
    if is_chance(right, n, n_true, cell.n_classes):
        return f"{100 * right / n:.1f} % right, no more than by chance, among the {n:,} images"
    return ""
