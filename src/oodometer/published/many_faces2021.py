"""Hendrycks et al. 2021, The Many Faces of Robustness: its means, gaps and verdicts, from its own tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from oodometer.metrics.corruption_error import COMMON
from oodometer.published import nature_of_robustness
from oodometer.published.checks import Check, Remark, Reproduction
from oodometer.published.hendrycks2019 import error_rounding, errors_from_ce
from oodometer.published.hypotheses import (
    DFR_SHIFTS,
    SHIFTS,
    THRESHOLD,
    evidence,
    printed_signs,
    same_signs_between,
)
from oodometer.published.many_faces_statements import PAPER, Tables, by_model, gaps_of, method, statements
from oodometer.published.printed import (
    PrintedMean,
    cells_of,
    clean_error_checks,
    mean_check,
    rows_off_their_mean,
)
from oodometer.published.tables import Table, read_table
from oodometer.stats.correlation import spearman
from oodometer.stats.intervals import clopper_pearson

TITLE = "The Many Faces of Robustness: A Critical Analysis of Out-of-Distribution Generalization"

NAMES = ("imagenet_r", "imagenet_r_gap", "dfr", "svsf", "real_blur", "imagenet_c_ce", "imagenet_a", "hypotheses")

BLURS = ("defocus_blur", "glass_blur", "motion_blur", "zoom_blur")
MEANS = {
    "dfr": PrintedMean("mean OOD mAP", "Table 3", "ood_mean_map", DFR_SHIFTS, cell_unit=0.1, unit=0.1),
    "real_blur": PrintedMean(
        "mean error under the four blurs of ImageNet-C",
        "Table 5",
        "blur_mean_error",
        tuple(f"{blur}_error" for blur in BLURS),
        cell_unit=1,
        unit=1,
    ),
    "imagenet_c_ce": PrintedMean("mCE", "Table 8", "mean", COMMON, cell_unit=1, unit=0.1),
}
GAP_ALLOWED, GAP_REASON = 0.15, "both errors and the gap are rounded to 0.1: 0.15 at worst"

CELLS_ARE_NOT_ERRORS = {"real_blur": {"ResNet-152"}}
"""Rows that are known to be at odds with the rest of the tables: counted as such, and remarked on."""
VERDICTS_DIFFER = {("pretraining", "imagenet_r")}
"""Cells of Table 4 in which the rule is known to give another sign: counted as such, and remarked on."""

N_BLURRY = 1_000
"""Images in the set of real blurry ones (Section 5.2)."""
WSL_IMPROVEMENT = 37.5
"""Points that pretraining on Instagram takes off the error on ImageNet-R, says Appendix B."""
DFR_TRAINED_ON = ("size_medium", "occlusion_medium", "viewpoint_side_back", "zoom_none")
"""What the training images of DeepFashion Remixed are like, says Section 3.3."""
DFR_TEST_IMAGES = (42_640, 7_440, 28_160, 10_360, 480, 11_040, 10_520, 10_640)
"""Of the test set like the training images and of those of the eight shifts, says Table 11."""
SVSF_SHIFT_IMAGES, N_SVSF = (10_000, 10_000, 8_195, 9_788), 10_000
"""Of the four shifts of StreetView StoreFronts: in Table 11, and of each in Section 3.2."""
NAMES_IN_RECHT = {"ResNet-50": "resnet50", "ResNet-50 + SE": "se_resnet50", "ResNet-152": "resnet152"}


def reproduce() -> Reproduction:
    """All that follows from the tables of the paper, and what in them does not fit together."""
    tables = {name: read_table(f"hendrycks2021_{name}") for name in NAMES}
    before = read_table("hendrycks2019_imagenet_c_ce")
    checks = (
        *_gap_checks(tables),
        *_mean_checks(tables),
        *_blur_from_ce(tables),
        *_other_papers(tables["imagenet_c_ce"], before, read_table("recht2019_imagenet")),
        *statements(tables),
        *_verdicts(tables),
        *nature_of_robustness.checks(tables),
    )
    remarks = (
        *inconsistencies(tables, before),
        *_within_the_noise(tables["real_blur"]),
        *_remarks_on_verdicts(tables),
        *nature_of_robustness.remarks(tables),
    )
    return Reproduction(PAPER, TITLE, checks, remarks)


def _gap_checks(tables: Tables) -> list[Check]:
    printed, ours = tables["imagenet_r_gap"], gaps_of(tables["imagenet_r"])
    return [
        Check(PAPER, f"gap of {model}", "Tables 1 and 7", printed.value(model, "gap"), gap, GAP_ALLOWED, GAP_REASON)
        for model, gap in ours.items()
    ]


def _mean_checks(tables: Tables) -> list[Check]:
    return [
        replace(mean_check(PAPER, mean, tables[name], model), known=_known(name, model))
        for name, mean in MEANS.items()
        for model in tables[name].models
    ]


def _known(name: str, model: str) -> str:
    """Why a row does not agree, where it is known not to."""
    return "known: its cells are at odds with the rest" if model in CELLS_ARE_NOT_ERRORS.get(name, set()) else ""


def _blur_errors(tables: Tables) -> np.ndarray:
    """The errors under the four blurs that the CE of Table 8 stand for, in percent; rows of Table 5, (10, 4)."""
    ce = tables["imagenet_c_ce"]
    rows = [ce.row(model) for model in tables["real_blur"].models]
    return np.asarray(100 * errors_from_ce(ce)[np.ix_(rows, _blur_places())][..., 0])


def _blur_places() -> list[int]:
    return [COMMON.index(blur) for blur in BLURS]


def _blur_allowed() -> np.ndarray:
    """By how much an error of Table 5 may differ from that of a CE of Table 8, both printed to 1, (4,)."""
    return np.asarray(100 * error_rounding()[_blur_places()] + 0.5)


def _blur_from_ce(tables: Tables) -> list[Check]:
    """Table 5 from Table 8: the errors under blur are CE times AlexNet's errors."""
    table, ours, allowed = tables["real_blur"], _blur_errors(tables), _blur_allowed()
    within = np.abs(ours - cells_of(MEANS["real_blur"], table)) <= allowed
    limit = float(allowed.mean())
    reason = f"CE and mean are rounded to 1: {limit:.2f} at worst"
    checks = []
    for row, model in enumerate(table.models):
        what = f"mean error of {model} under the four blurs, from its CE and AlexNet's errors"
        published = table.value(model, "blur_mean_error")
        checks.append(Check(PAPER, what, "Tables 5 and 8", published, float(ours[row].mean()), limit, reason))
        what, n_within = f"errors of {model} under blur that agree with its CE, of 4", int(within[row].sum())
        why, known = f"error and CE are rounded to 1: {allowed.max():.2f} at worst", _known("real_blur", model)
        checks.append(Check(PAPER, what, "Tables 5 and 8", len(BLURS), n_within, 0, why, known=known))
    return checks


