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
from oodometer.core.model import Compute, n_cores

BATCHES = (8, 32)


def seconds(work: Callable[[], object]) -> float:
    """How long the work takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def bare_decode(data: odo.Dataset, view: odo.Geometry) -> np.ndarray:
    """Decode, resize and crop all images with all cores, and nothing else, (N, H, W, 3)."""
    with ThreadPoolExecutor(n_cores()) as pool:
        return np.stack(list(pool.map(lambda index: data.views(index, [view])[0], range(len(data)))))


def plain_pillow(data: odo.Dataset, view: odo.Geometry) -> None:
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


def only_clean(data: odo.Dataset) -> list[odo.Condition]:
    """The images as they are."""
    return [odo.clean(data)]


def natural_like(data: odo.Dataset) -> list[odo.Condition]:
    """The images as they are, and four class-matched subsets of them, as large as those of the natural shifts.

    The numbers of classes are those of ImageNet-A, ImageNet-R, ObjectNet and the videos; which ones, is drawn.
    """
    rng, found = np.random.default_rng(0), only_clean(data)
    for name, n_classes in (("a", 200), ("r", 200), ("objectnet", 113), ("videos", 30)):
        kept = np.sort(rng.choice(len(data.space), n_classes, replace=False))
        label_map = odo.mask(name, data.space, [data.space.classes[one] for one in kept])
        positions = np.flatnonzero(np.isin(data.labels, kept))
        found.append(odo.Condition(f"on-{name}-classes", data.take(positions, name=f"on-{name}-classes"), label_map))
    return found


def whole_run(
    models: list[odo.Model], folder: str, conditions: Callable[[odo.Dataset], list[odo.Condition]] = only_clean
) -> float:
    """A run from loading the data to the last row on disk, scan included, into a new store."""
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["OODOMETER_CACHE"] = f"{scratch}/cache"  # nothing is remembered from the run before
        return seconds(lambda: odo.run(models, conditions(odo.load_data(folder)), store=f"{scratch}/runs"))


def sharing(model: odo.Model, folder: str, rounds: int) -> None:
    """Measure and print what class-matched subsets cost besides the images that they are subsets of."""
    times: dict[str, list[tuple[float, float]]] = {"clean": [], "natural": []}
    for _ in range(rounds):
        for name, conditions in (("clean", only_clean), ("natural", natural_like)):
            begun = time.process_time()
            whole = whole_run([model], folder, conditions)
            times[name].append((whole, time.process_time() - begun))
    (clean, clean_cpu), (natural, natural_cpu) = (
        [statistics.median(column) for column in zip(*times[name], strict=True)] for name in ("clean", "natural")
    )
    asked = natural_like(odo.load_data(folder))
    n_predictions = sum(len(one.dataset) for one in asked)
    print(f"clean alone              {clean:7.2f} s   {clean_cpu:.2f} s of CPU, {len(asked[0].dataset)} predictions")
    print(f"and 4 subsets of it      {natural:7.2f} s   {natural_cpu:.2f} s of CPU, {n_predictions} predictions")
    print(f"the label maps alone     {seconds(lambda: apply_maps(asked)):7.4f} s")
    print(f"natural-like: with subsets / clean alone = {natural / clean:.3f}   (promised: at most 1.05)")
    print(f"the same in seconds of CPU = {natural_cpu / clean_cpu:.3f}   (what counts on a busy machine)")


def apply_maps(conditions: list[odo.Condition]) -> None:
    """Map as many rows of logits as each condition has images."""
    for one in conditions:
        if one.label_map is not None:
            one.label_map.logits(np.zeros((len(one.dataset), len(one.label_map.source)), dtype=np.float32))


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
    sharing(model, given.folder, given.rounds)


if __name__ == "__main__":
    main()
