"""A whole run against the work that can't be avoided: decode and crop, and forward passes, each alone on all cores.

python benchmarks/engine.py FOLDER_OF_PHOTOGRAPHS [--rounds 3]
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image

import oodometer as odo
from oodometer.core.model import Compute
from oodometer.engine.run import n_cores

BATCHES = (8, 32)


def seconds(work: Callable[[], object]) -> float:
    """How long the work takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def bare_decode(data: odo.Dataset, view: odo.View) -> np.ndarray:
    """Decode, resize and crop all images with all cores, and nothing else, (N, H, W, 3)."""
    with ThreadPoolExecutor(n_cores()) as pool:
        return np.stack(list(pool.map(lambda index: data.views(index, [view])[0], range(len(data)))))


def plain_pillow(data: odo.Dataset, view: odo.View) -> None:
    """The same by Pillow alone: open, convert, resize the whole image, crop."""
    paths = [Path(data.source.images.paths[row]) for row in data.rows]  # type: ignore[attr-defined]

    def one(path: Path) -> np.ndarray:
        image = Image.open(path).convert("RGB")
        scale = view.resize / min(image.size)
        size = tuple(max(view.resize, int(side * scale)) for side in image.size)
        left, top = (size[0] - view.width) // 2, (size[1] - view.height) // 2
        resized = image.resize(size, Image.Resampling[view.interpolation.upper()])
        return np.asarray(resized.crop((left, top, left + view.width, top + view.height)))

    with ThreadPoolExecutor(n_cores()) as pool:
        list(pool.map(one, paths))


def bare_forwards(model: odo.Model, pixels: np.ndarray) -> dict[str, Callable[[], object]]:
    """Ways to run the forward passes with all cores: one call with all threads, or one call per core."""
    wide, narrow = model.open(Compute(threads=n_cores())), model.open(Compute(threads=1))

    def slices(size: int) -> list[np.ndarray]:
        return [pixels[start : start + size] for start in range(0, len(pixels), size)]

    def one_after_the_other(size: int) -> None:
        for batch in slices(size):
            wide(batch)

    def side_by_side(size: int) -> None:
        with ThreadPoolExecutor(n_cores()) as pool:
            list(pool.map(narrow, slices(size)))

    ways: dict[str, Callable[[], object]] = {}
    for size in BATCHES:
        ways[f"one call of {n_cores()} threads, batch {size}"] = lambda size=size: one_after_the_other(size)
        ways[f"{n_cores()} calls of one thread, batch {size}"] = lambda size=size: side_by_side(size)
    return ways


def whole_run(models: list[odo.Model], folder: str) -> float:
    """A run from loading the data to the last row on disk, scan included, into a new store."""
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["OODOMETER_CACHE"] = f"{scratch}/cache"  # nothing is remembered from the run before
        return seconds(lambda: odo.run(models, [odo.clean(odo.load_data(folder))], store=f"{scratch}/runs"))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    names = [f"zoo:efficientnet-lite{size}" for size in (0, 1, 2)]
    models = [odo.load_model(name) for name in names]
    data = odo.load_data(given.folder)
    model, view = models[0], models[0].input.view
    pixels = bare_decode(data, view)  # also warms the file cache for everybody
    ways = bare_forwards(model, pixels)
    decodes, pillows, wholes, forwards = [], [], [], {name: [] for name in ways}
    for _ in range(given.rounds):
        decodes.append(seconds(lambda: bare_decode(data, view)))
        pillows.append(seconds(lambda: plain_pillow(data, view)))
        for name, way in ways.items():
            forwards[name].append(seconds(way))
        wholes.append(whole_run([model], given.folder))
    ours, pillow, whole = (statistics.median(times) for times in (decodes, pillows, wholes))
    decode = min(ours, pillow)
    print(f"{len(data)} photographs, {model.name}, {n_cores()} cores, median of {given.rounds} rounds")
    print(f"bare decode and crop     {ours:7.2f} s   oodometer")
    print(f"bare decode and crop     {pillow:7.2f} s   Pillow: open, convert, resize, crop")
    for name, times in forwards.items():
        print(f"bare forward passes      {statistics.median(times):7.2f} s   {name}")
    forward = min(statistics.median(times) for times in forwards.values())
    print(f"the whole run            {whole:7.2f} s")
    print(f"whole / (fastest decode + fastest forward) = {whole / (decode + forward):.3f}   (promised: at most 1.05)")
    singles, togethers = [], []
    for _ in range(given.rounds):
        singles.append(sum(whole_run([one], given.folder) for one in models))
        togethers.append(whole_run(models, given.folder))
    single, together = statistics.median(singles), statistics.median(togethers)
    print(f"three single runs        {single:7.2f} s")
    print(f"three models in one run  {together:7.2f} s")
    print(f"together / singles = {together / single:.3f}   (promised: below 1)")


if __name__ == "__main__":
    main()
