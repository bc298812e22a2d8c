"""500 ways to damage a store: no number may change in silence, no row may vanish in silence, and a run mends it all."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from oodometer.cli.main import VERBS
from small_store import Answer, Partial, ask_all, commands, fill, make_workplace, partial_of, said, verdict

pytestmark = pytest.mark.slow

N_TRIALS, SEED = 500, 20
Rng = np.random.Generator
GOOD = ("told", "error", "same")
"""What a reading command may do about damage."""
BADNESS = ("TRACEBACK", "OTHER NUMBER", "ROW TOO MANY", "ROW LOST", "NOT ONE LINE", *GOOD)
"""All verdicts, the worst first."""


def kind_of(path: str) -> str:
    """What a file of a store is, whatever its name has for digits.

    >>> kind_of("cells/0a1b/rows.0123456789abcdef.parquet"), kind_of("cells/0a1b/parts/000000000-000000012.parquet")
    ('cells/rows', 'cells/parts')
    >>> kind_of("cells/0a1b/parts/000000000-000000012.logits.parquet"), kind_of("shifts/0a1b.json"), kind_of("a.json")
    ('cells/parts logits', 'shifts', 'a')
    """
    folder, _, rest = path.partition("/")
    if not rest:
        return re.split(r"[-_.]", folder)[0]
    if folder != "cells" or "/" not in rest:
        return folder
    name = rest.split("/", 1)[1]
    word = re.split(r"[-_./\d]", name)[0]
    return f"cells/{word}{' logits' if 'logits' in name and word != 'logits' else ''}"


def files_of(store: Path) -> dict[str, bytes]:
    """The content of every file, by its place in the store."""
    found = [path for path in sorted(store.rglob("*")) if path.is_file()]
    return {path.relative_to(store).as_posix(): path.read_bytes() for path in found}


# The damages: each changes the file, and maybe another one that is given too.


def deleted(file: Path, other: Path, rng: Rng) -> None:
    file.unlink()


def swapped(file: Path, other: Path, rng: Rng) -> None:
    aside = file.with_name("aside")
    os.replace(file, aside)
    os.replace(other, file)
    os.replace(aside, other)


def bit_flipped(file: Path, other: Path, rng: Rng) -> None:
    content = bytearray(file.read_bytes())
    content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
    file.write_bytes(content)


def block_zeroed(file: Path, other: Path, rng: Rng) -> None:
    content = bytearray(file.read_bytes())
    start, length = int(rng.integers(len(content))), int(rng.integers(1, 513))
    content[start : start + length] = bytes(len(content[start : start + length]))
    file.write_bytes(content)


def truncated(file: Path, other: Path, rng: Rng) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: rng.integers(1, len(content))])


def emptied(file: Path, other: Path, rng: Rng) -> None:
    file.write_bytes(b"")


def renamed(file: Path, other: Path, rng: Rng) -> None:
    """The file now has the other's name."""
    os.replace(file, other)


def copied_over(file: Path, other: Path, rng: Rng) -> None:
    other.write_bytes(file.read_bytes())


DAMAGES: tuple[Callable[[Path, Path, Rng], None], ...] = (
    deleted, swapped, bit_flipped, block_zeroed, truncated, emptied, renamed, copied_over,
)  # fmt: skip
OF_TWO_FILES = (swapped, renamed, copied_over)


@dataclass(frozen=True)
class Damaged:
    """What was done to which file."""

    kind: str
    damage: str
    file: str
    other: str

    def __str__(self) -> str:
        return f"{self.file} {self.damage}" + (f" ({self.other})" if self.other else "")


