"""Groups of classes by what models take for each other, against a table counted by hand."""

from __future__ import annotations

import pytest

from oodometer.build.testset.confusion_groups import confusion_groups
from oodometer.core.errors import UsageError

TRUTH = ["cat"] * 10 + ["lynx"] * 10 + ["tiger"] * 10 + ["candle"] * 10
FIRST = ["cat"] * 8 + ["lynx"] * 2 + ["lynx"] * 10 + ["tiger"] * 10 + ["candle"] * 9 + ["cat"]
SECOND = ["cat"] * 10 + ["lynx"] * 10 + ["tiger"] * 7 + ["lynx"] * 3 + ["candle"] * 5 + ["torch"] * 5


@pytest.mark.parametrize(
    ("at_least", "expected"),
    [
        # By hand: of 10 cats 2 are called lynx, of 10 tigers 3, of 10 candles 1 is called cat; torch is no class here.
        (0.31, {}),
        (0.3, {"lynx": "lynx", "tiger": "lynx"}),
        (0.2, {"cat": "cat", "lynx": "cat", "tiger": "cat"}),
        (0.1, {"candle": "candle", "cat": "candle", "lynx": "candle", "tiger": "candle"}),
    ],
)
def test_near_is_what_any_model_confuses(at_least, expected):
    assert confusion_groups([(TRUTH, FIRST), (TRUTH, SECOND)], at_least=at_least) == expected


def test_models_may_have_been_asked_about_other_images():
    some = (TRUTH[:20], FIRST[:20])
    assert confusion_groups([some, (TRUTH, SECOND)], at_least=0.2) == {"cat": "cat", "lynx": "cat", "tiger": "cat"}


def test_a_share_is_needed():
    with pytest.raises(UsageError, match="--groups 0: a share above 0, at most 1"):
        confusion_groups([(TRUTH, FIRST)], at_least=0)
