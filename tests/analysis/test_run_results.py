"""The end of a run: a short summary, whatever it was about."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.gaps import gaps_in
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.run_results import RunResults
from oodometer.analysis.score import score
from oodometer.metrics.corruption_error import COMMON, SEVERITIES
from oodometer.store.index import look


@pytest.mark.parametrize("corruptions", [COMMON, COMMON[:2]], ids=["whole", "some"])
def test_a_run_on_a_whole_family_ends_with_the_mce(filled, make_dataset, corruptions):
    data = make_dataset(6, k=1000)
    filled.add(data, np.zeros(6, dtype=int))
    for corruption in corruptions:
        for severity in SEVERITIES:
            ranks = (np.arange(6) >= 6 - severity).astype(int)
            filled.add(data, ranks, condition=f"imagenet-c/{corruption}/{severity}")
    index = look(filled.store)
    results = RunResults(index, gaps_in(index, IntervalOptions()), frozenset())
    lines = results.table().splitlines()
    whole = corruptions == COMMON
    assert len(lines) == 3 + whole  # the header, the shift, the model, and the mCE
    assert any(row["metric"] == "mce" for row in results.as_json()) == whole
    if whole:
        assert lines[-1] == str(score(index, metrics=["mce"]))
    said = [line for line in results.notes if line.startswith("mce: ")]
    assert len(said) == whole
    assert all("by AlexNet" in line and "frost" in line for line in said)
