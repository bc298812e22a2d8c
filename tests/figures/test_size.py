"""Against the number of parameters: what is drawn is what was measured, and what is not known is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oodometer.analysis.origins import Origin
from oodometer.core.errors import OodometerError, UsageError
from oodometer.figures import FigureOptions, draw, figure_kinds, notes_of
from oodometer.figures.figure import figure
from oodometer.figures.published import published_origins, published_store
from oodometer.published.tables import read_table
from oodometer.study import study_of

V2 = FigureOptions(("v2",))
O_TABLE = "hendrycks2021_imagenet_o_aupr"
FAMILIES = ("ResNet-*", "ResNeXt*", "DPN*")


def marks_of(axes) -> np.ndarray:
    """Places of all marks, the smallest model first."""
    places = [np.asarray(one.get_offsets()) for one in axes.collections if one.get_gid() == "models"]
    every = np.vstack(places)
    return every[np.lexsort(every.T[::-1])]


def test_error_against_parameters(tabled):
    axes = draw(tabled, "size", V2).axes[0]
    accuracies = tabled.condition("v2").accuracies
    wanted = [(one.origin.parameters, 100 - 100 * accuracies[one.name].value) for one in tabled.models]
    assert marks_of(axes) == pytest.approx(np.array(sorted(wanted)))
    assert axes.get_xscale() == "log"
    assert axes.get_ylabel().replace("\n", " ") == "v2 error (%)"
    # The interval of an error is that of the accuracy, turned round.
    one = accuracies["model-3"]
    size = next(model.origin.parameters for model in tabled.models if model.name == "model-3")
    segments = [part for lines in axes.collections if hasattr(lines, "get_segments") for part in lines.get_segments()]
    ends = [[size, 100 - 100 * one.high], [size, 100 - 100 * one.low]]
    assert any(np.allclose(part, ends) for part in segments)


def test_accuracy_if_asked(tabled):
    axes = draw(tabled, "size", replace(V2, measure="accuracy")).axes[0]
    wanted = [(one.origin.parameters, 100 * tabled.condition("v2").accuracies[one.name].value) for one in tabled.models]
    assert marks_of(axes) == pytest.approx(np.array(sorted(wanted)))


def test_a_model_of_unknown_size_is_left_out_and_told(table_store, tabled):
    origins = {one.name: one.origin for one in tabled.models}
    origins["model-4"] = Origin("standard")
    study = study_of(table_store, origins=origins, only=())
    drawn = draw(study, "size", V2)
    assert len(marks_of(drawn.axes[0])) == 15
    (line,) = notes_of(drawn)
    assert line.startswith("left out: model-4; nobody says their number of parameters")


def test_what_was_not_asked_for_is_not_missed(table_store, tabled):
    origins = {one.name: one.origin for one in tabled.models} | {"model-4": Origin("standard")}
    drawn = draw(study_of(table_store, origins=origins, only=()), "size", replace(V2, models=("model-1?",)))
    assert notes_of(drawn) == ()


def test_nobody_says_any_size(table_store):
    study = study_of(table_store, only=())
    assert figure_kinds.get("size").lacking(study).startswith("the number of parameters of models")
    with pytest.raises(OodometerError, match="no model can be shown by size: nobody says"):
        draw(study, "size", V2)


def test_by_default_a_line_joins_a_model_and_its_parent(tabled, gid):
    figure_ = draw(tabled, "size", V2)
    lines = gid(figure_.axes[0], "join")
    assert len(lines) == 8  # every second model was made from the one before it
    assert all(len(line.get_xdata()) == 2 for line in lines)
    words = [text.get_text() for text in figure_.legends[0].get_texts()]
    assert words[-1] == "of the same parent"


def test_a_line_joins_the_models_of_a_pattern_from_small_to_large(tabled, gid):
    figure_ = draw(tabled, "size", replace(V2, join=("model-1?", "model-[2-4]")))
    lines = gid(figure_.axes[0], "join")
    assert [len(line.get_xdata()) for line in lines] == [6, 3]
    assert all((np.diff(line.get_xdata()) > 0).all() for line in lines)
    assert len({str(line.get_linestyle()) + str(line._unscaled_dash_pattern) for line in lines}) == 2
    words = [text.get_text() for text in figure_.legends[0].get_texts()]
    assert words[-2:] == ["model-1?", "model-[2-4]"]


def test_a_pattern_that_joins_nothing(tabled):
    with pytest.raises(UsageError, match=r"--join resnet\*: fits no model here"):
        draw(tabled, "size", replace(V2, join=("resnet*",)))


def test_what_is_shown_must_be_said(tabled):
    with pytest.raises(UsageError, match="say what is shown against size, with --shift NAME or --ood CONDITION"):
        draw(tabled, "size")


def test_a_clean_set_and_the_mean_of_a_family(answered):
    sized = study_of(
        answered.index,
        origins={one.name: Origin("standard", None, 1000 * (at + 1)) for at, one in enumerate(answered.models)},
        options=answered.options,
        only=["cifar10-c"],
    )
    clean, family = draw(sized, "size", FigureOptions(("clean", "cifar10-c"), 2)).axes
    wanted = [100 - 100 * sized.condition("clean").accuracies[one.name].value for one in sized.models]
    assert marks_of(clean)[:, 1] == pytest.approx(wanted)
    points = {one.model: one.y.value for one in sized.shift("cifar10-c").points.models}
    assert marks_of(family)[:, 1] == pytest.approx([100 - 100 * points[one.name] for one in sized.models])


def test_aupr_is_that_of_the_bars(answered):
    origins = {one.name: Origin("standard", None, 1000 * (at + 1)) for at, one in enumerate(answered.models)}
    sized = study_of(answered.index, origins=origins, options=answered.options, only=())
    axes = draw(sized, "size", FigureOptions(ood="odd")).axes[0]
    bars = [one.get_width() for one in draw(sized, "aupr", FigureOptions(ood="odd")).axes[0].patches]
    assert sorted(marks_of(axes)[:, 1]) == pytest.approx(sorted(bars))


def test_figures_10_and_11_of_natural_adversarial_examples(gid):
    """Larger networks of each family do better, on ImageNet-A and on ImageNet-O (captions of the two figures)."""
    study = study_of(published_store(O_TABLE), origins=published_origins(O_TABLE), only=())
    options = FigureOptions(("imagenet-a",), 2, ood="imagenet-o", measure="accuracy", join=FAMILIES)
    on_a, on_o = draw(study, "size", options).axes
    printed = read_table(O_TABLE)
    assert sorted(marks_of(on_a)[:, 1]) == pytest.approx(sorted(printed.column("imagenet_a_top1_accuracy")))
    assert sorted(marks_of(on_o)[:, 1]) == pytest.approx(sorted(printed.column("imagenet_o_aupr")))
    for axes in (on_a, on_o):
        lines = gid(axes, "join")
        assert [len(line.get_xdata()) for line in lines] == [2, 2, 2]
        assert all(line.get_ydata()[1] > line.get_ydata()[0] for line in lines)
    (chance,) = gid(on_o, "guide")
    assert chance.get_ydata()[0] == pytest.approx(16.67)  # Section 5: "approximately 16.67%"


@pytest.mark.parametrize(
    ("table", "kind"),
    [(O_TABLE, "accuracy"), (O_TABLE, "aupr"), (O_TABLE, "size"), ("hendrycks2021_imagenet_a", "accuracy")],
)
def test_the_printed_tables_are_drawn_without_a_word_more(table, kind, tmp_path):
    drawn = figure(f"published:{table}", kind, tmp_path / "a.svg")
    assert drawn.notes == ()
    assert (tmp_path / "a.svg").stat().st_size > 5000


def test_imagenet_a_by_size_says_what_is_not_known(tmp_path):
    drawn = figure("published:hendrycks2021_imagenet_a", "size", tmp_path / "a.svg")
    assert drawn.notes[0].startswith("left out: 13 models; nobody says their number of parameters")
