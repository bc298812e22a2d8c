"""Where the line of a shift begins and bends: the user's word, else the catalogue's; each choice is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit

from oodometer.analysis.asked_shifts import asked_shift
from oodometer.analysis.line_rules import FEWEST_ABOVE_CUT, RobustnessOptions, rules_for
from oodometer.analysis.origins import Origin
from oodometer.analysis.robustness import robustness_of_table
from oodometer.analysis.table_pairs import points_of_table
from oodometer.catalogue.names import find_shift
from oodometer.core.errors import OodometerError, UsageError
from oodometer.stats.bootstrap import Resampling
from oodometer.store.index import index_of_table
from oodometer.store.tables import Accuracy

OPTIONS = RobustnessOptions(resampling=Resampling(draws=100))
A_CLEAN = "val-on-imagenet-a-classes"
LOW, HIGH = np.linspace(0.4, 0.52, 3), np.linspace(0.56, 0.84, 8)


def rows_of(clean, *, x="val", y="imagenet-sketch", shifted=None, names=None):
    clean = np.asarray(clean)
    shifted = expit(0.9 * logit(clean) - 1) if shifted is None else shifted
    names = names or [f"m{at}" for at in range(len(clean))]
    return [
        Accuracy(name, column, float(value), 1000, "t.csv")
        for column, values in ((x, clean), (y, shifted))
        for name, value in zip(names, values, strict=True)
    ]


def origins_of(rows, **others):
    return {row.model: Origin(others.get(row.model, "standard")) for row in rows}


def rules(rows, shift, options=OPTIONS, *, x=(), origins=None):
    asked = asked_shift(index_of_table(rows), shift, x)
    origins = origins_of(rows) if origins is None else origins
    return rules_for(points_of_table(rows, asked, origins=origins, level=0.95), asked, options)


def found_in(rows, shift, options=OPTIONS, *, x=()):
    return robustness_of_table(rows, shift, x=x, origins=origins_of(rows), options=options)


# The cut


@pytest.mark.parametrize(
    ("shift", "clean", "cut"),
    [
        # The numbers of the authors' scripts, on the axis of each shift; they stand in the catalogue alone.
        ("imagenet-sketch", "val", 0.55),
        ("imagenet-a", A_CLEAN, 0.75),
        ("imagenet-r", "val-on-imagenet-r-classes", 0.75),
        ("imagenet-vid-robust_pm0", "val-on-vid-robust-classes", 0.92),
        ("ytbb-robust_pm0", "val-on-ytbb-robust-classes", 0.95),
        ("imagenet-vid-robust_pm10", "imagenet-vid-robust_pm0", 0.49),
    ],
)
def test_the_cut_is_that_of_the_shifts_own_axis(shift, clean, cut):
    rows = rows_of(np.r_[cut - 0.1, cut - 1e-6, cut, np.linspace(cut + 0.01, cut + 0.04, 5)], x=clean, y=shift)
    decided = rules(rows, shift, replace(OPTIONS, knee="none"))
    assert decided.options.baseline_above == find_shift(shift).baseline_above == cut
    assert decided.notes == (f"the line goes through models of at least {100 * cut:g} % on {clean} (6 of 8)",)


def test_the_line_leaves_out_what_is_below_the_cut_and_judges_it_all_the_same():
    bent = np.r_[[0.1, 0.3, 0.05], expit(0.9 * logit(HIGH) - 1)]
    rows = rows_of(np.r_[LOW, HIGH], shifted=bent)
    found = found_in(rows, "imagenet-sketch")
    # The models above the cut lie on a line of slope 0.9 and intercept -1; those below do not.
    assert (found.fitted.slope.value, found.fitted.intercept.value) == pytest.approx((0.9, -1))
    assert [one.in_baseline for one in found.models] == [False] * 3 + [True] * 8
    assert found.models[0].rho.value == pytest.approx(0.1 - expit(0.9 * logit(0.4) - 1))
    assert "the line goes through models of at least 55 % on val (8 of 11)" in found.notes


def test_a_cut_that_leaves_all_is_not_worth_a_word():
    decided = rules(rows_of(HIGH), "imagenet-sketch")
    assert (decided.options.baseline_above, decided.notes) == (0.55, ())


def test_a_cut_that_leaves_too_few_is_not_made():
    few = FEWEST_ABOVE_CUT - 1
    decided = rules(rows_of(np.r_[LOW, HIGH[:few]]), "imagenet-sketch")
    assert decided.options.baseline_above == 0.0
    assert decided.notes == (
        f"the line goes through all {3 + few} models: only {few} have the 55 % that is usual here",
    )
    assert rules(rows_of(np.r_[LOW, HIGH[: few + 1]]), "imagenet-sketch").options.baseline_above == 0.55


def test_only_models_that_the_line_may_go_through_are_counted():
    rows = rows_of(np.r_[LOW, HIGH])
    others = {f"m{at}": "more_data" for at in range(3, 8)}  # leaves three standard ones above the cut
    assert rules(rows, "imagenet-sketch", origins=origins_of(rows, **others)).options.baseline_above == 0.0
    left = replace(OPTIONS, leave_out=("m10", "m[789]"))
    assert rules(rows, "imagenet-sketch", left).notes == (
        "the line goes through all 7 models: only 4 have the 55 % that is usual here",
    )


def test_a_cut_holds_on_its_own_axis_alone():
    rows = rows_of(np.r_[LOW, HIGH], x="other", y="imagenet-sketch")
    assert rules(rows, "imagenet-sketch", x=("other",)).options.baseline_above == 0.0
    unknown = rows_of(np.r_[LOW, HIGH], y="of-my-own")
    assert rules(unknown, "of-my-own").options.baseline_above == 0.0


@pytest.mark.parametrize("above", [0.0, 0.6])
def test_the_users_cut_counts(above):
    decided = rules(rows_of(np.r_[LOW, HIGH]), "imagenet-sketch", replace(OPTIONS, baseline_above=above))
    assert (decided.options.baseline_above, decided.notes) == (above, ())


# The knee

A_MODELS = np.linspace(0.8, 0.98, 10)
BEND = 0.9186
"""ResNet-50 on the classes of ImageNet-A, as the catalogue has it from the testbed's table."""


