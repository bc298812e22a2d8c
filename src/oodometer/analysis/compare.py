"""Two models on the same images: who is better, by how much, and how sure that is."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from oodometer.core.errors import StoreError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.intervals import share_of
from oodometer.stats.paired import PairedCounts, error_consistency_of, mcnemar_exact, paired_difference
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
        p_value: Of the exact McNemar test.
        agreement: The share of images to which both gave the same class; None where they number classes differently.
        error_consistency: Cohen's kappa on being right: 1 where they fail on the same images, 0 where they fail
            independently; None where both are always right, or always wrong.
        level: Of the intervals and the verdict.
        n_a, n_b: How many images each model saw; n is in the estimates.
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

    @property
    def verdict(self) -> str:
        """What the exact test says at this level, in words."""
        if self.p_value > 1 - self.level:
            return "no difference shown"
        return f"{self.model_b} is {'better' if self.difference.value > 0 else 'worse'}"

    def __str__(self) -> str:
        counts = self.counts
        width = max(len(self.model_a), len(self.model_b), len("difference"))
        lines = [
            f"{self.condition} on {self.data}, top-1, the {counts.n} images that both saw",
            f"  {self.model_a.ljust(width)}  {self.accuracy_a}",
            f"  {self.model_b.ljust(width)}  {self.accuracy_b}",
            f"  {'difference'.ljust(width)}  {_signed(self.difference)}  ({self.difference.interval})",
            f"  only {self.model_a} right {counts.only_a}, only {self.model_b} right {counts.only_b}, "
            f"both {counts.both}, neither {counts.neither}",
            *self._together(),
            f"  exact McNemar p = {self.p_value:.3g}: {self.verdict}",
        ]
        return "\n".join(lines)

    def _together(self) -> list[str]:
        known = [
            f"{name} {estimate.value:.4f}" + _bounds(estimate)
            for name, estimate in (("same answer", self.agreement), ("error consistency κ", self.error_consistency))
            if estimate is not None
        ]
        return [f"  {', '.join(known)}"] if known else []

    def as_json(self) -> dict[str, Any]:
        """The comparison as plain values."""
        return {**asdict(self), "verdict": self.verdict}

    def is_worse_by(self, margin: float, *, strict: bool = False) -> bool:
        """Whether B loses more than the margin to A.

        Args:
            strict: Whether such a loss can't be ruled out: the interval of the difference reaches below -margin.
        """
        least = self.difference.low if strict else self.difference.value
        assert least is not None
        return least < -margin


def compare(store: Source, a: str, b: str, *, on: str | None = None, level: float = 0.95) -> list[Comparison]:
    """Model B against model A on every condition that both have, or on one.

    Args:
        a, b: Names of models; ``NAME@DIGEST`` where the store has several weights, or cells, under one name.
        on: The condition.
        level: Of the intervals and the verdict.

    Raises:
        StoreError: The two models did not see the same images.
    """
    index = index_at(store)
    cells_a, cells_b = index.of_model(a), index.of_model(b)
    if cells_a == cells_b:
        raise UsageError(f"{a} and {b} are the same model: name two")
    pairs = _matching(cells_a, cells_b, on)
    if not pairs:
        asked = f"condition {on!r}" if on else "a condition"
        names = sorted({cell.condition_name for cell in (*cells_a, *cells_b)})
        raise StoreError(f"{index}: {a} and {b} have not both been run on {asked}; there is: {', '.join(names)}")
    # What is not far enough to be judged is left out, unless it is all there is.
    pairs = [pair for pair in pairs if all(index.row_files(cell) for cell in pair)] or pairs
    joined = [(one, other, _joined(index, one, other)) for one, other in pairs]
    common = [pair for pair in joined if pair[2].n]
    if not common:
        one, other, found = joined[0]
        seen = f"{one.data}: {found.n_a}, {other.data}: {found.n_b}"
        raise StoreError(f"{a} and {b} on {one.condition_name}: no labelled image in common ({seen})")
    return [comparison_of(one, other, found, level=level) for one, other, found in common]


def compare_cells(index: Index, a: Cell, b: Cell, *, level: float = 0.95) -> Comparison:
    """The model of cell B against that of cell A, both of the same condition.

    Raises:
        StoreError: The two models did not see the same images.
    """
    found = _joined(index, a, b)
    if not found.n:
        raise StoreError(f"{a.model_name} and {b.model_name} on {a.condition_name}: no labelled image in common")
    return comparison_of(a, b, found, level=level)


def _matching(cells_a: list[Cell], cells_b: list[Cell], on: str | None) -> list[tuple[Cell, Cell]]:
    """Pairs of cells of the same condition; on the same data where there are such, else the only ones."""

    def without_data(cell: Cell) -> dict[str, Any]:
        return {part: value for part, value in cell.condition.identity.items() if part != "data"}

    alike = [
        (one, other)
        for one in cells_a
        for other in cells_b
        if without_data(one) == without_data(other) and on in (None, one.condition_name)
    ]
    same = [(one, other) for one, other in alike if one.data.digest == other.data.digest]
    done = {one.condition_name for one, _ in same}
    return same + [pair for pair in alike if pair[0].condition_name not in done]


def _joined(index: Index, a: Cell, b: Cell) -> Pairs:
    """The images that both cells saw; other images or labels under the same ids are an error."""
    found = paired(index, a, b)
    where = f"{a.model_name} and {b.model_name} on {a.condition_name}"
    if found.other_content is not None:
        raise StoreError(f"{where}: not the same images: {found.other_content!r} has other content in the two runs")
    if found.other_label is not None:
        raise StoreError(f"{where}: not the same labels: {found.other_label!r} has another label in the two runs")
    return found


def comparison_of(a: Cell, b: Cell, found: Pairs, *, level: float = 0.95) -> Comparison:
    """Model B's cell against model A's, where at least one labelled image is common."""
    counts = PairedCounts(found.both, found.only_a, found.only_b, found.neither)
    name_a, name_b = a.model_name, b.model_name
    if name_a == name_b:
        name_a, name_b = (f"{cell.model_name}@{cell.model.digest[:8]}" for cell in (a, b))
    return Comparison(
        model_a=name_a,
        model_b=name_b,
        condition=a.condition_name,
        data=a.data.title if a.data.title == b.data.title else f"{a.data.title} and {b.data.title}",
        accuracy_a=share_of(counts.both + counts.only_a, counts.n, level=level),
        accuracy_b=share_of(counts.both + counts.only_b, counts.n, level=level),
        difference=paired_difference(counts, level=level),
        p_value=mcnemar_exact(counts),
        agreement=None if found.same_answer is None else share_of(found.same_answer, counts.n, level=level),
        error_consistency=_consistency(counts, level),
        level=level,
        counts=counts,
        n_a=found.n_a,
        n_b=found.n_b,
    )


def _consistency(counts: PairedCounts, level: float) -> Estimate | None:
    if 2 / (1 - level) <= RESAMPLES:
        return error_consistency_of(counts, resampling=Resampling(RESAMPLES, level))
    found = error_consistency_of(counts)
    name = "none: too few draws of a bootstrap for this level"
    return None if found is None else replace(found, low=None, high=None, interval=name)


def _signed(estimate: Estimate) -> str:
    return f"{estimate.value:+.4f} [{estimate.low:+.4f}, {estimate.high:+.4f}]  n={estimate.n}"


def _bounds(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    return f" [{estimate.low:.4f}, {estimate.high:.4f}]"
