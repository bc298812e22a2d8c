"""Draw the figures of the pages on statistics over models, from the bundled tables and small simulations.

python docs/make_figures_statistics.py

It needs matplotlib. The figures of the pages on metrics have a script of their own.
"""

from __future__ import annotations

import numpy as np
from figure_style import ACCENT, GREY, INK, LIGHT, panel, panels, save
from scipy.special import expit, ndtri, softmax
from scipy.stats import binom, norm

from oodometer.metrics.agreement import agreement_matrix
from oodometer.published.hypotheses import pairs_of
from oodometer.published.reproduce import reproduce
from oodometer.published.tables import Table, read_table
from oodometer.stats.agreement_line import agreement_line, aline_s
from oodometer.stats.bootstrap import Resampling, bootstrap_means
from oodometer.stats.confidence_estimates import average_thresholded_confidence, difference_of_confidences
from oodometer.stats.contamination import accuracy_over_others
from oodometer.stats.corrections import corrected
from oodometer.stats.correlation import pearson, spearman
from oodometer.stats.difficulty_model import Difficulty, line_between, simulated_answers
from oodometer.stats.effective_robustness import effective_robustness, tau_from_counts
from oodometer.stats.intervals import clopper_pearson_bounds, wilson
from oodometer.stats.lines import band, bootstrap_lines, fit_line
from oodometer.stats.mean_over_pairs import mean_over_pairs
from oodometer.stats.paired import PairedCounts, mcnemar_p_values, paired_difference
from oodometer.stats.paired_bootstrap import PairedBootstrap
from oodometer.stats.power import images_for_difference, power_of_mcnemar
from oodometer.stats.prediction_powered import labelled_images, mean_from_few
from oodometer.stats.ranks import rank_range
from oodometer.stats.several_clean_sets import fit_plane
from oodometer.stats.ties import Standing, adjusted_pairs, p_of_counts
from oodometer.stats.two_piece import fit_two_piece

CNNS = ("ResNet-50", "ResNet-101", "ResNet-152", "ResNeXt-101 32x4d", "ResNeXt-101 32x8d")
"""Networks of the many-faces paper that nothing was done to."""
SHORT = {
    "ResNeXt-101 32x8d + WSL Pretraining": "a billion images",
    "ResNeXt-101 32x8d + DeepAugment + AugMix": "ResNeXt, DeepAugment + AugMix",
    "ResNet-50 + DeepAugment + AugMix": "DeepAugment + AugMix",
    "ResNet-50 + DeepAugment": "DeepAugment",
    "ResNet-50 + Style Transfer": "style transfer",
    "ResNet-50 + AugMix": "AugMix",
    "ResNet-50 + Speckle Noise": "speckle noise",
    "ResNet-50 + Linf Adversarial Training": "adversarial training",
    "ResNet-50 + ImageNet-21K Pretraining": "21,000 classes",
    "ResNet-50 + CBAM": "CBAM",
}


TITLES = {
    "larger_models": "larger models",
    "self_attention": "self-attention",
    "diverse_data_augmentation": "diverse augmentation",
    "pretraining": "pretraining",
}


