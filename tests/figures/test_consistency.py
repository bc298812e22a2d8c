"""The map of who fails together: what is drawn is what the analysis says."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.consistency import consistency
from oodometer.core.errors import OodometerError
from oodometer.figures import FigureOptions, draw
from oodometer.figures.figure import figure
from oodometer.study import study_of


@pytest.fixture
def alike(filled, make_dataset):
    """Six models of two kinds, in turn: those of a kind err together."""
    data, rng = make_dataset(500), np.random.default_rng(0)
    of_kind = rng.normal(size=(2, 500))
    for number in range(6):
        right = of_kind[number % 2] + 0.5 * rng.normal(size=500) < 0.5
        filled.add(data, (~right).astype(int), model=f"m{number}", digest=f"{number:032x}")
    return filled.store


def drawn_map(figure):
    axes = figure.axes[0]
    names = [text.get_text().split("  ")[0] for text in axes.get_yticklabels()]
    return names, np.asarray(axes.images[0].get_array())


def test_the_map_is_kappa_in_percent_and_those_alike_are_neighbours(alike):
    names, values = drawn_map(draw(study_of(alike), "consistency"))
    found = consistency(alike)
    places = [[rater.name for rater in found.raters].index(name) for name in names]
    expected = 100 * found.matrix()[np.ix_(places, places)]
    off = ~np.eye(6, dtype=bool)
    np.testing.assert_allclose(values[off], expected[off])
    assert np.isnan(np.ma.filled(values, np.nan)[~off]).all()
    kinds = [int(name[1]) % 2 for name in names]
    assert kinds in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])


def test_numbers_stand_in_their_cells_where_there_is_room(alike):
    axes = draw(study_of(alike), "consistency").axes[0]
    values = np.asarray(axes.images[0].get_array())
    for text in axes.texts:
        column, row = (round(place) for place in text.get_position())
        assert text.get_text().replace("−", "-") == f"{values[row, column]:.0f}"
    assert len(axes.texts) == 30


def test_people_and_some_models(alike, make_dataset, tmp_path):
    people = {"Ann": {f"{at:04d}": str(at % 10 if at % 3 else 0) for at in range(100)}}
    options = FigureOptions(people=people, models=("m0", "m1"))
    names, values = drawn_map(draw(study_of(alike), "consistency", options))
    assert sorted(names) == ["Ann", "m0", "m1"]
    found = consistency(alike, people=people)
    (pair,) = [one for one in found.pairs if (one.a, one.b) == ("m1", "Ann")]
    assert values[names.index("m1"), names.index("Ann")] == pytest.approx(100 * pair.kappa.value)
    notes = figure(alike, "consistency", tmp_path / "map.pdf", options=options).notes
    assert [note.partition(":")[0] for note in notes] == [
        "mean κ of pairs of models",
        "mean κ of pairs of a model and a person",
    ]


def test_what_there_is_no_map_of(tabled, alike):
    with pytest.raises(OodometerError, match="no predictions on val, only accuracies of a table"):
        draw(tabled, "consistency")
    with pytest.raises(OodometerError, match="m0 alone: error consistency is of two"):
        draw(study_of(alike), "consistency", FigureOptions(models=("m0",)))
    with pytest.raises(OodometerError, match="nothing was measured on 'fog'"):
        draw(study_of(alike), "consistency", FigureOptions(("fog",)))
