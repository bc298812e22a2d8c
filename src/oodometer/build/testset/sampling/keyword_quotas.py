"""Quotas of keywords (CIFAR-10.1: Recht et al. 2019, section 3): each class is made of the same things as before."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from oodometer.build.testset.candidates import Candidates
from oodometer.build.testset.sampling.apportion import largest_remainder
from oodometer.build.testset.sampling.draw import drawn, places_in_line
from oodometer.build.testset.sampling.sample import Sample, in_order, rows_with, short_of
from oodometer.core.errors import DataError, UsageError

ELSEWHERE = "of another keyword than was wanted, since that had no more"


def keyword_quotas(
    candidates: Candidates,
    original: Mapping[int, Mapping[str, int]],
    *,
    per_class: int,
    most_keywords: int = 25,
    column: str = "keyword",
    seed: int = 0,
    keep: Collection[str] = (),
) -> Sample:
    """``per_class`` images of each class, parted over its commonest keywords as the original images are.

    The keywords of a class are those that most of its original images have, of equal ones the first by name. Where a
    keyword has too few candidates, the rest is parted over the other keywords in the same proportion.

    Args:
        original: By class, how many original images have each keyword.
        most_keywords: 25 in the first version of CIFAR-10.1, 50 in the second.
        column: Of the candidates: the keyword of each.
    """
    if most_keywords < 1:
        raise UsageError(f"--keywords {most_keywords}: at least 1")
    keywords, line = candidates.column(column), places_in_line(candidates.ids, seed)
    kept = rows_with(candidates, keep)
    chosen, n_elsewhere = [np.empty(0, dtype=np.int64)], 0
    for label in candidates.classes:
        if not len(candidates.rows_of(label)):
            continue  # it is counted as short
        known = common_keywords(original.get(label, {}), most_keywords)
        if not known:
            raise DataError(f"class {label}: no original image of it has a keyword, so there is nothing to go by")
        rows = candidates.rows_of(label)
        pools = [rows[keywords[rows] == name] for name in known]
        wanted = largest_remainder(np.array(list(known.values())), per_class)
        taken = quotas_within(wanted, np.array(list(known.values())), np.array([len(pool) for pool in pools]))
        chosen += [drawn(pool, int(n), line, kept) for pool, n in zip(pools, taken, strict=True)]
        n_elsewhere += int(np.maximum(taken - wanted, 0).sum())
    found = np.concatenate(chosen)
    arguments = {"per_class": per_class, "most_keywords": most_keywords, "column": column}
    short = short_of(candidates, found, per_class)
    counts = {ELSEWHERE: n_elsewhere}
    return Sample("keyword-quotas", arguments, seed, candidates, in_order(candidates, found), counts, short)


def common_keywords(counts: Mapping[str, int], most: int) -> dict[str, int]:
    """The commonest keywords with their counts, the commonest first.

    >>> common_keywords({"owl": 2, "duck": 5, "crow": 2}, 2)
    {'duck': 5, 'crow': 2}
    """
    order = sorted((name for name in counts if counts[name] > 0), key=lambda name: (-counts[name], name))
    return {name: counts[name] for name in order[:most]}


def quotas_within(wanted: np.ndarray, weights: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The quotas where no keyword gives more than it has; what one lacks, the others give in proportion, (K,) each.

    >>> quotas_within(np.array([6, 3, 1]), np.array([6, 3, 1]), np.array([2, 9, 9])).tolist()
    [2, 6, 2]
    """
    taken = np.minimum(wanted, there)
    while (missing := int(wanted.sum() - taken.sum())) > 0 and (room := there > taken).any():
        more = largest_remainder(np.where(room, weights, 0), missing)
        taken = np.minimum(taken + more, there)
    return np.asarray(taken)
