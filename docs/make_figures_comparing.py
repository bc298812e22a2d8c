"""Draw the figures of the pages on comparing many models, corrections and planning.

python docs/make_figures_comparing.py

It needs matplotlib.
"""

from __future__ import annotations

import numpy as np
from figure_style import ACCENT, GREY, INK, LIGHT, panels, save
from scipy.stats import binom

from oodometer.stats.bootstrap import Resampling
from oodometer.stats.corrections import corrected
from oodometer.stats.intervals import clopper_pearson_bounds
from oodometer.stats.paired import mcnemar_p_values
from oodometer.stats.paired_bootstrap import PairedBootstrap
from oodometer.stats.power import images_for_difference, power_of_mcnemar
from oodometer.stats.ties import Standing, adjusted_pairs, p_of_counts


def draw_comparing() -> None:
    """How often equal models are told apart: McNemar's tests, exactly; and bootstraps, where classes differ."""
    figure, (left, right) = panels(2)
    disagreements = np.arange(4, 121)
    for test, colour in (("exact", ACCENT), ("mid-p", GREY)):
        rates = []
        for expected in disagreements:
            d = np.arange(binom.ppf(1e-6, 2000, expected / 2000), binom.ppf(1 - 1e-6, 2000, expected / 2000) + 1)
            weights = binom.pmf(d, 2000, expected / 2000)
            wrong = 0.0
            for number, weight in zip(d.astype(int), weights, strict=True):
                wins = np.arange(number + 1)
                rejected = mcnemar_p_values(wins, number - wins, test) <= 0.05
                wrong += weight * binom.pmf(wins, number, 0.5)[rejected].sum()
            rates.append(100 * wrong)
        left.plot(disagreements, rates, color=colour)
        left.text(121, rates[-1] - 0.3, test, color=colour, va="center")
    left.axhline(5, color=INK, lw=0.8, ls="--")
    left.set(ylim=(0, 6.5), xlim=(0, 138), xlabel="images on which they disagree", ylabel="told apart (%), 5 % allowed")
    left.set_title("equal models, McNemar")
    rng, classes = np.random.default_rng(5), np.repeat(np.arange(50), 20)
    spreads, times = np.array([0.0, 0.05, 0.1, 0.15, 0.2]), 400
    for clusters, name, colour in ((None, "images", GREY), (classes, "classes", ACCENT)):
        rates = []
        for spread in spreads:
            wrong = 0
            for at in range(times):
                of_class = rng.normal(0, spread, 50)[classes]
                answers = rng.random((2, 1000)) < np.stack([np.full(1000, 0.7), 0.7 + of_class])
                found = PairedBootstrap(answers, clusters, Resampling(400, seed=at)).difference(0, 1)
                assert found.low is not None
                assert found.high is not None
                wrong += not found.low <= 0 <= found.high
            rates.append(100 * wrong / times)
        right.plot(100 * spreads, rates, "o-", color=colour, ms=4)
        right.text(20.5, rates[-1], name, color=colour, va="center")
    right.axhline(5, color=INK, lw=0.8, ls="--")
    right.set(xlim=(-1, 27), ylim=(0, 30), xlabel="± points by which a class differs")
    right.set_title("resampled: 50 classes of 20")
    save(figure, "comparing")


