"""Every kind of figure: its size, that nothing is cut, that its bytes are the same each time."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from oodometer.core.errors import OodometerError, UsageError
from oodometer.figures import FigureOptions, draw, figure_kinds, save
from oodometer.figures.figure import figure
from oodometer.figures.style import TALLEST
from oodometer.study import study_of

FROM_TABLE = {
    "accuracy": FigureOptions(("v2",)),
    "correlation": FigureOptions(("sketch", "v2")),
    "effective": FigureOptions(("v2",)),
    "quadrants": FigureOptions(("v2", "sketch")),
    "scales": FigureOptions(("v2",)),
    "scatter": FigureOptions(("v2", "sketch", "grey")),
    "size": FigureOptions(("v2",)),
}
FROM_PREDICTIONS = {
    "aupr": FigureOptions(ood="odd"),
    "calibration": FigureOptions(("style",)),
    "ce": FigureOptions(("cifar10-c",), normaliser="worst"),
    "consistency": FigureOptions(("style",)),
    "errors": FigureOptions(("cifar10-c",)),
    "mce": FigureOptions(("cifar10-c",), normaliser="worst"),
    "reliability": FigureOptions(("style",)),
    "response": FigureOptions(("style",)),
    "severity": FigureOptions(("cifar10-c",)),
}


def test_every_kind_is_tried_here():
    assert sorted({**FROM_TABLE, **FROM_PREDICTIONS}) == figure_kinds.names()


@pytest.fixture(params=[*FROM_TABLE, *FROM_PREDICTIONS])
def drawn(request):
    """A kind, the study that it is drawn from, and what it is asked."""
    kind = request.param
    study = request.getfixturevalue("tabled" if kind in FROM_TABLE else "answered")
    return study, kind, {**FROM_TABLE, **FROM_PREDICTIONS}[kind]


def cut(figure, texts) -> list[str]:
    """What reaches out of the figure, beyond a pixel of rounding."""
    width, height = figure.bbox.size
    found = []
    for text in texts:
        box = text.get_window_extent()
        if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1:
            found.append(text.get_text())
    return found


def overlapping(texts) -> list[tuple[str, str]]:
    """Pairs of texts of which one lies over the other."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    return [
        (a, b)
        for (a, one), (b, other) in combinations(boxes, 2)
        if one.x0 + 1 < other.x1 and other.x0 + 1 < one.x1 and one.y0 + 1 < other.y1 and other.y0 + 1 < one.y1
    ]


@pytest.mark.parametrize("columns", [1, 2])
def test_it_fits_its_columns_and_nothing_is_cut_or_covered(drawn, columns, texts_of):
    study, kind, options = drawn
    figure = draw(study, kind, FigureOptions(**{**vars(options), "columns": columns}))
    width, height = figure.get_size_inches()
    assert width == {1: 3.25, 2: 6.75}[columns]
    assert 1 <= height <= TALLEST
    texts = texts_of(figure)
    assert cut(figure, texts) == []
    assert overlapping(texts) == []
    sizes = {text.get_fontsize() for text in texts}
    assert min(sizes) >= 6
    assert max(sizes) <= 8


