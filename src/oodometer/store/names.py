"""Names of their own for the models and conditions of a store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from oodometer.core.records import ConditionRecord
from oodometer.store.cells import Cell
from oodometer.store.folder import Entry


def model_names(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """The cells of each model by a name that is its own.

    The name; with the first letters of the weights' digest where several have it; and where even these are the same,
    with what differs: the preprocessing or the precision.
    """
    groups: dict[str, dict[str, dict[tuple[str, str], list[Entry]]]] = {}
    for entry in entries:
        model = entry.cell.model
        of_weights = groups.setdefault(model.name, {}).setdefault(model.weights, {})
        of_weights.setdefault((model.key, entry.cell.precision), []).append(entry)
    named: dict[str, list[Entry]] = {}
    for name, of_name in groups.items():
        for weights, ways in of_name.items():
            label = name if len(of_name) == 1 else f"{name}@{weights[:8]}"
            told = _ways_told_apart([some[0].cell for some in ways.values()])
            for way, of_way in zip(told, ways.values(), strict=True):
                for file, of_file in _files_told_apart(of_way).items():
                    named[f"{label}{way}{file}"] = of_file
    return named


def _files_told_apart(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """The cells of a model by what to write behind its name: the file, where several answer for the same condition.

    Of a model that was run, the weights tell already whose answers they are.
    """
    conditions = [(entry.cell.condition.key, entry.cell.data.digest) for entry in entries]
    files: dict[str, list[Entry]] = {}
    for entry in entries:
        several = len(set(conditions)) < len(conditions)
        files.setdefault(f"@{entry.cell.model.digest[:8]}" if several else "", []).append(entry)
    return files


def _ways_told_apart(cells: Sequence[Cell]) -> list[str]:
    """What to write behind the name of a model that was run in several ways: where they differ, in words."""
    if len(cells) == 1:
        return [""]
    told = [_way(cell) for cell in cells]
    differing = [place for place in range(len(told[0])) if len({way[place] for way in told}) > 1]
    words = [", ".join(way[place] for place in differing) for way in told]
    if len(set(words)) < len(words):
        words = [cell.model.key[:8] for cell in cells]
    return [f" ({word})" for word in words]


def _way(cell: Cell) -> tuple[str, ...]:
    """How a model was run, in words."""
    seen = cell.model.input
    if seen is None:
        return (cell.precision,)
    mean, std = (",".join(f"{number:g}" for number in numbers) for numbers in (seen.mean, seen.std))
    return str(seen.view), f"mean {mean}", f"std {std}", str(cell.model.classes)[:8], cell.precision


def condition_names(conditions: Sequence[ConditionRecord]) -> list[str]:
    """A name for each condition: its own, and where several have it with that of the data.

    With the digest of the data where these share a name, and a number where even that is one: other seeds or classes.
    """
    full = [(one.name, one.data.title, one.data.digest[:8]) for one in conditions]
    data_of: dict[str, set[tuple[str, str]]] = {}
    times: dict[tuple[str, str, str], list[int]] = {}
    for place, names in enumerate(full):
        data_of.setdefault(names[0], set()).add(names[1:])
        times.setdefault(names, []).append(place)
    found = []
    for place, names in enumerate(full):
        condition, data, digest = names
        name = condition
        if len(data_of[condition]) > 1:
            same_data = [one for one in data_of[condition] if one[0] == data]
            name += f"@{data}" if len(same_data) == 1 else f"@{data}@{digest}"
        found.append(f"{name}#{times[names].index(place) + 1}" if len(times[names]) > 1 else name)
    return found
