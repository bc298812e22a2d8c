"""What robustness is: three hypotheses of Hendrycks 2021, and the fourth of its conclusion, held against its tables.

Table 4 has no row for them; the verdicts stand in the text (Sections 5.2 and 6). The paper states no rules. Ours:

- **Texture Bias**: where diverse data augmentation, by which textures are changed, has evidence for it by the rule of
  `oodometer.published.hypotheses`, there is support.
- **Only IID Accuracy Matters**: then networks of the same clean result have the same shifted result. It is contradicted
  where two networks whose clean results differ by no more than `SAME_CLEAN` differ under the shift by more than
  `THRESHOLD` points, and not where there are such networks and none differs.
- **Synthetic does not imply Natural**: an augmentation that is no photograph, and takes more than `THRESHOLD` points
  off the error on a natural shift, is a counterexample.
- **Multivariate**: if one number governed robustness, no two networks would change places from one natural shift to the
  other. There is support if some do, by more than `THRESHOLD` points on both.

The rules were made with the tables at hand, like those of Table 4.
"""

from __future__ import annotations

from itertools import combinations, permutations
from typing import NamedTuple

from oodometer.published.checks import Check, Remark
from oodometer.published.hypotheses import ADDED, SHIFTS, THRESHOLD, evidence
from oodometer.published.many_faces_statements import PAPER, Tables
from oodometer.published.printed import statement
from oodometer.published.tables import Table

SAME_CLEAN = 0.2
"""Points by which the clean results of two networks may differ and count as the same; they are printed to 0.1."""
CLEAN_COLUMNS = {"imagenet_r": "imagenet_200_error", "dfr": "iid_map", "imagenet_c": "clean_error"}
"""What a network's clean result is, for the shifts about which the paper has a verdict."""
NATURAL = ("real_blurry_images", "imagenet_a", "imagenet_r", "dfr", "svsf")
HELPED = ("imagenet_r", "imagenet_c", "real_blurry_images")
"""Where larger models and diverse augmentation are said to help, in Section 6."""


class Pair(NamedTuple):
    """Two networks of about the same clean result, and by how many points the second is better under the shift."""

    worse: str
    better: str
    points: float


def checks(tables: Tables) -> list[Check]:
    """The verdicts of the text, each by its rule."""
    return [*_texture_bias(tables), *_only_iid(tables), *_synthetic(tables), *_multivariate(tables)]


def remarks(tables: Tables) -> list[Remark]:
    """What the tables can't show, and where the same rules say more than the paper."""
    found = evidence(tables)
    without = [shift for shift in NATURAL if found["diverse_data_augmentation", shift].sign == "-"]
    dfr = same_clean_pairs(tables, "dfr")
    return [
        Remark(
            PAPER,
            "Sections 5.2 and 6",
            "Texture Bias: no table has textures apart from all else that an augmentation changes; what is checked is "
            "that the augmentations help, not that they do by way of texture. Nor has Table 2 a larger model, which "
            "Section 6 says helps little for geographic shifts",
        ),
        Remark(
            PAPER,
            "Section 6",
            "Only IID Accuracy Matters: that clean accuracy is a strong predictor can't be seen from Table 7, whose "
            "networks were chosen to differ otherwise; on DeepFashion Remixed the verdict for it rests on "
            f"{len(dfr)} pairs of networks of the same clean mAP, of 9 networks",
        ),
        Remark(
            PAPER,
            "Section 6",
            "Synthetic ⇏ Natural: by the same rule the augmentations do not help on "
            f"{', '.join(without)}: natural shifts, too. The counterexamples contradict that synthetic robustness "
            "never helps, not that it seldom does",
        ),
    ]


def same_clean_pairs(tables: Tables, shift: str) -> list[Pair]:
    """Pairs of networks with the same clean result, those first that differ most under the shift."""
    table = tables[SHIFTS[shift].table]
    clean, loss = table.column(CLEAN_COLUMNS[shift]), SHIFTS[shift].shifted(table)
    pairs = []
    for a, b in combinations(range(len(table.models)), 2):
        if abs(clean[a] - clean[b]) <= SAME_CLEAN + 1e-9:
            worse, better = (a, b) if loss[a] >= loss[b] else (b, a)
            pairs.append(Pair(table.models[worse], table.models[better], float(loss[worse] - loss[better])))
    return sorted(pairs, key=lambda pair: -pair.points)


def _texture_bias(tables: Tables) -> list[Check]:
    found = evidence(tables)
    on = [
        Check(
            PAPER,
            f"Texture Bias on {shift}",
            "Section 5.2",
            "support",
            "support" if found["diverse_data_augmentation", shift].sign == "+" else "none",
            reason=f"support if augmentations take off more than {THRESHOLD} points: "
            f"{found['diverse_data_augmentation', shift]}",
        )
        for shift in ("imagenet_r", "imagenet_c")
    ]
    cells = [(hypothesis, shift) for hypothesis in ("larger_models", "diverse_data_augmentation") for shift in HELPED]
    not_on = [" on ".join(cell) for cell in cells if found[cell].sign != "+"]
    france = _points_off(tables["svsf"], "country_france")
    mean = sum(france.values()) / len(france)
    return [
        *on,
        statement(
            PAPER,
            f"larger models and diverse augmentation on {', '.join(HELPED)}",
            "Section 6",
            "help on all",
            otherwise=f"not {', '.join(not_on)}" if not_on else "",
        ),
        statement(
            PAPER,
            f"error in France that diverse augmentation takes off (mean {mean:.1f} points)",
            "Section 6",
            "little",
            otherwise="" if mean <= THRESHOLD else f"more than {THRESHOLD} points",
        ),
    ]


