"""The gate: worse, not worse, can't tell; for every condition, with intervals corrected for their number."""

from __future__ import annotations

import json

import numpy as np
import pytest

from oodometer.analysis.compare import compare
from oodometer.analysis.gate import gate
from oodometer.core.errors import CannotTellError, RequirementNotMetError, UsageError
from oodometer.stats.intervals import corrected_level
from oodometer.stats.paired import PairedCounts, paired_difference


def ranks_of(both: int, only_a: int, only_b: int, neither: int) -> tuple[np.ndarray, np.ndarray]:
    blocks = [(0, 0)] * both + [(0, 1)] * only_a + [(1, 0)] * only_b + [(1, 1)] * neither
    a, b = np.array(blocks).T
    return a, b


def compared(filled, make_dataset, **counts):
    """Comparisons on conditions of these counts."""
    for condition, four in counts.items():
        a, b = ranks_of(*four)
        data = make_dataset(sum(four), k=3)
        filled.add(data, a, model="a", condition=condition)
        filled.add(data, b, model="b", condition=condition, digest="b" * 32)
    return compare(filled.store, "a", "b")


@pytest.mark.parametrize(
    ("four", "margin", "answer"),
    [
        ((60, 30, 0, 10), 0.1, "worse"),  # -0.30, Tango's upper end is far below -0.1
        ((60, 30, 0, 10), 0.3, "can't tell"),
        ((80, 0, 0, 20), 0.05, "not worse"),  # no disagreement among 100: -0.037 at the least
        ((80, 0, 0, 20), 0.01, "can't tell"),
        ((60, 0, 30, 10), 0.0, "not worse"),
        ((80, 6, 2, 12), 0.01, "can't tell"),  # a loss of 0.04 that may be chance
    ],
)
def test_three_answers(filled, make_dataset, four, margin, answer):
    found = gate(compared(filled, make_dataset, clean=four), margin)
    assert found.answer == found.judged[0].answer == answer
    reference = paired_difference(PairedCounts(*four))  # one condition: nothing to correct
    assert found.judged[0].difference == reference
    errors = {strict: type(found.problem(strict=strict)) for strict in (False, True)}
    assert (
        errors
        == {
            "worse": {False: RequirementNotMetError, True: RequirementNotMetError},
            "not worse": {False: type(None), True: type(None)},
            "can't tell": {False: type(None), True: CannotTellError},
        }[answer]
    )
    assert (found.doubt is None) == (answer != "can't tell")


def test_the_intervals_are_corrected_for_the_number_of_conditions(filled, make_dataset):
    # -0.12 of 100: alone, the 95 % interval ends below -0.05; among five, that of 99 % does not.
    four = (70, 13, 1, 16)
    alone, among = (paired_difference(PairedCounts(*four), level=level).high for level in (0.95, 0.99))
    assert alone < -0.05 < among
    comparisons = compared(filled, make_dataset, fog=four, **dict.fromkeys(("p", "q", "r", "s"), (80, 0, 0, 20)))
    found = gate(comparisons, 0.05)
    assert found.judged[0].difference == paired_difference(PairedCounts(*four), level=0.99)
    assert found.judged[0].answer == "can't tell"
    assert gate(comparisons[:1], 0.05).answer == "worse"
    assert "5 conditions, Bonferroni: 99% intervals for 95% together" in found.title


def test_the_correction_keeps_its_promise():
    """Of true losses of exactly the margin under 10 conditions, any is called worse in at most 5 % of all draws."""
    rng = np.random.default_rng(7)
    n, draws, conditions, margin = 400, 400, 10, 0.05
    wrong = 0
    for _ in range(draws):
        cells = rng.multinomial(n, [0.8, 0.07, 0.02, 0.11], size=conditions)  # B loses 0.05
        highs = [
            paired_difference(PairedCounts(*map(int, four)), level=corrected_level(0.95, conditions)).high
            for four in cells
        ]
        wrong += min(highs) < -margin
    assert wrong / draws <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / draws)  # three standard errors of the simulation


def test_every_condition_that_fails_is_told(filled, make_dataset):
    bad, good = (20, 70, 0, 10), (90, 0, 0, 10)
    found = gate(compared(filled, make_dataset, clean=good, fog=bad, snow=bad), 0.05)
    # No disagreement among 100, at 98.33 %: Tango's lower end is -z^2 / (n + z^2) = -0.0542 with z = 2.394.
    assert [judged.answer for judged in found.judged] == ["can't tell", "worse", "worse"]
    assert [line.split("  ")[1] for line in str(found).splitlines()[1:]] == ["can't tell", "worse", "worse"]
    message = str(found.problem())
    assert message.startswith("b is more than 0.05 worse than a on 2 of 3 conditions: fog on val: -0.7000 [")
    assert "; snow on val: -0.7000 [" in message
    assert "\n" not in message
    rows = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert [row["gate"]["answer"] for row in rows] == [judged.answer for judged in found.judged]
    assert rows[1]["gate"]["reason"] == found.judged[1].reason
    assert rows[1]["gate"]["correction"] == "bonferroni"


def test_many_reasons_are_all_in_the_result(filled, make_dataset):
    bad = {f"fog{severity}": (20, 70, 0, 10) for severity in range(5)}
    found = gate(compared(filled, make_dataset, **bad), 0.05)
    assert str(found).count("lies below -0.05") == 5
    assert str(found.problem()).endswith("; and 2 more, see the result")


def test_a_margin_that_is_none(filled, make_dataset):
    comparisons = compared(filled, make_dataset, clean=(80, 0, 0, 20))
    with pytest.raises(UsageError, match=r"margin 1\.5: must lie between 0 and 1"):
        gate(comparisons, 1.5)
    with pytest.raises(UsageError, match="nothing to judge"):
        gate([], 0.1)
