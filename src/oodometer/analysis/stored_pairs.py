"""Models as points from the predictions of a store: all of them on the same images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from oodometer.analysis.accuracy_pairs import (
    Origin,
    Point,
    Points,
    check_sides,
    conditions_named,
    named,
    points_of_table,
)
from oodometer.analysis.common_images import Joined, joined
from oodometer.core.errors import StoreError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import mean_of, share_of
from oodometer.store.cells import Cell
from oodometer.store.images import Images, images_of
from oodometer.store.shifts import shifts_in
from oodometer.store.store import Store
from oodometer.store.tables import read_tables

CLEAN = "clean"


def points_of_store(store: Store, x: Sequence[str], y: str, *, origins: Mapping[str, Origin], level: float) -> Points:
    """The models of a store that were run on both sides, or imported accuracies where there are no predictions.

    A name is that of a condition, or of a data set that was seen as it is; ``y`` may also be a family of conditions.
    """
    cells, tables = store.cells(), read_tables(store)
    if not cells and not tables:
        raise StoreError(f"{store}: nothing in it yet; 'oodometer run' or 'oodometer import' makes it")
    imported = {row.condition for row in tables}
    if not cells or (imported and _knows(imported, x, y) and not _knows(names_in(cells), x, y)):
        return points_of_table(tables, x, y, origins=origins, level=level)
    found = points_of_models(store, models_by_name(cells), x, y, origins=origins, level=level)
    if not tables:
        return found
    said = "imported accuracies are left out, since there are predictions; give the table with --table"
    return replace(found, notes=(*found.notes, said))


def points_of_models(
    store: Store,
    models: Mapping[str, Sequence[Cell]],
    x: Sequence[str],
    y: str,
    *,
    origins: Mapping[str, Origin],
    level: float,
) -> Points:
    """Those of these models, each with the cells that count, that were run on both sides."""
    names = sorted(names_in([cell for cells in models.values() for cell in cells]))
    for name in x:
        conditions_named(name, names, str(store), exact=True)
    shifted = conditions_named(y, names, str(store))
    check_sides(x, shifted)
    found = {model: sides_of(store, model, cells, x, shifted) for model, cells in models.items()}
    both = {model: sides for model, sides in found.items() if sides is not None}
    where = f"{', '.join(x)} and {y}"
    if not both:
        raise StoreError(
            f"{store}: no model was run on {where} over the same classes; run both with the same label map"
        )
    notes = []
    if len(both) < len(found):
        notes.append(
            f"left out, not run on {where} over the same classes: {named([m for m in found if m not in both])}"
        )
    return _on_common_images(store, Points(tuple(x), y, tuple(shifted), (), notes=tuple(notes)), both, origins, level)


def clean_side(store: Store, y: str) -> tuple[str, ...]:
    """What a shift is compared with when nobody says: its other side where it was run as one, else ``clean``."""
    sides = {str(one.standard["name"]) for one in shifts_in(store) if y in (one.name, one.shifted["name"])}
    if len(sides) > 1:
        raise UsageError(f"{store}: {y} was compared with several; say which: --x {' or --x '.join(sorted(sides))}")
    return tuple(sides) or (CLEAN,)


def names_in(cells: Sequence[Cell]) -> set[str]:
    """What can be asked for: the conditions, and the data sets that were seen as they are."""
    return {cell.condition_name for cell in cells} | {cell.data for cell in cells if cell.condition_name == CLEAN}


def _knows(names: set[str], x: Sequence[str], y: str) -> bool:
    try:
        return set(x) <= names and bool(conditions_named(y, names, ""))
    except UsageError:
        return False


def models_by_name(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """The cells of each model by a name that is its own; other weights, preprocessing or precision, other model."""
    weights: dict[str, dict[str, dict[str, list[Cell]]]] = {}
    for cell in cells:
        how = f"{cell.model.get('input')} {cell.precision}"
        of_weights = weights.setdefault(cell.model_name, {}).setdefault(cell.weights, {})
        of_weights.setdefault(how, []).append(cell)
    found: dict[str, list[Cell]] = {}
    for name, of_name in weights.items():
        for digest, of_weights in of_name.items():
            label = name if len(of_name) == 1 else f"{name}@{digest[:8]}"
            for place, group in enumerate(of_weights.values(), start=1):
                found[label if len(of_weights) == 1 else f"{label}#{place}"] = group
    return found


@dataclass(frozen=True)
class Sides:
    """The cells of one model: one for each clean set, and one for each condition of the shift."""

    x: list[Cell]
    y: list[Cell]


def sides_of(store: Store, model: str, cells: Sequence[Cell], x: Sequence[str], y: Sequence[str]) -> Sides | None:
    """The model's cells on both sides, over the same classes; None where it was not run on both."""
    shifted = [[cell for cell in cells if _is(cell, name) and store.row_files(cell)] for name in y]
    if not all(shifted):
        return None
    pairs = [
        Sides(clean, found)
        for found in _that_belong_together(shifted)
        if (clean := _clean(store, model, cells, x, found[0]))
    ]
    # Where the shift was measured on several data sets, the clean set may tell which is meant.
    pairs = [one for one in pairs if _data(one.x[0]) == _data(one.y[0])] or pairs
    if len(pairs) > 1:
        data = sorted(one.y[0].data for one in pairs)
        raise UsageError(
            f"{store}: {model} was run on {y[0]} of several data sets or classes; say which: {_by_x(data)}"
        )
    return pairs[0] if pairs else None


