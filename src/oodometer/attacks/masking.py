"""Signs that a network hides its gradients: an attack that fails for that reason shows no robustness."""

from __future__ import annotations

import math
from collections import Counter

USUAL = 0.05
"""The share of survivors that may show a sign by chance."""
LEVEL = 0.01
AT_STAKE = 0.01
"""The share of the attacked images below which a sign says nothing about the accuracy under attack."""

SIGNS = {
    "zero_gradient": "have a gradient of exactly zero",
    "no_gain": "gain nothing from more steps than one",
    "noise_better": "suffer more from plain noise than from the attack",
}


def masking_lines(findings: Counter[str]) -> list[str]:
    """A warning where too many survivors show a sign of gradient masking, else nothing.

    A sign counts where clearly more than 5 % of the survivors show it (exact binomial test, at 1 %): of thousands
    that is hardly more than 5 %, of 20 it is 5, of 2 it is both, and one survivor alone proves nothing. It must also
    be seen on 1 % of the attacked images: where nearly all are fooled, the attack evidently works.

    >>> masking_lines(Counter(attacked=100, survived=40, zero_gradient=40))[0][:70]
    'gradient masking is likely: of the 40 images that the attack could not'
    >>> masking_lines(Counter(attacked=100, survived=40, zero_gradient=2))
    []
    """
    survived = findings["survived"]
    seen = [
        f"{findings[sign]} {words}"
        for sign, words in SIGNS.items()
        if findings[sign] >= AT_STAKE * findings["attacked"] and _more_than_usual(findings[sign], survived)
    ]
    if not seen:
        return []
    return [
        f"gradient masking is likely: of the {survived} images that the attack could not fool, {', '.join(seen)}; so "
        "the accuracy is no evidence of robustness"
    ]


def _more_than_usual(count: int, n: int) -> bool:
    """Whether so many of n are more than the usual share, beyond chance."""
    if count <= USUAL * n:
        return False

    def probability(k: int) -> float:
        ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        return math.exp(ways + k * math.log(USUAL) + (n - k) * math.log1p(-USUAL))

    return math.fsum(probability(k) for k in range(count, n + 1)) < LEVEL
