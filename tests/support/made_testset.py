"""A small test set in the making, with images that differ, for tests."""

from __future__ import annotations

import colorsys
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from oodometer.build.testset.project.classes import ClassEntry
from oodometer.build.testset.project.offered import Offered
from oodometer.build.testset.project.pool import CANDIDATE, ORIGINAL, Provenance, add_images
from oodometer.build.testset.project.project import Project, new_project

CLASSES = (
    ClassEntry("owl", "owl", "A bird that hunts at night.", "https://example.org/owl"),
    ClassEntry("duck", "duck", "A bird that swims."),
    ClassEntry("cat", "cat"),
)


def made_project(
    folder: Path,
    *,
    classes: Sequence[ClassEntry] = CLASSES,
    candidates: int = 20,
    originals: int = 8,
    database: str | None = None,
) -> Project:
    """A project with so many candidates and originals of each class."""
    project = new_project(folder, classes=classes, database=database, name="birds")
    for role, n in ((CANDIDATE, candidates), (ORIGINAL, originals)):
        offered = [_offered(at, entry.name, role, i) for at, entry in enumerate(classes) for i in range(n)]
        add_images(project, offered, Provenance("made", "test"), role=role)
    return project


def _offered(at: int, name: str, role: str, i: int) -> Offered:
    return Offered(f"{name}-{role}-{i}", lambda: picture(at, role, i), name, {})


def picture(at: int, role: str, i: int) -> bytes:
    """A shape on a ground: the colour is of the class, the rest differs from image to image."""
    rng = np.random.default_rng([at, len(role), i])
    hue = (at * 0.31 + rng.uniform(-0.05, 0.05)) % 1
    ground, shape = (
        tuple(int(255 * c) for c in colorsys.hsv_to_rgb(hue + d, 0.5, v)) for d, v in ((0, 0.9), (0.5, 0.6))
    )
    image = Image.new("RGB", (64, 48), ground)
    x, y, r = rng.uniform(15, 45), rng.uniform(12, 36), rng.uniform(5, 14)
    ImageDraw.Draw(image).ellipse((x - r, y - r, x + r, y + r), shape)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
