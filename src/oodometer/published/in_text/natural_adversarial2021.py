"""What the text of Hendrycks et al. 2021, Natural Adversarial Examples, states.

The paper has no table of results: its accuracies and AUPR stand in the text, from which the bundled table was made. To
read them in that table is no derivation; to find them in the testbed or in another paper is.
"""

from __future__ import annotations

import numpy as np

from oodometer.published.checks import Check
from oodometer.published.in_text.numbers import text_check
from oodometer.published.natural_adversarial2021 import AUPR, PAPER
from oodometer.published.tables import read_table
from oodometer.published.testbed_table import Grid

ON_A, CLEAN = "imagenet-a", "val-on-imagenet-a-classes"
IN_TESTBED = {
    "ResNet-34": "resnet34",
    "ResNeXt-50 32x4d": "resnext50_32x4d",
    "ResNeXt-101 64x4d": "resnext101_64x4d",
    "DPN-68": "dpn68",
    "DPN-98 (ResNeXt-101 in the text)": "dpn98",
    "DenseNet-121": "densenet121",
}
KNOWN = {
    "ResNeXt-50 32x4d": "known: the network of this name in the testbed is another one",
    "DPN-98 (ResNeXt-101 in the text)": "known: in the testbed dpn98 has a little less",
}
PLAIN, WITH_SE = "resnext101_32x4d", "se_resnext101_32x4d"


def checks() -> list[Check]:
    """An AUPR that stands twice in the text, with two values."""
    printed = read_table("hendrycks2021_imagenet_o_aupr").value("ResNet-152", AUPR)
    what = "AUPR of ResNet-152 on ImageNet-O, beside self-attention"
    known = f"known: the paragraph on size says {printed}"
    return [text_check(PAPER, what, printed, reason="the paragraph on size", known=known)]


def checks_from(grid: Grid) -> list[Check]:
    """Accuracies on ImageNet-A and on the clean images of its classes."""
    if not grid.has((), (ON_A, CLEAN)):
        return []
    models = {name: model for name, model in IN_TESTBED.items() if model in grid.models}
    return [*(_accuracy(grid, *names) for names in models.items()), *_lost(grid), *_self_attention(grid), _usual(grid)]


def _percent(grid: Grid, setting: str, model: str) -> float:
    return 100 * float(grid.accuracy(setting)[grid.rows((model,))[0]])


def _accuracy(grid: Grid, name: str, model: str) -> Check:
    what = f"accuracy of {name} on ImageNet-A"
    return text_check(
        PAPER, what, _percent(grid, ON_A, model), reason=f"{model} of the testbed", known=KNOWN.get(name, "")
    )


def _lost(grid: Grid) -> list[Check]:
    model = IN_TESTBED["DenseNet-121"]
    if model not in grid.models:
        return []
    lost = _percent(grid, CLEAN, model) - _percent(grid, ON_A, model)
    return [text_check(PAPER, "accuracy that DenseNet-121 loses on ImageNet-A", lost, reason="the testbed")]


def _self_attention(grid: Grid) -> list[Check]:
    if not {PLAIN, WITH_SE} <= set(grid.models):
        return []
    gains = {setting: _percent(grid, setting, WITH_SE) - _percent(grid, setting, PLAIN) for setting in (CLEAN, ON_A)}
    where, reason = {CLEAN: "clean images of 200 classes", ON_A: "ImageNet-A"}, "of the testbed"
    return [
        text_check(
            PAPER,
            f"accuracy on {where[setting]} that SE adds to ResNeXt-101 32x4d",
            gain,
            reason=f"{WITH_SE} less {PLAIN} {reason}",
            known=f"known: the two networks {reason} differ by {gain:.1f}",
        )
        for setting, gain in gains.items()
    ]


def _usual(grid: Grid) -> Check:
    """What the median of the standard models has."""
    ours = 100 * float(np.nanmedian(grid.accuracy(CLEAN)[grid.categories == "standard"]))
    what = "accuracy of ordinary networks on the clean images of the classes of ImageNet-A"
    return text_check(PAPER, what, ours, reason="the median of the testbed's standard models")
