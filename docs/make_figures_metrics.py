"""Draw the figures of the pages about metrics, docs/statistics/*.svg.

    python docs/make_figures_metrics.py

It needs matplotlib. What is not read from the bundled tables is simulated, from fixed seeds.
"""

from __future__ import annotations

import numpy as np
from figure_style import ACCENT, GREY, INK, LIGHT, panel, panels, save
from matplotlib.patches import Rectangle
from scipy.signal import lfilter
from scipy.stats import binom, norm

from oodometer.metrics.agreement import error_consistency_matrix
from oodometer.metrics.average_precision import DFR_SHIFTS
from oodometer.metrics.brier import brier_parts
from oodometer.metrics.calibration_error import expected_calibration_error
from oodometer.metrics.classwise_calibration import classwise_calibration_error
from oodometer.metrics.conformal import conformal_threshold, least_likely_sizes
from oodometer.metrics.generalized_risk import area_under_generalized_risk
from oodometer.metrics.ood_detection import chance_aupr
from oodometer.metrics.reliability import reliability_curve
from oodometer.metrics.selective import area_under_response_curve, coverage_at_risk, response_rate_accuracy
from oodometer.metrics.smooth_calibration import smooth_calibration_error, smooth_reliability
from oodometer.metrics.temperature import fit_temperature, mean_nll, scaled
from oodometer.metrics.video import pm_scores
from oodometer.published.tables import read_table
from oodometer.stats.intervals import share_of
from oodometer.stats.missed_together import number_missing


def accuracy() -> None:
    """The worst of 1,000 equally good classes, by how many images each has."""
    sizes = np.array([5, 10, 15, 20, 30, 50, 75, 100, 200, 500, 1000])
    worst = [np.sum(binom.sf(np.arange(n), n, 0.8) ** 1000) / n for n in sizes]
    figure, axes = panel()
    axes.axhline(80, color=GREY)
    axes.plot(sizes, 100 * np.array(worst), "o-", color=ACCENT, markersize=4)
    axes.annotate("true accuracy of every class, top-1 and balanced", (5, 80), (0, 5), textcoords="offset points")
    axes.annotate("worst-class", (200, 70.2), (-6, -18), textcoords="offset points", color=ACCENT)
    axes.annotate("33 %", (10, 33.4), (8, -8), textcoords="offset points", color=ACCENT)
    axes.annotate("60 % with the 50 images\nper class of ImageNet", (50, 60.1), (8, -26), textcoords="offset points")
    axes.set(xscale="log", ylim=(0, 100), xlabel="images per class", ylabel="accuracy in percent")
    axes.set_xticks([5, 10, 50, 100, 500, 1000], ["5", "10", "50", "100", "500", "1,000"])
    axes.minorticks_off()
    axes.set_title("1,000 classes, all equally easy: the worst one measured")
    save(figure, "accuracy")


def corruption_error() -> None:
    """The mCE and relative mCE of seven networks by their clean error."""
    ce, relative = (read_table(f"hendrycks2019_imagenet_c_{kind}") for kind in ("ce", "relative_ce"))
    figure, axes = panel()
    for table, colour in ((ce, GREY), (relative, ACCENT)):
        axes.plot(table.column("clean_error"), table.column("mean"), "o", color=colour)
    for name in ce.models:
        clean, low, high = ce.value(name, "clean_error"), ce.value(name, "mean"), relative.value(name, "mean")
        axes.plot([clean, clean], [low, high], color=LIGHT, linewidth=1, zorder=0)
        where, align = ((-8, -3), "right") if name == "SqueezeNet 1.1" else ((0, -14), "center")
        axes.annotate(name, (clean, low), where, textcoords="offset points", ha=align, fontsize=8)
    axes.axhline(100, color=LIGHT, linewidth=1, zorder=0)
    axes.text(37.3, 117, "relative mCE", color=ACCENT)
    axes.text(32.0, 92.6, "mCE", color=GREY)
    axes.text(33.2, 100.7, "as AlexNet", color=GREY, fontsize=8)
    axes.set(xlabel="clean error in percent", ylabel="percent of AlexNet's", xlim=(22, 45.5), ylim=(70, 130))
    axes.set_title("Better on clean images, better under corruptions, yet\nno smaller loss from corruptions")
    save(figure, "corruption-error")


