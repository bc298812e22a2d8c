"""How long the command line takes to start, against a bare interpreter.

python benchmarks/start.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

ROUNDS = 15


def median_seconds(*command: str) -> float:
    """The median wall time of a command."""
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def main() -> None:
    """Measure and print."""
    bare = median_seconds(sys.executable, "-c", "pass")
    shown = median_seconds(sys.executable, "-m", "oodometer", "--help")
    imported = median_seconds(sys.executable, "-c", "import oodometer")
    print(f"a bare interpreter  {bare:.3f} s")
    print(f"import oodometer    {imported:.3f} s   {imported / bare:.2f} x bare")
    print(f"oodometer --help    {shown:.3f} s   {shown / bare:.2f} x bare   (promised: at most 0.3 s)")


if __name__ == "__main__":
    main()
