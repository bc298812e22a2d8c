"""One cell of a store as it is now: what of it is there, whole, and how many rows are right."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from oodometer.store.cells import Cell, read_cell
from oodometer.store.checked import Checked, first_good, is_whole
from oodometer.store.files import Signature
from oodometer.store.folder import CELL, LOGITS, ROWS, CellFolder, Entry, PartFiles, folder_of, look_into
from oodometer.store.prediction_parquet import ranks_of
from oodometer.store.store import Store


def look_at(store: Store, key: str) -> Entry | None:
    """One cell as it is now; None where it is not there."""
    found, _ = look_into_cell(store, key)
    return found


def look_into_cell(store: Store, key: str) -> tuple[Entry | None, list[str]]:
    """What the folder of a cell holds, and what is wrong with it."""
    for _ in range(3):  # another run may be sealing the cell while it is looked at: what vanishes is not damaged
        signature = store.files.signature(folder_of(key))  # first, so that whatever comes later is noticed
        there = look_into(store.files, key)
        found, problems = _looked(store, there, signature)
        if not problems or look_into(store.files, key) == there:
            break
    return found, problems


def _looked(store: Store, there: CellFolder, folder: Signature | None) -> tuple[Entry | None, list[str]]:
    files = store.files
    described = first_good(files, there.of(CELL))
    cell = None if described is None else _cell_from(described[1], there.key)
    if cell is None:
        if not there.files and not there.parts:  # another run is just making it
            return None, []
        where = files.locate(f"{folder_of(there.key)}/{CELL}")
        return None, [f"{where}: missing or damaged, so nothing is known of its rows; run again to replace it"]
    if not there.of(ROWS):
        return _looked_at_parts(store, there, cell, [])
    whole = first_good(files, there.of(ROWS))
    at = f"{cell.model_name} on {cell.condition_name}"
    if whole is None:
        return _looked_at_parts(store, there, cell, [f"{at}: its rows are damaged; run again to replace them"])
    name, content = whole
    logits, problems = _logits_of(store, there, cell)
    # The time of its folder does not tell of logits that are being added in the folder of parts, or that are damaged.
    told_by = None if there.has_parts_folder or problems else folder
    signatures = files.signature(name.path), logits and files.signature(logits.path), told_by
    parts = (), _whole_with_logits(store, there)
    return Entry(cell, name, logits, *signatures, *parts, *_counts(ranks_of(content))), problems


def _logits_of(store: Store, there: CellFolder, cell: Cell) -> tuple[Checked | None, list[str]]:
    """The file of all logits, if it is whole; from far away it is only looked at when it is read."""
    names = there.of(LOGITS)
    good = [name for name in names if not store.files.is_local or is_whole(store.files, name)]
    if good or not names:
        return next(iter(good), None), []
    at = f"{cell.model_name} on {cell.condition_name}"
    return None, [f"{at}: its logits are damaged; run again with --keep logits to replace them"]


def _looked_at_parts(
    store: Store, there: CellFolder, cell: Cell, problems: list[str]
) -> tuple[Entry | None, list[str]]:
    good, totals = [], np.zeros(4, dtype=np.int64)
    for part in there.ranges:
        whole = first_good(store.files, part.rows)
        if whole is None:
            problems.append(f"{cell.model_name} on {cell.condition_name}: a part is damaged; run again to replace it")
            continue
        good.append(replace(part, rows=(whole[0],)))
        if cell.n_units is None:  # otherwise they are rows of frames, and those of groups are not there yet
            totals += _counts(ranks_of(whole[1]))
    with_logits = _whole_with_logits(store, there)
    return Entry(cell, None, None, None, None, None, tuple(good), with_logits, *totals.tolist()), problems


def _whole_with_logits(store: Store, there: CellFolder) -> tuple[PartFiles, ...]:
    """The parts whose rows and logits are both whole."""
    return tuple(
        part
        for part in there.ranges_with_logits
        if first_good(store.files, part.rows) and first_good(store.files, part.logits)
    )


def _counts(ranks: np.ndarray) -> tuple[int, int, int, int]:
    """All rows, the labelled ones, those that are right, and right among five."""
    return len(ranks), int((ranks >= 0).sum()), int((ranks == 0).sum()), int(((ranks >= 0) & (ranks < 5)).sum())


def _cell_from(content: bytes, key: str) -> Cell | None:
    """The cell of a description; None where it is none, or another cell's."""
    try:
        cell = read_cell(json.loads(content))
    except (ValueError, TypeError, KeyError):
        return None
    return cell if cell.key == key else None
