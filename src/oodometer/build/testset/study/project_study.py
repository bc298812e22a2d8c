"""The study of a project: besides what any two sets show, its revisions and strategies."""

from __future__ import annotations

from oodometer.build.testset.project.project import open_project
from oodometer.build.testset.study.by_revision import accuracy_by_revision, original_frequency, strategy_drops
from oodometer.build.testset.study.of_project import of_project, pool_set
from oodometer.build.testset.study.rights import rights_about
from oodometer.build.testset.study.study import ReleaseStudy, StudyRequest, studied
from oodometer.store.index import Index


def study_of_project(folder: str, index: Index, request: StudyRequest) -> ReleaseStudy:
    """The study of what is chosen now, and of all revisions on the way."""
    with open_project(folder) as project:
        compared = of_project(project)
        pool = rights_about(index, pool_set(project)).only(request.models)
        original = None if compared.original is None else rights_about(index, compared.original).only(request.models)
        strategies = [] if original is None else strategy_drops(project, original, pool, level=request.level)
        return studied(
            index,
            compared,
            request,
            revisions=tuple(accuracy_by_revision(project, pool, level=request.level)),
            strategies=tuple(strategies),
            original_frequency=original_frequency(project, level=request.level),
        )
