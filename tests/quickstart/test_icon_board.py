"""The leaderboard of the quickstart: the same numbers as score, robustness and scipy give."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binomtest, t

import oodometer as odo
from made_tables import column_of, keys_of, models_of
from oodometer.core.condition import Condition, Family, Shift, Transform
from oodometer.core.dataset import Dataset
from oodometer.core.errors import StoreError
from oodometer.document.table import Table
from oodometer.quickstart.icon_board import IconSet, icon_board
from oodometer.store.index import Index, look
from oodometer.store.run import Run
from oodometer.store.store import Store
from oodometer.study import study_of

SETS = [
    IconSet("IID", "iid", "like the training"),
    IconSet("style", "style", "another hand"),
    IconSet("corrupted", "fam/x", "two corruptions"),
    IconSet("PGD", "pgd-linf-2"),
]
SKILL = {"a": 0.9, "b": 0.75, "c": 0.6, "d": 0.4, "more": 0.7}
N = {"iid": 60, "style": 80}


def model(name: str, skill: float) -> odo.Model:
    """A model that is right on about so many of the images; the pixel says which image it is."""

    def answer(images: np.ndarray) -> np.ndarray:
        place = images[:, 0, 0, 0].astype(int)
        known = np.random.default_rng(len(name) + ord(name[0])).random(256) < skill
        right = place % 3
        return np.eye(3, dtype=np.float32)[np.where(known[place], right, (right + 1) % 3)]

    card = odo.Card(category="more data", parent="a") if name == "more" else odo.Card(category="standard")
    plain = {"mean": (0, 0, 0), "std": (1 / 255,) * 3}
    view = odo.Geometry(1, 1)
    return odo.load_model(answer, name=name, card=card, input=odo.Input(view=view, **plain))  # type: ignore[return-value]


def moved(by: int) -> Transform:
    """Pixels of other images, on which other models are right: a corruption."""
    return Transform(f"by {by}", {"by": by}, lambda image, _: image + np.uint8(3 * by), view=odo.Geometry(1, 1))


@pytest.fixture
def run(tmp_path, make_dataset: Callable[..., Dataset]) -> Run:
    sides = {name: make_dataset(n, k=3, name=name, ids=[f"{name}{at}" for at in range(n)]) for name, n in N.items()}
    standard, style = (Condition(name, data) for name, data in sides.items())
    few = sides["iid"].take(np.arange(20), name="few")
    family = [
        Shift(
            f"fam/x/{by}",
            "corruption",
            standard,
            Condition(f"fam/x/{by}", few, transform=moved(by)),
            Family("fam", "x", by),
        )
        for by in (1, 2)
    ]
    models = [model(name, skill) for name, skill in SKILL.items()]
    return odo.run(models, [Shift("style", "style", standard, style), *family], store=str(tmp_path / "runs"))


@pytest.fixture
def store(run: Run) -> Store:
    return run.store


@pytest.fixture
def index(store: Store) -> Index:
    return look(store)


@pytest.fixture
def board(index: Index) -> Table:
    return icon_board(study_of(index), SETS, robust_in="style")


def test_the_numbers_are_those_of_score(store, board):
    scores = {(row.model, row.condition): row.estimate for row in odo.score(store).rows if row.metric == "top-1"}
    assert keys_of(board) == ["iid", "style", "fam/x", "rho:style"]  # nobody was attacked
    for condition in N:
        for model, found in column_of(board, condition).items():
            assert found == scores[model, condition]
            exact = binomtest(round(found.value * found.n), found.n).proportion_ci(method="exact")
            assert (found.low, found.high) == pytest.approx((exact.low, exact.high))


def test_a_family_is_a_mean_whose_units_are_images(index, board):
    cells = {(cell.model_name, cell.condition_name): cell for cell in index.cells}
    for model, found in column_of(board, "fam/x").items():
        right = np.mean([index.read(cells[model, f"fam/x/{by}"]).rank == 0 for by in (1, 2)], axis=0)
        reach = t.ppf(0.975, 19) * right.std(ddof=1) / np.sqrt(20)
        assert (found.value, found.n) == (pytest.approx(right.mean()), 20)
        assert found.high == pytest.approx(min(right.mean() + reach, 1))
        assert found.low == pytest.approx(max(right.mean() - reach, 0))


def test_the_best_is_first_and_rho_is_that_of_robustness(store, board):
    values = [found.value for found in column_of(board, "iid").values()]
    assert values == sorted(values, reverse=True)
    alone = odo.robustness(store, "style")
    assert column_of(board, "rho:style") == {one.model: one.rho for one in alone.models}
    assert any(note.startswith("ρ (effective robustness): ") for note in board.footnotes)


def test_only_the_cells_that_are_given_count(index):
    some = [cell for cell in index.cells if cell.model_name in "ab"]
    found = icon_board(study_of(index.only(some)), SETS, robust_in="style")
    assert set(models_of(found)) == {"a", "b"}
    lone = [cell for cell in some if cell.model_name == "a" or cell.condition_name == "iid"]
    found = icon_board(study_of(index.only(lone)), SETS, robust_in="style")
    assert "b" not in column_of(found, "style")
    assert "rho:style" not in keys_of(found)
    assert any(
        note.startswith("no ρ under style: the baseline (1 model of category 'standard')") for note in found.notes
    )
    assert "–" in str(found)
    clean = [cell for cell in index.cells if cell.condition_name == "iid"]
    with pytest.raises(StoreError, match="no predictions on iid and style"):
        icon_board(study_of(index.only(clean)), SETS, robust_in="style")


def test_whole_per_cents_below_short_titles(board):
    _, _, over, titles, *lines = str(board).splitlines()
    assert (over.split(), titles.split()) == (["style"], ["IID", "style", "corrupted", "ρ"])
    name, iid = next(iter(column_of(board, "iid").items()))
    assert lines[0].startswith(name)
    assert f"{100 * iid.value:.0f} [{100 * iid.low:.0f}, {100 * iid.high:.0f}]" in lines[0]
    assert all(len(line) < 120 for line in lines[: len(SKILL)])