def _points_off(table: Table, column: str) -> dict[str, float]:
    """What each diverse augmentation takes off the error of ResNet-50, in points."""
    before = table.value("ResNet-50", column)
    added = ADDED["diverse_data_augmentation"]
    rows = {model: model.split(" + ")[1:] for model in table.models if model.startswith("ResNet-50 + ")}
    return {" + ".join(what): before - table.value(model, column) for model, what in rows.items() if set(what) <= added}


def _only_iid(tables: Tables) -> list[Check]:
    said = {"imagenet_r": "contradicted", "imagenet_c": "contradicted", "dfr": "not contradicted"}
    found = []
    for shift, words in said.items():
        pairs = same_clean_pairs(tables, shift)
        most = pairs[0] if pairs else Pair("", "", 0.0)
        apart = [pair for pair in pairs if pair.points > THRESHOLD]
        ours = "not shown: no two networks have the same clean result"
        if pairs:
            ours = "contradicted" if apart else "not contradicted"
        reason = (
            f"contradicted if networks of the same clean result differ by more than {THRESHOLD} points: {len(apart)} "
            f"of {len(pairs)} pairs do, most {most.worse} and {most.better}, by {most.points:.1f}"
        )
        what = f"Only IID Accuracy Matters on {shift}"
        found.append(Check(PAPER, what, "Section 5.2", words, ours, reason=reason))
    return found


def _synthetic(tables: Tables) -> list[Check]:
    columns = {"imagenet_r": "imagenet_r_error", "real_blurry_images": "real_blurry_images_error"}
    off = {shift: _points_off(tables[SHIFTS[shift].table], column) for shift, column in columns.items()}
    found = []
    for shift, points in off.items():
        helping = [f"{name} {value:+.1f}" for name, value in points.items() if value > THRESHOLD]
        by = ", ".join(helping) or "nothing"
        found.append(
            Check(
                PAPER,
                f"Synthetic ⇏ Natural on {shift}",
                "Section 5.2",
                "contradicted",
                "contradicted" if helping else "not contradicted",
                reason=f"contradicted by what takes more than {THRESHOLD} points off: {by}",
            )
        )
    alone = [points["DeepAugment"] for points in off.values()]
    return [
        *found,
        statement(
            PAPER,
            f"error that DeepAugment takes off on {' and '.join(off)} ({alone[0]:.1f} and {alone[1]:.1f} points)",
            "Section 6",
            "much",
            otherwise="" if min(alone) > THRESHOLD else f"not more than {THRESHOLD} points",
        ),
    ]


def _multivariate(tables: Tables) -> list[Check]:
    found = evidence(tables)
    missing_somewhere = {hypothesis for (hypothesis, _), seen in found.items() if seen.sign != "+"}
    everywhere = [name for name in ("larger_models", *ADDED) if name not in missing_somewhere]
    swaps = places_changed(tables)
    return [
        statement(
            PAPER,
            "method that helps across all distribution shifts, of 4",
            "Section 6",
            "none",
            otherwise=", ".join(everywhere),
        ),
        Check(
            PAPER,
            "Multivariate: one number does not govern natural robustness",
            "Section 6",
            "support",
            "support" if swaps else "none",
            reason="support if networks change places from one natural shift to another, by more than "
            f"{THRESHOLD} points on both: {len(swaps)} pairs do{f', most: {swaps[0]}' if swaps else ''}",
        ),
    ]


class Swap(NamedTuple):
    """Two networks of which the first is better on one natural shift and the second on another, by so many points."""

    first: str
    second: str
    here: str
    there: str
    points_here: float
    points_there: float

    def __str__(self) -> str:
        better = f"{self.first} is better than {self.second} on {self.here} by {self.points_here:.1f}"
        return f"{better}, worse on {self.there} by {self.points_there:.1f}"


def places_changed(tables: Tables) -> list[Swap]:
    """Every pair of networks and of natural shifts between which they change places, the clearest first."""
    losses = {}
    for shift in NATURAL:
        table = tables[SHIFTS[shift].table]
        losses[shift] = dict(zip(table.models, SHIFTS[shift].shifted(table).tolist(), strict=True))
    found = []
    for here, there in combinations(NATURAL, 2):
        both = [model for model in losses[here] if model in losses[there]]
        for first, second in permutations(both, 2):
            better = losses[here][second] - losses[here][first]
            worse = losses[there][first] - losses[there][second]
            if min(better, worse) > THRESHOLD:
                found.append(Swap(first, second, here, there, better, worse))
    return sorted(found, key=lambda swap: -min(swap.points_here, swap.points_there))
