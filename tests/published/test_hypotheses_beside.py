"""The paper's verdicts beside one's own: those of the printed table, at the shift that they are about."""

from __future__ import annotations

import pytest

from oodometer.analysis.hypotheses import Hypotheses, Question
from oodometer.catalogue.names import find_shift
from oodometer.published.hypotheses import printed_signs
from oodometer.published.hypotheses_beside import COLUMNS, OF_SHIFT, beside_paper, paper_column
from oodometer.published.tables import read_table


def asked(hypothesis: str, shift: str) -> Question:
    return Question(hypothesis, "", shift, "", None, 0.015, True, "undefined", None, None, (), (), "")


def told(hypothesis: str, shift: str) -> tuple[str, str]:
    (one,) = beside_paper(Hypotheses((asked(hypothesis, shift),), 0.015, "holm", 0.95)).questions
    return one.paper, one.paper_on


# Hendrycks et al. 2021, Tables 4 and 6
@pytest.mark.parametrize(
    ("hypothesis", "shift", "sign", "on"),
    [
        ("pretraining", "imagenet-r", "-", "ImageNet-R"),
        ("larger_models", "imagenet-r", "+", "ImageNet-R"),
        ("self_attention", "real-blurry", "+", "Real Blurry Images"),
        ("diverse_data_augmentation", "imagenet-a", "-", "ImageNet-A"),
        ("diverse_data_augmentation", "svsf/year_2018", "-", "SVSF"),
        ("larger_models", "dfr/size_small", "-", "DFR"),
        ("diverse_data_augmentation", "cifar-10-c", "+", "ImageNet-C"),
        ("pretraining", "icons-style", "-", "ImageNet-R"),
    ],
)
def test_verdicts_are_the_printed_ones(hypothesis, shift, sign, on):
    assert told(hypothesis, shift) == (sign, on)


def test_what_the_paper_did_not_measure_has_no_verdict():
    assert told("pretraining", "svsf/year_2018") == ("", "")  # the empty cell of Table 4
    assert told("pretraining", "imagenetv2-matched-frequency") == ("", "")
    assert told("pretraining", "something of mine") == ("", "")


# Section 6: "Synthetic does not imply Natural has clear counterexamples", "Texture Bias has the most support"
def test_the_text_is_told_of_hypotheses_without_a_row():
    assert [told(name, "")[0] for name in ("texture_bias", "only_iid_accuracy_matters", "synthetic_not_natural")] == [
        *("+", "-", "-")
    ]


def test_every_column_is_of_the_printed_table_and_every_shift_of_the_catalogue():
    assert {column for _, column in printed_signs(read_table("hendrycks2021_hypotheses"))} == set(COLUMNS)
    for shift in OF_SHIFT:
        assert find_shift(shift) is not None
        assert paper_column(shift) == OF_SHIFT[shift]
