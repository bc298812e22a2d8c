"""What the text of Hendrycks et al. 2021, The Many Faces of Robustness, states, from its tables."""

from __future__ import annotations

from oodometer.published.checks import Check
from oodometer.published.in_text.numbers import text_check
from oodometer.published.many_faces_statements import PAPER
from oodometer.published.tables import read_table
from oodometer.published.testbed_table import Grid

LARGE, PRETRAINED = "ResNeXt-101 32x8d", "ResNeXt-101 32x8d + WSL Pretraining"
ROWS = {
    "ResNet-50": "ResNet-50",
    "ResNet-152": "ResNet-152",
    "ResNet-50 with DeepAugment": "ResNet-50 + DeepAugment",
    LARGE: LARGE,
    f"{LARGE} with WSL pretraining": PRETRAINED,
}
"""Networks in the text, and in Table 7."""
NOT_IN_TABLES = "ResNeXt-50 32x4d"


def checks() -> list[Check]:
    """Errors on ImageNet-R that Table 7 has too, and a difference of two of them."""
    table = read_table("hendrycks2021_imagenet_r")
    error = {name: table.value(row, "imagenet_r_error") for name, row in ROWS.items()}
    gain = error[LARGE] - error[f"{LARGE} with WSL pretraining"]
    known = f"known: its own two numbers give {gain:.1f} points, or {100 * gain / error[LARGE]:.1f} % of the error"
    what = "error on ImageNet-R that WSL pretraining takes off"
    return [
        *(
            text_check(PAPER, f"error on ImageNet-R of {name}", value, reason="Table 7")
            for name, value in error.items()
        ),
        text_check(PAPER, what, gain, reason="Table 7", known=known),
    ]


def checks_from(grid: Grid) -> list[Check]:
    """The error of a network that no table of the paper has."""
    model = "resnext50_32x4d"
    if not grid.has((model,), ("imagenet-r",)):
        return []
    ours = 100 * (1 - float(grid.accuracy("imagenet-r")[grid.rows((model,))[0]]))
    return [text_check(PAPER, f"error on ImageNet-R of {NOT_IN_TABLES}", ours, reason=f"{model} of the testbed")]
