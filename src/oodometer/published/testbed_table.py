"""The table of the 204-model testbed (Taori et al. 2020), from a clone of its public repository or from two tables."""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oodometer.core.errors import DataError, did_you_mean
from oodometer.published.tables import Table, parse_table

ACCURACIES, CATEGORIES = "robustness_top1s.csv", "model_categories.csv"
MODEL_TYPES = "plotting/model_types.py"
"""Where the repository lists the type of each model: Python, of which one table is read and nothing is run."""
TABLE_OF_TYPES = "model_types_map"
TYPES = {
    "STANDARD": "standard",
    "LP_ADV": "lp_adversarial",
    "ROBUST_INTV": "robust_intervention",
    "MORE_DATA": "more_data",
    "LOW_ACCURACY_CNN": "low_accuracy",
    "RANDOM_FEATURES": "random_features",
    "LINEAR_PIXELS": "linear_pixels",
    "RANDOM_FORESTS": "random_forest",
    "NEAREST_NEIGHBORS": "nearest_neighbour",
}
"""What the repository calls the categories. Networks of low accuracy that it adds in loops have none here: they take no
part in a fit."""

LAYOUT = (
    f"expected the layout of the public testbed, or a clone of it: {ACCURACIES} (a column 'model', then one "
    "column of top-1 accuracies in percent for each setting, empty where not measured) and the type of each model in "
    f"{MODEL_TYPES}, or instead of that in {CATEGORIES} (columns 'model' and 'category')"
)


@dataclass(frozen=True)
class Grid:
    """The testbed's table.

    Args:
        models: One name per row.
        accuracies: Of each setting, shares (M,), NaN where not measured.
        categories: Of each model, (M,); empty where it has none.
    """

    models: tuple[str, ...]
    accuracies: dict[str, np.ndarray]
    categories: np.ndarray

    def accuracy(self, setting: str) -> np.ndarray:
        """The accuracies under one setting, shares (M,)."""
        if setting not in self.accuracies:
            hint = did_you_mean(setting, self.accuracies)
            raise DataError(f"{ACCURACIES}: no column named {setting!r}{hint}; {LAYOUT}")
        return self.accuracies[setting]

    def settings(self, prefix: str) -> np.ndarray:
        """The accuracies under all settings whose names start so, (M, S)."""
        columns = [column for name, column in self.accuracies.items() if name.startswith(prefix)]
        if not columns:
            raise DataError(f"{ACCURACIES}: no column whose name starts with {prefix!r}; {LAYOUT}")
        return np.stack(columns, axis=1)

    def has(self, models: Iterable[str], settings: Iterable[str]) -> bool:
        """Whether all these models and settings are in the table."""
        return set(models) <= set(self.models) and set(settings) <= set(self.accuracies)

    def rows(self, models: tuple[str, ...]) -> list[int]:
        """The places of models."""
        for model in models:
            if model not in self.models:
                raise DataError(f"{ACCURACIES}: no model named {model!r}{did_you_mean(model, self.models)}")
        return [self.models.index(model) for model in models]

    def named(self, *parts: str) -> np.ndarray:
        """Which models have one of these in their names, (M,) bool."""
        return np.array([any(part in model for part in parts) for model in self.models])


def read_testbed(folder: Path | str) -> Grid:
    """The table of a testbed's folder."""
    folder = Path(folder)
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; {LAYOUT}")
    table, known = _read(folder / ACCURACIES), _categories(folder)
    return Grid(
        table.models,
        {name: _shares(folder / ACCURACIES, name, column) for name, column in table.columns.items()},
        np.array([known.get(model, "") for model in table.models]),
    )


def _categories(folder: Path) -> dict[str, str]:
    """The category of each model that has one."""
    if not (folder / CATEGORIES).is_file() and (folder / MODEL_TYPES).is_file():
        return types_in(folder / MODEL_TYPES)
    listed = _read(folder / CATEGORIES)
    if "category" not in listed.columns:
        raise DataError(f"{folder / CATEGORIES}: no column named 'category'; {LAYOUT}")
    return dict(zip(listed.models, map(str, listed.columns["category"]), strict=True))


def types_in(path: Path) -> dict[str, str]:
    """The categories that the repository's Python file lists, read as data: nothing in it is run."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8-sig"))
    except (SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:  # also what is no UTF-8
        raise DataError(f"{path}: can't be read as Python ({type(error).__name__}); {LAYOUT}") from error
    for node in tree.body:
        names = [one.id for one in node.targets if isinstance(one, ast.Name)] if isinstance(node, ast.Assign) else []
        if TABLE_OF_TYPES in names and isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            return dict(_listed(path, *pair) for pair in zip(node.value.keys, node.value.values, strict=True))
    raise DataError(f"{path}: no table named {TABLE_OF_TYPES} in it; {LAYOUT}")


def _listed(path: Path, model: ast.expr | None, kind: ast.expr) -> tuple[str, str]:
    """A line of that table: ``'alexnet': ModelTypes.STANDARD``."""
    if isinstance(model, ast.Constant) and isinstance(kind, ast.Attribute) and kind.attr in TYPES:
        return str(model.value), TYPES[kind.attr]
    raise DataError(f"{path}: line {kind.lineno} does not say the type of a model; known are {', '.join(TYPES)}")


def _read(path: Path) -> Table:
    if not path.is_file():
        raise DataError(f"{path}: no such file; {LAYOUT}")
    try:
        return parse_table(str(path), path.read_text(encoding="utf-8-sig").splitlines())
    except (UnicodeDecodeError, OSError, csv.Error) as error:
        raise DataError(f"{path}: not a text file; {LAYOUT}") from error


def _shares(path: Path, name: str, column: np.ndarray) -> np.ndarray:
    """Percent as shares."""
    if column.dtype.kind != "f":
        raise DataError(f"{path}: column {name!r} holds something that is no number; {LAYOUT}")
    if ((column < 0) | (column > 100)).any():
        raise DataError(f"{path}: column {name!r} holds something that is no percentage; {LAYOUT}")
    return column / 100
