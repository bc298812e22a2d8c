"""Many cases by hand: ``PYTHONPATH=tests/support python -m fuzzing --cases 5000 [--kind onnx] [--seed 1]``."""

from __future__ import annotations

import argparse
import sys

from fuzzing.cases import run_cases
from fuzzing.seeds import KINDS

parser = argparse.ArgumentParser(prog="fuzzing", description="Damaged files of every kind, read in a child process.")
parser.add_argument("--cases", type=int, default=1000, help="of each kind")
parser.add_argument("--first", type=int, default=0, help="the number of the first case")
parser.add_argument("--kind", choices=list(KINDS), action="append", help="some kinds only")
parser.add_argument("--seed", type=int, default=0, help="of the damages")
given = parser.parse_args()
n_failures = 0
for kind in given.kind or KINDS:
    failures = run_cases(kind, given.first + given.cases, seed=given.seed, first=given.first)
    n_failures += len(failures)
    print(f"{kind}: {given.cases} cases, {len(failures)} failures", flush=True)
    for failure in failures:
        print(failure)
sys.exit(1 if n_failures else 0)
