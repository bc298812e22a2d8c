"""The simulated power cuts themselves: what they may lose, and what they must keep."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from crash_simulation import folder_content, materialise, state_after, state_of, watched

State = dict[str, bytes | None]
TEXT = b"the whole of the content"


def write(path: Path, *, sync: bool) -> None:
    with open(path, "wb") as file:
        file.write(TEXT)
        if sync:
            file.flush()
            os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def naive(root: Path) -> None:
    """Aside and renamed, which is enough for a kill and not for a power cut."""
    write(root / "a.tmp", sync=False)
    os.replace(root / "a.tmp", root / "a")


def half_careful(root: Path) -> None:
    """The data are safe before they get their name; the name is not."""
    write(root / "a.tmp", sync=True)
    os.replace(root / "a.tmp", root / "a")


def careful(root: Path) -> None:
    half_careful(root)
    sync_folder(root)


def endings(program: Callable[[Path], None], root: Path, *, early: bool = False) -> list[State]:
    """What may be there after a cut when the program is done, or at any moment before."""
    with watched(root) as trace:
        program(root)
    count = len(trace.operations)
    cuts = [int(cut) for cut in np.random.default_rng(0).integers(0, count + 1, 300)] if early else [count] * 300
    return [state_after(trace.operations, cut, np.random.default_rng((1, number))) for number, cut in enumerate(cuts)]


def test_a_rename_without_fsync_may_leave_an_empty_file(tmp_path: Path) -> None:
    states = endings(naive, tmp_path / "disk")
    assert {"a": b""} in states
    assert {"a": bytes(len(TEXT))} in states, "zeros where the data should be"
    assert any(TEXT.startswith(state.get("a") or b"-") and state["a"] != TEXT for state in states), "half of the data"
    assert {} in states
    assert {"a": TEXT} in states


def test_with_fsync_of_the_data_the_name_may_be_lost_but_never_the_data_under_it(tmp_path: Path) -> None:
    states = endings(half_careful, tmp_path / "disk")
    assert {} in states
    assert {state["a"] for state in states if "a" in state} == {TEXT}


def test_with_fsync_of_the_folder_too_nothing_is_lost(tmp_path: Path) -> None:
    states = endings(careful, tmp_path / "disk")
    assert states == [{"a": TEXT}] * len(states)


def test_a_cut_in_the_middle_never_shows_half_of_a_careful_file(tmp_path: Path) -> None:
    states = endings(careful, tmp_path / "disk", early=True)
    assert {state["a"] for state in states if "a" in state} == {TEXT}
    assert any("a.tmp" in state and state["a.tmp"] != TEXT for state in states), "but what is aside may be half"
    assert any("a" not in state for state in states)


def test_what_lies_in_a_folder_whose_own_name_is_not_safe_may_be_lost(tmp_path: Path) -> None:
    def in_a_folder(root: Path) -> None:
        (root / "new").mkdir()
        careful(root / "new")

    def and_synced(root: Path) -> None:
        in_a_folder(root)
        sync_folder(root)

    assert {} in endings(in_a_folder, tmp_path / "disk")
    states = endings(and_synced, tmp_path / "other")
    assert states == [{"new": None, "new/a": TEXT}] * len(states)


def test_what_was_removed_may_come_back(tmp_path: Path) -> None:
    def removing(root: Path) -> None:
        careful(root)
        os.remove(root / "a")

    states = endings(removing, tmp_path / "disk")
    assert {"a": TEXT} in states
    assert {} in states


def test_an_overwritten_file_may_be_the_old_or_the_new_one_or_neither(tmp_path: Path) -> None:
    def overwriting(root: Path) -> None:
        careful(root)
        with open(root / "a", "wb") as file:
            file.write(b"new")

    contents = {state["a"] for state in endings(overwriting, tmp_path / "disk")}
    assert {TEXT, b"new", b""} <= contents


def test_every_way_to_write_is_seen(tmp_path: Path) -> None:
    """The folder that the trace tells of is the real one."""

    def program(root: Path) -> None:
        os.makedirs(root / "x/y")
        (root / "x/path").write_bytes(b"pathlib")
        (root / "x/y/text").write_text("text")
        descriptor = os.open(root / "x/raw", os.O_WRONLY | os.O_CREAT)
        os.write(descriptor, b"raw")
        os.fdatasync(descriptor)
        os.close(descriptor)
        (root / "x/raw").rename(root / "x/y/moved")
        (root / "gone/deep").mkdir(parents=True)
        (root / "gone/deep/file").write_bytes(b"x")
        shutil.rmtree(root / "gone")
        (root / "x/path").unlink()

    with watched(tmp_path / "disk") as trace:
        program(tmp_path / "disk")
    whole = {"x": None, "x/y": None, "x/y/moved": b"raw", "x/y/text": b"text"}
    assert state_of(trace.operations) == folder_content(tmp_path / "disk") == whole
    materialise(whole, tmp_path / "copy")
    assert folder_content(tmp_path / "copy") == whole


def test_a_second_name_and_a_sync_of_everything(tmp_path: Path) -> None:
    def linking(root: Path) -> None:
        write(root / "a", sync=False)
        os.link(root / "a", root / "b")
        os.remove(root / "a")

    def and_synced(root: Path) -> None:
        linking(root)
        os.sync()

    assert {"b": b""} in endings(linking, tmp_path / "disk")
    states = endings(and_synced, tmp_path / "other")
    assert states == [{"b": TEXT}] * len(states)


def test_what_is_not_traced_is_an_error(tmp_path: Path) -> None:
    def behind_our_back(root: Path) -> None:
        (root / "a").write_bytes(b"a")
        subprocess.run(["rm", str(root / "a")], check=True)

    with pytest.raises(AssertionError, match="not traced"):
        endings(behind_our_back, tmp_path / "disk")


def test_nothing_is_watched_elsewhere_or_afterwards(tmp_path: Path) -> None:
    with watched(tmp_path / "disk") as trace:
        (tmp_path / "elsewhere").write_bytes(b"x")
    (tmp_path / "disk/later").write_bytes(b"x")
    assert trace.operations == []
