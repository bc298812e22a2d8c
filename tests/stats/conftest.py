"""The public table of the 204-model testbed, where it lies beside the project, and a made one everywhere."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from shared_data import shared
from small_testbed import write_small_testbed


@dataclass(frozen=True)
class Grid:
    """Accuracies as shares, NaN where a model was not measured, (M,) by setting; and what kind each model is."""

    models: tuple[str, ...]
    kind: np.ndarray
    columns: dict[str, np.ndarray]

    def __getitem__(self, setting: str) -> np.ndarray:
        return self.columns[setting]

    @property
    def able(self) -> np.ndarray:
        """The models of at least 55 % clean accuracy."""
        return self["val"] >= 0.55

    @property
    def standard(self) -> np.ndarray:
        """The baseline of the reference fits, which leaves some trainings of the same network out."""
        again = [any(word in name for word in ("aws", "batch64", "subsample")) for name in self.models]
        return self.able & (self.kind == "standard") & ~np.array(again)

    @property
    def other(self) -> np.ndarray:
        """The models with an intervention or more data."""
        return self.able & np.isin(self.kind, ["robust_intervention", "lp_adversarial", "more_data"])

    def baseline(self, x: str, y: str) -> tuple[np.ndarray, np.ndarray]:
        """The standard models that were measured on both settings."""
        rows = self.standard & ~np.isnan(self[x]) & ~np.isnan(self[y])
        return self[x][rows], self[y][rows]


@pytest.fixture(scope="session")
def testbed() -> Grid:
    return read_grid(shared("testbed"))


@pytest.fixture(scope="session")
def made_testbed(tmp_path_factory: pytest.TempPathFactory) -> Grid:
    """The small table whose lines and knee are known beforehand."""
    return read_grid(write_small_testbed(tmp_path_factory.mktemp("made-testbed")))


def read_grid(folder: Path) -> Grid:
    """The table in a folder, by the csv module alone."""
    with (folder / "robustness_top1s.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    with (folder / "model_categories.csv").open(newline="") as file:
        kinds = dict(list(csv.reader(file))[1:])
    shares = np.array([[float(cell) / 100 if cell else np.nan for cell in row[1:]] for row in rows])
    models = tuple(row[0] for row in rows)
    kind = np.array([kinds.get(model, "") for model in models])
    return Grid(models, kind, dict(zip(header[1:], shares.T, strict=True)))
