"""Building a test set: a pool of candidates, people who annotate, a sample, its review, a release.

    from oodometer.build import testset

    with testset.new_project("birds/", original="val/") as project:
        kind, offered = testset.offered_by("flickr/", manifest="flickr/manifest.csv")
        print(testset.add_images(project, offered, testset.Provenance("flickr/", kind, licence="CC BY 4.0")))
        print(testset.make_tasks(project))

Every command of ``oodometer testset`` is a function here, or some.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Where each public name lives; imported when first used, so that nobody needs a database for a doctest.
_HOMES = {
    "likeness": "Reach",
    "exchange.label_studio": "export_for_label_studio import_from_label_studio",
    "exchange.mechanical_turk": "export_for_mechanical_turk import_from_mechanical_turk",
    "keywords": "write_keywords",
    "project.annotation_report": "annotation_report write_frequencies",
    "project.annotators": "add_workers block_worker workers_in",
    "project.classes": "ClassEntry read_classes",
    "project.close_pairs": "find_duplicates judge_pair mark_duplicates",
    "project.exclusions": "exclude exclusions revoke",
    "project.filter_pool": "FilterRequest filter_pool undo_filter",
    "project.near_classes": "read_near",
    "project.offered": "offered_by",
    "project.original_keywords": "find_keywords",
    "project.pool": "Provenance add_images counts_by_class",
    "project.pool_data": "write_pool",
    "project.project": "Project new_project open_project",
    "project.quiz": "make_quiz",
    "project.quiz_results": "quiz_results",
    "project.revisions": "chosen_of difference mark_reviewed revisions sample_again take_sample take_samples",
    "project.sample_request": "SampleRequest",
    "project.search_plan": "PlanOptions expand make_plan mark_done plan_rows read_plan write_plan",
    "project.simulate": "Simulation read_clearness simulate_answers",
    "project.two_people": "decide leave_out_others let_choose still_missing to_decide",
    "project.tasks": "Layout make_tasks",
    "release.verify": "verify_release",
    "release.write": "ReleaseOptions write_release",
    "stored_contamination": "contaminations read_duplicates",
    "study.splits": "folds halves read_splits",
    "study.study": "StudyRequest studied study_of",
}
_MODULES = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
