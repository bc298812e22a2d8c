"""The first page and the history without a browser: numbers that another count gives too."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from made_testset import made_project
from oodometer.build.testset.project.annotation_report import annotation_report
from oodometer.build.testset.project.annotators import block_worker
from oodometer.build.testset.project.class_frequencies import frequencies_in_class, mean_frequencies
from oodometer.build.testset.project.class_progress import next_step, project_progress
from oodometer.build.testset.project.classes import ClassEntry
from oodometer.build.testset.project.exclusions import exclude
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.revisions import chosen_of, mark_reviewed, sample_again
from oodometer.build.testset.project.schema import IMAGE, PAIR, SOURCE, sa
from oodometer.build.testset.project.searched import note_search
from oodometer.build.testset.project.simulate import Simulation, simulate_answers
from oodometer.build.testset.project.tasks import Layout, make_tasks
from oodometer.explorer.testset.app import app_of
from oodometer.explorer.testset.overview import steps_of
from oodometer.explorer.testset.pages import Pages
from sampled_testset import ALL_CLASSES, COPIED, PER_CLASS


@pytest.mark.parametrize("blocked", [False, True])
def test_frequencies_are_those_of_the_whole_report(project: Project, blocked: bool) -> None:
    if blocked:
        block_worker(project, 2)
    report = annotation_report(project)
    # reference: the report, which reads every image and every answer
    assert mean_frequencies(project) == {one.code: one.mean for one in report.candidates if one.mean is not None}
    for class_id in project.class_numbers().values():
        found = frequencies_in_class(project, class_id)
        expected = {
            image.key: report.frequencies.estimate(at)
            for at, image in enumerate(report.asked.images)
            if report.asked.classes[at] == class_id == image.class_id and report.frequencies.n_answers[at]
        }
        assert found.keys() == expected.keys()
        for key, estimate in found.items():
            assert (estimate.value, estimate.n) == (expected[key].value, expected[key].n)
            assert (estimate.low, estimate.high) == pytest.approx((expected[key].low, expected[key].high), abs=1e-12)


def test_the_overview_counts_each_class(project: Project) -> None:
    gone = [image.key for image in chosen_of(project, 1) if image.class_name == "owl"][:2]
    exclude(project, gone, "blurry", by="tests")
    exclude(project, gone[:1], "drawing", by="tests")  # for two reasons, and out once
    mark_reviewed(project, 1, "duck", by="tests")
    owl, duck, *_ = project_progress(project).classes
    assert (owl.n_candidates, owl.n_originals, owl.n_in_tasks) == (14 + COPIED, 12, 14 + COPIED)
    # A task has room for 18 besides its controls, and there are 17 candidates or 14, and 3 originals to be asked about.
    assert (owl.n_answers, owl.n_wanted, duck.n_answers, duck.n_wanted) == (4, 4, 2, 2)
    assert (owl.n_excluded, owl.n_chosen, owl.is_reviewed) == (2, PER_CLASS, False)
    assert (duck.n_excluded, duck.n_chosen, duck.is_reviewed) == (0, PER_CLASS, True)


def test_answers_of_blocked_workers_are_wanted_again(project: Project) -> None:
    before = project_progress(project)
    block_worker(project, 2)
    after = project_progress(project)
    assert (before.total("n_answers"), before.total("n_wanted")) == (10, 10)
    assert (after.total("n_answers"), after.total("n_wanted")) == (5, 10)


def test_every_step_leads_to_the_next(project: Project, tmp_path: Path, pages: TestClient) -> None:
    with made_project(tmp_path / "new", candidates=0) as new:
        assert "add" in next_step(project_progress(new), "new").command
    with made_project(tmp_path / "pool", candidates=3) as pool:
        assert "tasks" in next_step(project_progress(pool), "pool").command
        make_tasks(pool, Layout(workers=1))
        simulate_answers(pool, Simulation(n_workers=2))
        step = next_step(project_progress(pool), "my pool")
        assert step.command == "oodometer testset duplicates 'my pool'"
        assert steps_of(project_progress(pool))[3].told == "not searched yet"
        note_search(pool)  # it found nothing
        assert next_step(project_progress(pool), "pool").command == "oodometer testset sample pool"
        assert steps_of(project_progress(pool))[3].told == "searched: no close pairs"
    assert next_step(project_progress(project), "x").page == "/pairs"
    with project.database.writing() as connection:
        connection.execute(sa.update(PAIR).values(verdict="different", at="2026"))
    assert next_step(project_progress(project), "x").page == "/review"
    for entry in ALL_CLASSES:
        mark_reviewed(project, 1, entry.name, by="tests")
    assert next_step(project_progress(project), "x").sentence.startswith("Every class is reviewed")
    assert "Every class is reviewed" in pages.get("/").text
    block_worker(project, 2)
    assert next_step(project_progress(project), "x").sentence == "5 answers are missing: let people annotate."


def test_names_are_escaped_on_every_page(pages: TestClient) -> None:
    for address in ("/", "/pairs", "/pairs/thresholds", "/review", "/revisions", "/results/quiz"):
        page = pages.get(address)
        assert page.status_code == 200
        assert "<b>o/x" not in page.text
        assert "<script>alert" not in page.text


def test_a_project_with_nothing_in_it_has_all_pages(tmp_path: Path) -> None:
    with made_project(tmp_path / "empty", candidates=0, originals=0) as empty:
        pages = TestClient(app_of(Pages(empty)), follow_redirects=False)
        for address in ("/", "/pairs", "/pairs/thresholds", "/review", "/revisions", "/results/quiz"):
            assert pages.get(address).status_code == 200, address


def test_the_history_tells_how_each_revision_came_to_be(project: Project, pages: TestClient) -> None:
    gone = chosen_of(project, 1)[0]
    exclude(project, [gone.key], "blurry", by="tests")
    sample_again(project, by="somebody <b>else</b>", note="a note")
    page = pages.get("/revisions").text
    assert page.index("Revision 2") < page.index("Revision 1")
    for told in (
        "<b>uniform</b>, per class 5, seed 0",
        "a first look",
        "a note",
        "<b>1</b> blurry",
        "by somebody &lt;b&gt;",
    ):
        assert told in page
    assert "<b>1</b> came, <b>1</b> went" in page


def test_a_difference_tells_what_came_and_why_each_went(project: Project, pages: TestClient) -> None:
    gone = chosen_of(project, 1)[0]
    exclude(project, [gone.key], "blurry", by="tests")
    sample_again(project, by="tests")
    (came,) = {image.key for image in chosen_of(project, 2)} - {image.key for image in chosen_of(project, 1)}
    page = pages.get("/revisions/difference?older=1&newer=2").text
    assert f"{4 * PER_CLASS - 1} images stayed, 1 went, 1 came." in page
    went, _, arrived = page.partition('id="came"')
    assert f"/picture/medium/{gone.key}" in went
    assert "<span>blurry</span>" in went
    assert f"/picture/medium/{came}" in arrived
    back = pages.get("/revisions/difference?older=2&newer=1").text
    assert "another was drawn" in back
    assert pages.get("/revisions/difference?older=1&newer=9").status_code == 400
    assert pages.get("/revisions/difference?older=x&newer=1").status_code == 422


@pytest.mark.slow
def test_the_overview_of_a_thousand_classes_and_a_hundred_thousand_images_is_fast(tmp_path: Path) -> None:
    classes = [ClassEntry(f"class{at:04d}") for at in range(1000)]
    with made_project(tmp_path / "large", classes=classes, candidates=0, originals=0) as large:
        _fill(large, 100)
        pages = TestClient(app_of(Pages(large)))
        pages.get("/")
        began = time.perf_counter()
        assert "100,000 candidates" in pages.get("/").text
        # Measured: 1.1 s on a quiet core, and that with 30,000 answers as well. Five times that promises no speed,
        # but what reads every image and answer takes longer.
        assert time.perf_counter() - began < 6


def _fill(project: Project, per_class: int) -> None:
    """Rows of images without files: nothing here reads them."""
    with project.database.writing() as connection:
        source = {"address": "made", "kind": "test", "licence": "", "note": "", "added": "2026"}
        connection.execute(sa.insert(SOURCE), source)
        plain = {"source_id": 1, "file": "x", "width": 1, "height": 1, "licence": "", "author": "", "url": ""}
        rows = [
            {"key": f"c{c}-{i}", "role": "candidate", "class_id": c, "digest": f"{c}-{i}", "keyword": "", "columns": ""}
            for c in range(1, 1001)
            for i in range(per_class)
        ]
        connection.execute(sa.insert(IMAGE), [{**plain, **row} for row in rows])