def damage(store: Path, number: int) -> Damaged:
    """Damage a file in a way that changes the store, both given by the trial's number: every kind in every way."""
    before = files_of(store)
    kinds = sorted({kind_of(name) for name in before})
    kind = kinds[number % len(kinds)]
    how = DAMAGES[number // len(kinds) % len(DAMAGES)]
    rng = np.random.default_rng((SEED, number))
    while True:
        name = _any([name for name in before if kind_of(name) == kind], rng)
        other = _any(_others(name, list(before)), rng)
        how(store / name, store / other, rng)
        if files_of(store) != before:  # a block of zeros may have been zeros already
            return Damaged(kind, how.__name__, name, other if how in OF_TWO_FILES else "")


def _any(names: list[str], rng: Rng) -> str:
    return names[rng.integers(len(names))]


def _others(name: str, names: list[str]) -> list[str]:
    """The other files of its kind; where there are none, of its format."""
    alike = [one for one in names if one != name and kind_of(one) == kind_of(name)]
    return alike or [one for one in names if one != name and Path(one).suffix == Path(name).suffix]


# The trials


@dataclass(frozen=True)
class Trial:
    """What the commands said about one damage."""

    damaged: Damaged
    read: dict[str, str]
    mended: str
    verified: str = "-"

    @property
    def outcome(self) -> str:
        """The worst of the readings, in short."""
        return min((_short(given) for given in self.read.values()), key=BADNESS.index)

    @property
    def faults(self) -> list[str]:
        """What should not have happened."""
        wrong = [f"{name}: {given}" for name, given in self.read.items() if given not in GOOD]
        wrong += [] if self.mended == "mended" else [f"run again: {self.mended}"]
        return wrong + ([f"verify: {self.verified}"] if self.verified in ("traceback", "overlooked") else [])


def _short(verdict: str) -> str:
    return verdict if verdict in GOOD else re.match(r"[A-Z ]+\b", verdict)[0].strip()  # type: ignore[index]


@dataclass(frozen=True)
class Stores:
    """The store to be damaged, with what is said about it and about the finished one."""

    undamaged: Path
    right: dict[str, Answer]
    right_when_whole: dict[str, Answer]
    partial: Partial

    def try_damage(self, store: Path, number: int) -> Trial:
        """Damage a copy, read it, run again, and read once more."""
        shutil.copytree(self.undamaged, store)
        damaged = damage(store, number)
        read = {name: verdict(self.right[name], answer, self.partial) for name, answer in ask_all(store).items()}
        verified = verified_as(store, damaged) if "verify" in VERBS else "-"
        mended = self._mended(store)
        shutil.rmtree(store)
        return Trial(damaged, read, mended, verified)

    def _mended(self, store: Path) -> str:
        for command in commands():
            outcome = command(store)
            if outcome.crash:
                return f"TRACEBACK {outcome.crash} ({' '.join(outcome.words)})"
            if outcome.exit_code != 0:
                return f"EXIT CODE {outcome.exit_code}: {outcome.stderr.strip().splitlines()[-1]}"
        for name, answer in ask_all(store).items():
            if answer.said.exit_code != 0 or answer.rows != self.right_when_whole[name].rows:
                why = verdict(self.right_when_whole[name], answer, self.partial)
                return f"NOT MENDED, {name}: {why} {answer.said.stderr[-300:]}"
        return "mended"


def verified_as(store: Path, damaged: Damaged) -> str:
    """Whether ``verify`` sees the damage; what is gone for good it need not miss, and a cache need not be right."""
    outcome = said("verify", str(store))
    if outcome.crash:
        return "traceback"
    gone = damaged.damage == deleted.__name__
    return "seen" if outcome.exit_code != 0 else "not missed" if gone or damaged.kind == "index" else "overlooked"


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stores:
    make_workplace(tmp_path)
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "undamaged", leave_unfinished=True)
    fill(tmp_path / "whole", leave_unfinished=False)
    undamaged, whole = tmp_path / "undamaged", tmp_path / "whole"
    return Stores(undamaged, ask_all(undamaged), ask_all(whole), partial_of(whole))


def test_the_store_has_what_can_be_damaged(stores: Stores, tmp_path: Path) -> None:
    """Otherwise the trials would prove nothing."""
    kinds = {kind_of(name) for name in files_of(stores.undamaged)}
    assert {"cells/cell", "cells/rows", "cells/logits", "datasets", "shifts", "tables", "oodometer"} <= kinds
    assert any(kind.startswith("cells/part") for kind in kinds), "the unfinished cell has rows"
    n_rows = {name: len(answer.rows) for name, answer in stores.right.items()}
    assert n_rows["score"] >= 23
    assert n_rows["score scaled"] == 2
    assert n_rows["gaps"] >= 3
    assert stores.right["score"].rows != stores.right_when_whole["score"].rows
    copy = tmp_path / "copy"
    shutil.copytree(stores.undamaged, copy)
    assert {verdict(stores.right[name], answer, stores.partial) for name, answer in ask_all(copy).items()} == {"same"}


def test_damage_is_told_or_harmless_and_a_run_mends_it(
    stores: Stores, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = time.perf_counter()
    trials = [stores.try_damage(tmp_path / "runs", number) for number in range(N_TRIALS)]
    seconds = (time.perf_counter() - begun) / N_TRIALS
    with capsys.disabled():
        print(f"\n{summary(trials)}\n{seconds:.2f} s a trial")
    faults = [f"{trial.damaged}: {fault}" for trial in trials for fault in trial.faults]
    n_faulty = sum(bool(trial.faults) for trial in trials)
    assert not faults, f"{n_faulty} of {N_TRIALS} trials went wrong:\n" + "\n".join(faults)


def summary(trials: list[Trial]) -> str:
    """Counts by kind of file, damage and outcome, and the sums."""
    lines = Counter((one.damaged.kind, one.damaged.damage, one.outcome, _short_end(one.mended)) for one in trials)
    read, mended = Counter(one.outcome for one in trials), Counter(_short_end(one.mended) for one in trials)
    verified = Counter(one.verified for one in trials)
    table = [f"{count:4d}  {kind:20s} {how:13s} read: {out:13s} run again: {end}"
             for (kind, how, out, end), count in sorted(lines.items())]  # fmt: skip
    sums = [f"read: {dict(read)}", f"run again: {dict(mended)}", f"verify: {dict(verified)}"]
    return "\n".join([*table, *sums])


def _short_end(mended: str) -> str:
    return mended if mended == "mended" else _short(mended)