def flips() -> None:
    """Two runs of predictions along 31 frames, with what each comparison counts."""
    rng = np.random.default_rng(4)
    slow = (np.arange(31) >= 16).astype(int)
    restless = np.append(0, rng.random(30) < 0.3).astype(int)
    figure, axes = panel()
    for y, frames, title in ((1.9, slow, "a slow change, one turn"), (0.4, restless, "independent disturbances")):
        for at, answer in enumerate(frames):
            axes.add_patch(Rectangle((at + 0.06, y), 0.88, 0.5, color=ACCENT if answer else LIGHT, linewidth=0))
        before, first = (frames[1:] != frames[:-1]).mean(), (frames[1:] != frames[0]).mean()
        axes.text(0, y + 0.62, title, weight="bold")
        axes.text(0, y - 0.22, f"against the frame before: {before:.3f}")
        axes.text(17, y - 0.22, f"against frame 0: {first:.3f}")
    axes.text(0.5, 2.15, "cat", ha="center", va="center", fontsize=6)
    axes.text(30.5, 2.15, "dog", ha="center", va="center", fontsize=6, color="white")
    axes.set(xlim=(0, 31), ylim=(0, 3))
    axes.axis("off")
    axes.set_title("The answers to 31 frames, and the two flip probabilities")
    save(figure, "flips")


def video() -> None:
    """pm-k of frames that are each right four times in five, by how much neighbours are alike."""
    rng, n_anchors, reach = np.random.default_rng(0), 20_000, 10
    offset = np.tile(np.arange(-reach, reach + 1), n_anchors)
    anchor = np.repeat(np.arange(n_anchors), 2 * reach + 1)
    figure, axes = panel()
    for alike, colour, name in (
        (1.0, GREY, "all frames of a video alike"),
        (0.99, ACCENT, "neighbours alike (0.99)"),
        (0.9, ACCENT, "less alike (0.9)"),
        (0.0, GREY, "independent frames"),
    ):
        right = (walk(rng, n_anchors, 2 * reach + 1, alike) < norm.ppf(0.8)).ravel()
        values = [100 * pm_scores(right, anchor, offset, k=k).accuracy for k in range(reach + 1)]
        axes.plot(range(reach + 1), values, color=colour, linestyle="-" if colour == ACCENT else "--")
        axes.annotate(name, (5.2, values[5]), (0, 6), textcoords="offset points", color=colour)
    axes.set(xlim=(0, 10), ylim=(0, 100), xlabel="k, frames before and after the anchor", ylabel="pm-k in percent")
    axes.set_title("Each frame is right in 80 %; all 2k + 1 at once are not")
    save(figure, "video")


def walk(rng: np.random.Generator, n: int, length: int, alike: float) -> np.ndarray:
    """Standard normal rows (n, length) whose neighbours have this correlation."""
    noise = rng.normal(size=(n, length))
    if alike == 1:
        return np.repeat(noise[:, :1], length, axis=1)
    noise[:, 1:] *= np.sqrt(1 - alike**2)
    return np.asarray(lfilter([1], [1, -alike], noise, axis=1))


