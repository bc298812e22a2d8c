"""What the text of Hendrycks et al. 2021, The Many Faces of Robustness, says in words, held against its tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from oodometer.metrics.corruption_error import mean_error
from oodometer.published.checks import Check
from oodometer.published.hendrycks2019 import error_rounding, errors_from_ce
from oodometer.published.hypotheses import DFR_SHIFTS, OCCLUSION, SHIFTS, SVSF_SHIFTS, THRESHOLD, mean_of, pairs_of
from oodometer.published.printed import statement
from oodometer.published.tables import Table
from oodometer.stats.correlation import kendall, spearman

PAPER = "many_faces2021"

Tables = Mapping[str, Table]
"""The tables of the paper, by name without ``hendrycks2021_``."""

BEST = "ResNet-50 + DeepAugment + AugMix"
ON_CLEAN_IMAGES = {"AugMix": "improved", "DeepAugment": "improved", "Style Transfer": "hurt"}
"""What they are said to do to the error on ImageNet-200, in Section 5.2."""
ATTRIBUTES = ("size", "occlusion", "viewpoint", "zoom")


def statements(tables: Tables) -> list[Check]:
    """All that the text says and a table can show."""
    return [
        *_about_imagenet_r(tables["imagenet_r"]),
        *_about_fashion_and_storefronts(tables["dfr"], tables["svsf"]),
        *_about_corruptions(tables["imagenet_c_ce"], tables["real_blur"]),
        *(_res2net(tables["imagenet_a"], depth) for depth in (50, 152)),
    ]


def by_model(table: Table, column: str) -> dict[str, float]:
    """One column, by model."""
    return dict(zip(table.models, table.column(column).tolist(), strict=True))


def method(model: str) -> str:
    """What was added to the baseline, or the network where it is another.

    >>> method("ResNet-50 + Style Transfer"), method("ResNet-152")
    ('Style Transfer', 'ResNet-152')
    """
    return model.removeprefix("ResNet-50 + ")


def gaps_of(table: Table) -> dict[str, float]:
    """Error on ImageNet-R minus error on ImageNet-200, by model."""
    return dict(zip(table.models, SHIFTS["imagenet_r"].loss(table).tolist(), strict=True))


def _about_imagenet_r(table: Table) -> list[Check]:
    error, gaps = by_model(table, "imagenet_r_error"), gaps_of(table)
    gain = error["ResNet-50"] - error[BEST]
    alone = {method(name): error[name] for name in error if name.startswith("ResNet-50 +") and name.count("+") == 1}
    attention = pairs_of("self_attention", table.models)
    narrower = [after for before, after in attention if gaps[after] <= gaps[before]]
    no_better = [name for name in ON_CLEAN_IMAGES if alone[name] >= alone["Speckle Noise"]]
    return [
        statement(
            PAPER,
            f"error on ImageNet-R that DeepAugment + AugMix takes off ({gain:.1f} points)",
            "Table 1, caption",
            "over 10 points",
            otherwise="" if gain > 10 else f"{gain:.1f} points",
        ),
        Check(
            PAPER, "best method alone on ImageNet-R", "Section 5.2", "DeepAugment", min(alone, key=lambda n: alone[n])
        ),
        statement(
            PAPER,
            f"error on ImageNet-R with {', '.join(ON_CLEAN_IMAGES)}, against speckle noise ({alone['Speckle Noise']})",
            "Section 5.2",
            "improved",
            otherwise=f"not with {', '.join(no_better)}" if no_better else "",
        ),
        statement(
            PAPER,
            f"gap on ImageNet-R with self-attention, in {len(attention)} pairs of networks",
            "Section 5.2, Table 7",
            "increases",
            otherwise=f"not for {', '.join(narrower)}" if narrower else "",
        ),
        statement(
            PAPER,
            f"gap on ImageNet-R, ResNet-50 → ResNet-152 ({gaps['ResNet-50']:.1f} → {gaps['ResNet-152']:.1f})",
            "Section 5.2",
            "reduced",
            otherwise="" if gaps["ResNet-152"] < gaps["ResNet-50"] else "not reduced",
        ),
        *(_on_clean_images(table, name, words) for name, words in ON_CLEAN_IMAGES.items()),
    ]


def _on_clean_images(table: Table, method: str, words: str) -> Check:
    before, after = (table.value(f"ResNet-50{added}", "imagenet_200_error") for added in ("", f" + {method}"))
    what = f"error on ImageNet-200 with {method} ({before:.1f} → {after:.1f})"
    return Check(PAPER, what, "Section 5.2", words, "improved" if after < before else "hurt")


def _about_fashion_and_storefronts(dfr: Table, svsf: Table) -> list[Check]:
    ratios = svsf.column("country_france") / svsf.column("iid_error")
    return [
        *(
            Check(
                PAPER,
                f"error of {model} in France by its error at home",
                "Section 5.2",
                2,
                ratio,
                0.1,
                '"roughly double across the board": to a tenth',
            )
            for model, ratio in zip(svsf.models, ratios.tolist(), strict=True)
        ),
        _camera_and_year(svsf),
        _gap_in_fashion(dfr),
        _worst_attributes(dfr),
        _tracking(dfr),
        _occlusion(dfr),
    ]


def _camera_and_year(svsf: Table) -> Check:
    shifts = [name for name in SVSF_SHIFTS if name != "country_france"]
    added = np.stack([svsf.column(name) - svsf.column("iid_error") for name in shifts])
    return statement(
        PAPER,
        f"error that another camera or year adds (at most {added.max():.1f} points)",
        "Table 2, caption",
        "networks are robust",
        otherwise="" if added.max() <= THRESHOLD else f"more than {THRESHOLD} points",
    )


def _gap_in_fashion(dfr: Table) -> Check:
    gaps = SHIFTS["dfr"].loss(dfr)
    closed = gaps[dfr.row("ResNet-50")] - gaps
    return statement(
        PAPER,
        f"gap on DeepFashion Remixed that {len(gaps) - 1} techniques close (at most {closed.max():.1f} points)",
        "Table 3, caption",
        "little",
        otherwise="" if closed.max() <= THRESHOLD else f"more than {THRESHOLD} points",
    )


def _worst_attributes(dfr: Table) -> Check:
    shifts = {name: tuple(shift for shift in DFR_SHIFTS if shift.startswith(name)) for name in ATTRIBUTES}
    means = {name: float(mean_of(dfr, columns).mean()) for name, columns in shifts.items()}
    worst = sorted(sorted(means, key=lambda name: means[name])[:2])
    shown = ", ".join(f"{name} {value:.1f}" for name, value in means.items())
    what = f"shifts of DeepFashion Remixed that hurt most (mean mAP: {shown})"
    return Check(PAPER, what, "Section 5.2", "occlusion and size", " and ".join(worst))


def _tracking(dfr: Table) -> Check:
    base, ood, iid = dfr.row("ResNet-50"), mean_of(dfr, DFR_SHIFTS), dfr.column("iid_map")
    better, both = ood > ood[base], (ood > ood[base]) & (iid > iid[base])
    return statement(
        PAPER,
        f"OOD mAP increases that come with an IID mAP increase ({both.sum()} of {better.sum()})",
        "Section 5.2",
        "most",
        otherwise="" if 2 * both.sum() > better.sum() else "not most",
    )


def _occlusion(dfr: Table) -> Check:
    means = dict(zip(dfr.models, mean_of(dfr, OCCLUSION).tolist(), strict=True))
    base, erasure, style = (means[f"ResNet-50{added}"] for added in ("", " + Random Erasure", " + Style Transfer"))
    return statement(
        PAPER,
        f"mAP under occlusion: {base:.1f}, with random erasure {erasure:.1f}, with style transfer {style:.1f}",
        "Section 5.2",
        "erasure helps, style transfer more",
        otherwise="" if base < erasure < style else "not in this order",
    )


def _about_corruptions(ce: Table, blur: Table) -> list[Check]:
    gain = ce.value("ResNet-50", "mean") - ce.value(BEST, "mean")
    large = "ResNeXt-101 32x8d"
    ours, theirs = (ce.value(f"{large} + {added}", "mean") for added in ("DeepAugment + AugMix", "WSL Pretraining"))
    contrast = ce.value("ResNet-50 + Linf Adversarial Training", "contrast")
    lowest = blur.models[int(np.argmin(blur.column("real_blurry_images_error")))]
    return [
        _accuracy_gain(ce),
        statement(
            PAPER,
            f"mCE that DeepAugment + AugMix takes off ({gain:.1f})",
            "Table 8, caption",
            "over 23",
            otherwise="" if gain > 23 else f"{gain:.1f}",
        ),
        statement(
            PAPER,
            f"mCE of {large} with DeepAugment + AugMix ({ours}) and with 1000 times the labels ({theirs})",
            "Section 5.2",
            "better than with the labels",
            otherwise="" if ours < theirs else "worse",
        ),
        statement(
            PAPER,
            f"CE of adversarial training under contrast ({contrast:g})",
            "Table 8, caption",
            "greater than 100",
            otherwise="" if contrast > 100 else "not greater",
        ),
        Check(PAPER, "lowest error on real blurry images", "Section 5.2", method(BEST), method(lowest)),
        _helps_on_both(ce, blur),
        _rank_check(blur),
    ]


def _res2net(on_a: Table, depth: int) -> Check:
    names = (f"ResNet-{depth}", f"Res2Net-{depth} v1b")
    before, after = (on_a.value(name, "imagenet_a_top1_accuracy") for name in names)
    return statement(
        PAPER,
        f"accuracy on ImageNet-A, {names[0]} → {names[1]} ({before} → {after})",
        "Appendix B, Table 9",
        "greatly improved",
        # Not less than doubled.
        otherwise="" if after > 2 * before else f"{after - before:+.1f} points",
    )


def _accuracy_gain(ce: Table) -> Check:
    """The gain in plain accuracy, which no table prints, from CE and AlexNet's errors."""
    errors = 100 * mean_error(errors_from_ce(ce))
    gain = float(errors[ce.row("ResNet-50")] - errors[ce.row(BEST)])
    rounding = 2 * 100 * float(error_rounding().mean())
    reason = f"printed to 1 (0.5), from CE that are rounded to 1 ({rounding:.2f} at worst)"
    what = "accuracy on ImageNet-C that DeepAugment + AugMix adds, from CE and AlexNet's errors"
    return Check(PAPER, what, "Figure 4", 19, gain, 0.5 + rounding, reason)


def _helps_on_both(ce: Table, blur: Table) -> Check:
    real = by_model(blur, "real_blurry_images_error")
    mce = {model: ce.value(model, "mean") for model in real}
    helping = [model for model in real if mce[model] < mce["ResNet-50"]]
    not_both = [method(model) for model in helping if real[model] >= real["ResNet-50"]]
    return statement(
        PAPER,
        f"interventions that help on ImageNet-C and also on real blurry images, of {len(helping)}",
        "Section 5.2, Table 5",
        "all",
        otherwise=f"not {', '.join(not_both)}" if not_both else "",
    )


def _rank_check(blur: Table) -> Check:
    columns = blur.column("blur_mean_error"), blur.column("real_blurry_images_error")
    rho, tau = spearman(*columns), kendall(*columns)
    similar = all(one.low is not None and one.low > 0 for one in (rho, tau))
    return statement(
        PAPER,
        f"rank orders under synthetic and real blur (Spearman {rho}; Kendall {tau})",
        "Table 5, caption",
        "similar",
        otherwise="" if similar else "perhaps unrelated: an interval holds 0",
    )
