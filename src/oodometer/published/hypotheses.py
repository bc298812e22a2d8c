"""Four hypotheses about robustness, judged on six shifts by one rule (Hendrycks 2021, Tables 4 and 6).

The rule. On each shift, take every pair of rows of its table that differ in the hypothesis alone: the same network with
and without self-attention, diverse data augmentation or pretraining; two sizes of one family of networks. The
improvement of a pair is counted in points of what the paper reports for the shift: the gap between the clean and the
shifted result where its table has both in the same unit (ImageNet-R, DeepFashion Remixed, StreetView StoreFronts), and
the shifted result itself elsewhere (ImageNet-C, real blurry images, ImageNet-A). There is evidence for the hypothesis
("+") if the mean improvement of the pairs is above `THRESHOLD`, and none ("-") otherwise.

The paper states no rule; this one was made with its tables at hand, so that its agreement with the paper is no test of
either. What the threshold and the gap decide is said where the verdicts are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from oodometer.catalogue.hypotheses import threshold
from oodometer.core.errors import DataError
from oodometer.published.tables import Table

THRESHOLD = 100 * threshold()
"""Points: 1.5. The paper's own words lie on both sides of it: pretraining "hardly helps" where it takes 1.1 points off
the error on ImageNet-R, and self-attention helps on real blurry images, where it takes off 2.2."""

ADDED = {
    "self_attention": {"SE", "CBAM"},
    "diverse_data_augmentation": {"Style Transfer", "AugMix", "DeepAugment"},
    "pretraining": {"ImageNet-21K Pretraining", "WSL Pretraining"},
}
"""What a network has when it has the property (Section 5.1); noise and adversarial training are no diverse data."""

FAMILIES = (
    ("ResNet-50", "ResNet-101", "ResNet-152"),
    ("Res2Net-50 v1b", "Res2Net-152 v1b"),
    ("ResNeXt-101 32x4d", "ResNeXt-101 32x8d"),
)
"""Networks that differ in size alone, from small to large."""

OCCLUSION = ("occlusion_slight", "occlusion_heavy")
DFR_SHIFTS = (
    *("size_small", "size_large"),
    *OCCLUSION,
    *("viewpoint_not_worn", "viewpoint_side_back"),
    *("zoom_medium", "zoom_large"),
)
SVSF_SHIFTS = ("camera_old", "year_2017", "year_2018", "country_france")


@dataclass(frozen=True)
class Shift:
    """One column of the table of hypotheses.

    Args:
        table: Where its results stand, without ``hendrycks2021_``.
        where: The paper's table of hypotheses that has it.
        statistic: What the shifted result is.
        shifted: The shifted result per row, in points; lower is better.
        clean: The clean result in the same unit, where the table has it; then the gap counts.
    """

    table: str
    where: str
    statistic: str
    shifted: Callable[[Table], np.ndarray]
    clean: Callable[[Table], np.ndarray] | None = None

    def loss(self, table: Table) -> np.ndarray:
        """What the rule counts, per row, in points; lower is better."""
        return self.shifted(table) - self.clean(table) if self.clean else self.shifted(table)

    @property
    def counted(self) -> str:
        """The name of what the rule counts."""
        return f"gap in {self.statistic}" if self.clean else self.statistic


def mean_of(table: Table, columns: tuple[str, ...]) -> np.ndarray:
    """The mean of some columns, (rows,)."""
    return np.asarray(np.mean([table.column(name) for name in columns], axis=0))


SHIFTS = {
    "imagenet_c": Shift("imagenet_c_ce", "Table 4", "mCE", lambda t: t.column("mean")),
    "real_blurry_images": Shift("real_blur", "Table 4", "error", lambda t: t.column("real_blurry_images_error")),
    "imagenet_a": Shift("imagenet_a", "Table 6", "accuracy", lambda t: -t.column("imagenet_a_top1_accuracy")),
    "imagenet_r": Shift(
        "imagenet_r",
        "Table 4",
        "error",
        lambda t: t.column("imagenet_r_error"),
        lambda t: t.column("imagenet_200_error"),
    ),
    "dfr": Shift("dfr", "Table 4", "mAP", lambda t: -mean_of(t, DFR_SHIFTS), lambda t: -t.column("iid_map")),
    "svsf": Shift("svsf", "Table 4", "error", lambda t: mean_of(t, SVSF_SHIFTS), lambda t: t.column("iid_error")),
}


@dataclass(frozen=True)
class Evidence:
    """What the pairs of one shift say about one hypothesis.

    Args:
        hypothesis: ``larger_models``, ``pretraining``...
        shift: ``imagenet_c``, ``dfr``...
        improvements: By pair (without, with), in points.
    """

    hypothesis: str
    shift: str
    improvements: Mapping[tuple[str, str], float]

    @property
    def mean(self) -> float:
        """The mean improvement in points."""
        return float(np.mean(list(self.improvements.values())))

    @property
    def sign(self) -> str:
        """The rule's verdict."""
        return "+" if self.mean > THRESHOLD else "-"

    def __str__(self) -> str:
        pairs = ", ".join(f"{a} → {b} {value:+.1f}" for (a, b), value in self.improvements.items())
        return f"{SHIFTS[self.shift].counted} improves by {self.mean:.1f} points on average ({pairs})"