def calibration() -> None:
    """The reliability curve of a model that is too sure."""
    rng = np.random.default_rng(0)
    confidence = 0.2 + 0.8 * rng.beta(3, 1, 5000)
    right = rng.random(5000) < too_sure(confidence)
    curve = reliability_curve(confidence, right)
    bounds = [share_of(int(k), int(n)) for k, n in zip(curve.right, curve.n, strict=True)]
    figure, axes = panel()
    axes.plot([0, 1], [0, 1], color=GREY, linestyle="--")
    axes.vlines(curve.confidence, curve.accuracy, curve.confidence, color=LIGHT, linewidth=6)
    low, high = (np.array([getattr(one, end) for one in bounds]) for end in ("low", "high"))
    errors = np.abs(np.array([low, high]) - curve.accuracy)
    axes.errorbar(curve.confidence, curve.accuracy, errors, fmt="o", color=ACCENT, markersize=4, linewidth=1.2)
    axes.text(0.05, 0.11, "as sure as right", rotation=30, color=GREY)
    axes.annotate("the gap that ECE weighs\nby the images of the bin", (0.765, 0.74), (0.66, 0.88), ha="right",
                  arrowprops={"arrowstyle": "-", "color": GREY})  # fmt: skip
    axes.text(0.72, 0.35, "accuracy of each bin,\n95 % intervals", color=ACCENT)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="accuracy")
    axes.set_title("A model that is too sure, 5,000 images, 15 bins of equal width")
    save(figure, "calibration")


def too_sure(confidence: np.ndarray) -> np.ndarray:
    """How often a model that says this is right."""
    return np.asarray(confidence**1.5)


def temperature() -> None:
    """The likelihood by the temperature, of clean images and of shifted ones."""
    figure, axes = panel()
    grid = np.exp(np.linspace(np.log(0.6), np.log(5), 60))
    clean = simulated_logits(3.0, 0)
    shifted = simulated_logits(1.8, 1)
    fits = [fit_temperature(*one) for one in (clean, shifted)]
    for (logits, labels), colour, name in ((clean, GREY, "clean"), (shifted, ACCENT, "shifted")):
        values = [mean_nll(scaled(logits, t), labels) for t in grid]
        axes.plot(grid, values, color=colour)
        axes.annotate(name, (grid[-1], values[-1]), (4, -3), textcoords="offset points", color=colour)
    best = fits[0].temperature
    at_clean = mean_nll(scaled(shifted[0], best), shifted[1])
    axes.plot([best, fits[1].temperature], [fits[0].nll_after, fits[1].nll_after], "o", color=INK, markersize=5)
    axes.plot([best], [at_clean], "o", color="white", markeredgecolor=INK, markersize=6)
    axes.axvline(best, color=LIGHT, linewidth=1, zorder=0)
    axes.annotate(f"fitted on clean: {best:.2f}", (best, fits[0].nll_after), (6, -14), textcoords="offset points")
    axes.annotate("used as it is on the shift:\nbetter than 1, not the best", (best, at_clean), (12, 12),
                  textcoords="offset points")  # fmt: skip
    axes.annotate(f"its own best: {fits[1].temperature:.2f}", (fits[1].temperature, fits[1].nll_after), (-10, -18),
                  textcoords="offset points")  # fmt: skip
    axes.set(xscale="log", xlabel="temperature", ylabel="nll in nats", xlim=(0.6, 5.9), ylim=(0, None))
    axes.set_xticks([0.6, 1, 1.5, 2, 3, 5], ["0.6", "1", "1.5", "2", "3", "5"])
    axes.minorticks_off()
    axes.set_title("One temperature, fitted on clean images")
    save(figure, "temperature")


