"""How commands tell how far they are."""

from __future__ import annotations

import time

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


def test_a_log_never_stands_still_for_long(clock, capsys):
    """Chunks that take minutes each: a line every 15 s at the most, where formerly there was none for 14 minutes."""
    running, scanning = output.Lines("predictions"), output.Lines("files checked")
    pulse = output.Pulse((running, scanning))
    running(0, 4000)
    for seconds in range(5, 65, 5):
        clock.append(seconds)
        if seconds == 30:
            running(100, 4000)
        pulse.beat()
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "0/4000 predictions, still working after 10 s"
    assert "100/4000 predictions, still working after 40 s" in told
    assert "100/4000 predictions, 3.3/s, 1170 s left" in told
    assert len(told) == 6


def test_it_beats_by_itself_while_it_is_watched(monkeypatch, capsys):
    monkeypatch.setattr(output, "SECONDS_OF_SILENCE", 0.06)
    with output.watching():
        time.sleep(0.5)
    assert "still working after 0 s" in capsys.readouterr().err
    time.sleep(0.1)
    assert capsys.readouterr().err == ""  # it ends with what it watches


def test_no_time_left_is_guessed_from_a_slow_beginning(clock, capsys):
    """A first image that took 13 s to come: the other 440 need no 5867 s."""
    lines = output.Lines("images")
    for seconds, done in ((13, 1), (24, 12)):
        clock.append(seconds)
        lines(done, 441)
    assert capsys.readouterr().err.splitlines() == ["1/441 images after 13 s", "12/441 images, 0.5/s, 858 s left"]
