"""What the text of Recht et al. 2019 states, from its printed tables."""

from __future__ import annotations

import numpy as np

from oodometer.published.checks import Check
from oodometer.published.in_text.numbers import text_check
from oodometer.published.recht2019 import BOOTSTRAP_ROUNDING, CIFAR, DRAWS, IMAGENET, PAPER, without_fisher_vectors
from oodometer.published.tables import Table, read_table
from oodometer.stats.intervals import clopper_pearson
from oodometer.stats.lines import bootstrap_lines, fit_line

BEST_CIFAR, BEST_IMAGENET = "autoaug_pyramid_net_tf", "pnasnet_large_tf"
COMMON_NAMES = ("vgg", "resnet")
"""How the names of VGG and ResNet start."""
LIKE_ALEXNET = ("alexnet", "squeezenet", "fv_")
"""How the names start of what is no network after AlexNet."""
SETS = {"TopImages": "top_images", "MatchedFrequency": "matched_frequency", "Threshold0.7": "threshold_0.7"}
NEAR_DUPLICATES, WITH_THEM = 0.08, 0.93
"""The share of near-duplicates and the accuracy of Appendix B.2.2, which counts on every near-duplicate being right."""
TOLD_APART = {
    "Table 5:": "best accuracy in telling the two CIFAR-10 sets apart",
    "Table 14:": "best accuracy in telling original and new ImageNet images apart",
}
"""The tables of networks that tell two sets apart, and what the text says of the best."""
OF_TABLES = "from accuracies that are printed to 0.1"


def checks() -> list[Check]:
    """The numbers of the text that the tables give."""
    cifar, imagenet, others = read_table(CIFAR), read_table(IMAGENET), read_table("recht2019_other_intervals")
    return [
        *_drops(cifar, without_fisher_vectors(imagenet)),
        *_ranges(cifar, imagenet),
        *_common_networks(cifar, imagenet),
        *_best_networks(cifar, imagenet),
        *_samplings(imagenet),
        *_intervals(),
        *_near_duplicates(),
        *_people_and_discriminators(others),
        *_retrained(cifar, imagenet, others),
        *_slope_of_top_images(without_fisher_vectors(imagenet)),
    ]


def _check(what: str, ours: float, known: str = "") -> Check:
    return text_check(PAPER, what, float(ours), reason=OF_TABLES, known=known)


def drop_of(table: Table, original: str, new: str) -> np.ndarray:
    """What is lost from one column to another, in points, (rows,)."""
    return np.asarray(table.column(original) - table.column(new))


def _drops(cifar: Table, networks: Table) -> list[Check]:
    on_cifar = drop_of(cifar, "cifar10_test", "cifar10.1")
    on_imagenet = drop_of(networks, "val_top1", "matched_frequency_top1")
    least = networks.models[int(on_imagenet.argmin())]
    return [
        _check("smallest drop of accuracy on the new CIFAR-10 set", on_cifar.min()),
        _check("largest drop of accuracy on the new CIFAR-10 set", on_cifar.max()),
        _check(
            "smallest drop of top-1 accuracy on the new ImageNet set",
            on_imagenet.min(),
            f"known: {least} loses less in Table 15",
        ),
        _check("largest drop of top-1 accuracy on the new ImageNet set", on_imagenet.max()),
    ]


def _ranges(cifar: Table, imagenet: Table) -> list[Check]:
    after = ~np.array([model.startswith(LIKE_ALEXNET) for model in imagenet.models])
    spans = {name: np.ptp(imagenet.column(f"val_{name.replace('-', '')}")[after]) for name in ("top-1", "top-5")}
    return [
        _check("lowest accuracy on the original CIFAR-10 set", cifar.column("cifar10_test").min()),
        _check("highest accuracy on the original CIFAR-10 set", cifar.column("cifar10_test").max()),
        _check("lowest top-1 accuracy on the original ImageNet set", imagenet.column("val_top1").min()),
        _check("highest top-1 accuracy on the original ImageNet set", imagenet.column("val_top1").max()),
        *(_check(f"range of {name} accuracies of networks after AlexNet", span) for name, span in spans.items()),
    ]


def _common_networks(cifar: Table, imagenet: Table) -> list[Check]:
    """The networks whose names start so."""
    means = []
    for table, original, new in (
        (cifar, "cifar10_test", "cifar10.1"),
        (imagenet, "val_top1", "matched_frequency_top1"),
    ):
        # ResNeXt is another architecture.
        common = [model.startswith(COMMON_NAMES) and not model.startswith("resnext") for model in table.models]
        means.append(drop_of(table, original, new)[common].mean())
    nearest = drop_of(imagenet, "val_top1", "matched_frequency_top1")[imagenet.row("resnet152")]
    return [
        _check("mean drop of VGG and ResNet on CIFAR-10", means[0]),
        _check(
            "mean drop of VGG and ResNet on ImageNet, top-1",
            means[1],
            f"known: the nearest of them is resnet152 with {nearest:.1f}",
        ),
    ]


