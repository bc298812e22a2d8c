"""What few labels tell about every model on a set: accuracy, calibration, differences, effective robustness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from oodometer.analysis.origins import Origin
from oodometer.core.errors import UsageError
from oodometer.core.estimate import Estimate
from oodometer.few_labels.evidence import Evidence, evidence_of
from oodometer.few_labels.label_table import Design, FewLabels
from oodometer.few_labels.options import FewLabelOptions
from oodometer.few_labels.pool import clean_side, pool_of
from oodometer.few_labels.read import read_few_labels
from oodometer.few_labels.rho import rho_of_models
from oodometer.few_labels.text import table_of
from oodometer.stats.prediction_powered import FromFewLabels, mean_from_few
from oodometer.store.index import Source, index_at


@dataclass(frozen=True)
class ModelFromFew:
    """One model.

    Args:
        accuracy: Top-1 over all images of the set.
        confidence_gap: Mean confidence minus accuracy: above 0, the model is too sure. None where the confidences are
            not known. The calibration error is at least as large as this is.
        difference: Accuracy minus that of the model that it is compared with.
        clean: Accuracy on the clean images.
        rho: Effective robustness.
        all_labels: Accuracy by the labels that the data have, where all images have one.
    """

    model: str
    accuracy: FromFewLabels
    confidence_gap: Estimate | None
    difference: FromFewLabels | None
    clean: Estimate | None
    rho: FromFewLabels | None
    all_labels: float | None


@dataclass(frozen=True)
class FewLabelEstimates:
    """What the labels of a file tell; prints as a table.

    Args:
        title: Of the set.
        source: The file of labels.
        design: How the images were chosen; None where the file does not say.
        n, of: How many images are labelled, and how many there are.
        proxies: What was used besides the labels.
        against: The model with which the others are compared.
        line: Through which models the line of ρ goes; empty where there is no ρ.
    """

    title: str
    source: str
    design: Design | None
    n: int
    of: int
    proxies: tuple[str, ...]
    against: str | None
    line: str
    models: tuple[ModelFromFew, ...]
    level: float
    notes: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        return table_of(self)

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        values = asdict(self)
        for row, model in zip(values["models"], self.models, strict=True):
            for name in ("accuracy", "difference", "rho"):
                found: FromFewLabels | None = getattr(model, name)
                if found is not None:
                    row[name] |= {"factor": found.factor, "saved": found.saved}
        return values


def estimates_from_files(
    store: Source, given: Sequence[str], *, origins: Mapping[str, Origin] | None = None
) -> list[FewLabelEstimates]:
    """Of several sets, each as ``NAME=FILE``: the set, and the labels of some of its images."""
    found = []
    for one in given:
        shifted, sign, file = one.partition("=")
        if not (shifted and sign and file):
            raise UsageError(f"--labels {one}: expected NAME=FILE, the set and the table of its labels")
        found.append(estimate_from_labels(store, shifted, file, origins=origins))
    return found


def estimate_from_labels(
    store: Source,
    shifted: str,
    labels: str | FewLabels,
    *,
    clean: str | None = None,
    origins: Mapping[str, Origin] | None = None,
    options: FewLabelOptions | None = None,
) -> FewLabelEstimates:
    """The accuracy of every model on a set, from the labels of some of its images and the answers to all.

    Args:
        shifted: A condition of the store, or the name of data that were seen as they are; they need no labels.
        labels: What `choose_images_to_label` wrote, filled in; or its file, or a table with the columns id and label.
        clean: The clean images, for the threshold of ATC and for ρ; None: those that belong to the set.
        origins: Category of models whose cards do not say.
    """
    options = options or FewLabelOptions()
    given = read_few_labels(labels) if isinstance(labels, str) else labels
    index = index_at(store)
    pool = pool_of(index, shifted)
    side = clean_side(index, pool, clean)
    evidence = evidence_of(index, pool, given, side, options.proxies)
    against = options.against or (pool.models[0] if len(pool.models) == 2 else None)
    base = None if against is None else pool.place(against)
    rows = [_of_model(evidence, at, base, options.level) for at in range(len(pool.models))]
    beside = rho_of_models(index, evidence, side, [row.accuracy for row in rows], options, origins or {})
    return FewLabelEstimates(
        title=pool.title,
        source=given.source,
        design=given.design,
        n=len(evidence.labelled.places),
        of=len(pool),
        proxies=tuple(evidence.proxies),
        against=against,
        line=beside.line,
        models=tuple(
            replace(row, clean=known, rho=rho) for row, known, rho in zip(rows, beside.clean, beside.rho, strict=True)
        ),
        level=options.level,
        notes=(*index.problems, *pool.notes, *evidence.notes, *beside.notes),
    )


def _of_model(evidence: Evidence, at: int, base: int | None, level: float) -> ModelFromFew:
    pool = evidence.pool
    accuracy = mean_from_few(evidence.right[at], evidence.of_model(at), evidence.labelled, level=level)
    return ModelFromFew(
        model=pool.models[at],
        accuracy=accuracy,
        confidence_gap=_confidence_gap(pool.confidences[at], accuracy.estimate),
        difference=None if base is None or base == at else _difference(evidence, at, base, level),
        clean=None,
        rho=None,
        all_labels=None if pool.right is None else float(pool.right[at].mean()),
    )


def _confidence_gap(confidences: np.ndarray, accuracy: Estimate) -> Estimate | None:
    """The mean confidence, which is known of all images, minus the accuracy."""
    if np.isnan(confidences).any():
        return None
    mean = float(confidences.mean())
    low, high = (None if end is None else mean - end for end in (accuracy.high, accuracy.low))
    return Estimate(mean - accuracy.value, low, high, accuracy.n, accuracy.interval)


def _difference(evidence: Evidence, at: int, base: int, level: float) -> FromFewLabels:
    """The accuracy of a model minus that of another."""
    signs = evidence.right[at].astype(np.int64) - evidence.right[base]
    return mean_from_few(signs, evidence.of_pair(at, base), evidence.labelled, level=level)