def simulated_logits(distance: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Logits (5000, 10) and labels; the label's evidence stands this far above noise, and the model takes it for 6.

    The posterior of such evidence x is softmax(distance · x), so the best temperature is 6 / distance.
    """
    rng = np.random.default_rng(seed)
    labels = rng.integers(10, size=5000)
    evidence = rng.normal(size=(5000, 10))
    evidence[np.arange(5000), labels] += distance
    return 6 * evidence, labels


def proper_scores() -> None:
    """The penalties of one answer, and the Brier score taken apart."""
    figure, (left, right) = panels(2)
    p = np.linspace(0.005, 1, 300)
    left.plot(p, -np.log(p), color=ACCENT)
    left.plot(p, 2 * (1 - p) ** 2, color=GREY)
    left.text(0.12, 2.6, "nll", color=ACCENT)
    left.text(0.42, 0.2, "brier", color=GREY)
    left.set(xlim=(0, 1), ylim=(0, 5), xlabel="probability of the label (two classes)", ylabel="penalty")
    left.set_title("What one answer costs")
    rng = np.random.default_rng(0)
    confidence = 0.2 + 0.8 * rng.beta(3, 1, 20_000)
    for place, (name, chance) in enumerate((("calibrated", confidence), ("too sure", too_sure(confidence)))):
        parts = brier_parts(confidence, rng.random(20_000) < chance)
        explained = parts.resolution + parts.within_covariance - parts.within_variance
        rest = parts.uncertainty - explained
        right.bar(place, rest, 0.6, color=LIGHT)
        right.bar(place, parts.reliability, 0.6, bottom=rest, color=ACCENT)
        right.text(place, rest / 2, "uncertainty\n− resolution", ha="center", va="center", fontsize=8)
        right.text(place, parts.score + 0.003, f"{parts.score:.3f}", ha="center")
        right.set_xticks([0, 1], ["calibrated", "too sure"])
        if name == "too sure":
            right.text(place, rest + parts.reliability / 2, "reliability", ha="center", va="center", fontsize=8,
                       color="white")  # fmt: skip
    right.set(ylabel="top-label Brier score")
    right.set_title("What it is made of")
    save(figure, "proper-scores")


def selective() -> None:
    """The accuracy among the most confident, of three models as accurate as each other."""
    rng = np.random.default_rng(0)
    n, right = 5000, np.arange(5000) < 3800
    useful = norm.cdf(rng.normal(size=n) + 1.2 * right)
    figure, axes = panel()
    for confidence, colour, name, at in (
        (right * 0.5 + 0.3, GREY, "knows what it knows", 0.40),
        (useful, ACCENT, "a real confidence", 0.30),
        (rng.random(n), GREY, "guesses how sure it is", 0.40),
    ):
        curve = response_rate_accuracy(confidence, right)
        area = area_under_response_curve(confidence, right)
        kept = np.unique(np.concatenate([np.arange(20, 200, 10), np.arange(200, n + 1, 40), [n]])) - 1
        axes.plot(
            curve.response_rate[kept], curve.accuracy[kept], color=colour, linestyle="-" if colour == ACCENT else "--"
        )
        y = curve.accuracy[int(at * n)]
        shift = (0, 5) if colour == GREY else (-52, -52)
        axes.annotate(f"{name}: AURRA {area:.3f}", (at, y), shift, textcoords="offset points", color=colour)
    coverage = coverage_at_risk(useful, right)
    axes.plot([coverage], [0.95], "o", color=INK)
    axes.annotate(f"coverage@5% = {coverage:.2f}", (coverage, 0.95), (8, 0), textcoords="offset points")
    axes.annotate("accuracy 0.76", (1, 0.76), (-4, -16), textcoords="offset points", ha="right")
    axes.set(xlim=(0, 1.0), ylim=(0.6, 1.04), xlabel="response rate: share of images answered", ylabel="accuracy")
    axes.set_title("Three models, right on the same 76 % of the images")
    save(figure, "selective")


def ood_detection() -> None:
    """Published AUPR against chance, and one detector by the share of OOD images."""
    figure, (left, right) = panels(2, width_ratios=(1.15, 1))
    table = read_table("hendrycks2021_imagenet_o_aupr")
    values = table.column("imagenet_o_aupr")
    places = np.arange(len(values))[::-1]
    chance = 100 * chance_aupr(10_000, 2_000)
    left.hlines(places, chance, values, color=LIGHT, linewidth=3)
    left.plot(values, places, "o", color=ACCENT)
    left.axvline(chance, color=GREY, linestyle="--", linewidth=1.2)
    left.text(chance + 0.15, 5.45, "chance 16.7", color=GREY, fontsize=9)
    left.set_yticks(places, table.models, fontsize=8)
    left.set(xlim=(15, 22.5), ylim=(-0.5, 5.9), xlabel="aupr in percent")
    left.set_title("ImageNet-O, as published")
    shares, threshold = np.linspace(0.01, 0.5, 40), np.linspace(-8, 10, 4001)
    caught, alarms = norm.sf(threshold - 1.19), norm.sf(threshold)
    precision = shares[:, None] * caught / (shares[:, None] * caught + (1 - shares[:, None]) * alarms)
    right.axhline(norm.cdf(1.19 / np.sqrt(2)), color=GREY)
    right.plot(shares, np.trapezoid(precision * norm.pdf(threshold - 1.19), threshold, axis=1), color=ACCENT)
    right.plot(shares, shares, color=GREY, linestyle="--", linewidth=1.2)
    right.text(0.02, 0.83, "auroc", color=GREY)
    right.text(0.09, 0.55, "aupr", color=ACCENT)
    right.text(0.30, 0.2, "chance of aupr", color=GREY, fontsize=8)
    right.set(xlim=(0, 0.5), ylim=(0, 1), xlabel="share of OOD images")
    right.set_title("One detector, other shares")
    save(figure, "ood-detection")


def average_precision() -> None:
    """The mAP of the ResNet-50 on each of the eight shifts of DeepFashion Remixed."""
    table = read_table("hendrycks2021_dfr")
    values = [table.value("ResNet-50", name) for name in DFR_SHIFTS]
    iid, mean = table.value("ResNet-50", "iid_map"), table.value("ResNet-50", "ood_mean_map")
    figure, axes = panel()
    places = np.arange(len(values))[::-1]
    axes.hlines(places, values, iid, color=LIGHT, linewidth=3)
    axes.plot(values, places, "o", color=ACCENT)
    for x, y in zip(values, places, strict=True):
        axes.annotate(f"{x:.1f}", (x, y), (-6, 0), textcoords="offset points", ha="right", va="center", fontsize=9)
    axes.vlines([iid], -0.5, 7.4, color=GREY)
    axes.vlines([mean], -0.5, 7.4, color=ACCENT, linestyle="--", linewidth=1.2)
    axes.text(iid, 7.6, f"unshifted {iid}", color=GREY, ha="center")
    axes.text(mean, 7.6, f"mean of the eight {mean}", color=ACCENT, ha="center")
    axes.set_yticks(places, [name.replace("_", " ") for name in DFR_SHIFTS])
    axes.set(xlim=(30, 84), ylim=(-0.5, 8.0), xlabel="mAP in percent")
    axes.set_title("ResNet-50 on DeepFashion Remixed")
    save(figure, "average-precision")


def agreement() -> None:
    """Where kappa lies between chance and perfect consistency."""
    figure, axes = panel()
    a = np.linspace(0.5, 1, 100)
    chance = a**2 + (1 - a) ** 2
    axes.fill_between(a, chance, 1, color="#f3f3f3", linewidth=0)
    axes.plot(a, chance, color=GREY)
    axes.axhline(1, color=GREY)
    axes.text(0.52, 1.008, "κ = 1: the same errors", color=GREY)
    axes.text(0.74, 0.555, "κ = 0: chance, a² + (1 − a)²", color=GREY)
    for accuracy_, observed, shift, align in ((0.8, 0.84, (-10, -3), "right"), (0.95, 0.93, (-10, 2), "right")):
        expected = accuracy_**2 + (1 - accuracy_) ** 2
        kappa = (observed - expected) / (1 - expected)
        axes.plot([accuracy_, accuracy_], [expected, observed], color=ACCENT, linewidth=3)
        axes.plot([accuracy_, accuracy_], [observed, 1], color=LIGHT, linewidth=3)
        axes.plot([accuracy_], [observed], "o", color=ACCENT)
        label = f"together in {observed:.2f}, κ = {kappa:.2f}"
        axes.annotate(label, (accuracy_, observed), shift, textcoords="offset points", ha=align, color=ACCENT)
    axes.set(xlim=(0.5, 1), ylim=(0.5, 1.05), xlabel="accuracy a of both models")
    axes.set_ylabel("share of images both right or both wrong")
    axes.set_title("κ: how far from chance towards the same errors")
    save(figure, "agreement")


def augrc() -> None:
    """Selective and generalized risk of two models as accurate as each other."""
    rng = np.random.default_rng(0)
    n = 5000
    right = np.arange(n) < 3800
    figure, (left, middle) = panels(2)
    for sure, colour, name in (
        (norm.cdf(rng.normal(size=n) + 1.6 * right), ACCENT, "knows more"),
        (norm.cdf(rng.normal(size=n) + 0.5 * right), GREY, "knows less"),
    ):
        curve = response_rate_accuracy(sure, right)
        kept = np.unique(np.concatenate([np.arange(3, 200, 4), np.arange(200, n, 40), [n - 1]]))
        rate, risk = curve.response_rate[kept], 1 - curve.accuracy[kept]
        left.plot(rate, risk, color=colour)
        middle.plot(rate, rate * risk, color=colour)
        middle.fill_between(rate, rate * risk, color=colour, alpha=0.15, linewidth=0)
        at = int(0.8 * n) - 1
        left.plot([0.8], [1 - curve.accuracy[at]], "o", color=colour, markersize=5)
        left.annotate(
            f"risk@80%\n{1 - curve.accuracy[at]:.3f}", (0.8, 1 - curve.accuracy[at]), (-6, 5),
            textcoords="offset points", ha="right", color=colour,
        )  # fmt: skip
        area = area_under_generalized_risk(sure, right)
        where = (0.28, 0.14) if colour == GREY else (0.57, 0.015)
        middle.text(*where, f"{name}\nAUGRC {area:.3f}", color=colour)
    left.set(xlim=(0, 1), ylim=(0, 0.3), xlabel="coverage", ylabel="wrong, of those answered")
    left.set_title("Risk")
    middle.set(xlim=(0, 1), ylim=(0, 0.3), xlabel="coverage", ylabel="wrong and answered, of all")
    middle.set_title("Generalized risk")
    save(figure, "augrc")


def smooth_ece() -> None:
    """The smooth reliability curve of a model that is too sure, and ECE by the number of bins."""
    rng = np.random.default_rng(0)
    confidence = 0.2 + 0.8 * rng.beta(3, 1, 5000)
    right = rng.random(5000) < too_sure(confidence)
    curve, error = smooth_reliability(confidence, right), smooth_calibration_error(confidence, right)
    figure, (left, middle) = panels(2)
    seen = np.flatnonzero(curve.confidence > confidence.min())[::8]  # as many points as the eye tells apart
    left.plot([0, 1], [0, 1], color=GREY, linestyle="--")
    left.fill_between(curve.confidence[seen], curve.confidence[seen], curve.accuracy[seen], color=LIGHT, linewidth=0)
    half = 0.002 + 0.011 * np.minimum(curve.density[seen] / curve.density.max(), 1)
    accuracy = curve.accuracy[seen]
    left.fill_between(curve.confidence[seen], accuracy - half, accuracy + half, color=ACCENT, linewidth=0)
    left.text(0.04, 0.9, f"smooth ECE {error:.3f}", color=ACCENT)
    left.text(0.04, 0.82, "width of the line: how many\nimages are this sure", va="top", fontsize=8, color=GREY)
    left.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="accuracy near it")
    left.set_title("Too sure, without bins")
    calibrated, bins = np.random.default_rng(1).random(5000) < confidence, np.arange(5, 61)
    found = [expected_calibration_error(confidence, calibrated, bins=int(b)) for b in bins]
    middle.plot(bins, found, color=GREY, linewidth=1.2)
    middle.axhline(smooth_calibration_error(confidence, calibrated), color=ACCENT)
    middle.text(20, 0.024, "ECE", color=GREY)
    middle.text(40, 0.0128, "smooth ECE", color=ACCENT)
    middle.set(ylim=(0, 0.03), xlabel="bins", ylabel="error of a calibrated model")
    middle.set_title("ECE hangs on its bins")
    save(figure, "smooth-ece")


def classwise_ece() -> None:
    """A model whose answers are calibrated and whose other probabilities are not; and what chance alone makes."""
    rng = np.random.default_rng(0)
    n, k = 20_000, 10
    logits = rng.normal(scale=1.5, size=(n, k))
    truth = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = (np.cumsum(truth, axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, k - 1)
    best = np.arange(k) == truth.argmax(axis=1)[:, None]
    others = np.where(best, truth, (1 - truth.max(axis=1, keepdims=True)) / (k - 1))
    even, top, each = np.linspace(0, 1, 11), [], []
    for share in even:
        said = (1 - share) * truth + share * others
        top.append(expected_calibration_error(said.max(axis=1), said.argmax(axis=1) == labels))
        each.append(classwise_calibration_error(said, labels))
    figure, (left, middle) = panels(2)
    left.plot(100 * even, top, color=GREY)
    left.plot(100 * even, each, color=ACCENT)
    left.text(92, top[-1] - 0.0022, "ECE of the answer", color=GREY, ha="right")
    left.text(62, each[6] + 0.0015, "classwise ECE", color=ACCENT, ha="right")
    left.set(
        xlim=(0, 100), ylim=(0, None), xlabel="percent of what is left for other\nclasses that is shared out evenly"
    )
    left.set_title("The answer is calibrated")
    sizes = np.array([100, 300, 1000, 3000, 10_000, 20_000])
    for some, colour in ((10, ACCENT), (2, GREY)):
        p = np.exp(logits[:, :some]) / np.exp(logits[:, :some]).sum(axis=1, keepdims=True)
        drawn = (np.cumsum(p, axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, some - 1)
        values = [np.mean([classwise_calibration_error(p[at : at + m], drawn[at : at + m])
                           for at in range(0, n - m + 1, max(m, 2000))]) for m in sizes]  # fmt: skip
        middle.plot(sizes, values, "o-", color=colour, markersize=4)
        middle.annotate(f"{some} classes", (sizes[1], values[1]), (6, 4) if some == 2 else (-40, -20),
                        textcoords="offset points", color=colour)  # fmt: skip
    middle.set(xscale="log", ylim=(0, None), xlabel="images", ylabel="classwise ECE")
    middle.set_xticks([100, 1000, 10_000], ["100", "1,000", "10,000"])
    middle.minorticks_off()
    middle.set_title("Calibrated models: chance alone")
    save(figure, "classwise-ece")


def conformal() -> None:
    """Coverage and size of sets that promise 90 %, by how weak the evidence becomes."""
    clean = simulated_logits(3.0, 0)

    def scores(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
        shifted = logits - logits.max(axis=1, keepdims=True)
        return np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(labels)), labels]

    distances = np.linspace(3.0, 1.0, 9)
    figure, (left, right) = panels(2)
    for alpha, colour in ((0.1, ACCENT), (0.01, GREY)):
        threshold = conformal_threshold(scores(*clean), alpha=alpha)
        accuracy_, coverage, sizes = [], [], []
        for at, distance in enumerate(distances):
            logits, labels = simulated_logits(distance, at + 1)
            accuracy_.append(100 * np.mean(logits.argmax(axis=1) == labels))
            coverage.append(share_of(int((scores(logits, labels) <= threshold).sum()), len(labels)))
            sizes.append(np.mean(least_likely_sizes(logits, threshold)))
        values, low, high = (
            100 * np.array([getattr(one, end) for one in coverage]) for end in ("value", "low", "high")
        )
        left.errorbar(accuracy_, values, (values - low, high - values), fmt="o-", color=colour, markersize=3.5)
        left.axhline(100 * (1 - alpha), color=colour, linestyle=":")
        left.annotate(f"promised {100 * (1 - alpha):g} %", (34, 100 * (1 - alpha)), (0, 4),
                      textcoords="offset points", color=colour, ha="right")  # fmt: skip
        right.plot(accuracy_, sizes, "o-", color=colour, markersize=3.5)
        right.annotate(f"{100 * (1 - alpha):g} %", (accuracy_[2], sizes[2]), (-6, 8), textcoords="offset points",
                       color=colour)  # fmt: skip
    left.set(
        xlim=(93, 33), ylim=(30, 104), xlabel="accuracy in percent (clean at the left)", ylabel="coverage in percent"
    )
    left.set_title("The class is in the set")
    right.set(xlim=(93, 33), ylim=(0, 5), xlabel="accuracy in percent", ylabel="classes in a set")
    right.set_title("The sets grow too little")
    save(figure, "conformal")


def error_consistency() -> None:
    """A map of simulated networks of two kinds and three people; and images by how many of them miss them."""
    rng = np.random.default_rng(3)
    n = 2000
    names = ["A1", "A2", "A3", "B1", "B2", "B3", "Ann", "Ben", "Cleo"]
    kinds = np.repeat([0, 1, 2], 3)
    hard, of_kind = rng.normal(size=n), rng.normal(size=(3, n))
    skills = np.array([0.3, 0.6, 0.9, 0.5, 0.8, 1.1, 1.6, 1.7, 1.5])
    shared = np.array([0.6, 0.6, 0.9])[kinds, None]
    right = 0.6 * hard + shared * of_kind[kinds] + 0.6 * rng.normal(size=(9, n)) < skills[:, None]
    figure, (left, middle) = panels(2, width_ratios=[1.15, 1])
    matrix = error_consistency_matrix(right)
    left.imshow(matrix, cmap="Oranges", vmin=0, vmax=1)
    for a in range(9):
        for b in range(9):
            if a != b:
                ink = "white" if matrix[a, b] > 0.6 else INK
                left.text(b, a, f"{100 * matrix[a, b]:.0f}", ha="center", va="center", color=ink, fontsize=7.5)
    left.set_xticks(range(9), names, fontsize=8, rotation=60)
    left.set_yticks(range(9), names, fontsize=8)
    left.tick_params(length=0)
    for side in ("left", "bottom"):
        left.spines[side].set_visible(False)
    left.set_title("error consistency κ (%)")
    models = right[:6]
    found = np.bincount((~models).sum(axis=0), minlength=7)
    expected = n * number_missing(1 - models.mean(axis=1))
    places = np.arange(7)
    middle.bar(places, found, color=ACCENT, width=0.75)
    middle.step(np.append(places - 0.5, 6.5), np.append(expected, expected[-1]), where="post", color=INK, lw=1.5)
    middle.text(6.5, 200, f"all six miss {found[6]},\nby chance {expected[6]:.1f}", ha="right", va="bottom", fontsize=9)
    middle.text(1.75, expected[1], "by chance", color=INK, fontsize=9, va="center")
    middle.set(xlabel="missed by so many of six", ylabel="images")
    middle.set_title("missed together")
    save(figure, "error-consistency")


def main() -> None:
    """Draw all of them."""
    for draw in (
        accuracy, corruption_error, flips, video, calibration, temperature, proper_scores, selective, ood_detection,
        average_precision, agreement, augrc, smooth_ece, classwise_ece, conformal,
        average_precision, agreement, error_consistency,
    ):  # fmt: skip
        draw()


if __name__ == "__main__":
    main()