def _best_networks(cifar: Table, imagenet: Table) -> list[Check]:
    sets = (
        (BEST_CIFAR, "accuracy", "CIFAR-10", "", cifar, "cifar10_test", "cifar10.1"),
        (BEST_IMAGENET, "top-1 accuracy", "ImageNet", ", top-1", imagenet, "val_top1", "matched_frequency_top1"),
        (BEST_IMAGENET, "top-5 accuracy", "ImageNet", ", top-5", imagenet, "val_top5", "matched_frequency_top5"),
    )
    found = []
    for model, accuracy, name, top, table, original, new in sets:
        before, after = table.value(model, original), table.value(model, new)
        found += [
            _check(f"{accuracy} of {model} on the original {name} set", before),
            _check(f"{accuracy} of {model} on the new {name} set", after),
            _check(f"drop of {model} on {name}{top}", before - after),
        ]
    return found


def _samplings(imagenet: Table) -> list[Check]:
    found = []
    for top in ("top-1", "top-5"):
        k = top.replace("-", "")
        change = {name: -drop_of(imagenet, f"val_{k}", f"{column}_{k}").mean() for name, column in SETS.items()}
        found += [_check(f"mean change of {top} accuracy on {name}", value) for name, value in change.items()]
        span = change["TopImages"] - change["MatchedFrequency"]
        found.append(_check(f"{top} accuracy between TopImages and MatchedFrequency, mean", span))
    return found


def _intervals() -> list[Check]:
    """Clopper-Pearson intervals that need no table."""
    low, high = (100 * bound for bound in clopper_pearson(1_800, 2_000, 0.95))
    widths = {
        "half width of the 95 % interval of an accuracy on 10,000 images": (5_000, 0.95),
        "half width of the 99.99 % interval of an accuracy on 10,000 images": (5_000, 0.9999),
        "half width of the 95 % interval of 90 % of 10,000 images": (9_000, 0.95),
        "half width of the 95 % interval of 97 % of 10,000 images": (9_700, 0.95),
    }
    reason = "Clopper-Pearson"
    return [
        text_check(PAPER, "lower bound of 90 % of 2,000 images", low, reason=reason),
        text_check(PAPER, "upper bound of 90 % of 2,000 images", high, reason=reason),
        *(text_check(PAPER, what, _half_width(*of), reason=reason) for what, of in widths.items()),
    ]


def _half_width(right: int, level: float) -> float:
    """In points, of 10,000 images."""
    low, high = clopper_pearson(right, 10_000, level)
    return 50 * (high - low)


def _near_duplicates() -> list[Check]:
    without = (WITH_THEM - NEAR_DUPLICATES) / (1 - NEAR_DUPLICATES)
    names = ("accuracy without near-duplicates where it is 93 % with them", "accuracy that near-duplicates add where")
    reason = "8 % near-duplicates, all of them right"
    return [
        text_check(PAPER, names[0], without, reason=reason),
        text_check(PAPER, f"{names[1]} it is 93 %", 100 * (WITH_THEM - without), reason=reason),
    ]


def _people_and_discriminators(others: Table) -> list[Check]:
    accuracy = dict(zip(others.models, others.column("accuracy").tolist(), strict=True))
    drops = [
        accuracy[f"Table 3: Participant {at} / original"] - accuracy[f"Table 3: Participant {at} / new"]
        for at in range(1, 10)
    ]
    best = {
        # One that is wrong more often than not is turned round.
        what: max(max(value, 100 - value) for name, value in accuracy.items() if name.startswith(table))
        for table, what in TOLD_APART.items()
    }
    return [
        _check("mean drop of nine people on the hardest images", np.mean(drops)),
        *(_check(what, value) for what, value in best.items()),
    ]


def _retrained(cifar: Table, imagenet: Table, others: Table) -> list[Check]:
    """Networks that stand in two tables, and the exactly balanced set."""
    gain = drop_of(cifar, "cifar10.1_balanced", "cifar10.1")
    lower = cifar.column("cifar10_test") < np.median(cifar.column("cifar10_test"))
    in_13 = others.value("Table 13: original / resnet50 top-5", "accuracy")
    below = imagenet.value("resnet50", "val_top5") - in_13
    return [
        _check("accuracy of vgg16_keras on the new CIFAR-10 set", cifar.value("vgg16_keras", "cifar10.1")),
        _check("top-5 accuracy of resnet50 in Table 13 below that in Table 16", below),
        _check(
            "accuracy that models of lower accuracy gain on the balanced CIFAR-10 set",
            gain[lower].mean(),
            f"known: so the lower half of the models of Table 12; all of them gain {gain.mean():.2f}",
        ),
    ]


def _slope_of_top_images(networks: Table) -> list[Check]:
    x, y = networks.column("val_top5") / 100, networks.column("top_images_top5") / 100
    slopes = bootstrap_lines(x, y, scale="linear", draws=DRAWS).slopes
    low, high = np.quantile(slopes, [0.025, 0.975])
    what, rounding = "slope of TopImages, top-5, without Fisher vectors", BOOTSTRAP_ROUNDING[0]
    return [
        text_check(PAPER, what, fit_line(x, y, scale="linear").slope, rounding=rounding, reason=OF_TABLES),
        text_check(PAPER, f"lower bound of the {what}", float(low), rounding=rounding, reason=OF_TABLES),
        text_check(PAPER, f"upper bound of the {what}", float(high), rounding=rounding, reason=OF_TABLES),
    ]
