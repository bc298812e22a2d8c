"""`oodometer corrupt` on a folder of photographs against the bare making and writing of as many JPEG files.

    python benchmarks/corrupted_files.py PHOTOGRAPHS

The peer is Pillow: files of the same kind of pictures at the same quality, on as many threads, and nothing else.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import oodometer as odo
from oodometer.core.model import n_cores
from oodometer.corruptions.digital import PUBLISHED_QUALITY, jpeg_file
from oodometer.corruptions.registry import COMMON

EVERY = 40
"""One photograph in so many is corrupted beforehand for the peer, whose pictures must fit into memory."""


def whole(folder: str, target: Path) -> float:
    """Seconds of the command, from a start with nothing compiled in memory to the last file."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "oodometer", "corrupt", folder, str(target)]
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begun


def pictures(folder: str) -> list[np.ndarray]:
    """Some of the photographs under all 75 conditions."""
    data = odo.load_data(folder)
    view = odo.Geometry(224, 224, resize=256)
    some = [data.views(index, [view])[0] for index in range(0, len(data), EVERY)]
    jobs = [(image, name, severity) for image in some for name in COMMON for severity in range(1, 6)]
    with ThreadPoolExecutor(n_cores()) as pool:
        return list(pool.map(lambda job: odo.corrupt(job[0], job[1], job[2], key="a"), jobs))


def bare(made: list[np.ndarray], n_files: int, target: Path) -> float:
    """Seconds to make and write so many JPEG files of these pictures."""
    folders = [target / str(number) for number in range(75)]
    for one in folders:
        one.mkdir(parents=True)

    def write(number: int) -> None:
        content = jpeg_file(made[number % len(made)], PUBLISHED_QUALITY).getvalue()
        (folders[number % 75] / f"{number}.JPEG").write_bytes(content)

    begun = time.perf_counter()
    with ThreadPoolExecutor(n_cores()) as pool:
        list(pool.map(write, range(n_files), chunksize=75))
    return time.perf_counter() - begun


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    folder = parser.parse_args().folder
    made = pictures(folder)
    with tempfile.TemporaryDirectory() as scratch:
        seconds = whole(folder, Path(scratch, "ours"))
        files = sum(1 for _ in Path(scratch, "ours").rglob("*.JPEG"))
        alone = bare(made, files, Path(scratch, "peer"))
    share = alone / seconds
    print(f"oodometer corrupt: {files} files in {seconds:.1f} s on {n_cores()} cores; JPEG files alone {alone:.1f} s")
    print(f"whole / JPEG files alone = {seconds / alone:.2f}; {share:.0%} of the time is making and writing JPEG files")


if __name__ == "__main__":
    main()
