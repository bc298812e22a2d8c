"""Two models on the same images: who is better, by how much, and how sure that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from oodometer.analysis.compare_family import (
    FamilyComparison,
    FamilyPairs,
    families_named,
    family_comparison_of,
    model_names_of,
)
from oodometer.analysis.families import family_in
from oodometer.analysis.judged_pair import (
    DEFAULT,
    EXACT,
    CompareOptions,
    Judged,
    answers_of_pair,
    judged,
    judged_counts,
    p_line,
    plain_values,
    verdict_of,
)
from oodometer.analysis.named import cells_on
from oodometer.analysis.sampled import NOT_ANYTIME, accuracy_of, first_stopped, if_fixed, sample_of
from oodometer.analysis.text import plural
from oodometer.core.errors import StoreError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.corrections import corrected, correction_in_words
from oodometer.stats.intervals import share_of
from oodometer.stats.paired import PairedCounts, error_consistency_of
from oodometer.store.cells import Cell
from oodometer.store.index import Index, Source, index_at
from oodometer.store.queries import Pairs, paired

RESAMPLES = 10_000
"""For the interval of the error consistency: they cost next to nothing, and serve every level up to 99.98 %."""


@dataclass(frozen=True)
class Comparison:
    """Model B against model A on one condition, on the images that both saw.

    Args:
        accuracy_a, accuracy_b: Top-1 on the common images.
        difference: Accuracy of B minus accuracy of A.
        p_value: Of the test of that name, by default McNemar's exact one; a bet where how many images there are depends
            on what was seen.
        p_adjusted: For the number of comparisons, where there are several; ``correction`` says how.
        agreement: The share of images to which both gave the same class; None where they number classes differently.
        error_consistency: Cohen's kappa on being right: 1 where they fail on the same images, 0 where they fail
            independently; None where both are always right, or always wrong.
        level: Of the intervals and the verdict.
        n_a, n_b: How many images each model saw; n is in the estimates.

    The name of the condition and that of the data together are its own among the comparisons that were asked for.
    """

    model_a: str
    model_b: str
    condition: str
    data: str
    accuracy_a: Estimate
    accuracy_b: Estimate
    difference: Estimate
    p_value: float
    agreement: Estimate | None
    error_consistency: Estimate | None
    level: float
    counts: PairedCounts
    n_a: int
    n_b: int
    test: str = EXACT
    p_adjusted: float | None = None
    correction: str = ""
    _judged: Judged | None = field(default=None, repr=False, compare=False)

    @property
    def verdict(self) -> str:
        """What the test says at this level, corrected for the number of comparisons, in words."""
        p_value = self.p_value if self.p_adjusted is None else self.p_adjusted
        return verdict_of(self.model_b, self.difference.value, p_value, self.level)

    @property
    def heading(self) -> str:
        """What it is about."""
        return f"{self.condition} on {self.data}"

    def __str__(self) -> str:
        counts = self.counts
        width = max(len(self.model_a), len(self.model_b), len("difference"))
        difference = self.difference
        lines = [
            f"{self.heading}, top-1, the {counts.n} images that both saw",
            f"  {self.model_a.ljust(width)}  {self.accuracy_a}",
            f"  {self.model_b.ljust(width)}  {self.accuracy_b}",
            f"  {'difference'.ljust(width)}  {difference:+.4f}  n={difference.n}  ({difference.interval})",
            f"  only {self.model_a} right {counts.only_a}, only {self.model_b} right {counts.only_b}, "
            f"both {counts.both}, neither {counts.neither}",
            *self._together(),
            f"  {p_line(self)}: {self.verdict}",
        ]
        return "\n".join(lines)

    def _together(self) -> list[str]:
        named = ("same answer", self.agreement), ("error consistency κ", self.error_consistency)
        known = [(name, estimate) for name, estimate in named if estimate is not None]
        said = ", ".join(f"{name} {estimate:.4f}" for name, estimate in known)
        fixed = f" ({NOT_ANYTIME})" if any(estimate.interval.endswith(NOT_ANYTIME) for _, estimate in known) else ""
        return [f"  {said}{fixed}"] if known else []

    def as_json(self) -> dict[str, Any]:
        """The comparison as plain values."""
        return {**plain_values(self), "verdict": self.verdict}

    def difference_at(self, level: float) -> Estimate:
        """The difference with its interval at another level."""
        assert self._judged is not None
        return self._judged.difference_at(level)


Compared = Comparison | FamilyComparison
Pair = tuple[Cell, Cell]
Cells = tuple[list[Cell], list[Cell]]
"""Of model A and of model B."""


def compare(
    store: Source,
    a: str,
    b: str,
    *,
    on: str | Sequence[str] | None = None,
    level: float | None = None,
    options: CompareOptions = DEFAULT,
) -> list[Compared]:
    """Model B against model A on every condition that both have, or on what is named.

    Args:
        a, b: Names of models; ``NAME@DIGEST`` where the store has several weights, or cells, under one name.
        on: Conditions (``NAME``, ``NAME@DATA``), or families of them, each of which gives one summary over its
            conditions (``imagenet-c``, ``imagenet-c/fog``).
        level: Of the intervals and the verdict; None: that of the options.
        options: Which test, and how it is corrected where there are several comparisons.

    Raises:
        StoreError: The two models did not see the same images.
    """
    index, options = index_at(store), options if level is None else replace(options, level=level)
    cells = index.of_model(a), index.of_model(b)
    if cells[0] == cells[1]:
        raise UsageError(f"{a} and {b} are the same model: name two")
    names = [None] if on is None else [on] if isinstance(on, str) else list(dict.fromkeys(on))
    every = [compared for name in names for compared in _compared(index, (a, b), cells, name, options)]
    once = {(pair[0].key, pair[1].key, comparison.condition): (pair, comparison) for pair, comparison in every}
    return _corrected(_told_apart(index, list(once.values())), options)


def _corrected(comparisons: Sequence[Compared], options: CompareOptions) -> list[Compared]:
    """The same with p-values corrected for their number, where there are several."""
    p_values = np.array([np.nan if one.p_value is None else one.p_value for one in comparisons])
    n = int((~np.isnan(p_values)).sum())
    if n < 2 or options.correct == "none":
        return list(comparisons)
    how = f"{correction_in_words(options.correct)}, {plural(n, 'comparison')}"
    return [
        replace(one, p_adjusted=float(adjusted), correction=how)
        for one, adjusted in zip(comparisons, corrected(p_values, options.correct), strict=True)
    ]


def _compared(
    index: Index, models: tuple[str, str], cells: Cells, on: str | None, options: CompareOptions
) -> list[tuple[Pair, Compared]]:
    """All comparisons on a condition, or the summaries of a family, each with its cells: of a family the first."""
    if on is None:
        return _on_everything(index, models, cells, options)
    families = families_named(index, cells, on)
    if families:
        return [(family.pairs[0], _family_comparison(index, family, options)) for family in families]
    return [*_comparisons(index, models, _matching(*cells, on), on, options)]


def _on_everything(
    index: Index, models: tuple[str, str], cells: Cells, options: CompareOptions
) -> list[tuple[Pair, Compared]]:
    """Condition by condition; families whose few images were drawn for their sum as one."""
    pairs = _matching(*cells, None)
    names = dict.fromkeys(name for pair in pairs if (name := _drawn_for(index, pair)))
    families = [family for name in names for family in families_named(index, cells, name)]
    found: list[tuple[Pair, Compared]] = [
        (family.pairs[0], _family_comparison(index, family, options)) for family in families
    ]
    alone = [pair for pair in pairs if not _drawn_for(index, pair)]
    return [*found, *(_comparisons(index, models, alone, None, options) if alone or not found else [])]


def _drawn_for(index: Index, pair: Pair) -> str:
    """The family for whose sum the images of one of the cells were drawn; empty: for none."""
    samples = [sample_of(cell) for cell in pair]
    family = family_in(index, pair[0].condition)
    return family.name if family and any(sample and sample.members > 1 for sample in samples) else ""


def _family_comparison(index: Index, family: FamilyPairs, options: CompareOptions) -> FamilyComparison:
    for one, other in family.pairs:
        if one.data.digest != other.data.digest:
            images_of_both(index, one, other)  # an error, where they are not the same images
    return family_comparison_of(index, family, level=options.level, options=options)


def _comparisons(
    index: Index, models: tuple[str, str], pairs: list[Pair], on: str | None, options: CompareOptions
) -> list[tuple[Pair, Comparison]]:
    a, b = models
    if not pairs:
        asked = f"condition {on!r}" if on else "a condition"
        names = sorted({cell.condition_name for model in models for cell in index.of_model(model)})
        raise StoreError(f"{index}: {a} and {b} have not both been run on {asked}; there is: {', '.join(names)}")
    # What is not far enough to be judged is left out, unless it is all there is.
    pairs = [pair for pair in pairs if all(index.row_files(cell) for cell in pair)] or pairs
    joined = [(pair, images_of_both(index, *pair)) for pair in pairs]
    common = [(pair, images) for pair, images in joined if images.n]
    if not common:
        (one, other), images = joined[0]
        seen = f"{one.data}: {images.n_a}, {other.data}: {images.n_b}"
        raise StoreError(f"{a} and {b} on {one.condition_name}: no labelled image in common ({seen})")
    return [(pair, comparison_of(index, *pair, images, options=options)) for pair, images in common]


def _told_apart(index: Index, compared: Sequence[tuple[Pair, Compared]]) -> list[Compared]:
    """The same under headings of their own: with the digests of the data, and the store's name of the condition."""
    shared = _shared_headings(comparison for _, comparison in compared)
    told = [
        (pair, replace(comparison, data=_titles(*pair, digests=True)) if comparison.heading in shared else comparison)
        for pair, comparison in compared
    ]
    shared = _shared_headings(comparison for _, comparison in told)
    return [
        replace(comparison, condition=index.condition_name_of[pair[0].condition.key])
        if comparison.heading in shared
        else comparison
        for pair, comparison in told
    ]


