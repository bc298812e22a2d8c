"""What the tests of the explorer share: a store with hostile names whose numbers are known, and its pages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from made_cells import made_cell
from oodometer.core.dataset import Dataset, Progress, Scan
from oodometer.core.labels import LabelSpace
from oodometer.core.predictions import from_logits, taken
from oodometer.core.preprocessing import Geometry
from oodometer.explorer.app import explorer_app
from oodometer.explorer.catalogue import own_classes
from oodometer.explorer.explorer import Explorer
from oodometer.store.cells import Cell
from oodometer.store.store import Store, open_store

CLASSES = ("cat", "<b>dog</b>", "eel\"'", "ünï/cøde", "crane", "crane", "gnu")
"""Two classes have the same name, as two of ImageNet's do."""

MODELS = (
    "plain",
    "a/b c",
    "../../etc/passwd",
    "<img src=x onerror=alert(1)>",
    "quo\"te's & co",
    "模型 ünïcødé",
    "..",
    "x.json",
    "100%25?#/",
)
"""Names that are no paths, no addresses and no HTML, whatever they look like."""

IDS = (
    "../../secret",
    "a/b c.png",
    "<script>alert(1)</script>",
    'quo"te',
    "/etc/passwd",
    "..",
    "ünï",
    "x.json",
    "%2e%2e",
)
N = 36


@dataclass(frozen=True)
class Contents:
    """Images of which only the digests of their content are asked for."""

    def views(self, index: int, views: Sequence[Geometry | None]) -> list[np.ndarray]:
        raise AssertionError("the explorer reads images through its picture alone")

    def scan(self, indices: np.ndarray, progress: Progress) -> Scan:
        return Scan(tuple(int(one).to_bytes(16, "big") for one in indices), {})


def images(name: str = "val", n: int = N) -> Dataset:
    """The first so many of the images, under a name."""
    ids = tuple(IDS[at] if at < len(IDS) else f"{at:03d}.png" for at in range(n))
    columns = {"vendor": np.array([f"<i>{at}</i>" for at in range(n)])}
    space = LabelSpace("animals", CLASSES)
    return Dataset(name, ids, np.arange(n) % len(CLASSES), space, Contents(), np.arange(n), columns)


def rows_of(data: Dataset, seed: Sequence[int], skill: float) -> Any:
    """Answers of a model that knows so much."""
    logits = np.random.default_rng(seed).normal(0, 1, (len(data), len(CLASSES)))
    logits[np.arange(len(data)), data.labels] += skill
    return from_logits(logits, data.labels, np.arange(len(data)))


def cell_of(data: Dataset, model: str, condition: str, **more: Any) -> Cell:
    card = {"category": "standard" if model != "plain" else "robust intervention", "parent": more.pop("parent", None)}
    digest = hashlib.sha256(model.encode()).hexdigest()[:32]
    return made_cell(data, model=model, digest=digest, condition=condition, card=card, **more)


@dataclass(frozen=True)
class Shop:
    """A store and what is in it."""

    store: Store
    data: Dataset
    rows: dict[tuple[str, str], Any] = field(default_factory=dict)
    models: tuple[str, ...] = MODELS
    classes: tuple[str, ...] = own_classes(CLASSES)

    def add(
        self, model: str, condition: str, *, skill: float, data: Dataset | None = None, stop: int = N, **more: Any
    ) -> Cell:
        """A cell that is finished, unless it stops before."""
        data = data or self.data
        cell = cell_of(data, model, condition, **more)
        rows = rows_of(data, [len(self.rows), 7], skill)
        self.store.add_cell(cell, data)
        n = min(stop, len(data))
        self.store.write_part(cell.key, 0, n, taken(rows, np.arange(n)))
        if n == len(data):
            self.store.seal(cell, keep_logits=False)
        self.rows[model, condition] = rows
        return cell


def empty(folder: Path) -> Shop:
    return Shop(open_store(str(folder / "runs"), create=True), images())


def filled(folder: Path) -> Shop:
    """Nine models on a clean set, a shift of one condition and a family of two."""
    made = empty(folder)
    for place, model in enumerate(MODELS):
        for condition, loss in (("clean", 0.0), ("sketch", 0.9), ("fam/fog/1", 0.3), ("fam/fog/2", 0.8)):
            parent = "a/b c" if model == "plain" else None
            made.add(model, condition, skill=1 + 0.3 * place - loss, parent=parent)
    return made


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """For tests that only look."""
    return filled(tmp_path_factory.mktemp("shop"))


@pytest.fixture
def own_shop(tmp_path: Path) -> Shop:
    """For tests that change it."""
    return filled(tmp_path)


@pytest.fixture
def bare_shop(tmp_path: Path) -> Shop:
    """For tests that fill it themselves."""
    return empty(tmp_path)


@pytest.fixture(scope="session")
def explorer(shop: Shop) -> Iterator[Explorer]:
    """The explorer of the shop, with the study made."""
    made = Explorer(shop.store)
    made.wait_for_study()
    yield made
    made.close()


@pytest.fixture
def guarded_by(explorer: Explorer) -> Callable[..., TestClient]:
    """``guarded_by(token=..., hosts=...)``: the pages over the shop."""
    return lambda **how: client_of(explorer, **how)


@pytest.fixture(scope="session")
def pages(explorer: Explorer) -> TestClient:
    """The pages over the shop."""
    return client_of(explorer)


def client_of(explorer: Explorer, **how: Any) -> TestClient:
    return TestClient(explorer_app(explorer, **how), base_url="http://127.0.0.1:8000", follow_redirects=False)


@pytest.fixture
def explore() -> Iterator[Callable[..., tuple[Explorer, TestClient]]]:
    """``explore(store, picture=...)``: an explorer of any store and its pages."""
    opened: list[Explorer] = []

    def explore(store: Store, *, picture: Any = None) -> tuple[Explorer, TestClient]:
        opened.append(Explorer(store, picture=picture))
        return opened[-1], client_of(opened[-1])

    yield explore
    for one in opened:
        one.close()


@pytest.fixture(params=MODELS)
def hostile_model(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=IDS)
def hostile_id(request: pytest.FixtureRequest) -> str:
    return str(request.param)
