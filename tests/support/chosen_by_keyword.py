"""A small test set whose images have keywords, of which two workers choose, for tests of the page and the command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from made_testset import CLASSES, picture
from oodometer.build.testset.project.annotators import add_workers
from oodometer.build.testset.project.choosing import let_workers_choose
from oodometer.build.testset.project.classes import ClassEntry
from oodometer.build.testset.project.offered import Offered
from oodometer.build.testset.project.pool import CANDIDATE, ORIGINAL, Provenance, add_images
from oodometer.build.testset.project.project import Project, new_project

TEAL = "<b>teal</b> & co"
"""A keyword that is no HTML, whatever it looks like."""

KEYWORDS = {"mallard": "duck", TEAL: "duck", "barn owl": "owl"}
"""Each with its class. By class, and within it by name, TEAL is first, mallard second and barn owl third."""

N_ORIGINALS = {"mallard": 4, TEAL: 0, "barn owl": 2}


def project_with_keywords(
    folder: Path, *, candidates: int = 3, originals: bool = True, choosing: bool = True
) -> tuple[Project, list[str]]:
    """So many candidates of each of three keywords, and originals; with the tokens of three workers.

    Workers 1 and 2 choose: the first selects TEAL and barn owl, and verifies mallard.
    """
    project = new_project(
        folder, classes=(*CLASSES[:1], ClassEntry("duck", "duck", "A bird that swims.")), name="birds"
    )
    for role, counts in (
        (CANDIDATE, dict.fromkeys(KEYWORDS, candidates)),
        (ORIGINAL, N_ORIGINALS if originals else {}),
    ):
        offered = [
            Offered(f"{word}-{role}-{i}", _picture(at, role, i), KEYWORDS[word], {"keyword": word})
            for at, (word, n) in enumerate(counts.items())
            for i in range(n)
        ]
        add_images(project, offered, Provenance("made", "test"), role=role)
    tokens = add_workers(project, 3)
    if choosing:
        let_workers_choose(project, 1, 2)
    return project, tokens


def _picture(at: int, role: str, i: int) -> Callable[[], bytes]:
    return lambda: picture(at, role, i)
