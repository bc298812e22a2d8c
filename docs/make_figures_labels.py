"""Draw the figures of the pages on accuracy without labels and from a few.

python docs/make_figures_labels.py

It needs matplotlib.
"""

from __future__ import annotations

import numpy as np
from figure_style import ACCENT, GREY, INK, LIGHT, panels, save
from scipy.special import ndtri, softmax

from oodometer.metrics.agreement import agreement_matrix
from oodometer.stats.agreement_line import agreement_line, aline_s
from oodometer.stats.confidence_estimates import average_thresholded_confidence, difference_of_confidences
from oodometer.stats.prediction_powered import labelled_images, mean_from_few


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


if __name__ == "__main__":
    draw_label_free()
    draw_few_labels()