def _other_papers(ce: Table, before: Table, recht: Table) -> list[Check]:
    """Rows that other papers have as well."""
    shared = [model for model in ce.models if model in before.models]
    same = [
        Check(
            PAPER,
            f"values of {model} that are those of Hendrycks 2019, of {len(ce.columns)}",
            "Table 8",
            len(ce.columns),
            sum(ce.value(model, column) == before.value(model, column) for column in ce.columns),
            0,
            "the same network, so the same numbers",
        )
        for model in shared
    ]
    return [*same, *clean_error_checks(PAPER, "Table 8", ce, recht, NAMES_IN_RECHT)]


def _verdicts(tables: Tables) -> list[Check]:
    """The cells of the table of hypotheses; the rule stands in `oodometer.published.hypotheses`."""
    found = evidence(tables)
    return [
        Check(
            PAPER,
            f"{hypothesis} on {shift}",
            SHIFTS[shift].where,
            sign,
            found[hypothesis, shift].sign,
            0,
            f"+ above {THRESHOLD} points: {found[hypothesis, shift]}",
            known="known: by our rule it has the other sign" if (hypothesis, shift) in VERDICTS_DIFFER else "",
        )
        for (hypothesis, shift), sign in printed_signs(tables["hypotheses"]).items()
    ]


