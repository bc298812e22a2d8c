"""What the tests of figures share: studies small enough to draw at once, and how to read a figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from known_stores import *  # noqa: F403
from made_cells import made_cell
from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.core.dataset import Dataset, Scan
from oodometer.core.labels import numbered
from oodometer.core.predictions import from_logits
from oodometer.core.preprocessing import Geometry
from oodometer.metrics.corruption_error import SEVERITIES
from oodometer.stats.bootstrap import Resampling
from oodometer.store.store import Store, open_store
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import Study, study_of

collect_ignore_glob = [] if find_spec("matplotlib") else ["test_*.py"]
"""Without the extra there are no figures to test."""

FEW_DRAWS = RobustnessOptions(resampling=Resampling(100))
N = 2000


def table_origins(n: int) -> dict[str, Origin]:
    """Half of the models standard, the others of two kinds, made from the first ones; each larger than the last."""
    kinds = ("robust_intervention", "more_data")
    sizes = [round(1e6 * 1.2 ** (at % 30)) for at in range(n)]
    return {
        f"model-{at}": Origin("standard", None, sizes[at])
        if at % 2 == 0
        else Origin(kinds[at // 2 % 2], f"model-{at - 1}", sizes[at])
        for at in range(n)
    }


def write_accuracies(store: Store, n: int, *, seed: int = 0) -> None:
    """A clean set and three shifts of so many models."""
    rng = np.random.default_rng(seed)
    clean = np.linspace(0.45, 0.9, n)
    for condition, lost in {"val": 0.0, "v2": 0.1, "sketch": 0.35, "grey": 0.2}.items():
        values = np.clip(clean - lost + (0.03 * rng.normal(size=n) if lost else 0), 0.01, 0.99)
        rows = [Accuracy(f"model-{at}", condition, round(value * N) / N, N, "t") for at, value in enumerate(values)]
        write_table(store, rows)


@pytest.fixture(scope="session")
def table_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = open_store(str(tmp_path_factory.mktemp("table")), create=True)
    write_accuracies(store, 16)
    return store


@pytest.fixture(scope="session")
def tabled(table_store: Store) -> Study:
    """16 models of a table under three shifts."""
    return study_of(table_store, origins=table_origins(16), options=FEW_DRAWS, only=["v2", "sketch", "grey"])


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """338 models, as many as the testbed has, of which half have long names."""
    store = open_store(str(tmp_path_factory.mktemp("many")), create=True)
    write_accuracies(store, 338, seed=1)
    return study_of(store, origins=table_origins(338), options=FEW_DRAWS, only=["v2", "sketch"])


LONG = "a_$very\\frac{long}$_<script>name</script>_" + "x" * 80


@pytest.fixture
def two(tmp_path: Path) -> Study:
    """Two models with hostile names, on a shift that has one too."""
    store = open_store(str(tmp_path / "two"), create=True)
    rows = [("clean", 0.5), (LONG, 0.3)]
    write_table(
        store,
        [Accuracy(name, one, value + more, N, "t") for name, more in ((LONG, 0), ("_b", 0.1)) for one, value in rows],
    )
    return study_of(store, origins={LONG: Origin("_odd " + "z" * 80, "_b")}, options=FEW_DRAWS, only=[LONG])


MODELS = ("good", "fair", "poor", "worst")
CORRUPTIONS = ("fog", "snow")


@dataclass(frozen=True)
class Grey:
    """Images of one pixel, whose content is their position."""

    n: int

    def views(self, index: int, views: Sequence[Geometry | None]) -> list[np.ndarray]:
        return [np.full((1, 1, 3), index, dtype=np.uint8) for _ in views]

    def scan(self, indices: np.ndarray, progress: Any) -> Scan:
        return Scan(tuple(int(index).to_bytes(16, "big") for index in indices), {})


def dataset(name: str, labels: np.ndarray) -> Dataset:
    n = len(labels)
    ids = tuple(f"{index:04d}" for index in range(n))
    return Dataset(name=name, ids=ids, labels=labels, space=numbered(10), source=Grey(n), rows=np.arange(n), columns={})


def put(store: Store, data: Dataset, model: str, condition: str, logits: np.ndarray) -> None:
    """One finished cell."""
    cell = made_cell(data, model=model, digest=model[0] * 32, condition=condition, n_classes=10)
    store.add_cell(cell, data)
    store.write_part(cell.key, 0, len(data), from_logits(logits, data.labels, np.arange(len(data))))
    store.seal(cell, keep_logits=False)


@pytest.fixture(scope="session")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Four models that were run: clean, under another style, under two corruptions, and on images of no class."""
    rng = np.random.default_rng(3)
    store = open_store(str(tmp_path_factory.mktemp("answered")), create=True)
    data, outside = dataset("val", np.arange(60) % 10), dataset("o", np.full(30, -1))
    for place, model in enumerate(MODELS):
        strengths = {"clean": 4.0 - 0.6 * place, "style": 3.0 - 0.6 * place}
        strengths |= {
            f"cifar10-c/{name}/{severity}": 3.5 - 0.3 * severity - 0.5 * place
            for name in CORRUPTIONS
            for severity in SEVERITIES
        }
        for condition, strength in strengths.items():
            logits = rng.normal(size=(len(data), 10))
            logits[np.arange(len(data)), data.labels] += strength
            put(store, data, model, condition, logits)
        put(store, outside, model, "odd", rng.normal(size=(len(outside), 10)))
    origins = {name: Origin("standard") for name in MODELS} | {"fair": Origin("robust intervention", "good")}
    return study_of(store, origins=origins, options=FEW_DRAWS, only=["style", "cifar10-c"])


@pytest.fixture
def texts_of() -> Callable[[Any], list[Any]]:
    return lambda figure: list(_texts(figure))


def _texts(figure: Any) -> Iterator[Any]:
    """Every text that is seen, with its place in pixels."""
    from matplotlib.text import Text

    figure.draw_without_rendering()
    outside = set()  # matplotlib keeps the numbers of ticks beyond the ends of an axis, and does not draw them
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            outside |= {
                id(tick.label1) for tick in axis.get_major_ticks() if not low - 1e-9 <= tick.get_loc() <= high + 1e-9
            }
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and id(text) not in outside:
            yield text


@pytest.fixture
def gid() -> Callable[[Any, str], list[Any]]:
    """The artists of a name."""
    return lambda axes, name: [one for one in axes.get_children() if one.get_gid() == name]
