"""Do other hyper-parameters do better on the new set? (Recht et al. 2019, appendix B.2.3.).

Of many settings the best one on a set is better than it looks: each difference from the baseline has an interval at a
level such that all of them hold together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from oodometer.build.testset.study.rights import UNASKED, Rights
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import corrected_level
from oodometer.stats.paired import PairedCounts, paired_difference
from oodometer.store.index import Source, index_at


@dataclass(frozen=True)
class Setting:
    """A model of other hyper-parameters.

    Args:
        model: Its name; ``baseline`` that of the one that it is compared with.
        accuracy: Of it on the new set.
        change: From the baseline to it on the same images; all changes hold together.
    """

    model: str
    baseline: str
    accuracy: Estimate
    change: Estimate

    @property
    def is_better(self) -> bool:
        """Whether it is better than the baseline for certain, though it was chosen among several."""
        return self.change.low is not None and self.change.low > 0


def retuned(
    source: Source, rights: Rights, baseline: str, models: Sequence[str] = (), *, level: float = 0.95
) -> list[Setting]:
    """How much better than a baseline each model of other hyper-parameters is, the best first.

    Args:
        rights: About the new set.
        models: Those to be compared with it; none: all whose card names the baseline as their parent.
    """
    if baseline not in rights.right:
        raise UsageError(
            f"--baseline {baseline}: it was not asked about the new set{did_you_mean(baseline, rights.right)}"
        )
    known = index_at(source).models
    names = [name for name in models or rights.models if name != baseline]
    others = names if models else [name for name in names if known[name].model.card.parent == baseline]
    if not others:
        raise UsageError(
            f"--baseline {baseline}: no model that was asked about the new set says that it was made from it; name "
            "some with --models, or train them with --parent"
        )
    each = corrected_level(level, len(others))
    found = [_setting(rights, baseline, name, each, level) for name in others]
    return sorted(found, key=lambda setting: (-setting.change.value, setting.model))


def _setting(rights: Rights, baseline: str, name: str, each: float, level: float) -> Setting:
    a, b = rights.right[baseline], rights.right[name]
    both = (a != UNASKED) & (b != UNASKED)
    accuracy = rights.accuracy(name, level=level)
    if accuracy is None or not both.any():
        raise UsageError(f"{name}: it was asked about no image of the new set that {baseline} was asked about")
    return Setting(name, baseline, accuracy, paired_difference(PairedCounts.of(a[both] == 1, b[both] == 1), level=each))
