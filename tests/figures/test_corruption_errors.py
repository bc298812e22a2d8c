"""mCE and CE: the numbers are those of ``score``, measured or imported."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.metric_request import ScoreOptions
from oodometer.analysis.origins import Origin
from oodometer.analysis.score import score
from oodometer.figures import FigureOptions, draw
from oodometer.metrics.corruption_error import COMMON, SEVERITIES, alexnet
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import study_of

BY_WORST = FigureOptions(("cifar10-c",), normaliser="worst")


def by_model(study, metric: str) -> dict[str, float]:
    options = ScoreOptions(draws=100, normaliser="worst")
    return {row.model: 100 * row.estimate.value for row in score(study.index, metrics=[metric], options=options).rows}


def test_mce_against_clean_accuracy(answered, gid):
    axes = draw(answered, "mce", BY_WORST).axes[0]
    mean, relative = (np.asarray(one.get_offsets()) for one in gid(axes, "models"))
    clean = {one.model: 100 * one.x[0].value for one in answered.shift("cifar10-c").points.models}
    for drawn, metric in ((mean, "mce"), (relative, "relative-mce")):
        wanted = sorted((clean[name], value) for name, value in by_model(answered, metric).items())
        assert np.array(sorted(map(tuple, drawn.tolist()))) == pytest.approx(np.array(wanted))
    assert by_model(answered, "mce")["worst"] == pytest.approx(100)


def test_without_a_normaliser_it_is_the_mean_error(answered, gid):
    figure = draw(answered, "mce", FigureOptions(("cifar10-c",)))
    (mean,) = gid(figure.axes[0], "models")
    wanted = score(answered.index, metrics=["mean-corruption-error"], options=ScoreOptions(draws=100))
    values = sorted(100 * row.estimate.value for row in wanted.rows)
    assert sorted(np.asarray(mean.get_offsets())[:, 1]) == pytest.approx(values)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["mean corruption error"]


def test_ce_of_each_corruption(answered, gid):
    figure = draw(answered, "ce", BY_WORST)
    axes = figure.axes[0]
    rows = [text.get_text() for text in axes.get_yticklabels()]
    assert rows == ["snow", "fog"]  # the paper's order
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    options = ScoreOptions(draws=100, normaliser="worst")
    wanted = {
        (row.model, row.condition): 100 * row.estimate.value
        for row in score(answered.index, metrics=["ce"], options=options).rows
    }
    for name, marks in zip(names, gid(axes, "models"), strict=True):
        for x, y in np.asarray(marks.get_offsets()):
            assert x == pytest.approx(wanted[name, f"cifar10-c/{rows[round(float(y))]}"])


def test_an_imported_table_of_imagenet_c(filled, gid):
    errors = alexnet().errors
    halves = {"alexnet": 1.0, "half": 0.5}
    rows = [
        Accuracy(model, f"imagenet-c/{name}/{severity}", 1 - share * errors[at].mean(), None, "t")
        for model, share in halves.items()
        for at, name in enumerate(COMMON)
        for severity in SEVERITIES
    ]
    rows += [Accuracy(model, "clean", value, None, "t") for model, value in (("alexnet", 0.5652), ("half", 0.7))]
    write_table(filled.store, rows)
    study = study_of(filled.store, origins=dict.fromkeys(halves, Origin("standard")), only=[])
    axes = draw(study, "mce").axes[0]
    drawn = np.asarray(gid(axes, "models")[0].get_offsets())
    # By definition: AlexNet's own errors make 100 %, half of them 50 %.
    assert drawn[drawn[:, 0].argsort()] == pytest.approx(np.array([(56.52, 100.0), (70.0, 50.0)]))


def test_styles_are_drawn_as_a_corruption_is(filled, make_dataset, gid):
    data = make_dataset(20)
    for model, digest, base in (("mine", "a", 2), ("other", "b", 4)):
        about = {"model": model, "digest": digest * 32}
        filled.add(data, (np.arange(20) < base).astype(int), condition="clean", **about)
        for severity in SEVERITIES:
            wrong = np.arange(20) < base + 2 * severity
            filled.add(data, wrong.astype(int), condition=f"adain/{severity}", **about)
    study = study_of(filled.store)
    axes = draw(study, "ce", FigureOptions(("adain",), normaliser="other")).axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["style transfer"]
    drawn = sorted(float(marks.get_offsets()[0][0]) for marks in gid(axes, "models"))
    assert drawn == pytest.approx([100 * (5 * 2 + 30) / (5 * 4 + 30), 100])  # errors summed over the severities
    assert draw(study, "severity", FigureOptions(("adain",))).axes[0].get_xlabel() == "severity (0: clean)"