def _remarks_on_verdicts(tables: Tables) -> list[Remark]:
    """How far the rule goes with the paper, cell by cell where it does not, and what hangs on its two choices."""
    printed, found = printed_signs(tables["hypotheses"]), evidence(tables)
    differ = [cell for cell, sign in printed.items() if found[cell].sign != sign]
    low, high = same_signs_between(found)
    summary = (
        f"by our rule (mean improvement of matched pairs above {THRESHOLD} points) {len(printed) - len(differ)} of "
        f"{len(printed)} cells have the sign of the paper, as with any threshold between {low:.2f} and {high:.2f}"
    )
    remarks = [
        Remark(
            PAPER,
            SHIFTS[cell[1]].where,
            f"{' on '.join(cell)}: {printed[cell]} in the paper, by our rule {found[cell].sign}: {found[cell]}",
        )
        for cell in differ
    ]
    return [Remark(PAPER, "Tables 4 and 6", summary), *remarks, _without_gaps(tables, printed)]


def _without_gaps(tables: Tables, printed: Mapping[tuple[str, str], str]) -> Remark:
    """What the verdicts would be if the shifted results counted everywhere, without the clean ones."""
    plain = {name: replace(shift, clean=None) for name, shift in SHIFTS.items()}
    found = evidence(tables, plain)
    differ = [f"{cell[0]} on {cell[1]}" for cell, sign in printed.items() if found[cell].sign != sign]
    text = (
        f"if the shifted results counted instead of the gaps, {len(printed) - len(differ)} of {len(printed)} cells "
        f"would have the sign of the paper; not: {', '.join(differ)}"
    )
    return Remark(PAPER, "Tables 4 and 6", text)


def inconsistencies(tables: Tables, before: Table) -> list[Remark]:
    """What in the tables can't be, however it was rounded, found by going through all their rows."""
    return [
        *_means_off(tables),
        *_gaps_off(tables),
        *_blurs_off(tables),
        *_rows_that_changed(tables["imagenet_c_ce"], before),
        *_ranks_off(tables["real_blur"]),
        *_text_off(tables["imagenet_r"]),
        *_sets_off(tables["dfr"]),
    ]


def _means_off(tables: Tables) -> list[Remark]:
    remarks = []
    for name, mean in MEANS.items():
        for model in rows_off_their_mean(mean, tables[name]):
            check = mean_check(PAPER, mean, tables[name], model)
            text = f"{check.what} is printed as {check.published:g}, but the mean of its cells is {check.ours:g}"
            remarks.append(Remark(PAPER, mean.where, text))
    return remarks


def _gaps_off(tables: Tables) -> list[Remark]:
    return [
        Remark(
            PAPER, check.where, f"{check.what} is printed as {check.published:g}, but its errors give {check.ours:.1f}"
        )
        for check in _gap_checks(tables)
        if not check.holds
    ]


def _blurs_off(tables: Tables) -> list[Remark]:
    """Rows of Table 5 that are no errors of the networks whose CE Table 8 has."""
    table, ours = tables["real_blur"], _blur_errors(tables)
    printed = cells_of(MEANS["real_blur"], table)
    off = (np.abs(ours - printed) > _blur_allowed()).any(axis=1)
    remarks = []
    for row in np.flatnonzero(off):
        model = table.models[row]
        ce = [tables["imagenet_c_ce"].value(model, blur) for blur in BLURS]
        same = "; they are its CE, not its errors" if ce == printed[row].tolist() else ""
        text = (
            f"errors of {model} under the four blurs are printed as {_listed(printed[row])}, but its CE in Table 8 "
            f"stand for {_listed(ours[row])}, with a mean of {ours[row].mean():.0f}{same}"
        )
        remarks.append(Remark(PAPER, "Table 5", text))
    return remarks


