"""A project that was annotated and sampled, and a store of what models answered about it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from made_study import Studied, studied_birds


@pytest.fixture(scope="module")
def birds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studied]:
    with studied_birds(tmp_path_factory.mktemp("study")) as studied:
        yield studied
