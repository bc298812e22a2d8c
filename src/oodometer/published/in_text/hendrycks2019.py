"""What the text of Hendrycks and Dietterich 2019 states of networks that its tables do not have."""

from __future__ import annotations

import numpy as np

from oodometer.metrics.corruption_error import COMMON, alexnet, mean_corruption_error
from oodometer.published.checks import Check
from oodometer.published.hendrycks2019 import PAPER
from oodometer.published.in_text.numbers import text_check
from oodometer.published.tables import read_table
from oodometer.published.testbed_table import Grid

IN_RECHT = {"DenseNet-121": "densenet121", "DenseNet-161": "densenet161", "ResNeXt-101": "resnext101_64x4d"}
IN_TESTBED = {**IN_RECHT, "ResNeXt-50": "resnext50_32x4d"}
"""The same networks in the table of Recht 2019 and in the testbed."""
CORRUPTED = tuple(f"imagenet-c.{name}.{severity}_on-disk" for name in COMMON for severity in range(1, 6))
"""The testbed's columns of ImageNet-C as it was published."""


def checks() -> list[Check]:
    """Clean errors, which the table of Recht 2019 has for some of the networks."""
    recht = read_table("recht2019_imagenet")
    return [
        text_check(
            PAPER,
            f"clean error of {name}",
            100 - recht.value(model, "val_top1"),
            rounding=0.05,
            reason=f"Recht 2019 has {model}, to 0.1",
        )
        for name, model in IN_RECHT.items()
    ]


def checks_from(grid: Grid) -> list[Check]:
    """The mCE of networks of the testbed, and a clean error."""
    models = {name: model for name, model in IN_TESTBED.items() if grid.has((model, "alexnet"), CORRUPTED)}
    return [*_clean_error(grid), *(_mce_check(grid, name, model) for name, model in models.items())]


def _clean_error(grid: Grid) -> list[Check]:
    model = IN_TESTBED["ResNeXt-50"]
    if not grid.has((model,), ("val",)):
        return []
    ours = 100 * (1 - float(grid.accuracy("val")[grid.rows((model,))[0]]))
    known = "known: the network of this name in the testbed is a better one"
    return [text_check(PAPER, "clean error of ResNeXt-50", ours, reason=f"{model} of the testbed", known=known)]


def testbed_mce(grid: Grid, model: str) -> float:
    """The mCE of a model by the testbed's accuracies on ImageNet-C and the published errors of AlexNet, in percent."""
    (row,) = grid.rows((model,))
    errors = [
        [1 - grid.accuracy(f"imagenet-c.{name}.{severity}_on-disk")[row] for severity in range(1, 6)] for name in COMMON
    ]
    return 100 * float(mean_corruption_error(np.array(errors), alexnet()))


def _mce_check(grid: Grid, name: str, model: str) -> Check:
    itself = testbed_mce(grid, "alexnet")
    known = f"known: on the testbed's images AlexNet itself has {itself:.1f}, not 100"
    reason = f"{model} of the testbed, by the published errors of AlexNet"
    return text_check(PAPER, f"mCE of {name}", testbed_mce(grid, model), reason=reason, known=known)
