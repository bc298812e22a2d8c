"""Draw the figures of the pages on the difficulty of images and the three gaps.

python docs/make_figures_difficulty.py

It needs matplotlib.
"""

from __future__ import annotations

import numpy as np
from figure_style import ACCENT, GREY, INK, panels, save
from scipy.stats import norm

from oodometer.published.tables import read_table
from oodometer.stats.contamination import accuracy_over_others
from oodometer.stats.difficulty_model import Difficulty, line_between, simulated_answers
from oodometer.stats.intervals import clopper_pearson_bounds


def draw_difficulty_model() -> None:
    """Two sets of images by difficulty with three models; and many models on both, as simulated and in closed form."""
    easy, hard = Difficulty(0.0, 1.3), Difficulty(0.7, 0.9)
    figure, (left, right) = panels(2, width_ratios=[1.1, 1])
    places = np.linspace(-4, 4.5, 300)
    for one, colour, name, at in ((easy, INK, "clean", -2.1), (hard, ACCENT, "shifted", 0.15)):
        density = norm.pdf(places, one.mean, one.sd)
        left.fill_between(places, density, color=colour, alpha=0.18, lw=0)
        left.plot(places, density, color=colour)
        left.text(at, norm.pdf(at, one.mean, one.sd) + 0.02, name, color=colour, ha="right")
    for skill, name, at, align in ((-0.7, "a weak\nmodel", -1.85, "right"), (2.3, "a strong\nmodel", 1.75, "left")):
        left.plot(places, 0.55 * norm.cdf(skill - places), color=GREY, lw=1, ls="--")
        left.text(at, 0.43 if skill < 0 else 0.5, name, color=GREY, ha=align, va="center")
    left.set(xlim=(-4, 4.5), ylim=(0, 0.6), xlabel="difficulty of an image")
    left.set_yticks([0, 0.55], ["0", "1"])
    left.set_ylabel("chance of a right answer (dashed); images (filled)")
    rng, skills = np.random.default_rng(0), np.linspace(-1.2, 3.0, 24)
    x, y = (simulated_answers(skills, one, 5000, rng).mean(axis=1) for one in (easy, hard))
    ends = np.linspace(-1.2, 2.2, 2)
    line = line_between(easy, hard)
    right.plot(ends, ends, color=GREY, lw=1)
    right.plot(ends, line.slope * ends + line.offset, color=ACCENT)
    right.plot(norm.ppf(x), norm.ppf(y), "o", color=INK, ms=4, mec="white", mew=0.4, zorder=3)
    right.text(0.5, 0.72, "no shift", color=GREY, ha="right")
    right.text(0.98, 0.05, f"slope {line.slope:.2f}, offset {line.offset:.2f}", color=ACCENT, ha="right",
               transform=right.transAxes)  # fmt: skip
    ticks = np.array([0.2, 0.5, 0.8, 0.95])
    right.set_xticks(norm.ppf(ticks), [f"{100 * tick:g}" for tick in ticks])
    right.set_yticks(norm.ppf(ticks), [f"{100 * tick:g}" for tick in ticks])
    right.set_xlabel("accuracy on the clean set (%)")
    right.set_ylabel("accuracy on the shifted set (%)")
    save(figure, "difficulty-model")


def draw_three_gaps() -> None:
    """The drop of one network on CIFAR-10, what chance and near-duplicates could be of it; and adaptivity in lines."""
    table = read_table("recht2019_cifar10")
    x, y = table.column("cifar10_test") / 100, table.column("cifar10.1") / 100
    at = int(np.abs(x - 0.93).argmin())
    low, high = clopper_pearson_bounds(np.array(y[at] * 2021), 2021, 0.95)
    duplicates = x[at] - accuracy_over_others(x[at], 0.08, 1.0)
    parts = (
        ("the whole drop", 0.0, x[at] - y[at], INK),
        ("chance in the new images,\n95 %, either way", float(low) - y[at], float(high) - y[at], GREY),
        ("8 % near-duplicates, at most", 0.0, duplicates, GREY),
        ("adaptivity + distribution", x[at] - float(high), x[at] - float(low), ACCENT),
    )
    figure, (left, right) = panels(2, width_ratios=[1.35, 1])
    for row, (name, start, end, colour) in enumerate(parts):
        left.plot([100 * start, 100 * end], [row, row], color=colour, lw=7, solid_capstyle="butt")
        left.text(0, row - 0.27, name, color=colour, fontsize=9, va="bottom")
    left.axvline(0, color=GREY, lw=1)
    left.set(ylim=(3.6, -0.9), xlabel=f"points, of {table.models[at]}")
    left.set_yticks([])
    left.spines["left"].set_visible(False)
    left.set_title("What is known of one drop")
    clean = np.linspace(0.6, 0.8, 30)
    for gap, colour, name, dx, dy in (
        (np.zeros(30), INK, "none", -1.6, 0),
        (np.full(30, 0.03), GREY, "the same for all:\nlooks like a shift", 1.0, -11),
        (0.5 * (clean - 0.6), ACCENT, "grows with\naccuracy", 0.8, -5.5),
    ):
        seen = 100 * (clean + gap)
        right.plot(seen, 100 * (clean - 0.1), color=colour)
        right.text(seen[-1] + dx + (0.9 * dy if dy else 0), 69.5 + dy, name, color=colour, fontsize=9, va="top",
                   ha="left" if dy else "right")  # fmt: skip
    right.set_xlim(59, 97)
    right.set_xlabel("accuracy on the clean images (%)")
    right.set_ylabel("accuracy on new images (%)")
    right.set_title("Adaptivity in a line")
    save(figure, "three-gaps")


if __name__ == "__main__":
    draw_difficulty_model()
    draw_three_gaps()
