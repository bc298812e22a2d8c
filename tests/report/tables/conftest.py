"""Studies whose tables are known beforehand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from oodometer.analysis.origins import Origin
from oodometer.core.condition import Condition, Shift
from oodometer.core.records import record_of_shift
from oodometer.study import Study, study_of


@pytest.fixture
def study(filled, make_dataset, right) -> Callable[..., Study]:
    """``study({"a": (900, 500)}, n=1000)``: models by how many images they are right on, clean and shifted."""

    def make(models: dict[str, tuple[int, int]], *, n: int = 1000, origins: dict[str, Origin] | None = None) -> Study:
        clean, shifted = make_dataset(n, name="iid"), make_dataset(n, name="new", ids=[f"n{one}" for one in range(n)])
        filled.store.add_shift(
            record_of_shift(Shift("new", "dataset", Condition("iid", clean), Condition("new", shifted)))
        )
        for place, (name, hits) in enumerate(models.items()):
            about = {"model": name, "digest": f"{place:032d}"}
            filled.add(clean, right(hits[0], n), condition="iid", **about)
            filled.add(shifted, right(hits[1], n), condition="new", **about)
        said = {name: Origin("standard") for name in models} | (origins or {})
        return study_of(filled.store, origins=said)

    return make


@pytest.fixture
def four(study) -> Study:
    """Four models; the best is far ahead clean, and just ahead under the shift."""
    return study({"a": (950, 600), "b": (800, 599), "c": (700, 300), "d": (600, 200)})
