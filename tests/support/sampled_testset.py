"""A small test set that was annotated, searched for near-duplicates and sampled, for tests of the pages that follow."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from made_testset import CLASSES, made_project, picture
from oodometer.build.testset.likeness import Reach
from oodometer.build.testset.project.annotators import add_workers
from oodometer.build.testset.project.classes import ClassEntry
from oodometer.build.testset.project.close_pairs import find_duplicates, set_thresholds
from oodometer.build.testset.project.handing_out import next_task, submit
from oodometer.build.testset.project.offered import Offered
from oodometer.build.testset.project.pool import CANDIDATE, Provenance, add_images
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.revisions import take_sample
from oodometer.build.testset.project.sample_request import SampleRequest
from oodometer.build.testset.project.tasks import Layout, make_tasks

HOSTILE = "<b>o/x?</b>&'\""
"""A name of a class that is no HTML and no address, whatever it looks like."""

ALL_CLASSES = (*CLASSES, ClassEntry(HOSTILE, HOSTILE, "</script><script>alert(1)</script>"))
PER_CLASS = 5
COPIED = 3
"""Candidates of the first class that are in the pool a second time: enlarged or mirrored, and encoded again."""

THRESHOLDS = {"pixels": 0.02, "structure": 0.05}
"""The copies are closer; so are few of the other pairs, all of plain colours."""


def sampled_project(folder: Path) -> Project:
    """Four classes with fourteen candidates and twelve originals, three copies, two workers' answers, one revision."""
    project = made_project(folder, classes=ALL_CLASSES, candidates=14, originals=12)
    copies = [Offered(f"copy-{i}", lambda i=i: _copy(i), "owl", {}) for i in range(COPIED)]
    add_images(project, copies, Provenance("copies", "test"))
    add_workers(project, 2)
    make_tasks(project, Layout(size=24, workers=2, originals=6))
    rng = np.random.default_rng(0)
    for worker in (1, 2):
        while (task := next_task(project, worker)) is not None:
            submit(project, worker, task.key, (rng.random(len(task.shown)) < 0.75).tolist())
    find_duplicates(project, metrics=list(THRESHOLDS), reach=Reach(within={"pixels": 0.2, "structure": 0.7}))
    set_thresholds(project, THRESHOLDS)
    take_sample(project, SampleRequest("uniform", per_class=PER_CLASS), by="tests", note="a first look")
    return project


def _copy(i: int) -> bytes:
    image = Image.open(io.BytesIO(picture(0, CANDIDATE, i)))
    out = io.BytesIO()
    (ImageOps.mirror(image) if i % 2 else image.resize((300, 225))).save(out, "JPEG", quality=80)
    return out.getvalue()
