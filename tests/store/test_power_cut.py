"""Power cuts at any moment of a run: what was said to be there is there, and the same run finishes the rest."""

from __future__ import annotations

import gc
import os
import shutil
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from crash_simulation import Operation, materialise, state_after, watched
from real_disk import Disk, disk
from small_store import Answer, Partial, ask_all, commands, make_workplace, partial_of, verdict

pytestmark = pytest.mark.slow
__all__ = ["disk"]

N_CUTS, SEED = 100, 7
N_REAL_CUTS = 12
GOOD = ("told", "error", "same")


@dataclass(frozen=True)
class Promise:
    """What was there when a command ended, behind so many operations."""

    n_operations: int
    answers: dict[str, Answer]


@dataclass(frozen=True)
class Recorded:
    """Every step of the commands that make a store, and what was there in between."""

    operations: list[Operation]
    promises: list[Promise]
    partial: Partial

    @property
    def whole(self) -> dict[str, Answer]:
        """What is right in the end."""
        return self.promises[-1].answers

    def n_ended(self, cut: int) -> int:
        """How many commands had ended before the cut."""
        return sum(promise.n_operations <= cut for promise in self.promises)

    def promised(self, n_ended: int) -> dict[str, set[tuple[str, ...]]]:
        """The rows that a person was told of when so many commands had ended."""
        return {name: set(self.promises[n_ended - 1].answers[name].rows) if n_ended else set() for name in self.whole}


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    make_workplace(tmp_path)
    monkeypatch.chdir(tmp_path)
    store, promises, lengths = tmp_path / "traced", [], []
    for command in commands():  # without a trace first: what is imported or compiled only once is not the store's
        assert command(tmp_path / "untraced").exit_code == 0
        promises.append(ask_all(tmp_path / "untraced"))
    with watched(store) as trace:
        for command in commands():
            assert command(store).exit_code == 0
            trace.look_at_all()
            lengths.append(len(trace.operations))
    partial = partial_of(store)
    assert {verdict(promises[-1][name], answer, partial) for name, answer in ask_all(store).items()} == {"same"}
    made = [Promise(length, answers) for length, answers in zip(lengths, promises, strict=True)]
    return Recorded(trace.operations, made, partial)


def cuts_of(recorded: Recorded) -> list[int]:
    """Where the current fails: anywhere, and each tenth time just behind a command's end."""
    rng = np.random.default_rng(SEED)
    cuts = rng.integers(0, len(recorded.operations) + 1, N_CUTS)
    ends = [promise.n_operations for promise in recorded.promises]
    cuts[::10] = rng.choice(ends, len(cuts[::10]))
    cuts[0] = ends[-1]
    return [int(cut) for cut in cuts]


def faults_of(recorded: Recorded, n_ended: int, store: Path) -> tuple[str, list[str]]:
    """How the store was read, in short, and what went wrong."""
    promised, whole = recorded.promised(n_ended), recorded.whole
    # A temperature that is fitted on what is there so far is another one.
    answers = {name: answer for name, answer in ask_all(store).items() if promised[name] or name != "score scaled"}
    read = {
        name: verdict(whole[name], answer, recorded.partial, may_lack=sorted(set(whole[name].rows) - promised[name]))
        for name, answer in answers.items()
    }
    wrong = [f"{name}: {given}" for name, given in read.items() if given not in GOOD]
    outcome = "wrong" if wrong else min(read.values(), key=GOOD.index)
    return outcome, wrong + run_again(store, recorded)


def run_again(store: Path, recorded: Recorded) -> list[str]:
    """What is wrong after the same commands."""
    for command in commands():
        outcome = command(store)
        if outcome.crash or outcome.exit_code != 0:
            last = outcome.stderr.strip().splitlines()[-1:]
            return [f"run again: exit code {outcome.exit_code}, {outcome.crash} {last}"]
    right = recorded.whole
    return [
        f"run again, {name}: {verdict(right[name], answer, recorded.partial)}"
        for name, answer in ask_all(store).items()
        if answer.said.exit_code != 0 or answer.rows != right[name].rows
    ]


def test_after_a_power_cut_no_number_is_wrong_and_the_same_run_finishes(
    recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes: Counter[str] = Counter()
    faults: list[str] = []
    n_operations = len(recorded.operations)
    for number, cut in enumerate(cuts_of(recorded)):
        store = tmp_path / "runs"
        materialise(state_after(recorded.operations, cut, np.random.default_rng((SEED, number))), store)
        outcome, wrong = faults_of(recorded, recorded.n_ended(cut), store)
        shutil.rmtree(store)
        outcomes[outcome + (", not mended" if any(line.startswith("run again") for line in wrong) else "")] += 1
        step = recorded.operations[cut - 1]
        faults += [
            f"cut {number} behind step {cut} of {n_operations} ({step.verb} {step.path}): {one}" for one in wrong
        ]
    with capsys.disabled():
        print(f"\n{N_CUTS} power cuts in {n_operations} operations: {dict(outcomes)}")
    assert not faults, "\n".join(faults)


def commands_until_cut(disk: Disk, store: Path, seconds: float) -> int:
    """Do the commands while the current fails after so many seconds; how many had ended before."""
    is_cut = threading.Event()

    def cut() -> None:
        is_cut.set()  # first, so that no command counts that ended during the cut
        disk.cut()

    timer = threading.Timer(seconds, cut)
    timer.start()
    n_ended = 0
    for command in commands():
        outcome = command(store)
        if is_cut.is_set():
            break
        assert outcome.exit_code == 0, outcome
        n_ended += 1
    timer.join()
    return n_ended


def test_the_disk_loses_what_was_not_synced(disk: Disk) -> None:
    """Otherwise the cuts would prove nothing."""
    for name in ("safe", "lost"):
        with open(disk.folder / name, "wb") as file:
            file.write(b"content")
            file.flush()
            if name == "safe":
                os.fsync(file.fileno())
    disk.cut()
    disk.unmount()
    disk.mount()
    assert (disk.folder / "safe").read_bytes() == b"content"
    lost = disk.folder / "lost"
    assert not lost.exists() or lost.read_bytes() != b"content"


def test_after_a_real_power_cut_too(recorded: Recorded, disk: Disk, capsys: pytest.CaptureFixture[str]) -> None:
    store, outcomes, faults = disk.folder / "runs", Counter[str](), []
    begun = time.perf_counter()
    assert all(command(store).exit_code == 0 for command in commands())
    whole_time = time.perf_counter() - begun
    for number, share in enumerate(np.random.default_rng(SEED).uniform(0, 1, N_REAL_CUTS)):
        disk.unmount()
        disk.format()
        disk.mount()
        n_ended = commands_until_cut(disk, store, share * whole_time)
        gc.collect()
        disk.unmount()
        disk.mount()
        outcome, wrong = faults_of(recorded, n_ended, store)
        outcomes[outcome + (", not mended" if any(line.startswith("run again") for line in wrong) else "")] += 1
        faults += [f"cut {number}, {n_ended} commands had ended: {fault}" for fault in wrong]
    with capsys.disabled():
        print(f"\n{N_REAL_CUTS} real power cuts: {dict(outcomes)}")
    assert not faults, "\n".join(faults)
