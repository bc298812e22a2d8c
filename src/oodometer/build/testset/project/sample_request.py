"""What a sample is asked for, as it is kept with a revision, and the strategies by name."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np

from oodometer.build.testset.candidates import Candidates
from oodometer.build.testset.sampling.balance import balanced
from oodometer.build.testset.sampling.by_attribute import IID, by_attribute
from oodometer.build.testset.sampling.by_frequency import threshold, top_images, uniform
from oodometer.build.testset.sampling.keyword_quotas import keyword_quotas
from oodometer.build.testset.sampling.matched_frequency import matched_frequency
from oodometer.build.testset.sampling.sample import Sample
from oodometer.core.errors import DataError, UsageError, did_you_mean
from oodometer.data import addresses


@dataclass(frozen=True)
class SampleRequest:
    """What to choose.

    Args:
        strategy: One of `STRATEGIES`.
        per_class: Images of each class; of ``by-attribute`` those of the whole set.
        seed: Of every draw.
        at_least: Of ``threshold``: the selection frequency.
        most_keywords: Of ``keyword-quotas``: how many of each class.
        keywords: Of ``keyword-quotas``: by name of a class how many original images have each keyword.
        base: Of ``by-attribute``: the value of each attribute in the training images.
        part: Of ``by-attribute``: which of its sets, ``iid`` or ``COLUMN=VALUE``.
        balanced: Whether all classes get as many images as the one that has fewest.
        least_answers: Candidates with fewer answers are out; by default 1 where the strategy needs frequencies.
        without_spammers: Whether answers of spammers count for nothing.
        trust_thresholds: Whether close pairs that nobody has looked at count as duplicates.
    """

    strategy: str
    per_class: int = 10
    seed: int = 0
    at_least: float = 0.7
    most_keywords: int = 25
    keywords: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    base: Mapping[str, str] = field(default_factory=dict)
    part: str = IID
    balanced: bool = False
    least_answers: int | None = None
    without_spammers: bool = False
    trust_thresholds: bool = True

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            hint = did_you_mean(self.strategy, STRATEGIES) or f"; there are {', '.join(STRATEGIES)}"
            raise UsageError(f"no strategy named {self.strategy!r}{hint}")
        if self.per_class < 1:
            raise UsageError(f"--per-class {self.per_class}: at least 1")
        if not -(2**63) <= self.seed < 2**63:
            raise UsageError(f"--seed {self.seed}: a whole number of at most 64 bits")

    @property
    def needed_answers(self) -> int:
        """How many answers a candidate must have."""
        if self.least_answers is not None:
            return self.least_answers
        return 1 if self.strategy in BY_FREQUENCY else 0

    @property
    def line(self) -> tuple[str, str, int]:
        """Which revisions are versions of one set, and carry over: another seed is to draw others."""
        return self.strategy, self.part if self.strategy == "by-attribute" else "", self.seed

    def arguments(self) -> dict[str, Any]:
        """All but strategy and seed, which have places of their own, as plain values; defaults are left out."""
        plain = SampleRequest(self.strategy)
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        changed = {name: value for name, value in given.items() if value != getattr(plain, name)}
        return {"per_class": self.per_class, **{k: asdict(self)[k] for k in changed if k not in ("seed", "per_class")}}


def request_from(strategy: str, seed: int, arguments: Mapping[str, Any]) -> SampleRequest:
    """The request that was kept."""
    return SampleRequest(strategy, seed=seed, **arguments)


def request_of(strategy: str, base: Sequence[str], **asked: Any) -> SampleRequest:
    """The request of a command line, where each of ``base`` is COLUMN=VALUE."""
    parted = [text.partition("=") for text in base]
    wrong = [text for text, (column, _, value) in zip(base, parted, strict=True) if not (column and value)]
    if wrong:
        raise UsageError(f"--base {wrong[0]}: expected COLUMN=VALUE, such as year=2017")
    return SampleRequest(strategy, base={column: value for column, _, value in parted}, **asked)


def read_keywords(address: str) -> dict[str, dict[str, int]]:
    """By class how many original images have each keyword, of a table with the columns class, keyword and count."""
    counts: dict[str, dict[str, int]] = {}
    try:
        text = addresses.read_bytes(address).decode("utf-8-sig")
        for row in csv.DictReader(io.StringIO(text, newline=""), strict=True):
            counts.setdefault(row["class"], {})[row["keyword"]] = int(row["count"])
    except (UnicodeDecodeError, csv.Error, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{address}: expected the columns class, keyword and count, a number ({error})") from error
    return counts


def drawn_from(
    request: SampleRequest,
    candidates: Candidates,
    original: Mapping[int, np.ndarray],
    class_numbers: Mapping[str, int],
    keep: Collection[str],
) -> Sample:
    """The sample that is asked for.

    Args:
        original: By number of a class, the selection frequencies of its originals.
        class_numbers: The number of each class by name.
        keep: Ids that were chosen before and stay where they may.
    """
    found = STRATEGIES[request.strategy](_Asked(request, candidates, original, class_numbers, keep))
    return balanced(found, keep) if request.balanced else found


def attribute_parts(request: SampleRequest, candidates: Candidates) -> list[SampleRequest]:
    """A request for each set of ``by-attribute``: the IID test, and those that differ in one value."""
    found = by_attribute(candidates, request.base, per_set=request.per_class, seed=request.seed)
    return [replace(request, part=name) for name in found]


@dataclass(frozen=True)
class _Asked:
    request: SampleRequest
    candidates: Candidates
    original: Mapping[int, np.ndarray]
    class_numbers: Mapping[str, int]
    keep: Collection[str]

    @property
    def plain(self) -> dict[str, Any]:
        return {"per_class": self.request.per_class, "seed": self.request.seed}


def _matched(asked: _Asked) -> Sample:
    return matched_frequency(asked.candidates, asked.original, **asked.plain, keep=asked.keep)


def _threshold(asked: _Asked) -> Sample:
    return threshold(asked.candidates, at_least=asked.request.at_least, **asked.plain, keep=asked.keep)


def _top(asked: _Asked) -> Sample:
    return top_images(asked.candidates, **asked.plain)


def _uniform(asked: _Asked) -> Sample:
    return uniform(asked.candidates, **asked.plain, keep=asked.keep)


def _keywords(asked: _Asked) -> Sample:
    if not asked.request.keywords:
        raise UsageError("keyword-quotas need the keywords of the original images: --original-keywords CSV")
    unknown = sorted(set(asked.request.keywords) - set(asked.class_numbers))
    if unknown:
        raise DataError(f"keywords of class {unknown[0]!r}, which the project has not")
    original = {asked.class_numbers[name]: counts for name, counts in asked.request.keywords.items()}
    return keyword_quotas(
        asked.candidates, original, most_keywords=asked.request.most_keywords, **asked.plain, keep=asked.keep
    )


def _attribute(asked: _Asked) -> Sample:
    request = asked.request
    found = by_attribute(asked.candidates, request.base, per_set=request.per_class, seed=request.seed, keep=asked.keep)
    if request.part not in found:
        raise DataError(f"no candidate is of the set {request.part}; there are {', '.join(found)}")
    return found[request.part]


STRATEGIES: dict[str, Callable[[_Asked], Sample]] = {
    "matched-frequency": _matched,
    "threshold": _threshold,
    "top-images": _top,
    "uniform": _uniform,
    "keyword-quotas": _keywords,
    "by-attribute": _attribute,
}
BY_FREQUENCY = ("matched-frequency", "threshold", "top-images")
"""Those that choose by what annotators said."""
