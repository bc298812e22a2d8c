"""The two video sets: anchor frames, and for each the frames around it that look alike to people."""

from __future__ import annotations

from oodometer.data.layouts.known_set import KnownSet
from oodometer.data.layouts.vid_robust import open_vid_robust
from oodometer.data.layouts.ytbb_robust import open_ytbb_robust

PAGE = "https://modestyachts.github.io/natural-perturbations-website/"
TOGETHER = "imagenet_vid_ytbb_robust"
"""The folder in which both are distributed."""

IMAGENET_VID_ROBUST = KnownSet(
    name="imagenet-vid-robust",
    title="ImageNet-Vid-Robust",
    page=PAGE,
    layout="val/VIDEO/FRAME.JPEG, metadata/pmsets.json and metadata/labels.json",
    places=("imagenet-vid-robust", f"{TOGETHER}/imagenet-vid-robust"),
    open=open_vid_robust,
    n_images=1_109,
    unit="anchor",
)

YTBB_ROBUST = KnownSet(
    name="ytbb-robust",
    title="YTBB-Robust",
    page=PAGE,
    layout="ytbb_videos/VIDEO_MILLISECONDS/frame-NUMBER.jpg, and the reviews in metadata",
    places=("ytbb-robust", f"{TOGETHER}/ytbb-robust"),
    open=open_ytbb_robust,
    # 3,139 sets in both (Shankar et al. 2019, abstract) less 1,109; the testbed's accuracies are shares of 2,030 too,
    # although its paper says 2,530.
    n_images=2_030,
    unit="anchor",
)