def draw_intervals() -> None:
    """How often intervals of 100 images hold the true accuracy, and how much a paired comparison gains; both exact."""
    figure, (left, right) = panels(2)
    n, truths = 100, np.linspace(0.5, 0.999, 500)
    hits = np.arange(n + 1)
    shares = hits / n
    half = 1.959964 * np.sqrt(shares * (1 - shares) / n)
    kinds = {
        "p ± 1.96 s.e.": (shares - half, shares + half, LIGHT),
        "wilson": (*np.array([wilson(int(k), n, 0.95) for k in hits]).T, GREY),
        "clopper-pearson": (*clopper_pearson_bounds(hits, n, 0.95), ACCENT),
    }
    for at, (name, (low, high, colour)) in enumerate(kinds.items()):
        inside = (low[:, None] <= truths) & (truths <= high[:, None])
        coverage = (binom.pmf(hits[:, None], n, truths) * inside).sum(axis=0)
        left.plot(100 * truths, 100 * coverage, color=colour, lw=1)
        left.text(52, 82.5 - 1.6 * at, name, color=INK if colour == LIGHT else colour)
    left.axhline(95, color=INK, lw=0.8, ls="--")
    left.set(ylim=(78, 100.5), xlabel="true accuracy (%)", ylabel="held in (% of all sets of 100 images)")
    left.set_title("95 % intervals")
    differing = np.arange(10, 301, 10)
    paired = [paired_difference(PairedCounts(700 - d // 2, d // 2, d // 2, 300 - d // 2)) for d in differing]
    apart = tau_from_counts(0.7, 0.7, 1000, 1000)
    assert apart.high is not None
    right.plot(differing / 10, [100 * one.high for one in paired if one.high is not None], color=ACCENT)
    right.axhline(100 * apart.high, color=GREY)
    right.text(1, 100 * apart.high + 0.08, "as if on other images", color=GREY)
    right.text(12, 1.7, "paired", color=ACCENT)
    right.set(ylim=(0, 4.6), xlabel="% of images that only one gets right", ylabel="± points of the difference")
    right.set_title("both 70 %, 1,000 images")
    save(figure, "intervals")


def draw_bootstrap() -> None:
    """Intervals of forty simulated sets of videos, with frames and with videos resampled."""
    rng, videos = np.random.default_rng(3), np.repeat(np.arange(40), 25)
    sets = [rng.random(1000) < rng.beta(2, 1, 40)[videos] for _ in range(40)]
    figure, axes = panels(2, sharey=True)
    for axis, clusters, name in zip(axes, (None, videos), ("frames", "videos"), strict=True):
        held = 0
        for at, right in enumerate(sets):
            found = bootstrap_means(right, resampling=Resampling(seed=at), clusters=clusters)
            assert found.low is not None
            assert found.high is not None
            holds = found.low <= 2 / 3 <= found.high
            held += holds
            colour = GREY if holds else ACCENT
            axis.plot([at, at], [100 * found.low, 100 * found.high], color=colour, lw=1.6)
            axis.plot(at, 100 * found.value, ".", color=colour, ms=4)
        axis.axhline(200 / 3, color=INK, lw=1)
        axis.set_title(f"{name} resampled: {held} of 40 hold it")
        axis.set_xticks([])
        axis.set_xlim(-1, 47)
        axis.text(47, 200 / 3 + 0.3, "truth", ha="right", va="bottom")
    figure.supxlabel("40 simulated sets, each of 40 videos with 25 frames", fontsize=10)
    axes[0].set_ylabel("accuracy (%), 95 % interval")
    save(figure, "bootstrap")


def draw_lines() -> None:
    """67 ImageNet models on the new test set: the probit line with its band, and what each scale leaves."""
    table = read_table("recht2019_imagenet")
    x, y = table.column("val_top1") / 100, table.column("matched_frequency_top1") / 100
    places = np.linspace(0.16, 0.86, 71)
    figure, (left, right) = panels(2, width_ratios=[1.15, 1])
    left.plot(100 * x, 100 * y, "o", color=INK, ms=4, mec="white", mew=0.4, zorder=3)
    probit, linear = (fit_line(x, y, scale=scale) for scale in ("probit", "linear"))
    draws = bootstrap_lines(x, y, scale="probit", draws=5000)
    low, high = band(draws, places)
    left.fill_between(100 * places, 100 * low, 100 * high, color=ACCENT, alpha=0.25, lw=0)
    left.plot(100 * places, 100 * probit.at(places), color=ACCENT)
    left.plot(100 * places, 100 * linear.at(places), color=INK, lw=1, ls="--")
    left.text(53, 35, "probit line", color=ACCENT)
    left.text(22, 7, "linear line", color=INK)
    left.annotate("Fisher vectors", (28, 20), (15, 42), color=GREY, arrowprops={"arrowstyle": "-", "color": GREY})
    left.set_xlabel("accuracy on ImageNet (%)")
    left.set_ylabel("accuracy on ImageNetV2 (%)")
    for line, colour, name in ((linear, INK, "linear"), (probit, ACCENT, "probit")):
        right.plot(100 * x, 100 * (y - line.at(x)), "o", color=colour, ms=3.5, mec="white", mew=0.4)
        at = (x - 0.2).argsort()[1]
        right.text(100 * x[at] + 3, 100 * (y - line.at(x))[at], name, color=colour, va="center")
    right.fill_between(
        100 * places, 100 * (low - probit.at(places)), 100 * (high - probit.at(places)), color=ACCENT, alpha=0.25, lw=0
    )
    right.axhline(0, color=GREY, lw=1)
    right.set_xlabel("accuracy on ImageNet (%)")
    right.set_ylabel("distance from the line (points)")
    save(figure, "lines")


def columns_of(models: tuple[str, ...], table: Table, column: str) -> np.ndarray:
    """The cells of some models as shares of right answers, from errors in percent."""
    return np.array([1 - table.value(model, column) / 100 for model in models])


def draw_effective_robustness() -> None:
    """ImageNet-R: the line through plain networks, and how far above it the others are."""
    table = read_table("hendrycks2021_imagenet_r")
    x, y = 1 - table.column("imagenet_200_error") / 100, 1 - table.column("imagenet_r_error") / 100
    plain = np.array([model.removesuffix(" + SE").removesuffix(" + CBAM") in CNNS for model in table.models])
    line, draws = fit_line(x[plain], y[plain]), bootstrap_lines(x[plain], y[plain], draws=5000)
    places = np.linspace(0.905, 0.965, 41)
    low, high = band(draws, places)
    figure, axis = panel()
    axis.fill_between(100 * places, 100 * low, 100 * high, color=LIGHT, alpha=0.6, lw=0)
    axis.plot(100 * places, 100 * line.at(places), color=GREY)
    for at, to, is_plain in zip(x, y, plain, strict=True):
        if at < 0.9:
            continue
        if not is_plain:
            axis.plot([100 * at] * 2, [100 * line.at(at), 100 * to], color=ACCENT, lw=1)
        axis.plot(100 * at, 100 * to, "o", color=GREY if is_plain else ACCENT, ms=5, mec="white", mew=0.5)
    beside = {
        "ResNeXt-101 32x8d + WSL Pretraining": (-8, 0, "right"),
        "ResNeXt-101 32x8d + DeepAugment + AugMix": (-8, 2, "right"),
        "ResNet-50 + DeepAugment + AugMix": (0, 8, "center"),
        "ResNet-50 + Style Transfer": (0, 8, "center"),
    }
    for model, (dx, dy, ha) in beside.items():
        at = table.row(model)
        axis.annotate(
            SHORT[model], (100 * x[at], 100 * y[at]), (dx, dy), textcoords="offset points", ha=ha, color=ACCENT
        )
    wsl = table.row("ResNeXt-101 32x8d + WSL Pretraining")
    middle = 50 * (y[wsl] + float(line.at(x[wsl])))
    rho = 100 * float(effective_robustness(x[wsl], y[wsl], line))
    axis.text(100 * x[wsl] - 0.1, middle, f"ρ = {rho:+.1f} points", color=ACCENT, ha="right")
    axis.text(94.1, 36.5, "line through nine plain networks,\nand its 95 % band", color=GREY, va="top")
    axis.set_xlim(90.5, 96.5)
    axis.set_xlabel("clean accuracy on the 200 classes (%)")
    axis.set_ylabel("accuracy on ImageNet-R (%)")
    save(figure, "effective-robustness")


def draw_two_piece() -> None:
    """ImageNet-A: flat up to ResNet-50, steep above."""
    on_a, on_c = read_table("hendrycks2021_imagenet_a"), read_table("hendrycks2021_imagenet_c_ce")
    models = tuple(model for model in on_a.models if model in on_c.models)
    x = columns_of(models, on_c, "clean_error")
    y = np.array([on_a.value(model, "imagenet_a_top1_accuracy") / 100 for model in models])
    knee = float(x[models.index("ResNet-50")])
    bent, line = fit_two_piece(x, y, knee), fit_line(x, y)
    figure, axis = panel()
    places = np.linspace(0.52, 0.828, 200)
    axis.plot(100 * places, 100 * line.at(places), color=GREY, lw=1.2, ls="--")
    for side in (places <= knee, places > knee):
        axis.plot(100 * places[side], 100 * bent.at(places[side]), color=ACCENT)
    axis.plot(100 * x, 100 * y, "o", color=INK, ms=5, mec="white", mew=0.5)
    axis.axvline(100 * knee, ymax=0.5, color=LIGHT, lw=1, zorder=0)
    axis.text(100 * knee, 26, "accuracy of ResNet-50", ha="center", color=GREY)
    axis.text(83.1, 12, "one line", color=GREY)
    axis.text(54, 4.5, "two lines, bent at the knee", color=ACCENT)
    wsl = models.index("ResNeXt-101 32x8d + WSL Pretraining")
    axis.annotate(
        SHORT[models[wsl]], (100 * x[wsl], 100 * y[wsl]), (-8, 0), textcoords="offset points", ha="right", va="center"
    )
    axis.set_ylim(-1, 50)
    axis.set_xlabel("accuracy on ImageNet (%)")
    axis.set_ylabel("accuracy on ImageNet-A (%)")
    save(figure, "two-piece")


def two_worlds() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Simulated models of two kinds of training data: two clean accuracies (40, 2), shifted (40,), and which (40,)."""
    rng = np.random.default_rng(1)
    web = np.arange(40) >= 20
    ability = rng.uniform(0.2, 1.6, 40)
    u = np.stack([ability - 0.9 * web, ability - 0.9 * ~web], axis=1) + rng.normal(0, 0.1, (40, 2))
    y = expit(u @ [0.5, 0.5] - 0.4 + rng.normal(0, 0.05, 40))
    return expit(u), y, web


def draw_several_clean_sets() -> None:
    """Against one clean set the models trained elsewhere look robust; against both they do not."""
    x, y, web = two_worlds()
    single = effective_robustness(x[:, 0], y, fit_line(x[~web, 0], y[~web]))
    both = effective_robustness(x, y, fit_plane(x, y))
    figure, axes = panels(2, sharey=True)
    names = ("against clean set A alone", "against clean sets A and B")
    for axis, rho, name in zip(axes, (single, both), names, strict=True):
        axis.axhline(0, color=LIGHT, lw=1)
        axis.plot(100 * x[~web, 0], 100 * rho[~web], "o", color=GREY, ms=5, mec="white", mew=0.5)
        axis.plot(100 * x[web, 0], 100 * rho[web], "o", color=ACCENT, ms=5, mec="white", mew=0.5)
        axis.set_title(name)
        axis.set_xlabel("accuracy on clean set A (%)")
    axes[0].set_ylabel("effective robustness ρ (points)")
    axes[0].text(34, 11.5, "trained on data like B", color=ACCENT)
    axes[0].text(84, 5, "trained on data like A", color=GREY, ha="right")
    save(figure, "several-clean-sets")


def draw_correlation() -> None:
    """Synthetic against real blur; and robustness to corruptions against robustness to renditions."""
    blur = read_table("hendrycks2021_real_blur")
    x, y = blur.column("blur_mean_error"), blur.column("real_blurry_images_error")
    figure, (left, right) = panels(2)
    left.plot(x, y, "o", color=GREY, ms=5, mec="white", mew=0.5)
    misprint = blur.row("ResNet-152")
    left.plot(x[misprint], y[misprint], "o", color=ACCENT, ms=5, mec="white", mew=0.5)
    left.annotate(
        "printed 58; the mean\nof its cells is 72",
        (x[misprint], y[misprint]),
        (74, 59.5),
        color=ACCENT,
        ha="right",
        arrowprops={"arrowstyle": "-", "color": ACCENT, "shrinkB": 5},
    )
    one, other = spearman(x, y), pearson(x, y)
    left.text(45, 68, f"Spearman {one.value:.2f} [{one.low:.2f}, {one.high:.2f}]")
    left.text(45, 66.6, f"Pearson {other.value:.2f} [{other.low:.2f}, {other.high:.2f}]")
    left.set_title("blur, 10 models")
    left.set_xlabel("error under synthetic blur (%)")
    left.set_ylabel("error on real blurry images (%)")
    models, on_c, on_r = robustness_to_both()
    others = np.array([model not in CNNS for model in models])
    right.axhline(0, color=LIGHT, lw=1)
    right.axvline(0, color=LIGHT, lw=1)
    right.plot(on_c[others], on_r[others], "o", color=GREY, ms=5, mec="white", mew=0.5)
    for model, dx, dy, ha in (
        ("ResNeXt-101 32x8d + WSL Pretraining", 7, -3, "left"),
        ("ResNet-50 + Linf Adversarial Training", 4, -14, "center"),
        ("ResNet-50 + DeepAugment + AugMix", 4, 8, "right"),
        ("ResNet-50 + ImageNet-21K Pretraining", 7, -4, "left"),
    ):
        at = models.index(model)
        where = (on_c[at], on_r[at])
        right.annotate(SHORT[model], where, (dx, dy), textcoords="offset points", ha=ha, color=GREY, fontsize=9)
    found = pearson(on_c[others], on_r[others])
    right.set_title(f"r = {found.value:.2f} [{found.low:.2f}, {found.high:.2f}], {others.sum()} models")
    right.set_xlabel("ρ on ImageNet-C (points)")
    right.set_ylabel("ρ on ImageNet-R (points)")
    save(figure, "correlation")


def robustness_to_both() -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """ρ in points on ImageNet-C and on ImageNet-R of the networks that stand in both tables."""
    on_c, on_r = read_table("hendrycks2021_imagenet_c_ce"), read_table("hendrycks2021_imagenet_r")
    alexnet = read_table("alexnet_corruption_error")
    models = tuple(model for model in on_c.models if model in on_r.models)
    corruptions = [name for name in alexnet.models if name in on_c.columns]
    normal = [alexnet.value(name, "mean_top1_error_over_5_severities") for name in corruptions]
    # A CE is a mean error in percent of AlexNet's.
    error = np.array([[on_c.value(model, name) for name in corruptions] for model in models]) @ normal / 1e4
    plain = np.array([model in CNNS for model in models])
    found = []
    for x, y in (
        (columns_of(models, on_c, "clean_error"), 1 - error / len(corruptions)),
        (columns_of(models, on_r, "imagenet_200_error"), columns_of(models, on_r, "imagenet_r_error")),
    ):
        found.append(100 * effective_robustness(x, y, fit_line(x[plain], y[plain])))
    return models, found[0], found[1]


def draw_ranks() -> None:
    """The best twenty ImageNet models, and which places the printed digits leave open."""
    table = read_table("recht2019_imagenet")
    old, new = table.column("val_top1") / 100, table.column("matched_frequency_top1") / 100
    before, after = rank_range(old), rank_range(new)
    best = np.flatnonzero(before.best <= 20)
    figure, axis = panel()
    for at in best:
        ends = [(before.best[at] + before.worst[at]) / 2, (after.best[at] + after.worst[at]) / 2]
        moved = before.worst[at] < after.best[at] or after.worst[at] < before.best[at]
        colour = ACCENT if moved else GREY
        axis.plot([0, 1], ends, color=colour, lw=1.8 if moved else 1.0, zorder=3 if moved else 2)
        for place, spread in ((0, before), (1, after)):
            axis.plot([place] * 2, [spread.best[at] - 0.12, spread.worst[at] + 0.12], color=colour, lw=4, zorder=3)
    for place, spread, ha, values in ((-0.03, before, "right", old), (1.03, after, "left", new)):
        for rank in np.unique(spread.best[best]):
            same = [at for at in best if spread.best[at] == rank]
            middle = (spread.best[same[0]] + spread.worst[same[0]]) / 2
            names = ", ".join(table.models[at] for at in same) if place < 0 else f"{100 * values[same[0]]:.1f}"
            axis.text(place, middle, names, ha=ha, va="center", fontsize=7)
    axis.set_xlim(-0.75, 1.25)
    axis.set_ylim(20.9, 0)
    axis.set_title("the best twenty of 67; in colour: moved, whatever was rounded away")
    axis.set_xticks([0, 1], ["rank on ImageNet", "rank on ImageNetV2"])
    axis.set_yticks([])
    axis.spines["left"].set_visible(False)
    save(figure, "ranks")


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


def draw_hypotheses() -> None:
    """The gains on ImageNet-R of pairs that differ in one thing, from the printed table, and their means."""
    table = read_table("hendrycks2021_imagenet_r")
    clean, shifted = (1 - table.column(name) / 100 for name in ("imagenet_200_error", "imagenet_r_error"))
    variance = clean * (1 - clean) / 10_000 + shifted * (1 - shifted) / 30_000
    figure, axis = panel()
    axis.axvline(1.5, color=INK, lw=0.8, ls="--")
    for row, (hypothesis, title) in enumerate(TITLES.items()):
        pairs = [[table.models.index(one) for one in pair] for pair in pairs_of(hypothesis, table.models)]
        steps = np.zeros((len(pairs), len(table.models)))
        for at, (before, after) in enumerate(pairs):
            steps[at, [before, after]] = -1, 1
        gains = steps @ (shifted - clean)
        mean = mean_over_pairs(gains, steps * variance @ steps.T, 30_000).estimate()
        assert mean.low is not None
        assert mean.high is not None
        axis.plot(100 * gains, np.full(len(gains), row - 0.16), "o", color=GREY, ms=4, mec="white", mew=0.5)
        axis.plot([100 * mean.low, 100 * mean.high], [row + 0.16] * 2, color=ACCENT, lw=1.5)
        axis.plot(100 * mean.value, row + 0.16, "o", color=ACCENT, ms=6)
        axis.text(-14, row, title, va="center", color=INK)
    axis.text(1.7, 3.62, "threshold", color=INK, va="center")
    axis.set(xlim=(-14.5, 33), ylim=(3.8, -0.6), xlabel="points less of a gap on ImageNet-R")
    axis.set_yticks([])
    axis.spines["left"].set_visible(False)
    save(figure, "hypotheses")


def made_networks(n: int, light: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Twelve networks that see so much of n images of ten classes: those and their logits, (M, N, K)."""
    truth, noise = rng.integers(10, size=n), rng.normal(size=(n, 10))
    shown = light * rng.gamma(4, 0.8, (n, 1)) * np.eye(10)[truth]
    skills = np.linspace(0.6, 1.6, 12)[:, None, None]
    return truth, 2 * (skills * shown + 0.7 * noise + 0.7 * rng.normal(size=(12, n, 10)))


def draw_label_free() -> None:
    """The line of agreement with the accuracies beside it, and how far off each method is as a shift grows."""
    rng = np.random.default_rng(0)
    truth, clean = made_networks(5000, 1.0, rng)
    answers, sure = clean.argmax(axis=2), softmax(clean, axis=2).max(axis=2)
    accuracy, agree = (answers == truth).mean(axis=1), agreement_matrix(answers)
    lost, off, drawn = [], {"agreement": [], "threshold": [], "difference": []}, None
    for light in (0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4):
        truth_there, logits = made_networks(5000, light, rng)
        there, sure_there = logits.argmax(axis=2), softmax(logits, axis=2).max(axis=2)
        shifted, agree_there = (there == truth_there).mean(axis=1), agreement_matrix(there)
        lost.append(100 * (accuracy - shifted).mean())
        told = {
            "agreement": aline_s(accuracy, agree, agree_there),
            "threshold": [
                average_thresholded_confidence(*one).accuracy
                for one in zip(sure, answers == truth, sure_there, strict=True)
            ],
            "difference": [
                difference_of_confidences(*one) for one in zip(sure, answers == truth, sure_there, strict=True)
            ],
        }
        for name, values in told.items():
            off[name].append(100 * (np.asarray(values) - shifted).mean())
        drawn = (agree_there, shifted) if light == 0.6 else drawn
    assert drawn is not None
    figure, (left, right) = panels(2)
    pairs = np.triu_indices(12, 1)
    line = agreement_line(agree, drawn[0])
    grid = np.linspace(0.4, 0.95, 100)
    left.plot(ndtri(agree[pairs]), ndtri(drawn[0][pairs]), "o", color=GREY, ms=3.5, mec="white", mew=0.4)
    left.plot(ndtri(grid), ndtri(line.at(grid)), color=GREY, lw=1)
    left.plot(ndtri(accuracy), ndtri(drawn[1]), "o", color=ACCENT, ms=6, mec="white", mew=0.5)
    shares = np.array([0.3, 0.5, 0.7, 0.8, 0.9, 0.95])
    left.set_xticks(ndtri(shares[[1, 2, 4]]), [f"{100 * one:.0f} %" for one in shares[[1, 2, 4]]])
    left.set_yticks(ndtri(shares[:4]), [f"{100 * one:.0f} %" for one in shares[:4]])
    left.set(xlabel="clean images", ylabel="shifted images", title="Agreement of pairs, accuracy")
    left.text(ndtri(0.62), ndtri(0.3), "66 pairs", color=GREY)
    left.text(ndtri(0.63), ndtri(0.64), "12 networks", color=ACCENT, ha="center")
    right.axhline(0, color=LIGHT, lw=1)
    names = {
        "agreement": "agreement line",
        "threshold": "thresholded\nconfidence",
        "difference": "difference of\nconfidences",
    }
    for name, colour in (("difference", INK), ("threshold", GREY), ("agreement", ACCENT)):
        right.plot(lost, off[name], "o-", color=colour, ms=3.5)
        right.text(lost[-1] + 1, off[name][-1], names[name], color=colour, va="center")
    right.set(xlabel="points lost under the shift", title="Points too high", xlim=(0, 1.6 * lost[-1]))
    right.set_xticks([0, 10, 20, 30, 40])
    save(figure, "label-free")


def draw_few_labels() -> None:
    """Intervals of forty draws of 200 labels, from the labels alone and with a proxy that halves the variance."""
    rng = np.random.default_rng(1)
    agreement = rng.beta(0.75, 0.38, 10_000)  # where 0.47 of the variance of being right is that of the chance of it
    right = rng.random(10_000) < agreement
    truth = 100 * right.mean()
    found = []
    for _ in range(40):
        some = rng.permutation(len(right))[:200]
        found.append(mean_from_few(right[some], agreement, labelled_images(some, len(right))))
    figure, axes = panels(2, sharey=True)
    for axis, name, kind in zip(axes, ("labels alone", "with agreement"), ("plain", "estimate"), strict=True):
        held, half = 0, 0.0
        for at, one in enumerate(getattr(each, kind) for each in found):
            holds = one.low <= right.mean() <= one.high
            held, half = held + holds, half + 50 * (one.high - one.low) / len(found)
            colour = GREY if holds else ACCENT
            axis.plot([at, at], [100 * one.low, 100 * one.high], color=colour, lw=1.6)
            axis.plot(at, 100 * one.value, ".", color=colour, ms=4)
        axis.axhline(truth, color=INK, lw=1)
        axis.set_title(f"{name}: ±{half:.1f}, {held} of 40")
        axis.set_xticks([])
    axes[1].text(40, truth + 0.2, "truth", ha="left", va="bottom")
    axes[1].set_xlim(-1, 45)
    figure.supxlabel("40 draws of 200 labels among 10,000 images, and how many hold the truth", fontsize=10)
    axes[0].set_ylabel("accuracy (%), 95 % interval")
    save(figure, "few-labels")


def draw_reproduction() -> None:
    """Every number that was derived again, as a part of what rounding allows."""
    found = reproduce()
    rng = np.random.default_rng(0)
    figure, axis = panel()
    axis.axvspan(-1, 1, color=LIGHT, alpha=0.5, lw=0)
    axis.axvline(0, color=GREY, lw=1)
    for row, paper in enumerate(found.papers):
        shares = [
            one.difference / one.allowed
            for one in paper.checks
            if one.difference is not None and one.allowed > 0 and not one.known
        ]
        heights = row + rng.uniform(-0.2, 0.2, len(shares))
        axis.plot(shares, heights, "o", color=ACCENT, ms=4.5, mec="white", mew=0.5, alpha=0.85)
    axis.set_yticks(
        range(len(found.papers)), [f"{paper.paper}\n{len(paper.checks)} checks" for paper in found.papers], fontsize=9
    )
    axis.set_ylim(len(found.papers) - 0.5, -0.75)
    axis.set_xlim(-1.25, 1.25)
    axis.text(0, -0.6, "within what the rounding of the published inputs allows", ha="center", color=GREY, va="center")
    axis.set_xticks([-1, 0, 1], ["−allowed", "0", "+allowed"])
    axis.set_xlabel("ours minus published")
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)
    save(figure, "reproduction")


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
    draw_intervals()
    draw_bootstrap()
    draw_lines()
    draw_effective_robustness()
    draw_two_piece()
    draw_several_clean_sets()
    draw_correlation()
    draw_ranks()
    draw_comparing()
    draw_corrections()
    draw_planning()
    draw_hypotheses()
    draw_label_free()
    draw_few_labels()
    draw_reproduction()
    draw_difficulty_model()
    draw_three_gaps()
