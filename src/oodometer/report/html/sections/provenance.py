"""Provenance: where every number comes from, and the commands that give it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from oodometer.analysis.text import plural
from oodometer.core.errors import OodometerError
from oodometer.core.preprocessing import Geometry
from oodometer.core.records import ConditionRecord
from oodometer.document.numbers import Value
from oodometer.document.section import Part, Section, Words
from oodometer.document.table import Column, Table
from oodometer.report.commands import commands_of, written
from oodometer.stats.intervals import DEFAULT_INTERVAL
from oodometer.store.cells import Cell
from oodometer.study import Study, StudyModel
from oodometer.study.evidence import imported, n_classes_of_data, unfinished, warnings_about

DIGITS = 8
"""Of a digest, where it is shown."""

MOST_WARNINGS = 20
INPUT_FROM = {"default": "nobody declared it"}


def section(study: Study) -> Section:
    """Models, data, conditions, versions, seeds and commands."""
    measured = [model for model in study.models if model.cells]
    cells = [cell for model in measured for cell in model.cells]
    parts: list[Part] = []
    if cells:
        parts += [_models(measured), _data_sets(study, cells), _conditions(cells), *_versions(cells)]
    parts += [*_tables(study), *_unfinished(study), *_warnings(study, cells)]
    parts.append(Words(_drawing(study), "list"))
    for one in commands_of(study):
        parts += [Words((one.what,)), Words(tuple(written(line) for line in one.lines), "commands")]
    return Section("provenance", "Provenance", _lead(study, measured, cells), tuple(parts))


def _lead(study: Study, measured: Sequence[StudyModel], cells: Sequence[Cell]) -> tuple[str, ...]:
    lines = []
    if cells:
        rows = sum(cell.n_rows for cell in cells)
        data = len({cell.data.digest for cell in cells})
        lines.append(
            f"{len(cells):,} runs of {plural(len(measured), 'model')} on {plural(data, 'data set')}: "
            f"{rows:,} predictions, each kept with the digests of its weights and of its images."
        )
    known = len(study.models) - len(measured)
    if known:
        lines.append(f"Of {plural(known, 'model')} only accuracies from tables are known.")
    lines.append(
        "Below is what was run, and the commands that give the numbers again. A store knows models and data by name "
        "alone: put their places where a name is not enough, and your own in place of words in capitals."
    )
    return tuple(lines)


def _models(models: Sequence[StudyModel]) -> Table:
    columns = (
        Column("model"),
        Column("kind", about="What ran it"),
        Column("category"),
        Column("parent"),
        Column("interventions"),
        Column("training data"),
        Column("input", about="What it is shown"),
        Column("input from", about="Who says that it wants this input"),
        Column("mean", about="Of pixels in [0, 1], taken off before the model", hidden=True),
        Column("std", about="By which pixels are divided then", hidden=True),
        Column("precision"),
        Column("classes", "count"),
        Column("weights", about="Of their digest, the beginning"),
        Column("digest of the weights", hidden=True),
        Column("notes", about="What else its card says", hidden=True),
    )
    rows = tuple(_model(one) for one in models)
    # A column that says nothing of any model is not shown, unless it is asked for.
    told = [any(row[place] not in ("", None) for row in rows) for place in range(len(columns))]
    shown = tuple(column if told[place] else replace(column, hidden=True) for place, column in enumerate(columns))
    return Table(
        "models",
        "The models, as they were run. Under Columns: means, whole digests, and what else their cards say.",
        shown,
        rows,
        filters="category",
    )


def _model(model: StudyModel) -> tuple[Value, ...]:
    cell = model.cells[0]
    record, seen = cell.model, cell.model.input
    notes = {name: text for name, text in record.notes.items() if name != "input"}
    said = record.notes.get("input", "")
    return (
        model.name,
        record.kind,
        model.origin.category,
        model.origin.parent or "",
        ", ".join(record.card.interventions),
        record.card.training_data or "",
        _view(seen.view) if seen else "computed elsewhere",
        INPUT_FROM.get(said, said),
        _numbers(seen.mean if seen else None),
        _numbers(seen.std if seen else None),
        cell.precision,
        record.n_classes,
        record.weights[:DIGITS],
        record.weights,
        "; ".join(f"{name} {text}" for name, text in notes.items()),
    )


def _view(view: Geometry) -> str:
    """How an image becomes a model's input, in words.

    >>> _view(Geometry(224, 224, resize=256, interpolation="bicubic"))
    'shorter side to 256, centre crop 224 x 224, bicubic'
    """
    size = f"{view.width} x {view.height}"
    cut = f"shorter side to {view.resize}, centre crop {size}" if view.resize else f"squashed to {size}"
    return f"{cut}, {view.interpolation}"


def _numbers(values: Sequence[float] | None) -> str:
    return ", ".join(f"{one:.4g}" for one in values or ())


def _data_sets(study: Study, cells: Sequence[Cell]) -> Table:
    first: dict[str, Cell] = {}
    for cell in cells:
        first.setdefault(cell.data.digest, cell)
    columns = (
        Column("data set"),
        Column("images", "count"),
        Column("classes", "count", "Of its labels"),
        Column("runs", "count"),
        Column("content", about="Of the digest of all its images and labels, the beginning"),
        Column("digest of the content", hidden=True),
    )
    rows = tuple(
        (
            cell.data.title,
            cell.n_images,
            _n_classes(study, cell),
            sum(one.data.digest == digest for one in cells),
            digest[:DIGITS],
            digest,
        )
        for digest, cell in first.items()
    )
    return Table("data-sets", "The data sets, by their content; their whole digests under Columns.", columns, rows)


def _n_classes(study: Study, cell: Cell) -> int | None:
    try:
        return n_classes_of_data(study, cell)
    except OodometerError:  # a damaged table of images, which the study's notes tell of
        return None


def _conditions(cells: Sequence[Cell]) -> Table:
    found: dict[tuple[str, str], tuple[Cell, int]] = {}
    for cell in cells:
        key = cell.data.title, cell.condition.key
        _, n = found.get(key, (cell, 0))
        found[key] = cell, n + 1
    columns = (
        Column("condition"),
        Column("data set"),
        Column("what is done", about="To the images, before the model's own preprocessing"),
        Column("parameters", about="Severity, seed, strength: all that the result depends on"),
        Column("answered", "count", "Classes among which models choose"),
        Column(
            "label map",
            about="Of its digest, the beginning",
            hidden=not any(cell.condition.label_map for cell in cells),
        ),
        Column("models", "count"),
        Column("images", "count"),
    )
    rows = tuple(
        (
            cell.condition_name,
            cell.data.title,
            *_done(cell.condition),
            cell.n_classes,
            (cell.condition.label_map or "")[:DIGITS],
            n,
            cell.n_images,
        )
        for cell, n in found.values()
    )
    caption = f"The {plural(len(rows), 'condition')} that models were asked about."
    return Table("conditions", caption, columns, rows, filters="what is done", folded=len(rows) > 12)


def _done(condition: ConditionRecord) -> tuple[str, str]:
    """What is done to the images of a condition, and with which parameters.

    >>> from oodometer.core.records import AttackRecord, DataRef, TransformRecord
    >>> data = DataRef("0f", "val")
    >>> fog = TransformRecord("fog", {"severity": 3, "seed": 0, "quality": None}, Geometry(32, 32))
    >>> _done(ConditionRecord("c/fog/3", data, transform=fog))
    ('fog', 'severity 3, seed 0, on squashed to 32 x 32, bilinear')
    >>> _done(ConditionRecord("pgd", data, attack=AttackRecord("pgd-linf-4", {"attack": "pgd", "epsilon": 4.0})))
    ('pgd-linf-4', 'attack pgd, epsilon 4')
    """
    done = condition.transform or condition.attack
    words = [] if done is None else [_parameter(*pair) for pair in done.parameters.items() if pair[1] not in (None, {})]
    if condition.transform is not None:
        view = condition.transform.view
        words.append(f"on {_view(view)}" if view else "at the size of each model")
    if condition.unit:
        words.append(f"judged by {condition.unit}")
    return done.name if done else "nothing", ", ".join(words)


def _parameter(name: str, value: Any) -> str:
    return f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"


def _versions(cells: Sequence[Cell]) -> Iterator[Table]:
    parts = list(dict.fromkeys(name for cell in cells for name in cell.versions))
    found: dict[tuple[str, ...], int] = {}
    for cell in cells:
        key = tuple(cell.versions.get(name, "") for name in parts)
        found[key] = found.get(key, 0) + 1
    columns = (*(Column(name) for name in parts), Column("runs", "count"))
    rows: tuple[tuple[Value, ...], ...] = tuple((*key, n) for key, n in found.items())
    if parts:
        yield Table("versions", "The versions of what made the predictions.", columns, rows)


def _tables(study: Study) -> Iterator[Table]:
    if not study.sources:
        return
    rows = imported(study)
    columns = (
        Column("table"),
        Column("models", "count"),
        Column("conditions", "count"),
        Column("accuracies", "count"),
        Column("without n", "count", "Accuracies of which nobody says how many images are behind them"),
    )
    yield Table(
        "imported",
        "The tables that were imported.",
        columns,
        tuple(
            (
                source,
                len({row.model for row in rows if row.source == source}),
                len({row.condition for row in rows if row.source == source}),
                sum(row.source == source for row in rows),
                sum(row.source == source and row.n is None for row in rows),
            )
            for source in study.sources
        ),
    )


def _unfinished(study: Study) -> Iterator[Table]:
    """What is not done yet."""
    begun = unfinished(study)
    if not begun:
        return
    columns = (Column("model"), Column("condition"), Column("data set"), Column("done", "count"), Column("of", "count"))
    rows: list[tuple[Value, ...]] = []
    for entry in begun:
        cell = entry.cell
        rows.append((cell.model_name, cell.condition_name, cell.data.title, entry.n_rows, cell.n_rows))
    yield Table("unfinished", "Unfinished runs: their numbers are of the images that are done.", columns, tuple(rows))


def _warnings(study: Study, cells: Sequence[Cell]) -> Iterator[Words]:
    """What attacks found out about themselves while they ran."""
    lines = [
        f"{cell.model_name} on {cell.condition_name}: {line}"
        for cell in cells
        if cell.condition.attack is not None
        for line in warnings_about(study, cell)
    ]
    if len(lines) > MOST_WARNINGS:
        lines = [*lines[:MOST_WARNINGS], f"and {len(lines) - MOST_WARNINGS} more"]
    if lines:
        yield Words(tuple(lines), "note")


def _drawing(study: Study) -> tuple[str, ...]:
    """How intervals and lines are drawn."""
    options, drawn = study.options, study.options.resampling
    through = f"models of the category {options.baseline!r}" if options.baseline else "all models"
    line = f"Lines: straight on the {options.scale} scale, through {through}"
    line += f", with a clean accuracy of at least {100 * options.baseline_above:g} %" if options.baseline_above else ""
    line += f", without {', '.join(options.leave_out)}" if options.leave_out else ""
    return (
        f"Intervals of shares: {DEFAULT_INTERVAL}, {100 * drawn.level:g} %.",
        f"Bootstraps: {drawn.draws:,} draws, seed {drawn.seed}, over images; of lines over models too.",
        f"{line}.",
    )
