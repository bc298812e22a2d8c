"""Draw the figures of the pages on statistics over models, from the bundled tables and small simulations.

python docs/make_figures_statistics.py

It needs matplotlib. The figures of the pages on metrics have a script of their own.
"""

from __future__ import annotations

import numpy as np
from figure_style import ACCENT, GREY, INK, LIGHT, panel, panels, save
from scipy.special import expit
from scipy.stats import binom

from oodometer.published.hypotheses import pairs_of
from oodometer.published.reproduce import reproduce
from oodometer.published.tables import Table, read_table
from oodometer.stats.bootstrap import Resampling, bootstrap_means
from oodometer.stats.correlation import pearson, spearman
from oodometer.stats.effective_robustness import effective_robustness, tau_from_counts
from oodometer.stats.intervals import clopper_pearson_bounds, wilson
from oodometer.stats.lines import band, bootstrap_lines, fit_line
from oodometer.stats.mean_over_pairs import mean_over_pairs
from oodometer.stats.paired import PairedCounts, paired_difference
from oodometer.stats.ranks import rank_range
from oodometer.stats.several_clean_sets import fit_plane
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


if __name__ == "__main__":
    draw_intervals()
    draw_bootstrap()
    draw_lines()
    draw_effective_robustness()
    draw_two_piece()
    draw_several_clean_sets()
    draw_correlation()
    draw_ranks()
    draw_hypotheses()
    draw_reproduction()