def _shared_headings(comparisons: Iterable[Compared]) -> set[str]:
    times = Counter(comparison.heading for comparison in comparisons)
    return {heading for heading, n in times.items() if n > 1}


def _titles(a: Cell, b: Cell, *, digests: bool = False) -> str:
    """What the data of both are called, once where they are the same."""
    titles = [f"{cell.data.title}@{cell.data.digest[:8]}" if digests else cell.data.title for cell in (a, b)]
    return " and ".join(dict.fromkeys(titles))


def compare_cells(index: Index, a: Cell, b: Cell, *, level: float = 0.95) -> Comparison:
    """The model of cell B against that of cell A, both of the same condition.

    Raises:
        StoreError: The two models did not see the same images.
    """
    found = images_of_both(index, a, b)
    if not found.n:
        raise StoreError(f"{a.model_name} and {b.model_name} on {a.condition_name}: no labelled image in common")
    return comparison_of(index, a, b, found, options=replace(DEFAULT, level=level))


def counts_of_pair(index: Index, a: Cell, b: Cell) -> PairedCounts:
    """Who is right on the images that both cells saw: the counts of `compare_cells`, quicker on the same data."""
    one, other = index.verdicts([a, b])
    if a.data.digest != b.data.digest or one.image is not other.image:
        return compare_cells(index, a, b).counts
    known = (one.verdict >= 0) & (other.verdict >= 0)
    right_a, right_b = (verdicts.verdict[known] == 0 for verdicts in (one, other))
    if not len(right_a):
        raise StoreError(f"{a.model_name} and {b.model_name} on {a.condition_name}: no labelled image in common")
    return PairedCounts.of(right_a, right_b)