def _that_belong_together(shifted: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    """One cell for each condition, in every way in which they are of the same data and classes."""
    if all(len(found) == 1 for found in shifted):  # each may be a data set of its own, as the folders of ImageNet-C are
        return [[cell for found in shifted for cell in found]]
    by_kind = [{(_data(cell), _classes(cell)): cell for cell in found} for found in shifted]
    return [[cells[kind] for cells in by_kind] for kind in by_kind[0] if all(kind in cells for cells in by_kind)]


def _clean(store: Store, model: str, cells: Sequence[Cell], x: Sequence[str], shifted: Cell) -> list[Cell]:
    """One cell for each clean set over the classes of the shifted one, on its data where there are several; or none."""
    found = []
    for name in x:
        fit = [cell for cell in cells if _is(cell, name) and _classes(cell) == _classes(shifted) and cell != shifted]
        fit = [cell for cell in fit if store.row_files(cell)]
        fit = [cell for cell in fit if _data(cell) == _data(shifted)] or fit
        if not fit:
            return []
        if len(fit) > 1:
            data = sorted(cell.data for cell in fit)
            raise UsageError(
                f"{store}: {model} was run on {name} of several data sets or classes; say which: {_by_x(data)}"
            )
        found += fit
    return found


def _by_x(data: Sequence[str]) -> str:
    if len(set(data)) < len(data):
        return f"they are all of {data[0]}, so keep them in stores of their own"
    return " or ".join(f"--x {one!r}" for one in data)


def _is(cell: Cell, name: str) -> bool:
    return cell.condition_name == name or (cell.condition_name == CLEAN and cell.data == name)


def _data(cell: Cell) -> str:
    return str(cell.condition["data"])


def _classes(cell: Cell) -> tuple[int, str | None]:
    return cell.n_classes, cell.condition["label_map"]


def _on_common_images(
    store: Store, points: Points, both: Mapping[str, Sides], origins: Mapping[str, Origin], level: float
) -> Points:
    """The points with all models on the images that all of them saw."""
    clean = [[[sides.x[at]] for sides in both.values()] for at in range(len(points.x))]
    shifted = [sides.y for sides in both.values()]
    sides = clean[0][0][0], shifted[0][0]
    others = any(
        one.of_other_images and one.is_standard(sides[0]) and one.is_shifted(sides[1]) for one in shifts_in(store)
    )
    images = [images_of(store, cell) for cell in sides]
    if (images[1].labels < 0).all():
        told = f"'score --ood {points.y}' tells how well they are told apart"
        raise StoreError(f"{store}: the images of {points.y} have no labels, so there is no accuracy on them; {told}")
    same = not others and same_photographs(*images)
    names = points.x[0], points.y
    right_x, right_y, said = (_paired if same else _apart)(store, clean[0], shifted, names)
    sets = [right_x]
    for name, cells in zip(points.x[1:], clean[1:], strict=True):
        right, common = _right(store, cells)
        sets.append(np.stack(right))
        said += _lost(name, common)
    models = tuple(
        Point(
            model,
            origin_of(sides.y[0], model, origins),
            tuple(accuracy_of(one[at], level) for one in sets),
            accuracy_of(right_y[at], level),
        )
        for at, (model, sides) in enumerate(both.items())
    )
    notes = (*points.notes, *said, *_unfinished(store, both))
    used = {model: (tuple(sides.x), tuple(sides.y)) for model, sides in both.items()}
    return Points(points.x, points.y, points.conditions, models, right_x, right_y, same, notes, used)


Cells = Sequence[Sequence[Cell]]
"""For each model its cells of one side."""


def _paired(
    store: Store, clean: Cells, shifted: Cells, names: tuple[str, str]
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Both sides on the photographs that all cells of both have, and what there is to say."""
    right, common = _right(store, [*clean, *shifted])
    half = len(clean)
    return np.stack(right[:half]), np.stack(right[half:]), _lost(" and ".join(names), common)


def _apart(
    store: Store, clean: Cells, shifted: Cells, names: tuple[str, str]
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Each side on the images that all its cells have, and what there is to say."""
    (right_x, of_x), (right_y, of_y) = _right(store, clean), _right(store, shifted)
    said = _lost(names[0], of_x) + _lost(names[1], of_y)
    classes_x, classes_y = set(of_x.labels.tolist()), set(of_y.labels.tolist())
    if classes_x != classes_y:
        said.append(
            f"{names[0]} has images of {len(classes_x)} classes and {names[1]} of {len(classes_y)}, "
            f"{len(classes_x & classes_y)} of them the same: a clean set of the same classes would be fairer"
        )
    return np.stack(right_x), np.stack(right_y), said


def _lost(where: str, common: Joined) -> list[str]:
    n = common.left_out
    return [f"{where}: {n} images left out that not all models (or conditions) have"] if n else []


def same_photographs(a: Images, b: Images) -> bool:
    """Whether all images of the smaller set are among those of the other, by id and label.

    So they are for a corruption made here, and for one read from disk whose files are named like the clean ones.
    """
    small, large = sorted((a, b), key=lambda images: len(images.ids))
    labels = dict(zip(large.ids.tolist(), large.labels.tolist(), strict=True))
    return all(labels.get(one) == label for one, label in zip(small.ids.tolist(), small.labels.tolist(), strict=True))


def _right(store: Store, cells: Cells) -> tuple[list[np.ndarray], Joined]:
    """Per model and image whether it was right, or the share of its cells in which it was: for each model (N,)."""
    common = joined(store, [cell for one in cells for cell in one], lambda rows: rows.rank == 0)
    bounds = np.cumsum([0, *(len(one) for one in cells)])
    of_model = [
        np.mean(common.values[start:stop], axis=0) if stop - start > 1 else common.values[start]
        for start, stop in pairwise(bounds)
    ]
    return of_model, common


def accuracy_of(right: np.ndarray, level: float) -> Estimate:
    """The accuracy over images of which it is known whether the model is right, or in which share of the conditions.

    Of a family the images are the units, since an image that is hard clean is hard in all its corruptions.
    """
    if right.dtype == bool:
        return share_of(int(right.sum()), len(right), level=level)
    return mean_of(right, level=level, bounds=(0.0, 1.0))


def origin_of(cell: Cell, model: str, origins: Mapping[str, Origin]) -> Origin:
    """What the user says of the model, and where that is silent its card."""
    card = cell.model.get("card") or {}
    said = origins.get(model) or origins.get(cell.model_name) or Origin()
    return Origin(said.category or str(card.get("category") or ""), said.parent or card.get("parent"))


def _unfinished(store: Store, both: Mapping[str, Sides]) -> list[str]:
    begun = [
        f"{model} on {cell.condition_name}"
        for model, sides in both.items()
        for cell in (*sides.x, *sides.y)
        if not store.is_sealed(cell)
    ]
    return [f"unfinished: {', '.join(begun[:3])}{' and others' if len(begun) > 3 else ''}"] if begun else []
