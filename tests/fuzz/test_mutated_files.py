"""Some hundred damaged files of each kind: a value, or one line that names the file; no traceback, hang or swelling.

Thousands by hand: ``PYTHONPATH=tests/support python -m fuzzing --cases 5000``.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

from fuzzing.cases import run_cases
from fuzzing.mutations import damaged
from fuzzing.seeds import KINDS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is bounded as Linux does it"),
]

N_CASES = 300


@pytest.mark.parametrize("kind", list(KINDS))
def test_damaged_files_give_a_value_or_one_line(kind: str) -> None:
    failures = run_cases(kind, N_CASES)
    assert not failures, "\n".join(map(str, failures))


@pytest.mark.parametrize("kind", list(KINDS))
def test_nearly_every_damage_changes_the_file(kind: str) -> None:
    """Else the cases would say nothing. A few repeat what was there: a zero in the place of a zero."""
    seeds = list(KINDS[kind]())
    changed = sum(
        damaged(seed.content, np.random.default_rng(number)) != seed.content for number in range(40) for seed in seeds
    )
    assert changed > 0.8 * 40 * len(seeds)
