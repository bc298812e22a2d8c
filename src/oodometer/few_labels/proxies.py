"""What is known of every image without its label, and may tell whether an answer is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from oodometer.core.errors import UsageError, did_you_mean
from oodometer.few_labels.pool import CleanSide, Pool
from oodometer.stats.confidence_estimates import above_threshold
from oodometer.store.index import Index

Proxy = Literal["agreement", "confidence", "atc"]
PROXIES: tuple[Proxy, ...] = get_args(Proxy)


def agreement_with_others(answers: np.ndarray) -> np.ndarray:
    """The share of the other models that give the same answer, of each model and image, (M, N) -> (M, N).

    >>> agreement_with_others(np.array([[1, 2], [1, 3], [1, 2]])).tolist()
    [[1.0, 0.5], [1.0, 0.0], [1.0, 0.5]]
    """
    if len(answers) < 2:
        raise UsageError("agreement needs the answers of two or more models")
    # One model against all at a time: all pairs at once would take M * M * N bytes.
    same = np.stack([(answers == own).sum(axis=0) - 1 for own in answers])
    return np.asarray(same / (len(answers) - 1))


def proxies_of(
    index: Index, pool: Pool, clean: CleanSide | None, wanted: Sequence[str] = ()
) -> tuple[dict[Proxy, np.ndarray], list[str]]:
    """Each proxy that is known of every model, (M, N) by name, and what can't be had, in words.

    Args:
        clean: Where the threshold of ATC is found.
        wanted: Names of proxies; none: all that can be had.
    """
    for name in wanted:
        if name not in PROXIES:
            raise UsageError(f"no proxy named {name!r}{did_you_mean(name, PROXIES)}; there are {', '.join(PROXIES)}")
    asked = [name for name in PROXIES if name in wanted or not wanted]
    found: dict[Proxy, np.ndarray] = {}
    notes = []
    for name in asked:
        why = _why_not(name, pool, clean)
        if why and name in wanted:
            raise UsageError(f"no proxy {name}: {why}")
        if why:
            notes.append(f"without the proxy {name}: {why}")
        elif name == "agreement":
            found[name] = agreement_with_others(pool.answers)
        elif name == "confidence":
            found[name] = pool.confidences
        elif clean is not None:
            found[name] = _above_threshold(index, pool, clean)
    return found, notes


def _why_not(name: Proxy, pool: Pool, clean: CleanSide | None) -> str:
    if name == "agreement":
        return "it needs two or more models" if len(pool.models) < 2 else ""
    if np.isnan(pool.confidences).any():
        return "the confidences are not known, as the answers were computed elsewhere"
    if name == "atc" and clean is None:
        return "no clean images with labels to find its threshold on; --clean says which"
    if name == "atc" and clean is not None and None in clean.cells:
        lacking = pool.models[clean.cells.index(None)]
        return f"{lacking} has no answers on {clean.name}, where its threshold would be found"
    return ""


def _above_threshold(index: Index, pool: Pool, clean: CleanSide) -> np.ndarray:
    rows = []
    for confidences, cell in zip(pool.confidences, clean.cells, strict=True):
        assert cell is not None
        known = index.columns(cell, "confidence", "rank")
        labelled = known["rank"] >= 0
        right = known["rank"][labelled] == 0
        rows.append(above_threshold(known["confidence"][labelled], right, confidences))
    return np.array(rows)
