"""The sets of a project: what is chosen now, or at a revision, and the original images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from oodometer.build.testset.project.annotated import answers_of, frequencies_of
from oodometer.build.testset.project.kept_pictures import KeptPictures
from oodometer.build.testset.project.pool import CANDIDATE, ORIGINAL, PoolImage, pool_images
from oodometer.build.testset.project.pool_data import original_data
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.revisions import chosen_of, revisions
from oodometer.build.testset.project.sample_request import SampleRequest
from oodometer.build.testset.study.image_sets import Compared, ImageSet
from oodometer.core.errors import DataError


def of_project(project: Project, revision: int | None = None) -> Compared:
    """The images of a revision, by default of the latest, or all candidates where nothing is sampled yet.

    A store knows the new ones by their keys (`oodometer testset pool`, or a release), and the original ones by their
    ids in the original set.
    """
    known = revisions(project)
    request = None
    if revision is None and not known:
        images, name = pool_images(project, role=CANDIDATE), f"{project.name}, all candidates"
    else:
        number = known[-1].number if revision is None else revision
        images, name = chosen_of(project, number), f"{project.name}, revision {number}"
        request = next(one.request for one in known if one.number == number)
    if not images:
        raise DataError(f"{project.folder}: no candidates yet; add some with: oodometer testset add")
    frequency = frequency_by_key(project, request)
    originals = pool_images(project, role=ORIGINAL)
    new = _set(project, name, images, tuple(one.key for one in images), frequency)
    ids = tuple(one.columns.get("name", one.key) for one in originals)
    if not originals:
        return Compared(new, None)
    old = _set(project, "original", originals, ids, frequency)
    # In a store, other images may have the same ids as the original ones; keys of the pool are nobody else's.
    return Compared(new, replace(old, data=original_data(project)))


def pool_set(project: Project) -> ImageSet:
    """All candidates, in the order of their keys."""
    images = pool_images(project, role=CANDIDATE)
    return _set(project, f"{project.name}, all candidates", images, tuple(one.key for one in images), {})


def frequency_by_key(project: Project, request: SampleRequest | None = None) -> dict[str, float]:
    """The selection frequency of every image that annotators were asked about, for its own class.

    Args:
        request: Of the revision that it is about: whose answers count, and of how many an original image is one of
            those that the sample was to be like; by default all count.
    """
    asked = answers_of(project)
    found = frequencies_of(asked, without_spammers=request is not None and request.without_spammers)
    original = np.array([one.role == ORIGINAL for one in asked.images], dtype=bool)
    few = original & (found.n_answers < (0 if request is None else request.needed_answers))
    known = asked.own_class & ~few
    return {one.key: float(found.frequency[at]) for at, one in enumerate(asked.images) if known[at]}


def _set(
    project: Project, name: str, images: Sequence[PoolImage], ids: tuple[str, ...], frequency: Mapping[str, float]
) -> ImageSet:
    return ImageSet(
        name,
        ids,
        tuple(one.class_name for one in images),
        np.array([frequency.get(one.key, np.nan) for one in images]),
        KeptPictures(project.folder, tuple(one.file for one in images)),
    )
