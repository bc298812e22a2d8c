"""Which files of predictions a user means, and what is said about the models in them."""

from __future__ import annotations

import csv
import glob
import os
from collections.abc import Sequence
from pathlib import Path

from oodometer.core.errors import DataError, UsageError
from oodometer.core.reading import whole_number
from oodometer.data.text_file import read_lines
from oodometer.models.card import Declared


def files_named(given: Sequence[str], *, endings: Sequence[str], besides: Sequence[str | None] = ()) -> list[str]:
    """The files that paths, folders and patterns stand for, each once.

    Args:
        endings: What is looked for in a folder: ``.npy``...
        besides: Files that are something else (labels, ids), wherever they lie.
    """
    others = {os.path.abspath(path) for path in besides if path}
    files: dict[str, None] = {}
    for path in given:
        listed = _listed(path, endings)
        chosen = [file for file in listed if file == path or os.path.abspath(file) not in others]
        if not chosen:
            raise DataError(f"{path}: no files there that end in {', '.join(endings)}")
        files |= dict.fromkeys(chosen)
    return list(files)


def _listed(path: str, endings: Sequence[str]) -> list[str]:
    if os.path.isdir(path):
        names = sorted(name for name in os.listdir(path) if name.lower().endswith(tuple(endings)))
        return [os.path.join(path, name) for name in names]
    if os.path.exists(path) or not glob.has_magic(path):
        return [path]
    return sorted(glob.glob(path))


def check_names(files: Sequence[str]) -> None:
    """An error where two files would be one model, which is named by the stem."""
    seen: dict[str, str] = {}
    for file in files:
        other = seen.setdefault(Path(file).stem, file)
        if other != file:
            raise UsageError(f"{other} and {file}: both would be the model {Path(file).stem}; import one at a time")


def read_categories(path: str) -> dict[str, Declared]:
    """What a CSV table with the columns model, category and maybe parent and parameters says of each model."""
    try:
        rows = list(csv.DictReader(read_lines(Path(path), "model,category,parent")))
    except csv.Error as error:
        raise DataError(f"{path}: not a table ({error})") from error
    declared: dict[str, Declared] = {}
    for line, row in enumerate(rows, start=2):
        model, category = row.get("model"), row.get("category")
        if not model or not category:
            raise DataError(f"{path}: line {line}: expected the columns model,category and maybe parent")
        if model in declared:
            raise DataError(f"{path}: line {line}: the model {model} is there twice")
        declared[model] = Declared(
            category=category.strip(),
            parent=(row.get("parent") or "").strip() or None,
            parameters=whole_number(row.get("parameters") or "", f"{path}: line {line}: parameters"),
        )
        _check_category(declared[model], f"{path}: line {line}")
    return declared


def _check_category(declared: Declared, where: str) -> None:
    try:
        declared.card()
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