def _listed(values: np.ndarray) -> str:
    return ", ".join(f"{value:.0f}" for value in values)


def _rows_that_changed(ce: Table, before: Table) -> list[Remark]:
    """Networks whose values differ from those in the paper of 2019."""
    return [
        Remark(PAPER, "Table 8", f"{column} of {model} is {ce.value(model, column):g}, in 2019 {theirs:g}")
        for model in ce.models
        if model in before.models
        for column in ce.columns
        if ce.value(model, column) != (theirs := before.value(model, column))
    ]


def _ranks_off(blur: Table) -> list[Remark]:
    """What the rank correlation would be with the means of the cells, where these are not the printed means."""
    if not rows_off_their_mean(MEANS["real_blur"], blur):
        return []
    real = blur.column("real_blurry_images_error")
    printed, cells = blur.column("blur_mean_error"), cells_of(MEANS["real_blur"], blur).mean(axis=1)
    rho, from_cells = (spearman(synthetic, real).value for synthetic in (printed, cells))
    text = (
        f"Spearman's correlation of synthetic and real blur is {rho:.2f} with the printed means, {from_cells:.2f} with"
    )
    return [Remark(PAPER, "Table 5", f"{text} those of the printed cells")]


def _text_off(table: Table) -> list[Remark]:
    """A difference in the text that its own two numbers do not have."""
    names = ("ResNeXt-101 32x8d", "ResNeXt-101 32x8d + WSL Pretraining")
    without, pretrained = (table.value(name, "imagenet_r_error") for name in names)
    if abs(without - pretrained - WSL_IMPROVEMENT) <= GAP_ALLOWED:
        return []
    text = (
        f"WSL pretraining is said to improve the error on ImageNet-R by {WSL_IMPROVEMENT} %, from {without} to "
        f"{pretrained}: that is {without - pretrained:.1f} points, or {100 * (1 - pretrained / without):.1f} % of it"
    )
    return [Remark(PAPER, "Appendix B", text)]


def _sets_off(dfr: Table) -> list[Remark]:
    """Test sets that are described in two ways."""
    same = [shift for shift in DFR_SHIFTS if shift in dfr.columns and shift in DFR_TRAINED_ON]
    remarks = [
        Remark(
            PAPER, "Section 3.3, Table 3", f"DeepFashion Remixed has {shift} among its shifts, and in its training set"
        )
        for shift in same
    ]
    if len(DFR_TEST_IMAGES) != 1 + len(DFR_SHIFTS):
        text = f"{len(DFR_TEST_IMAGES)} sizes of the {1 + len(DFR_SHIFTS)} test sets of DeepFashion Remixed"
        remarks.append(Remark(PAPER, "Table 11", text))
    fewer = [f"{n:,}" for n in SVSF_SHIFT_IMAGES if n != N_SVSF]
    if fewer:
        said = f"each shifted set of StreetView StoreFronts is said to have {N_SVSF:,} images"
        text = f"{said}; some have {', '.join(fewer)}"
        remarks.append(Remark(PAPER, "Section 3.2, Table 11", text))
    return remarks


def _within_the_noise(blur: Table) -> list[Remark]:
    """Networks whose error on the few real blurry images lies in the interval of the baseline's."""
    real = by_model(blur, "real_blurry_images_error")
    wrong = round(real.pop("ResNet-50") / 100 * N_BLURRY)
    low, high = (100 * bound for bound in clopper_pearson(wrong, N_BLURRY, 0.95))
    inside = [f"{method(name)} {error}" for name, error in real.items() if low <= error <= high]
    text = (
        f"on {N_BLURRY:,} real blurry images the error of ResNet-50 has a 95 % interval of {low:.1f} to {high:.1f}, in "
        f"which lie: {', '.join(inside)}; on the same images less may count, but that takes their answers"
    )
    return [Remark(PAPER, "Table 5", text)] if inside else []