def pairs_of(hypothesis: str, models: tuple[str, ...]) -> list[tuple[str, str]]:
    """The pairs of rows that differ in the hypothesis alone: (without, with), or (smallest of its family, larger).

    >>> pairs_of("self_attention", ("ResNet-50", "ResNet-50 + SE", "ResNet-50 + AugMix", "ResNet-101 + SE"))
    [('ResNet-50', 'ResNet-50 + SE')]
    >>> pairs_of("larger_models", ("ResNet-50", "ResNet-50 + SE", "ResNet-101", "ResNet-152"))
    [('ResNet-50', 'ResNet-101'), ('ResNet-50', 'ResNet-152')]
    """
    found = [(_without(hypothesis, model, models), model) for model in models]
    return [(before, after) for before, after in found if before is not None]


def _without(hypothesis: str, model: str, models: tuple[str, ...]) -> str | None:
    """The row to compare a model with, or None where the model does not have the property or the row is missing."""
    network, *added = model.split(" + ")
    if hypothesis == "larger_models":
        family = next((family for family in FAMILIES if network in family), ())
        same = [" + ".join([smaller, *added]) for smaller in family[: family.index(network)]] if family else []
        return next((name for name in same if name in models), None)
    has_it = bool(added) and set(added) <= ADDED[hypothesis]
    return network if has_it and network in models else None


def evidence(tables: Mapping[str, Table], shifts: Mapping[str, Shift] = SHIFTS) -> dict[tuple[str, str], Evidence]:
    """The evidence by (hypothesis, shift), wherever the tables have a pair; tables by name without the year."""
    found = {}
    for shift, about in shifts.items():
        table = tables[about.table]
        loss = dict(zip(table.models, about.loss(table), strict=True))
        for hypothesis in ("larger_models", *ADDED):
            pairs = pairs_of(hypothesis, table.models)
            improvements = {(before, after): float(loss[before] - loss[after]) for before, after in pairs}
            if improvements:
                found[hypothesis, shift] = Evidence(hypothesis, shift, improvements)
    return found


def printed_signs(table: Table) -> dict[tuple[str, str], str]:
    """The paper's verdicts by (hypothesis, shift), without the empty cells."""
    cells = {
        (hypothesis, shift): str(sign)
        for shift in SHIFTS
        for hypothesis, sign in zip(table.models, table.column(shift), strict=True)
        if sign
    }
    if not set(cells.values()) <= {"+", "-"}:
        raise DataError(f"{table.name}: every cell must be +, - or empty")
    return cells


def same_signs_between(found: Mapping[tuple[str, str], Evidence]) -> tuple[float, float]:
    """The thresholds, from and up to, between which no verdict would change."""
    means = np.array([each.mean for each in found.values()])
    return float(means[means <= THRESHOLD].max()), float(means[means > THRESHOLD].min())
