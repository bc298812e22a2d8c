"""A disk that is full, for real: a tiny file system in memory, where the user may mount one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from oodometer.core.errors import StoreError
from oodometer.store.index import look
from oodometer.store.store import open_store
from real_disk import disk_in_memory


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """256 KiB of space."""
    with disk_in_memory(tmp_path / "disk", "256k") as disk:
        yield disk


def test_a_full_disk_is_an_error_that_loses_nothing(tiny_disk, make_dataset, make_cell, make_rows):
    store = open_store(str(tiny_disk / "runs"), create=True)
    data = make_dataset(4000)
    cell = make_cell(data)
    store.add_cell(cell, data)
    written = []

    def write_all() -> None:
        for start in range(0, 4000, 200):
            rows = make_rows(data, start=start, stop=start + 200, logits=True)
            store.write_part(cell.key, start, start + 200, rows)
            written.append((start, start + 200))

    with pytest.raises(StoreError) as caught:
        write_all()
    message = str(caught.value)
    assert message == (
        f"{store}: no space left; what is finished is kept: free some space and run the same command again"
    )
    assert written
    assert store.files.names("writing") == []
    assert look(store).entry(cell).covered(keep_logits=True) == written
    found = store.read(cell, logits=True)
    np.testing.assert_array_equal(found.image, np.arange(written[-1][1]))
    np.testing.assert_array_equal(found.logits, make_rows(data, stop=written[-1][1], logits=True).logits)


def test_a_disk_that_fills_up_while_a_cell_is_sealed_keeps_its_parts(tiny_disk, make_dataset, make_cell, make_rows):
    store = open_store(str(tiny_disk / "runs"), create=True)
    data = make_dataset(1000)
    cell = make_cell(data)
    store.add_cell(cell, data)
    store.write_part(cell.key, 0, 1000, make_rows(data))
    with pytest.raises(OSError, match="No space left"):  # somebody else takes the rest
        (tiny_disk / "film").write_bytes(bytes(10**6))
    with pytest.raises(StoreError, match="no space left"):
        store.seal(cell, keep_logits=False)
    assert store.files.names("writing") == []
    assert not look(store).is_complete(cell)
    (tiny_disk / "film").unlink()
    store.seal(cell, keep_logits=False)
    np.testing.assert_array_equal(store.read(cell).rank, make_rows(data).rank)


def test_a_new_store_on_a_full_disk(tiny_disk):
    with pytest.raises(OSError, match="No space left"):
        (tiny_disk / "film").write_bytes(bytes(10**6))
    with pytest.raises(StoreError, match="no space left"):
        open_store(str(tiny_disk / "runs"), create=True)