def imagenet_a(names=None, clean=A_MODELS, x=A_CLEAN):
    beyond = logit(clean) - logit(BEND)
    return rows_of(clean, x=x, y="imagenet-a", shifted=expit(-4 + np.where(beyond < 0, 0.5, 3) * beyond), names=names)


@pytest.mark.parametrize("name", ["resnet50", "ResNet-50"])
def test_the_knee_is_at_the_model_by_whose_mistakes_the_images_were_chosen(name):
    names = [f"m{at}" for at in range(10)]
    names[4] = name
    found = found_in(imagenet_a(names), "imagenet-a")
    assert (found.fitted.kind, found.fitted.knee) == ("two lines", A_MODELS[4])
    assert not any("knee" in note for note in found.notes)


def test_without_that_model_the_knee_is_at_its_published_accuracy():
    found = found_in(imagenet_a(), "imagenet-a")
    assert (found.fitted.kind, found.fitted.knee) == ("two lines", find_shift("imagenet-a").filtered_by.clean_accuracy)
    assert found.fitted.knee == BEND
    # Both pieces were made straight.
    assert [piece.slopes[0].value for piece in found.fitted.pieces] == pytest.approx([0.5, 3])
    assert found.notes == (
        "the knee is at 91.86 %, the published accuracy of resnet50, whose mistakes these images are and which is not "
        "among the models",
    )


def test_on_another_axis_its_accuracy_is_not_known():
    found = found_in(imagenet_a(x="val"), "imagenet-a", x=("val",))
    assert (found.fitted.kind, found.fitted.knee) == ("line", None)
    assert found.notes == (
        "no knee: resnet50, whose mistakes these images are, is not among the models, and on val its accuracy is not "
        "known; --knee ACCURACY sets one",
    )
    names = ["resnet50", *(f"m{at}" for at in range(1, 10))]
    clean = np.r_[A_MODELS[4], np.delete(A_MODELS, 4)]
    assert found_in(imagenet_a(names, clean, x="val"), "imagenet-a", x=("val",)).fitted.knee == A_MODELS[4]


def test_a_knee_can_be_switched_off():
    found = found_in(imagenet_a(), "imagenet-a", replace(OPTIONS, knee="none"))
    assert (found.fitted.kind, found.fitted.knee, found.notes) == ("line", None, ())


@pytest.mark.parametrize(("knee", "at"), [("m5", A_MODELS[5]), (0.9, 0.9)])
def test_the_users_knee_counts(knee, at):
    found = found_in(imagenet_a(), "imagenet-a", replace(OPTIONS, knee=knee))
    assert (found.fitted.kind, found.fitted.knee, found.notes) == ("two lines", at, ())


def test_other_shifts_do_not_bend():
    assert found_in(rows_of(HIGH), "imagenet-sketch").fitted.kind == "line"


def test_too_few_models_on_one_side_of_the_usual_knee_give_one_line():
    rows = imagenet_a(clean=np.linspace(0.76, 0.93, 10))
    found = found_in(rows, "imagenet-a")
    assert found.fitted.kind == "line"
    assert found.notes[-1].startswith("one line, not two with a knee at 0.9186: the baseline (10 models of category")
    # Of the user's own knee it is an error.
    with pytest.raises(OodometerError, match=r"above the knee at 0\.9186"):
        found_in(rows, "imagenet-a", replace(OPTIONS, knee=BEND))


def test_a_knee_at_a_model_that_is_not_there():
    with pytest.raises(UsageError, match="--knee m99: no such model"):
        found_in(imagenet_a(), "imagenet-a", replace(OPTIONS, knee="m99"))
