"""The 15 x 5 grid against the pip packages, one thread, 224 px; and the grid through the engine against bare passes.

    python benchmarks/corruptions.py [PHOTOGRAPHS] [--images 6]

The peers are installed aside (``pip install --target``) and repaired in memory, because neither runs on current
libraries as it is. They need opencv-python-headless and scikit-image.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image

import oodometer as odo
from oodometer.core.model import Compute, n_cores
from oodometer.corruptions.digital import jpeg_round_trip
from oodometer.corruptions.jit import jit
from oodometer.corruptions.registry import COMMON
from oodometer.shifts.resolve import asked_for
from oodometer.shifts.sources import Sources

PEERS = {"imagecorruptions-imaug": "1.1.5", "imagecorruptions": "1.1.2"}
REPAIRS = {
    "from pkg_resources import resource_filename": "",
    "multichannel=True": "channel_axis=-1",
    "multichannel=False": "channel_axis=None",
    "np.float_": "np.float64",
    "scipy.ndimage.interpolation": "scipy.ndimage",
    "importlib.resources.files(__package__)": "FOLDER",
}
SEVERITIES = range(1, 6)


def peer(package: str, version: str, folder: str) -> types.ModuleType:
    """The functions of a pip package, repaired."""
    target = f"{folder}/{package}"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        target,
        f"{package}=={version}",
    ]
    subprocess.run(install, check=True, capture_output=True)
    source = Path(target, "imagecorruptions", "corruptions.py")
    text = source.read_text(encoding="utf-8")
    for old, new in REPAIRS.items():
        text = text.replace(old, new)
    module = types.ModuleType(f"peer_{package.replace('-', '_')}")
    module.__dict__["FOLDER"] = source.parent
    module.__dict__["resource_filename"] = lambda _, name: str(source.parent / name)
    exec(compile(text, str(source), "exec"), module.__dict__)
    return module


FLOORS = {
    # A rough count of random words and multiply-adds per value of an image, all five severities together: about
    # what the definition asks for, if everything else were free.
    "gaussian_noise": (5, 0),
    "shot_noise": (5, 0),
    "impulse_noise": (5, 0),
    "defocus_blur": (0, 2 * (7 + 9 + 13 + 17 + 21)),  # a disk as vertical runs: an add and a subtract each
    "glass_blur": (1.5, 4 * (7 + 9 + 9 + 11 + 13)),  # two separable Gaussians of 4 sigma
    "motion_blur": (0, 9 + 15 + 21 + 21 + 28),  # taps that are left once duplicates are merged
    "zoom_blur": (0, 2 * (12 + 16 + 11 + 13 + 11)),  # two-tap rows and columns of each layer, rows shared
    "snow": (0.5, 20),
    "frost": (0, 10),
    "fog": (1, 10),
    "brightness": (0, 10),
    "contrast": (0, 5),
    "elastic_transform": (3.3, 5 * 8 + 2 * (19 + 119 + 15 * 3) / 3),  # two bilinear gathers, two smoothed fields
    "pixelate": (0, 10),
    "jpeg_compression": (0, 5 * 16),  # forward and inverse transform, eight points a row and a column
}


def unit_costs() -> tuple[float, float]:
    """Milliseconds on this machine for a random word and a multiply-add per value of an image."""
    out, values = np.zeros(224 * 224 * 3, np.float32), np.ones(224 * 224 * 3, np.float32)
    multiply_add(out, values, np.float32(0.5))
    add = best(lambda: multiply_add(out, values, np.float32(0.5)), 200) / 16
    words = np.empty(out.size, np.uint32)
    mix(words, np.uint32(7))
    return best(lambda: mix(words, np.uint32(7)), 200), add


@jit
def multiply_add(out: np.ndarray, values: np.ndarray, weight: float) -> None:
    """Sixteen multiply-adds per value, in blocks that stay in the nearest cache."""
    for start in range(0, out.size, 1024):
        for _ in range(16):
            _add_block(out[start : start + 1024], values[start : start + 1024], weight)


@jit
def _add_block(out: np.ndarray, values: np.ndarray, weight: float) -> None:
    for i in range(len(out)):
        out[i] += weight * values[i]


@jit
def mix(words: np.ndarray, key: int) -> None:
    """One word of a plain 32-bit hash per value."""
    for i in range(words.size):
        word = np.uint32(i) * np.uint32(0x9E3779B1) ^ np.uint32(key)
        word = (word ^ (word >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
        words[i] = word ^ (word >> np.uint32(12))


def best(work: Callable[[], object], rounds: int) -> float:
    """The shortest time of several, in milliseconds."""
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return 1e3 * min(times)


def grid_times(images: list[np.ndarray], modules: dict[str, types.ModuleType]) -> dict[str, dict[str, float]]:
    """Corruption to who to milliseconds for its five severities, mean over the images."""
    found: dict[str, dict[str, float]] = {}
    word, add = unit_costs()
    for name in COMMON:
        found[name] = {"oodometer": 0.0, **dict.fromkeys(modules, 0.0)}
        for index, image in enumerate(images):
            picture = Image.fromarray(image)
            for severity in SEVERITIES:
                work = lambda s=severity, i=image, k=index: odo.corrupt(i, name, s, key=f"{k}")  # noqa: E731, B023
                work()  # compile, fill the caches
                found[name]["oodometer"] += best(work, 5) / len(images)
                for who, module in modules.items():
                    if who == "imagecorruptions" and index:
                        continue  # it takes seconds: one image will do
                    share = 1 if who == "imagecorruptions" else len(images)
                    function = getattr(module, name)
                    found[name][who] += best(lambda f=function, p=picture, s=severity: np.uint8(f(p, s)), 2) / share
        floor = FLOORS[name][0] * word + FLOORS[name][1] * add
        print_row(name, found[name], f"{found[name]['oodometer'] / floor:5.1f} x its floor of {floor:.2f} ms")
    return found


def print_row(name: str, times: dict[str, float], more: str = "") -> None:
    """One line: ours, and how many times slower each peer is."""
    ours = times["oodometer"]
    ratios = "  ".join(
        f"{who} {spent:8.1f} ms {spent / ours:7.1f} x" for who, spent in times.items() if who != "oodometer"
    )
    print(f"{name:18s} {ours:7.2f} ms   {ratios}   {more}", flush=True)


def through_the_engine(folder: str, n_images: int) -> None:
    """The whole grid, JPEG round trip included, against the forward passes alone."""
    model = odo.load_model("zoo:efficientnet-lite0")
    data = odo.stratified(odo.load_data(folder), n_images)
    shifts = asked_for(["imagenet-c"], Sources(data)).found
    conditions = [one.shifted for one in shifts if isinstance(one, odo.Shift)]
    pixels = np.stack([data.views(index, [model.input.view])[0] for index in range(len(data))])
    forward = model.open(Compute(threads=1))
    batches = [pixels[start : start + 16] for start in range(0, len(pixels), 16)] * len(conditions)

    def bare() -> None:
        with ThreadPoolExecutor(n_cores()) as pool:
            list(pool.map(forward, batches))

    def whole() -> None:
        with tempfile.TemporaryDirectory() as scratch:
            odo.run([model], conditions, store=f"{scratch}/runs")

    alone, run = best(bare, 2) / 1e3, best(whole, 2) / 1e3
    print(f"the grid through the engine, {n_images} photographs: {run:.1f} s; its bare forward passes {alone:.1f} s")
    print(f"run / bare = {run / alone:.3f}   (promised: at most 1.2)")


def scaling(images: list[np.ndarray]) -> None:
    """The grid on one thread and on all cores, and what that makes for 50,000 images."""
    work = [(image, name, s, f"{k}") for k, image in enumerate(images) for name in COMMON for s in SEVERITIES]

    def one(job: tuple[np.ndarray, str, int, str]) -> None:
        jpeg_round_trip(odo.corrupt(job[0], job[1], job[2], key=job[3]), 85)

    def on(threads: int) -> float:
        with ThreadPoolExecutor(threads) as pool:
            return best(lambda: list(pool.map(one, work)), 3) / len(images)

    single, many = on(1), on(n_cores())
    print(
        f"grid with JPEG round trip: {single:.1f} ms on one thread, {many:.1f} ms on {n_cores()}: {single / many:.2f} x"
    )
    print(f"all of ImageNet-C (3.75 million images): {many * 50_000 / 6e4:.0f} minutes on {n_cores()} cores")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--images", type=int, default=3)
    given = parser.parse_args()
    if given.folder:
        data = odo.stratified(odo.load_data(given.folder), given.images)
        images = [data.views(index, [odo.Geometry(224, 224, resize=256)])[0] for index in range(len(data))]
    else:
        images = [odo.sample_image(seed=seed) for seed in range(given.images)]
    with tempfile.TemporaryDirectory() as folder:
        modules = {package: peer(package, version, folder) for package, version in PEERS.items()}
        times = grid_times(images, modules)
    total = {who: sum(one[who] for one in times.values()) for who in next(iter(times.values()))}
    print_row("the whole grid", total)
    print("promised: at least 25 x imagecorruptions-imaug, and 120 x imagecorruptions; faster in every corruption")
    trip = statistics.mean(best(lambda one=image: jpeg_round_trip(one, 85), 20) for image in images)
    print(f"JPEG round trip at quality 85: {trip:.2f} ms")
    scaling(images)
    if given.folder:
        through_the_engine(given.folder, 32)


if __name__ == "__main__":
    main()