def _matching(cells_a: list[Cell], cells_b: list[Cell], on: str | None) -> list[Pair]:
    """Pairs of cells of the same condition; on the same data where there are such, else the only ones."""

    def without_data(cell: Cell) -> dict[str, Any]:
        return {part: value for part, value in cell.condition.identity.items() if part != "data"}

    asked_a, asked_b = (cells if on is None else cells_on(on, cells) for cells in (cells_a, cells_b))
    alike = [
        (one, other)
        for one in cells_a
        for other in cells_b
        if without_data(one) == without_data(other) and (one in asked_a or other in asked_b)
    ]
    same = [(one, other) for one, other in alike if one.data.digest == other.data.digest]
    done = {one.condition_name for one, _ in same}
    return same + [pair for pair in alike if pair[0].condition_name not in done]


def images_of_both(index: Index, a: Cell, b: Cell) -> Pairs:
    """The images that both cells saw; other images or labels under the same ids are an error."""
    found = paired(index, a, b)
    where = f"{a.model_name} and {b.model_name} on {a.condition_name}"
    if found.other_content is not None:
        raise StoreError(f"{where}: not the same images: {found.other_content!r} has other content in the two runs")
    if found.other_label is not None:
        raise StoreError(f"{where}: not the same labels: {found.other_label!r} has another label in the two runs")
    return found


