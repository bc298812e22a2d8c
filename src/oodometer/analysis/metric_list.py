"""Every metric that there is, with a line about each."""

from __future__ import annotations

from oodometer.analysis.metric_request import group_scores
from oodometer.core.columns import columns
from oodometer.metrics.metric import metrics

ABOUT = {
    "per-class": "top-1 of the images of each class",
    "reliability": "accuracy and mean confidence in bins of confidence",
    "response-curve": "accuracy of the answers above each confidence, and how many these are",
    "temperature": "by what the logits are divided to be as sure as they are right; needs --keep logits",
    "classwise-ece": "mean over the classes of the binned error of each class's probability; needs --keep logits",
    "conformal-coverage": "how often sets that promise 90 % on clean images hold the class (THR)",
    "conformal-coverage:aps": "the same of adaptive sets (APS); needs --keep logits",
    "conformal-set-size": "the mean number of classes in these sets; needs --keep logits",
    "conformal-set-size:aps": "the same of adaptive sets",
    "gap": "accuracy on the standard side minus that on the shifted side of each shift",
    "top-1:any": "the answer is one of several acceptable labels (--label-sets)",
    "top-5:any": "one of the best five is one of several acceptable labels (--label-sets)",
    "map": "mean average precision over the classes of images with several labels, by steps",
    "map:trapezoid": "the same by trapezoids, as the many-faces paper has it",
    "map-ood": "the mean of map over the shifted sets",
    "map-ood:trapezoid": "the same by trapezoids",
    "pm-k": "the worst of the k frames around an anchor frame counts",
    "ce": "error of a corruption over its severities, divided by AlexNet's or --normaliser's",
    "relative-ce": "the same for what is lost beyond the clean error",
    "mce": "the mean of ce over the corruptions (ImageNet-C)",
    "relative-mce": "the mean of relative-ce over the corruptions",
    "mean-corruption-error": "the mean error over corruptions and severities, undivided",
    "flip-probability": "how often the answer changes from frame to frame (ImageNet-P)",
    "mean-flip-rate": "flip-probability divided by AlexNet's or --normaliser's, averaged",
    "top-5-distance": "how far the best five move from frame to frame (ImageNet-P)",
    "auroc": "how well images of no class are told from those of clean (--ood)",
    "aupr": "the same as average precision",
    "aupr:trapezoid": "the same by trapezoids",
    "fpr@95%": "false alarms where 95 % of the images of no class are found",
    "fpr@95%:nearest": "the same at the threshold nearest to 95 %",
}
"""What each metric about several cells is; one about a single cell says it itself."""


def metric_lines() -> dict[str, str]:
    """Each metric's name with its definition in a few words."""
    of_cells = {name: metrics.get(name).convention for name in metrics.names()}
    return {**of_cells, **{name: ABOUT.get(name, "") for name in group_scores.names()}}


def metric_table() -> str:
    """The metrics as text, a line each."""
    return columns([list(line) for line in metric_lines().items()])
