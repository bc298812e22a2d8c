"""What is out as things are now: of a revision, the images that the next sample drops; of a class, what waits."""

from __future__ import annotations

from collections import Counter
from typing import Any

from oodometer.build.testset.candidates import FEW_ANSWERS
from oodometer.build.testset.project.pool import CANDIDATE, pool_images
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.revisions import RevisionRecord, chosen_of, reasons_now
from oodometer.build.testset.project.sample_request import SampleRequest
from oodometer.build.testset.project.schema import ANSWER, EXCLUSION, IMAGE, PAIR, SETTING, WORKER, sa


def out_since(project: Project, record: RevisionRecord) -> dict[str, int]:
    """By reason how many images of a revision the next sample drops, the commonest reason first.

    Of one picture the image that may stay is not among them, and close pairs count that nobody has looked at.
    """
    reasons = reasons_now(project, record.request)
    out = (reasons.get(image.key, "") for image in chosen_of(project, record.number))
    return dict(Counter(reason for reason in out if reason).most_common())


def state_of(project: Project) -> tuple[Any, ...]:
    """What `out_since` depends on, counted in no time: the same state, the same images out."""
    counts = (
        sa.select(sa.func.count(), sa.func.max(EXCLUSION.c.at), sa.func.max(EXCLUSION.c.revoked)).select_from(
            EXCLUSION
        ),
        sa.select(sa.func.count(), sa.func.max(ANSWER.c.at)).select_from(ANSWER),
        sa.select(sa.func.count()).select_from(IMAGE),
        sa.select(PAIR.c.verdict, sa.func.count(), sa.func.max(PAIR.c.at)).group_by(PAIR.c.verdict),
        sa.select(WORKER.c.id).where(WORKER.c.blocked != 0).order_by(WORKER.c.id),
        sa.select(SETTING.c.key, SETTING.c.value).order_by(SETTING.c.key),
    )
    return tuple(tuple(sorted(map(tuple, project.database.rows(query)))) for query in counts)


def with_few_answers(project: Project, request: SampleRequest) -> dict[str, int]:
    """By class how many candidates can't be chosen only because too few people were asked about them."""
    reasons = reasons_now(project, request)
    images = pool_images(project, role=CANDIDATE)
    return dict(Counter(image.class_name for image in images if reasons[image.key] == FEW_ANSWERS))
