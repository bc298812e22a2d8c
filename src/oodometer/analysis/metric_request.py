"""What a score is asked to be: which metrics, with which intervals, against what."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.score_table import LeftOut, Score
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.registry import Registry
from oodometer.metrics.conformal import ALPHA
from oodometer.metrics.metric import metrics
from oodometer.store.cells import Cell
from oodometer.store.index import Index

DEFAULT_METRICS = ("top-1", "top-5")
EVERY_METRIC = "all"
BREAKDOWNS = ("per-class", "reliability", "response-curve")
"""Many numbers each, which ``all`` leaves out: a thousand classes under 76 conditions are 76,000 lines."""
NEVER_IN_ALL = (
    *BREAKDOWNS, "temperature", "classwise-ece", "conformal-set-size", "conformal-coverage:aps",
    "conformal-set-size:aps",
)  # fmt: skip
"""Nor what reads every logit that there is."""

MANY_CELLS = {
    "per-class": "oodometer.analysis.class_scores:class_scores",
    "reliability": "oodometer.analysis.curve_scores:curve_scores",
    "response-curve": "oodometer.analysis.curve_scores:curve_scores",
    "temperature": "oodometer.analysis.temperature_scores:temperature_scores",
    "classwise-ece": "oodometer.analysis.classwise_scores:classwise_scores",
    "conformal-coverage": "oodometer.analysis.conformal_scores:conformal_scores",
    "conformal-coverage:aps": "oodometer.analysis.conformal_scores:conformal_scores",
    "conformal-set-size": "oodometer.analysis.conformal_scores:conformal_scores",
    "conformal-set-size:aps": "oodometer.analysis.conformal_scores:conformal_scores",
    "gap": "oodometer.analysis.shift_scores:shift_scores",
    "top-1:any": "oodometer.analysis.label_set_scores:label_set_scores",
    "top-5:any": "oodometer.analysis.label_set_scores:label_set_scores",
    "map": "oodometer.analysis.map_scores:map_scores",
    "map:trapezoid": "oodometer.analysis.map_scores:map_scores",
    "map-ood": "oodometer.analysis.map_scores:map_scores",
    "map-ood:trapezoid": "oodometer.analysis.map_scores:map_scores",
    "pm-k": "oodometer.analysis.video_scores:video_scores",
    "ce": "oodometer.analysis.corruption_scores:corruption_scores",
    "relative-ce": "oodometer.analysis.corruption_scores:corruption_scores",
    "mce": "oodometer.analysis.corruption_scores:corruption_scores",
    "relative-mce": "oodometer.analysis.corruption_scores:corruption_scores",
    "mean-corruption-error": "oodometer.analysis.corruption_scores:corruption_scores",
    "flip-probability": "oodometer.analysis.flip_scores:flip_scores",
    "mean-flip-rate": "oodometer.analysis.flip_scores:flip_scores",
    "top-5-distance": "oodometer.analysis.flip_scores:flip_scores",
    "auroc": "oodometer.analysis.ood_scores:ood_scores",
    "aupr": "oodometer.analysis.ood_scores:ood_scores",
    "aupr:trapezoid": "oodometer.analysis.ood_scores:ood_scores",
    "fpr@95%": "oodometer.analysis.ood_scores:ood_scores",
    "fpr@95%:nearest": "oodometer.analysis.ood_scores:ood_scores",
}
"""Metrics that are more than a number about one cell, and where they are computed."""


@dataclass(frozen=True)
class ScoreOptions:
    """What some metrics need besides their name.

    Args:
        draws: Of every bootstrap.
        by: ``class``, or a column of the data: images of a group are resampled together.
        seed: Of every bootstrap.
        normaliser: A model of the store by whose errors CE, mCE and flip rates are divided; None: AlexNet's published
            errors for ImageNet-C, nothing elsewhere.
        ood: A condition whose images belong to none of the classes, to be told from those of ``clean``; as
            ``CONDITION@DATA`` where several data sets have one of that name.
        label_sets: A JSON file with the acceptable labels of each image.
        temperature: A condition (or ``CONDITION@DATA``) on which each model's temperature is fitted; what depends on
            confidences is computed from the logits divided by it.
        by_value: Columns of the data; top-1 accuracy is told for each of their values too. ``camera+country`` for each
            pair of values.
        control: A model that answered all images of which others answered samples: with its answers a family's errors
            are known better.
        alpha: The share of images that conformal sets may miss: 0.1 for sets that promise 90 %.
        calibrate_on: A condition (or ``CONDITION@DATA``) on half of whose images conformal sets are calibrated; None:
            the standard side of each shift, otherwise ``clean``.
    """

    draws: int = 1000
    by: str | None = None
    seed: int = 0
    normaliser: str | None = None
    ood: str | None = None
    label_sets: str | None = None
    temperature: str | None = None
    by_value: tuple[str, ...] = ()
    control: str | None = None
    alpha: float = ALPHA
    calibrate_on: str | None = None


@dataclass(frozen=True)
class Asked:
    """The metrics by name, the intervals they get, and what they need."""

    names: tuple[str, ...]
    how: IntervalOptions
    options: ScoreOptions

    def wants(self, *names: str) -> bool:
        """Whether any of these is asked for."""
        return any(name in self.names for name in names)


GroupScores = Callable[[Index, Sequence[Cell], Asked], Iterable[Score | LeftOut]]
"""The index, the cells of one model, what is asked -> the scores, and what is undefined among them; an error where
nothing can be said. A metric's rows are called by its name, ``NAME[...]`` where it has several."""

