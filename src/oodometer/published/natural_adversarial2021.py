"""Hendrycks et al. 2021, Natural Adversarial Examples: size, self-attention, and the chance level of the AUPR."""

from __future__ import annotations

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.random import rng_for
from oodometer.metrics.ood_detection import aupr, chance_aupr
from oodometer.published.checks import Check, Remark, Reproduction
from oodometer.published.hypotheses import THRESHOLD, pairs_of
from oodometer.published.printed import statement
from oodometer.published.tables import Table, read_table
from oodometer.stats.intervals import clopper_pearson

PAPER = "natural_adversarial2021"
TITLE = "Natural Adversarial Examples"

ACCURACY, AUPR = "imagenet_a_top1_accuracy", "imagenet_o_aupr"
ELSEWHERE = "(many_faces2021, Table 9)"
"""Where the numbers are that a statement of this paper is held against."""
N_A = 7_500
"""Images of ImageNet-A (Table 1)."""
N_OOD = 2_000
"""Images of ImageNet-O (Table 1)."""
N_CLEAN = 200 * 50
"""Validation images of its 200 classes, which the OOD images are told from (Section 5)."""
CHANCE = 16.67
"""Percent, "approximately" (Section 5)."""
N_DRAWS = 100

SIZES = (("ResNet-34", "ResNet-152"), ("ResNeXt-50 32x4d", "ResNeXt-101 64x4d"), ("DPN-68", "DPN-98"))
IN_THE_TEXT = (
    ("ResNet-34", 1.9, 16.0),
    ("ResNet-152", 6.1, 18.0),
    ("ResNeXt-50 32x4d", 1.3, 16.4),
    ("ResNeXt-101 64x4d", 7.3, 20.5),
    ("DPN-68", 3.6, 17.8),
    ("ResNeXt-101 64x4d", 9.4, 21.1),
)
"""Network, accuracy on ImageNet-A and AUPR on ImageNet-O, as the paragraph on size in Section 5.2 has them."""
RESNEXT_50_ACCURACY = 1.31
"""On ImageNet-A, in Section 5.1, to one digit more than in Section 5.2."""
RESNET_152_AUPR = 17.2
"""Without self-attention, in the paragraph on self-attention in Section 5.2."""
SE_GAIN = 10.0
"""Points on ImageNet-A that self-attention adds to ResNeXt-101 (32x4d), "approximately" (Section 5.2)."""
ROBUST_TRAINING = ("Linf Adversarial Training", "Style Transfer")


def reproduce() -> Reproduction:
    """The comparisons of Section 5 on its own tables, and on that of ImageNet-A in the paper on the many faces."""
    on_o, on_a = read_table("hendrycks2021_imagenet_o_aupr"), read_table("hendrycks2021_imagenet_a")
    simulated = simulated_chance()
    checks = (
        *_chance_checks(simulated),
        *(check for pair in SIZES for check in _size_checks(on_o, pair)),
        *(
            _more_accurate(on_a, pair, f"Section 5.2, Size {ELSEWHERE}")
            for pair in pairs_of("larger_models", on_a.models)
        ),
        *(
            _more_accurate(on_a, pair, f"Section 5.2, Self-Attention {ELSEWHERE}")
            for pair in pairs_of("self_attention", on_a.models)
        ),
        *(_hardly_helps(on_a, method) for method in ROBUST_TRAINING),
        *_same_networks(on_o, on_a),
    )
    remarks = (
        _chance_remark(on_o, simulated),
        *_text_remarks(on_o),
        *_attention_remarks(on_a),
    )
    return Reproduction(PAPER, TITLE, checks, remarks)


def simulated_chance(n_draws: int = N_DRAWS) -> np.ndarray:
    """The AUPR, in percent, of scores that know nothing, (n_draws,)."""
    scores = rng_for("chance level of the AUPR").random((n_draws, N_CLEAN + N_OOD))
    return np.array([100 * aupr(row[:N_CLEAN], row[N_CLEAN:]) for row in scores])


def expected_average_precision(n_positive: int, n: int) -> float:
    """The mean of the average precision over all orders of n images of which n_positive are positive.

    At rank k an image is positive with probability P / n, and each of the k - 1 before it then with (P - 1) / (n - 1);
    the sum over the ranks is a harmonic number. It is a little above the share of positives.

    >>> round(expected_average_precision(1, 2), 6)  # 1 where the positive comes first, 1/2 where it comes second
    0.75
    """
    if n < 2 or not 1 <= n_positive <= n:
        raise OodometerError(f"{n_positive} positive of {n} images: the mean over their orders is undefined")
    harmonic = float((1 / np.arange(1, n + 1)).sum())
    return (harmonic + (n_positive - 1) / (n - 1) * (n - harmonic)) / n


def _chance_checks(simulated: np.ndarray) -> list[Check]:
    share = 100 * chance_aupr(N_CLEAN, N_OOD)
    excess = 100 * expected_average_precision(N_OOD, N_OOD + N_CLEAN) - share
    error = 4 * float(simulated.std(ddof=1)) / np.sqrt(len(simulated))
    reason = f"rounding (0.005), average precision above the share ({excess:.3f}), 4 standard errors ({error:.3f})"
    what = f"chance level of the AUPR: the mean of {len(simulated)} sets of random scores"
    mean = float(simulated.mean())
    return [
        Check(
            PAPER, "chance level of the AUPR: share of OOD images", "Section 5", CHANCE, share, 0.005, "printed to 0.01"
        ),
        Check(PAPER, what, "Section 5", CHANCE, mean, 0.005 + excess + error, reason),
    ]