def draw_corrections() -> None:
    """How often some pair of equal models is told apart; and one set of models with its groups."""
    rng, times = np.random.default_rng(8), 400
    figure, (left, right) = panels(2)
    numbers = np.array([2, 3, 5, 8, 12, 16])
    wrong = {name: np.zeros(len(numbers)) for name in ("none", "holm")}
    for place, n in enumerate(numbers):
        for _ in range(times):
            right_on = rng.random((n, 500)) < 0.75
            p = p_of_counts(right_on, "mid-p")[np.triu_indices(n, 1)]
            for name in wrong:
                wrong[name][place] += bool((corrected(p, name) <= 0.05).any())
    for name, colour in (("none", GREY), ("holm", ACCENT)):
        left.plot(numbers, 100 * wrong[name] / times, "o-", color=colour, ms=4)
        left.text(
            numbers[-1] + 0.4, 100 * wrong[name][-1] / times + 4 * (name == "holm"), name, color=colour, va="center"
        )
    left.axhline(5, color=INK, lw=0.8, ls="--")
    left.set(xlim=(1, 20), ylim=(0, 100), xlabel="equal models, all pairs", ylabel="sets with an error (%)")
    left.set_title("some pair told apart")
    truths = np.array([0.86, 0.85, 0.83, 0.82, 0.78, 0.77, 0.71])
    hard = rng.random(2000)
    own = rng.random((len(truths), 2000))
    answers = np.where(own < 0.6, hard, rng.random((len(truths), 2000))) < truths[:, None]
    shares = answers.mean(axis=1)
    order = np.argsort(-shares)
    standing = Standing.of(adjusted_pairs(p_of_counts(answers)), order.tolist())
    for row, at in enumerate(order):
        low, high = clopper_pearson_bounds(answers[at].sum(), 2000, 0.95)
        right.plot([100 * low, 100 * high], [row, row], color=GREY, lw=1.4)
        right.plot(100 * shares[at], row, "o", color=ACCENT, ms=5)
        best, worst = standing.rank_of(row)
        rank = str(best) if best == worst else f"{best}–{worst}"
        right.text(90.5, row, f"{rank:>5}   {standing.letters[row]}", va="center", family="monospace", fontsize=9)
    right.text(90.5, -0.9, " rank  tied", fontsize=9, va="center")
    right.set(xlim=(67, 99), ylim=(6.6, -1.3), xlabel="accuracy (%), 2,000 images")
    right.set_xticks([70, 75, 80, 85])
    right.set_yticks([])
    right.spines["left"].set_visible(False)
    right.set_title("seven models")
    save(figure, "corrections")


def draw_planning() -> None:
    """How many images a difference needs, and how surely so many show it: sums, and simulations as dots."""
    figure, (left, right) = panels(2)
    differences = np.geomspace(0.002, 0.05, 25)
    for disagreement, colour in ((0.05, LIGHT), (0.1, GREY), (0.2, ACCENT)):
        needed = [images_for_difference(float(one), disagreement) for one in differences]
        left.plot(100 * differences, needed, color=colour)
        left.text(0.19, float(needed[0] or 0), f"{100 * disagreement:g} %", color=INK, va="center", ha="right")
    left.set(xscale="log", yscale="log", xlim=(0.1, 6), xlabel="difference (points)", ylabel="images")
    left.set_xticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
    left.minorticks_off()
    left.set_title("needed at 80 %, by disagreement")
    rng = np.random.default_rng(2)
    sizes = np.arange(250, 12_001, 250)
    for difference, colour in ((0.01, GREY), (0.02, ACCENT)):
        right.plot(sizes, [100 * power_of_mcnemar(int(n), difference, 0.1) for n in sizes], color=colour)
        for n in (1000, 2000, 4000, 8000):
            wins, losses, _ = rng.multinomial(n, [0.05 + difference / 2, 0.05 - difference / 2, 0.9], 4000).T
            told = (mcnemar_p_values(wins, losses) <= 0.05) & (wins > losses)
            right.plot(n, 100 * told.mean(), "o", color=colour, ms=4)
    right.text(3000, 70, "2 points", color=ACCENT)
    right.text(8300, 62, "1 point", color=GREY)
    right.axhline(80, color=INK, lw=0.8, ls="--")
    right.set(ylim=(0, 102), xlabel="images", ylabel="told (%)")
    right.set_xticks([0, 4000, 8000, 12_000], ["0", "4,000", "8,000", "12,000"])
    right.set_title("10 % disagreement")
    save(figure, "planning")


if __name__ == "__main__":
    draw_comparing()
    draw_corrections()
    draw_planning()