def comparison_of(index: Index, a: Cell, b: Cell, found: Pairs, *, options: CompareOptions = DEFAULT) -> Comparison:
    """Model B's cell against model A's, where at least one labelled image is common."""
    counts, level = PairedCounts(found.both, found.only_a, found.only_b, found.neither), options.level
    name_a, name_b = model_names_of(a, b)
    told, accuracies = judged_cells(index, a, b, counts, options=options)
    was_stopped = first_stopped([a, b]) is not None
    same = None if found.same_answer is None else share_of(found.same_answer, counts.n, level=level)
    kappa = _consistency(counts, level)
    return Comparison(
        model_a=name_a,
        model_b=name_b,
        condition=a.condition_name,
        data=_titles(a, b),
        accuracy_a=accuracies[0],
        accuracy_b=accuracies[1],
        difference=told.difference_at(level),
        p_value=told.p_value,
        agreement=None if same is None else if_fixed(same, was_stopped=was_stopped),
        error_consistency=None if kappa is None else if_fixed(kappa, was_stopped=was_stopped),
        level=level,
        counts=counts,
        n_a=found.n_a,
        n_b=found.n_b,
        test=told.test,
        _judged=told,
    )


def judged_cells(
    index: Index, a: Cell, b: Cell, counts: PairedCounts, *, options: CompareOptions = DEFAULT
) -> tuple[Judged, list[Estimate]]:
    """The test of model B's cell against model A's that is valid for their samples, and the accuracy of each.

    Args:
        counts: Of the labelled images that both saw.
    """
    if first_stopped([a, b]) or options.resamples:
        answers = answers_of_pair(index, [a], [b])
        return judged(answers, options), [accuracy_of(right, options.level, answers.sample) for right in answers.right]
    # What counts alone can tell needs no image.
    right = (counts.both + only for only in (counts.only_a, counts.only_b))
    return judged_counts(counts, options), [share_of(hits, counts.n, level=options.level) for hits in right]


def _consistency(counts: PairedCounts, level: float) -> Estimate | None:
    if 2 / (1 - level) <= RESAMPLES:
        return error_consistency_of(counts, resampling=Resampling(RESAMPLES, level))
    found = error_consistency_of(counts)
    name = "none: too few draws of a bootstrap for this level"
    return None if found is None else replace(found, low=None, high=None, interval=name)
