"""People, as imported: a dashed line beside the models, and nowhere a model themselves."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.analysis.robustness import robustness
from oodometer.core.labels import numbered
from oodometer.core.model import Card
from oodometer.core.stored_answers import StoredAnswers
from oodometer.core.true_labels import TrueLabels
from oodometer.engine.imports import import_predictions
from oodometer.figures import FigureOptions, draw, notes_of
from oodometer.report.tables.leaderboard import leaderboard_table
from oodometer.stats.bootstrap import Resampling
from oodometer.store.store import Store, open_store
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import study_of
from oodometer.study.findings import best_under

HUMANS = {"annotator": Origin("human")}
MODELS = {f"m{at}": Origin("standard") for at in range(8)}
ALL = RobustnessOptions(baseline="", resampling=Resampling(100))


@pytest.fixture
def store(tmp_path) -> Store:
    """Eight models, and people who are better than all of them on v2 and were not asked about sketch."""
    opened = open_store(str(tmp_path / "runs"), create=True)
    rows = [
        Accuracy(f"m{at}", condition, 0.5 + at / 20 - lost, 1000, "t")
        for at in range(8)
        for condition, lost in {"val": 0, "v2": 0.1, "sketch": 0.3}.items()
    ]
    people = [Accuracy("annotator", "val", 0.96, 500, "people"), Accuracy("annotator", "v2", 0.95, 500, "people")]
    write_table(opened, rows)
    write_table(opened, people)
    return opened


@pytest.fixture
def study(store):
    return study_of(store, origins={**MODELS, **HUMANS}, options=ALL, only=["v2", "sketch"])


def test_the_scatter_has_a_dashed_line_at_their_accuracy(study, gid):
    figure = draw(study, "scatter", FigureOptions(("v2",)))
    axes = figure.axes[0]
    (line,) = gid(axes, "people")
    assert set(line.get_ydata()) == {95.0}
    assert line.get_linestyle() == "--"
    assert axes.get_ylim()[1] > 95
    assert len(gid(axes, "people interval")) == 1
    assert "people, as imported: annotator" in [text.get_text() for text in figure.legends[0].get_texts()]
    assert sum(len(one.get_offsets()) for one in gid(axes, "models")) == 8


def test_where_nobody_was_asked_nothing_is_drawn(study, gid):
    figure = draw(study, "scatter", FigureOptions(("sketch",)))
    assert not gid(figure.axes[0], "people")
    assert not [text for text in figure.legends[0].get_texts() if "people" in text.get_text()]


def test_bars_have_the_line_on_both_sides(study, gid):
    figure = draw(study, "accuracy", FigureOptions(("v2",), 2))
    assert [gid(axes, "people")[0].get_xdata()[0] for axes in figure.axes] == [96.0, 95.0]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["people, as imported: annotator"]
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert sorted(names) == sorted(MODELS)


def test_no_line_goes_through_them_even_where_it_goes_through_all(store):
    found = robustness(store, "v2", x=["val"], origins={**MODELS, **HUMANS}, options=ALL)
    assert found.fitted.n == 8
    assert "annotator" not in {one.model for one in found.models}
    without = {**MODELS, "annotator": Origin("mine")}
    assert robustness(store, "v2", x=["val"], origins=without, options=ALL).fitted.n == 9


def test_they_are_never_the_best_model(study):
    assert best_under(study.shift("v2"), 0.95).model == "m7"
    assert study.models[0].name == "m7"
    assert "annotator" not in {row.model for _, rows in leaderboard_table(study).groups for row in rows}
    (said,) = [note for note in study.notes if note.startswith("annotator")]
    assert "are no models" in said


def test_people_who_answered_few_images_take_none_from_the_models(filled, make_dataset, right):
    """Their answers may be about some of the images only, and those of the models count on all of them."""
    data = make_dataset(100)
    for model, hits in {"a": 60, "b": 70, "c": 80, "d": 85}.items():
        for condition in ("clean", "style"):
            filled.add(
                data,
                right(hits - 10 * (condition == "style"), 100),
                model=model,
                digest=model * 32,
                condition=condition,
            )
    some = np.arange(20)
    filled.add(
        data, np.zeros(20, int), positions=some, model="annotator", digest="f" * 32, condition="style",
        card=Card("human"), finished=False,
    )  # fmt: skip
    study = study_of(filled.store, options=ALL, only=["style"])
    assert {point.model: point.y.n for point in study.shift("style").points.models} == dict.fromkeys("abcd", 100)
    assert study.condition("style").people["annotator"].value == 1.0
    assert not [note for note in study.shift("style").notes if "annotator" in note]


def test_several_are_counted(store, gid):
    write_table(store, [Accuracy("other", "v2", 0.9, None, "people")])
    study = study_of(store, origins={**MODELS, **HUMANS, "other": Origin("human")}, options=ALL, only=["v2"])
    figure = draw(study, "scatter")
    assert len(gid(figure.axes[0], "people")) == 2
    assert len(gid(figure.axes[0], "people interval")) == 1  # one has no number of images, and so no interval
    assert "people, as imported (2)" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_people_who_were_imported_about_some_of_the_images(tmp_path, gid):
    """As ``oodometer import --category human`` does: 40 of the 100 images are a subset, and count for the whole."""
    labels = TrueLabels(np.arange(100) % 10, tuple(f"{at:03d}" for at in range(100)), numbered(10))
    address = str(tmp_path / "runs")
    for condition, lost in (("clean", 0), ("style", 20)):
        for place, model in enumerate("abcd"):
            answers = np.where(np.arange(100) < 60 + 8 * place - lost, labels.values, (labels.values + 1) % 10)
            import_predictions(
                StoredAnswers(model, model * 32, labels.ids, answers[:, None], "classes", Card("standard")),
                labels, store=address, condition=condition, data="photos",
            )  # fmt: skip
    some = StoredAnswers("annotator", "f" * 32, labels.ids[:40], labels.values[:40, None], "classes", Card("human"))
    import_predictions(some, labels, store=address, condition="style", data="photos")
    study = study_of(address, options=ALL, only=["style"])
    assert len(study.conditions) == 2
    figure = draw(study, "scatter")
    (line,) = gid(figure.axes[0], "people")
    assert max(line.get_ydata()) == pytest.approx(99.95)  # 100 % has no place on a logit axis
    # reference: the exact interval of 40 of 40 is 0.025 ** (1 / 40)
    assert (
        notes_of(figure)[0]
        == f"annotator, people as imported: 100.0 % [{100 * 0.025 ** (1 / 40):.1f}, 100.0] on 40 images"
    )
