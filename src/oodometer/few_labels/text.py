"""What few labels tell, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oodometer.analysis.text import columns, plural
from oodometer.core.estimate import Estimate
from oodometer.few_labels.label_table import NEYMAN, UNIFORM

if TYPE_CHECKING:
    from oodometer.few_labels.estimate import FewLabelEstimates, ModelFromFew
    from oodometer.stats.prediction_powered import FromFewLabels

CHOSEN = {
    NEYMAN: "chosen more often where the models disagree",
    UNIFORM: "chosen at random",
    "": "taken for a random sample",
}


def table_of(found: FewLabelEstimates) -> str:
    """The models, each with what is known of it."""
    design = found.design.name if found.design else ""
    lines = [
        f"{found.title}: {found.n} of {plural(found.of, 'image')} labelled ({found.source}), {CHOSEN[design]}",
        # Where they help no model, the lines below the table say so and why.
        *([f"with the help of {', '.join(found.proxies)} of all images"] if _helped(found) else []),
        columns(_rows(found)),
        *_unused(found),
    ]
    if found.line:
        lines.append(f"ρ: accuracy beyond {found.line}")
    return "\n".join(lines)


def _helped(found: FewLabelEstimates) -> bool:
    return any(not one.accuracy.why_not for one in found.models)


def _rows(found: FewLabelEstimates) -> list[list[str]]:
    models = found.models
    shown: list[tuple[str, list[str]]] = [
        ("model", [one.model for one in models]),
        ("accuracy", [f"{one.accuracy.estimate:.4f}" for one in models]),
        ("labels alone", [f"{one.accuracy.plain:.4f}" for one in models]),
        ("as good as", [f"{round(one.accuracy.worth)} labels" for one in models]),
        ("confidence − accuracy", [_signed(one.confidence_gap) for one in models]),
    ]
    if found.against is not None:
        shown.append((f"− {found.against}", [_signed(_estimate(one.difference)) for one in models]))
    if any(one.rho is not None for one in models):
        shown.append(("clean", ["" if one.clean is None else f"{one.clean.value:.4f}" for one in models]))
        shown.append(("ρ", [_signed(_estimate(one.rho)) for one in models]))
    if any(one.all_labels is not None for one in models):
        shown.append(("by all labels", [_truth(one) for one in models]))
    return [[title for title, _ in shown], *map(list, zip(*(values for _, values in shown), strict=True))]


def _estimate(found: FromFewLabels | None) -> Estimate | None:
    return None if found is None else found.estimate


def _signed(estimate: Estimate | None) -> str:
    return "" if estimate is None else f"{estimate:+.4f}"


def _truth(one: ModelFromFew) -> str:
    """What all labels say, and whether the interval of few holds it."""
    if one.all_labels is None:
        return ""
    low, high = one.accuracy.estimate.low, one.accuracy.estimate.high
    inside = low is not None and high is not None and low <= one.all_labels <= high
    return f"{one.all_labels:.4f} {'inside' if inside else 'outside'}"


def _unused(found: FewLabelEstimates) -> list[str]:
    """Why some intervals come from the labels alone."""
    groups: dict[str, list[str]] = {}
    for one in found.models:
        if one.accuracy.why_not:
            groups.setdefault(one.accuracy.why_not, []).append(one.model)
    return [
        f"from the labels alone, {why}: {', '.join(models) if len(models) <= 3 else plural(len(models), 'model')}"
        for why, models in groups.items()
    ]
