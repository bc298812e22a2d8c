"""Lines through resampled models: 100,000 draws at once against a plain loop over draws.

    python benchmarks/lines.py [--models 67] [--draws 100000]

The loop takes fewer draws, and its time is scaled: one least-squares line by numpy for each draw, as a person would
write it, and the same by np.polyfit.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from oodometer.stats.lines import bootstrap_lines
from oodometer.stats.scales import from_scale, to_scale

LOOPED = 5_000


def some_models(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Accuracies of models that lie about as close to a line as those of the ImageNetV2 paper."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0.55, 0.85, n)
    return x, from_scale(0.92 * to_scale(x, "logit") - 0.5 + rng.normal(0, 0.03, n), "logit")


def plain(u: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """The least-squares line by its formula."""
    du = u - u.mean()
    slope = (du * v).sum() / (du * du).sum()
    return slope, v.mean() - slope * u.mean()


def by_polyfit(u: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """The least-squares line by numpy."""
    slope, intercept = np.polyfit(u, v, 1)
    return slope, intercept


def looped(x: np.ndarray, y: np.ndarray, fit: Callable[..., tuple[float, float]]) -> list[tuple[float, float]]:
    """The lines through resampled models, one after another."""
    rng = np.random.default_rng(1)
    u, v = to_scale(x, "logit"), to_scale(y, "logit")
    lines = []
    for _ in range(LOOPED):
        rows = rng.integers(len(u), size=len(u))
        lines.append(fit(u[rows], v[rows]))
    return lines


def median_seconds(work: Callable[[], object], rounds: int) -> float:
    """The median time of the work, which was done once before."""
    work()
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=67)
    parser.add_argument("--draws", type=int, default=100_000)
    given = parser.parse_args()
    x, y = some_models(given.models)
    ours = median_seconds(lambda: bootstrap_lines(x, y, draws=given.draws), rounds=7)
    print(f"{given.draws:,} draws on {given.models} models: {ours:.3f} s   (promised: at most 1 s)")
    for name, fit in (("the formula", plain), ("np.polyfit", by_polyfit)):
        spent = median_seconds(lambda fit=fit: looped(x, y, fit), rounds=3) * given.draws / LOOPED
        print(f"a plain loop with {name}: {spent:.1f} s, {spent / ours:.0f} x")
    found = np.quantile(bootstrap_lines(x, y, draws=given.draws).slopes, [0.025, 0.975])
    expected = np.quantile([slope for slope, _ in looped(x, y, plain)], [0.025, 0.975])
    print(f"slope: [{found[0]:.3f}, {found[1]:.3f}], by the loop [{expected[0]:.3f}, {expected[1]:.3f}]")


if __name__ == "__main__":
    main()
