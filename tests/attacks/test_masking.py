from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from oodometer.attacks.masking import _more_than_usual, masking_lines
from oodometer.attacks.spec import parse_attack
from oodometer.core.attack import Target

torch = pytest.importorskip("torch")
quick = settings(deadline=None, derandomize=True, max_examples=200)


# reference: scipy.stats.binom
@quick
@given(n=st.integers(1, 3000), share=st.floats(0, 0.2))
def test_more_than_usual_is_an_exact_binomial_test(n, share):
    count = min(n, round(n * share))
    tail = float(binom.sf(count - 1, n, 0.05))
    if abs(tail - 0.01) > 1e-6:
        assert _more_than_usual(count, n) == (count > 0.05 * n and tail < 0.01)


# reference: scipy.stats.binom: the least number that so many or more reach by chance less than once in a hundred
@pytest.mark.parametrize("n", [1, 2, 20, 100, 1000, 50_000])
def test_how_many_of_how_many_are_needed(n):
    needed = int(np.argmax(binom.sf(np.arange(-1, n + 1), n, 0.05) < 0.01))
    for count in range(max(0, needed - 3), min(n, needed + 2) + 1):
        warned = bool(masking_lines(Counter(attacked=n, survived=n, zero_gradient=count)))
        assert warned == (count >= needed), count


def test_how_many_of_a_few_are_needed():
    # by hand: 0.05^2 = 0.0025 is below 0.01, 0.05 is not; 1 - (0.95^20 + ... up to 4 of 20) = 0.0026, up to 3 0.0159
    for n, needed in ((1, 2), (2, 2), (20, 5)):
        assert [bool(masking_lines(Counter(attacked=n, survived=n, no_gain=k))) for k in range(n + 1)] == [
            k >= needed for k in range(n + 1)
        ]


def test_a_few_odd_images_among_thousands_that_are_fooled_are_no_alarm():
    assert masking_lines(Counter(attacked=50_000, survived=40, noise_better=40)) == []
    assert masking_lines(Counter(attacked=2_000, survived=40, noise_better=40)) != []
    assert masking_lines(Counter()) == []
    assert masking_lines(Counter(attacked=100, survived=0)) == []


def test_the_warning_says_what_was_seen_and_what_follows():
    findings = Counter(attacked=90, survived=80, zero_gradient=75, no_gain=80, noise_better=3)
    assert masking_lines(findings) == [
        "gradient masking is likely: of the 80 images that the attack could not fool, 75 have a gradient of exactly "
        "zero, 80 gain nothing from more steps than one; so the accuracy is no evidence of robustness"
    ]


class Changed(torch.nn.Module):
    """A network whose gradients are of no use."""

    def __init__(self, network: Any, how: str) -> None:
        super().__init__()
        self.network, self.how = network, how

    def forward(self, pixels: Any) -> Any:
        if self.how == "quantised":
            return self.network((pixels * 15).round() / 15)
        if self.how == "saturated":
            return self.network(pixels) * 1e4
        # The pixels are rounded, the gradient passes as if of other pixels: it is there, and leads nowhere.
        rounded = (pixels * 15).round() / 15
        return self.network(rounded + pixels.flip(2, 3) - pixels.flip(2, 3).detach())


def lines_and_findings(network: Any, digits: Any, spec: str) -> tuple[list[str], Counter[str]]:
    attack = parse_attack(spec)
    findings = Counter(attack.apply(Target(network), digits.images, digits.labels, digits.ids).findings)
    return list(attack.judge(findings)), findings


@pytest.mark.parametrize("spec", ["pgd-linf-8", "pgd-l2-5", "fgsm-linf-8", "pgd-linf-8,start=random,steps=20"])
def test_ordinary_and_adversarially_trained_networks_are_not_suspected(ordinary, hardened, digits, spec):
    some = digits[:100]
    survived = {}
    for name, network in (("ordinary", ordinary), ("hardened", hardened)):
        lines, findings = lines_and_findings(network, some, spec)
        assert lines == []
        assert findings["survived"] >= 50  # it is their signs that are judged, not their want of survivors
        survived[name] = findings["survived"]
    assert survived["hardened"] >= survived["ordinary"]


@pytest.mark.parametrize("how", ["quantised", "saturated"])
@pytest.mark.parametrize("spec", ["pgd-linf-16", "pgd-l2-20", "fgsm-linf-16"])
def test_hidden_gradients_are_found_out(ordinary, digits, how, spec):
    some = digits[:100]
    lines, findings = lines_and_findings(Changed(ordinary, how), some, spec)
    # PGD sees the same network without its disguise: it is not robust at all.
    _, bare = lines_and_findings(ordinary, some, spec)
    assert findings["survived"] > bare["survived"]
    assert findings["zero_gradient"] == findings["survived"]
    (line,) = lines
    assert line.startswith("gradient masking is likely: of the ")
    assert "have a gradient of exactly zero" in line
    assert line.endswith("so the accuracy is no evidence of robustness")


def test_gradients_that_mislead_are_found_out(ordinary, digits):
    lines, findings = lines_and_findings(Changed(ordinary, "misleading"), digits[:100], "pgd-linf-4")
    assert findings["zero_gradient"] == 0
    (line,) = lines
    assert "suffer more from plain noise" in line or "gain nothing from more steps" in line


def test_noise_does_not_suspect(ordinary, digits):
    lines, findings = lines_and_findings(Changed(ordinary, "saturated"), digits[:50], "noise-linf-8")
    assert lines == []
    assert findings["survived"] <= findings["attacked"] <= 50


def test_too_short_a_way_is_not_taken_for_masking(hardened, digits):
    # three steps of a hundredth of the radius each: noise from the whole ball does more, and that is no sign
    lines, _ = lines_and_findings(hardened, digits[:100], "pgd-linf-30,steps=3,step=0.01")
    assert lines == []
