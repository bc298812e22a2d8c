"""Cases of a kind run in child processes: one that dies or hangs is told, and the next go on after it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SUPPORT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Failure:
    """A case that is neither a value nor one line."""

    kind: str
    case: int
    seed: int
    what: str

    def __str__(self) -> str:
        return f"{self.kind} case {self.case} (seed {self.seed}): {self.what}"


def run_cases(kind: str, n: int, *, seed: int = 0, first: int = 0) -> list[Failure]:
    """The cases that went wrong, of so many."""
    failures: list[Failure] = []
    while first < n:
        done = _child(kind, first, n, seed)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        begun = [line["case"] for line in lines if "case" in line]
        verdicts = [line["verdict"] for line in lines if "verdict" in line]
        if not begun:
            raise RuntimeError(f"{kind}: the child did not begin: {done.stderr[-2000:]}")
        failures += [Failure(kind, case, seed, what) for case, what in zip(begun, verdicts, strict=False) if what]
        if len(verdicts) < len(begun):
            failures.append(Failure(kind, begun[-1], seed, _end(done)))
        first = begun[-1] + 1
    return failures


def _child(kind: str, first: int, n: int, seed: int) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(SUPPORT), *sys.path])
    numbers = [str(first), str(n), str(seed)]
    return subprocess.run(
        [sys.executable, "-m", "fuzzing.child", kind, *numbers],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def _end(done: subprocess.CompletedProcess[str]) -> str:
    how = "hung" if done.returncode == -14 else f"ended the process ({done.returncode})"
    return f"{how}: {done.stderr[-500:]}"
