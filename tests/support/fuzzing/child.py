"""The process that reads damaged files, case by case, and says of each what came of it."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from pathlib import Path

import numpy as np

from fuzzing.mutations import damaged
from fuzzing.readers import READERS
from fuzzing.seeds import KINDS, STEM, Seed
from oodometer.core.errors import OodometerError
from oodometer.core.limits import MAX_MESSAGE

SECONDS = 10
"""Of a case, before the process is ended; the slowest good one takes less than half a second."""
HEADROOM = 1 << 30
"""Address space beyond what the libraries have taken when the first case begins."""
MOST_GROWTH = {"onnx": 1 << 20, "images": 1 << 20}
"""KiB of memory that a case may take at its peak: two tensors, or copies of the pixels, of the allowed size..."""
MOST_OTHERS = 1 << 18
"""... and otherwise less, since the files are of a few KiB."""


def case_of(kind: str, number: int, seed: int, seeds: list[Seed]) -> tuple[Seed, bytes]:
    """The damaged file of a case: the same whenever it is asked for."""
    rng = np.random.default_rng([seed, zlib.crc32(kind.encode()), number])
    chosen = seeds[number % len(seeds)]
    return chosen, damaged(chosen.content, rng)


def put(folder: Path, seed: Seed, content: bytes) -> Path:
    """The file and those beside it."""
    path = folder / f"{STEM}{seed.ending}"
    for name, other in seed.beside.items():
        (folder / name).write_bytes(other)
    path.write_bytes(content)
    return path


def verdict_of(kind: str, path: Path) -> str:
    """Empty where reading gave a value or one line that names the file; otherwise what is wrong."""
    try:
        READERS[kind](path)
    except OodometerError as error:
        message = str(error)
        if "\n" in message or len(message) > MAX_MESSAGE:
            return f"not one line: {message[:300]!r}"
        return "" if STEM in message else f"names no file: {message!r}"
    except BaseException as error:
        return f"{''.join(traceback.format_exception(error))[-1500:]}"
    return ""


def judged(kind: str, path: Path) -> str:
    """The verdict, with time and memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.alarm(SECONDS)  # without a handler it ends the process, even inside a library
    verdict = verdict_of(kind, path)
    signal.alarm(0)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return verdict or (f"took {grown >> 10} MiB" if grown > MOST_GROWTH.get(kind, MOST_OTHERS) else "")


def bound_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + HEADROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(kind: str, first: int, stop: int, seed: int) -> None:
    """Print a line of JSON before each case, and another with its verdict."""
    warnings.simplefilter("error")
    seeds = list(KINDS[kind]())
    with tempfile.TemporaryDirectory() as folder:
        os.environ["OODOMETER_CACHE"] = f"{folder}/cache"
        for whole in seeds:  # which also imports what the kind needs
            verdict = verdict_of(kind, put(Path(folder), whole, whole.content))
            assert not verdict, f"a whole file of {kind} is refused: {verdict}"
        bound_memory()
        for number in range(first, stop):
            print(json.dumps({"case": number}), flush=True)
            chosen, content = case_of(kind, number, seed, seeds)
            begun = time.monotonic()
            verdict = judged(kind, put(Path(folder), chosen, content))
            print(json.dumps({"verdict": verdict, "seconds": time.monotonic() - begun}), flush=True)
            shutil.rmtree(Path(folder, "store"), ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
