"""The tables of docs/interventions.md, from two models under two corruptions whose answers are counted by hand."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from oodometer.core.model import Card
from oodometer.shifts.resolve import asked_for
from oodometer.shifts.sources import Sources
from oodometer.store.index import index_at
from oodometer.study import study_of

SCRIPT = Path(odo.__file__).parents[2] / "zoo" / "interventions.py"
BRIGHTNESS, FOG = ("cifar-10-c/brightness", "cifar-10-c/fog")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("zoo_interventions", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["zoo_interventions"]


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> str:
    """Dark and bright images; one model has its threshold where they part, the other, made from it, lies higher."""
    folder = tmp_path_factory.mktemp("greys")
    rng = np.random.default_rng(0)
    for name, level in (("bright", 150), ("dark", 90)):
        (folder / name).mkdir()
        for number in range(20):
            pixels = np.clip(level + rng.normal(0, 25) + rng.normal(0, 10, (32, 32, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{number}.png")
    plain = odo.Input(odo.Geometry(32, 32), mean=(0, 0, 0), std=(1 / 255,) * 3)

    def model(name: str, threshold: float, card: Card) -> odo.Model:
        def logits(images: np.ndarray) -> np.ndarray:
            above = images.mean(axis=(1, 2, 3)) - threshold
            return np.stack([above, -above], axis=1)

        return odo.load_model(logits, name=name, input=plain, card=card)

    models = [
        model("low", 120, Card("standard")),
        model("high", 150, Card("robust intervention", "low", interventions=("augmix",))),
    ]
    asked = asked_for([BRIGHTNESS, FOG], Sources(odo.load_data(str(folder)))).found
    address = str(folder / "runs")
    odo.run(models, asked, store=address)
    return address


def right(store: str, model: str, on: str) -> np.ndarray:
    """Of each image, in what share of the conditions whose names begin so the model is right."""
    index = index_at(store)
    cells = [cell for cell in index.cells if cell.model_name == model and cell.condition_name.startswith(on)]
    return np.mean([index.read(cell).rank == 0 for cell in cells], axis=0)


def test_a_gain_is_the_mean_over_images_of_the_difference_of_shares(script, store):
    table = script.differences(study_of(store), script.TITLES["cifar10"])
    assert [column.title for column in table.columns] == ["model", "made from", "clean", "weather", "all 75"]
    ((name, parent, clean, weather, every),) = table.rows
    assert clean.value == pytest.approx((right(store, "high", "clean") - right(store, "low", "clean")).mean())
    assert (name, parent) == ("high", "low")
    apart = (right(store, "high", BRIGHTNESS) + right(store, "high", FOG)) / 2
    apart = apart - (right(store, "low", BRIGHTNESS) + right(store, "low", FOG)) / 2
    assert weather.value == pytest.approx(apart.mean())
    assert weather.n == 40
    # Student's interval by hand; the 97.5 % quantile for 39 degrees of freedom is 2.0227 (any table of t).
    half = 2.0227 * apart.std(ddof=1) / np.sqrt(40)
    assert (weather.low, weather.high) == pytest.approx((apart.mean() - half, apart.mean() + half), abs=1e-5)
    assert every.value == pytest.approx(weather.value)
    assert apart.mean() != 0


def test_of_two_clean_sets_the_larger_counts(script):
    values, few, many = {}, odo.Estimate(0.1, 0.0, 0.2, 250, ""), odo.Estimate(0.2, 0.1, 0.3, 1000, "")
    for one in (few, many, few):
        script.keep_larger(values, ("a", "clean"), one)
    assert values == {("a", "clean"): many}


def test_numbers_away_from_nothing_are_bold(script):
    clear, unclear = odo.Estimate(0.1, 0.05, 0.15, 9, ""), odo.Estimate(0.1, -0.05, 0.15, 9, "")
    assert (script.is_clear(clear), script.is_clear(unclear), script.is_clear(None)) == (True, False, False)
    assert not script.is_clear(odo.Estimate(0.1, None, None, 1, "none"))


def test_a_page_gets_its_part_between_its_marks(script):
    page = "a\n<!-- zoo/interventions.py writes x -->\nold\n<!-- until here -->\nb\n"
    new = script.with_part(page, "x", "new")
    assert new == "a\n<!-- zoo/interventions.py writes x -->\n\nnew\n\n<!-- until here -->\nb\n"
    assert script.with_part(new, "x", "new") == new
    with pytest.raises(SystemExit, match="no line"):
        script.with_part(page, "y", "new")


@pytest.mark.parametrize("zoo", ["icons", "cifar10"])
def test_the_page_has_a_place_for_every_part(script, store, zoo):
    page = script.PAGE.read_text(encoding="utf-8")
    for name, text in script.parts(study_of(store), zoo):
        assert text
        script.with_part(page, f"{zoo}-{name}", text)
