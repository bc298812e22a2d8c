"""How commands tell how far they are."""

from __future__ import annotations

import pytest

from oodometer.cli import output


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """A clock that stands where its last entry says."""
    times = [0.0]
    monkeypatch.setattr(output.time, "monotonic", lambda: times[-1])
    return times


def test_each_count_has_a_time_of_its_own(clock, capsys):
    """Data sets are read one after the other, 200 images in 2 s each: the second is not told as 200 in 4 s."""
    lines = output.Lines("files checked")
    for seconds, done in ((1, 100), (2, 200), (3, 100), (4, 200)):
        clock.append(seconds)
        lines(done, max(done, 200))
    told = capsys.readouterr().err.splitlines()
    assert told == ["200/200 files checked in 2.0 s, 100.0/s"] * 2