def _size_checks(table: Table, pair: tuple[str, str]) -> list[Check]:
    """The larger network of a family is better on both sets."""
    small, large = (table.value(model, AUPR) for model in pair)
    what = f"AUPR on ImageNet-O, {pair[0]} → {pair[1]} ({small} → {large})"
    return [
        _more_accurate(table, pair, "Section 5.2, Figure 10"),
        Check(PAPER, what, "Section 5.2, Figure 11", "improves", "improves" if large > small else "does not improve"),
    ]


def _more_accurate(table: Table, pair: tuple[str, str], where: str) -> Check:
    """An accuracy improves where the intervals of the two, from the images of ImageNet-A, are apart."""
    before, after = (table.value(model, ACCURACY) for model in pair)
    (_, high), (low, _) = (clopper_pearson(round(value / 100 * N_A), N_A, 0.95) for value in (before, after))
    what = f"accuracy on ImageNet-A, {pair[0]} → {pair[1]} ({before} → {after})"
    ours = "improves" if low > high else "does not improve, or within the noise"
    return Check(PAPER, what, where, "improves", ours, 0, f"the 95 % intervals from {N_A:,} images are apart")


def _hardly_helps(table: Table, method: str) -> Check:
    before, after = (table.value(f"ResNet-50{added}", ACCURACY) for added in ("", f" + {method}"))
    return statement(
        PAPER,
        f"accuracy of ResNet-50 on ImageNet-A with {method} ({before} → {after})",
        f"Section 5.1 {ELSEWHERE}",
        "hardly helps",
        otherwise="" if after - before <= THRESHOLD else f"{after - before:+.1f} points",
    )


def _same_networks(on_o: Table, on_a: Table) -> list[Check]:
    """Accuracies that stand in two places."""
    shared = [model for model in on_o.models if model in on_a.models]
    model = "ResNeXt-50 32x4d"
    return [
        *(
            Check(
                PAPER,
                f"accuracy of {model} on ImageNet-A, here and in the many-faces paper",
                "Section 5.2",
                on_o.value(model, ACCURACY),
                on_a.value(model, ACCURACY),
                0,
                "the same network, so the same number",
            )
            for model in shared
        ),
        Check(
            PAPER,
            "accuracy of ResNeXt-50 on ImageNet-A, trained on clean images",
            "Section 5.1",
            RESNEXT_50_ACCURACY,
            on_o.value(model, ACCURACY),
            0.05,
            "rounded to 0.1 in Section 5.2",
        ),
    ]


def _chance_remark(table: Table, simulated: np.ndarray) -> Remark:
    below = [
        f"{model} {value}" for model, value in zip(table.models, table.column(AUPR), strict=True) if value < CHANCE
    ]
    low, high = np.quantile(simulated, [0.025, 0.975])
    expected = 100 * expected_average_precision(N_OOD, N_OOD + N_CLEAN)
    text = (
        f"random scores have an average precision of {expected:.2f} % in the mean, a little above the share of OOD "
        f"images, and mostly between {low:.1f} and {high:.1f}; below the share are: {', '.join(below) or 'none'}"
    )
    return Remark(PAPER, "Section 5, Figure 3", text)


def _text_remarks(table: Table) -> list[Remark]:
    """Numbers of the text that the table has for another network, or has otherwise."""
    rows = dict(zip(table.models, zip(table.column(ACCURACY), table.column(AUPR), strict=True), strict=True))
    remarks = []
    for model, accuracy, value in IN_THE_TEXT:
        owners = [name for name, row in rows.items() if row == (accuracy, value)]
        if model not in owners:
            whose = f"they are those of {owners[0]}" if owners else "no network has them"
            text = f"the text gives {model} an accuracy of {accuracy} % and an AUPR of {value} %; {whose}"
            remarks.append(Remark(PAPER, "Section 5.2, Size", text))
    printed = table.value("ResNet-152", AUPR)
    if printed != RESNET_152_AUPR:
        text = f"the AUPR of ResNet-152 is {RESNET_152_AUPR} % beside self-attention, {printed} % beside size"
        remarks.append(Remark(PAPER, "Section 5.2", text))
    return remarks


def _attention_remarks(table: Table) -> list[Remark]:
    """Gains by squeeze-and-excitation, which the text gives for a network that no table has."""
    pairs = [pair for pair in pairs_of("self_attention", table.models) if pair[1].endswith("+ SE")]
    gains = [table.value(after, ACCURACY) - table.value(before, ACCURACY) for before, after in pairs]
    if not gains or max(gains) >= SE_GAIN:
        return []
    shown = ", ".join(f"{before} {gain:+.1f}" for (before, _), gain in zip(pairs, gains, strict=True))
    text = (
        f"squeeze-and-excitation is said to add about {SE_GAIN:g} points on ImageNet-A to ResNeXt-101 (32x4d); in the "
        f"networks of the tables it adds less: {shown}"
    )
    return [Remark(PAPER, "Section 5.2, Self-Attention", text)]