def test_the_bytes_are_the_same_each_time(drawn, tmp_path: Path):
    study, kind, options = drawn
    for name in "ab":
        save(draw(study, kind, options), tmp_path / f"{name}.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_study_that_has_what_it_needs_lacks_nothing(drawn):
    study, kind, _ = drawn
    assert figure_kinds.get(kind).lacking(study) == ""


@pytest.mark.parametrize("kind", ["accuracy", "scatter"])
@pytest.mark.parametrize("columns", [1, 2])
def test_two_models_with_long_and_hostile_names(two, kind, columns, texts_of):
    figure = draw(two, kind, FigureOptions(columns=columns))
    texts = texts_of(figure)
    assert cut(figure, texts) == []
    assert overlapping(texts) == []


@pytest.mark.parametrize("kind", ["scatter", "effective", "quadrants", "correlation", "scales", "size"])
def test_338_models(many, kind, texts_of):
    shifts = ("v2", "sketch") if kind in ("scatter", "correlation") else ("v2",)
    figure = draw(many, kind, FigureOptions(shifts, 2))
    texts = texts_of(figure)
    assert cut(figure, texts) == []
    assert overlapping(texts) == []


def test_more_bars_than_a_page_has_room_for(many):
    with pytest.raises(UsageError, match="338 models are more than the 47 rows of a page; choose some with --models"):
        draw(many, "accuracy", FigureOptions(("v2",)))


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("skatter", FigureOptions(), "no kind of figure named 'skatter'; did you mean scatter"),
        ("scatter", FigureOptions(columns=3), "1 or 2 columns wide, not 3"),
        ("scatter", FigureOptions(), r"name it with --shift \(v2, sketch, grey\)"),
        ("correlation", FigureOptions(("v2",)), "about 2 shifts: name them with --shift"),
        ("scales", FigureOptions(("v2", "grey")), "about a shift, and 2 are named"),
        ("scatter", FigureOptions(("v3",)), "no shift named 'v3'; known: grey, sketch, v2"),
        ("scatter", FigureOptions(("v2",), models=("nobody*",)), r"--models nobody\*: fits no model here"),
        ("scatter", FigureOptions(("v2",), label=("nobody",)), "--label nobody: fits no model here"),
        ("scatter", FigureOptions(("v2",), above=0.99), "no model has a clean accuracy of 0.99 or more"),
        ("response", FigureOptions(("v2",)), "no predictions on v2, only accuracies"),
        ("calibration", FigureOptions(("v2",)), "no predictions on v2, only accuracies"),
        ("mce", FigureOptions(), "no corruption was measured at all five severities"),
        ("severity", FigureOptions(), "no corruptions were measured"),
        ("aupr", FigureOptions(), "with --ood CONDITION"),
        ("aupr", FigureOptions(ood="o"), "no AUPR on o: no model was run on it"),
    ],
)
def test_what_there_is_not_is_one_line(tabled, kind, options, said):
    with pytest.raises(OodometerError, match=said) as error:
        draw(tabled, kind, options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("response", FigureOptions(("cifar10-c",)), "is 10 conditions; name one, as --shift cifar10-c/fog/1"),
        ("ce", FigureOptions(("cifar10-c",)), "divided by that of another model; name one with --normaliser"),
        ("mce", FigureOptions(("style",)), "no corruption errors of 'style'; there are those of cifar10-c"),
        ("severity", FigureOptions(("style",)), "no family of corruptions named 'style'; there are cifar10-c"),
        ("aupr", FigureOptions(ood="nowhere"), "no AUPR on nowhere"),
    ],
)
def test_what_predictions_lack_is_one_line(answered, kind, options, said):
    with pytest.raises(OodometerError, match=said) as error:
        draw(answered, kind, options)
    assert "\n" not in str(error.value)


def test_no_line_no_robustness(two):
    for kind in ("scales", "effective", "quadrants"):
        with pytest.raises(OodometerError, match="no line, and so no robustness beside it"):
            draw(two, kind)
    for kind in ("scales", "effective"):
        said = "3 models of category 'standard' for a line; there are 0 (--categories, --baseline all)"
        assert figure_kinds.get(kind).lacking(two) == said


def test_what_a_table_lacks_is_said_before_it_is_drawn(tabled):
    lacking = {name: figure_kinds.get(name).lacking(tabled) for name in figure_kinds.names()}
    assert {name for name, said in lacking.items() if not said} == set(FROM_TABLE)
    assert lacking["response"] == "predictions, not only accuracies of a table"
    assert lacking["ce"] == "corruptions at all five severities"
    assert lacking["severity"] == "corruptions at several severities"


def test_too_few_models_for_a_line_are_said_before_it_is_drawn(two):
    for kind in ("scales", "effective"):
        assert figure_kinds.get(kind).lacking(two).startswith("3 models of category 'standard' for a line; there are ")
    assert figure_kinds.get("scatter").lacking(two) == ""


def test_why_there_is_no_line_is_said_where_there_should_be_one(filled, make_dataset, right, tmp_path):
    data = make_dataset(50)
    for model in ("a", "b"):
        for condition, hits in (("clean", 40), ("style", 30)):
            filled.add(data, right(hits, 50), condition=condition, model=model, digest=model * 32)
    about = {
        kind: figure(filled.store, kind, tmp_path / f"{kind}.svg", options=FigureOptions(("style",))).notes
        for kind in ("scatter", "accuracy")
    }
    assert any("a line needs at least 3" in note for note in about["scatter"])
    assert not any("a line needs at least 3" in note for note in about["accuracy"])


def test_some_severities_are_not_all_five(filled, make_dataset, right):
    data = make_dataset(50)
    for condition in ("clean", "imagenet-c/fog/1", "imagenet-c/fog/3"):
        filled.add(data, right(20, 50), condition=condition)
    study = study_of(filled.store, only=())
    assert figure_kinds.get("severity").lacking(study) == ""
    for kind in ("ce", "mce", "errors"):
        assert figure_kinds.get(kind).lacking(study) == "corruptions at all five severities"
