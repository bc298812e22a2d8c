"""Draw the figure of the page on runs that stop when they are sure, from a small simulation.

python docs/make_figures_sampling.py

It needs matplotlib.
"""

from __future__ import annotations

import numpy as np
from figure_style import ACCENT, GREY, INK, LIGHT, panels, save

from oodometer.stats.confidence_sequence import confidence_sequence
from oodometer.stats.images_for_width import images_for_share
from oodometer.stats.intervals import clopper_pearson_bounds

N, ACCURACY, AIM, RUNS = 50_000, 0.75, 0.03, 1000


def draw_stopping() -> None:
    """Intervals of one run as its images come, and how many of 1,000 runs were wrong at some look until then."""
    rng = np.random.default_rng(5)
    looks = np.unique(np.geomspace(20, 3000, 60).astype(int))
    right = rng.random(N) < ACCURACY
    figure, (one, many) = panels(2)
    found = [confidence_sequence(right[:n].astype(float), N, aims=[(N, AIM)]) for n in looks]
    low, high = (100 * np.array([getattr(each, end) for each in found]) for end in ("low", "high"))
    exact_low, exact_high = clopper_pearson_bounds(np.cumsum(right)[looks - 1], looks, 0.95)
    one.fill_between(looks, 100 * exact_low, 100 * exact_high, color=LIGHT, lw=0)
    one.plot(looks, low, color=ACCENT)
    one.plot(looks, high, color=ACCENT)
    one.axhline(100 * right.mean(), color=INK, lw=0.8)
    stop = int(looks[np.flatnonzero(high - low <= 200 * AIM)[0]])
    planned = images_for_share(AIM)
    for n, text, place in (
        (stop, f"--until {AIM}\nstops: {stop:,}", 96),
        (planned, f"--within {AIM}\nplans {planned:,}", 56),
    ):
        one.axvline(n, color=GREY, lw=0.8, ls="--")
        side, white = "right" if n == stop else "center", {"facecolor": "white", "edgecolor": "none", "pad": 1}
        one.text(n, place, text, ha=side, va="center", fontsize=9, bbox=white)
    one.set(xscale="log", ylim=(50, 100), xlabel="images", ylabel="accuracy (%), 95 % interval")
    one.set_title("one run")
    draw_looks(many, rng, looks)
    save(figure, "stopping")


def draw_looks(axis, rng: np.random.Generator, looks: np.ndarray) -> None:
    """The share of runs whose interval has missed the truth at one of the looks so far."""
    exact, betting = np.zeros((2, RUNS, len(looks)), dtype=bool)
    for run in range(RUNS):
        right = rng.random(looks[-1]) < ACCURACY
        low, high = clopper_pearson_bounds(np.cumsum(right)[looks - 1], looks, 0.95)
        exact[run] = (low > ACCURACY) | (high < ACCURACY)
        for at, n in enumerate(looks):
            found = confidence_sequence(right[:n].astype(float), N, aims=[(N, AIM)])
            betting[run, at] = not found.low <= ACCURACY <= found.high
    for missed, colour, name in (
        (exact, GREY, "exact interval, looked at\nas if n had been fixed"),
        (betting, ACCENT, "confidence sequence"),
    ):
        ever = 100 * np.maximum.accumulate(missed, axis=1).mean(axis=0)
        axis.plot(looks, ever, color=colour)
        place = (20, 29, "left") if colour == GREY else (looks[-1], ever[-1] + 0.4, "right")
        axis.text(*place[:2], name, color=colour, ha=place[2], va="bottom", fontsize=9)
        print(f"{name!r}: ever wrong in {ever[-1]:.1f} % of {RUNS} runs")
    axis.axhline(5, color=INK, lw=0.8, ls="--")
    axis.text(looks[-1], 5.4, "5 %", fontsize=9, ha="right")
    axis.set(xscale="log", ylim=(0, 40), xlabel="images, looked at 60 times", ylabel="runs that were ever wrong (%)")
    axis.set_title("1,000 runs")


if __name__ == "__main__":
    draw_stopping()