group_scores: Registry[GroupScores] = Registry("metric", MANY_CELLS, group="oodometer.group_scores")


ALSO_CALLED = {
    "accuracy": "top-1",
    "acc": "top-1",
    "acc@1": "top-1",
    "acc@5": "top-5",
    "error-rate": "error",
    "balanced-accuracy": "balanced",
    "calibration": "ece",
    "smece": "smooth-ece",
    "static-calibration-error": "classwise-ece",
    "conformal": "conformal-coverage",
    "risk-at-80-coverage": "risk@80%",
    "selective-risk": "risk@80%",
    "log-loss": "nll",
    "cross-entropy": "nll",
    "roc-auc": "auroc",
    "fpr95": "fpr@95%",
    "average-precision": "map",
}
"""What others call a metric, for those who look for it under that name."""


def asked_name(metric: str) -> str:
    """The name by which the metric of a row is asked for.

    >>> asked_name("auroc[energy]"), asked_name("pm-10"), asked_name("top-1:any")
    ('auroc', 'pm-k', 'top-1:any')
    """
    return "pm-k" if re.fullmatch(r"pm-\d+", metric) else metric.partition("[")[0]


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names, each once, with ``all`` spelled out, breakdowns left out; an error for one that means nothing."""
    known = [*metrics.names(), *group_scores.names()]
    if not names:
        raise UsageError(f"no metric is named; known: {', '.join(known)}, or all")
    twice = set(metrics.names()) & set(group_scores.names())
    if twice:
        raise UsageError(
            f"a metric of yours is named {min(twice)!r}, as one that is there already; choose another name"
        )
    for name in names:
        if name != EVERY_METRIC and name not in known:
            raise UsageError(f"no metric named {name!r}{_hint(name, known)}")
    every = [name for name in known if name not in NEVER_IN_ALL]
    spelled = [one for name in names for one in (every if name == EVERY_METRIC else [name])]
    return tuple(dict.fromkeys(spelled))


def _hint(name: str, known: Sequence[str]) -> str:
    """Which metric may be meant."""
    also = ALSO_CALLED.get(name.lower().replace("_", "-"))
    if also in known:
        return f"; did you mean {also}?"
    return did_you_mean(name, [*known, EVERY_METRIC]) or "; 'oodometer ls metrics' lists them"
