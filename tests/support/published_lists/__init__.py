"""Lists as their papers and projects publish them, apart from the product's own, which are held against them.

imagenet_{a,o,r}_wnids.txt: the 200 classes of each set (Hendrycks et al. 2021, both papers); icons50_classes.txt and
imagenet22k_broad_classes.csv: Hendrycks and Dietterich 2019; testbed_settings.txt: the 213 settings of the 204-model
testbed (Taori et al. 2020).
"""

from __future__ import annotations

from pathlib import Path


def published_list(name: str) -> str:
    """The text of one of them."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
