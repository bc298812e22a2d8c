"""The first page of the owner: how far the test set is, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.responses import Response

from oodometer.build.testset.project.class_progress import ClassProgress, ProjectProgress, next_step, project_progress
from oodometer.document.table import Column, Table
from oodometer.explorer.links import path_link
from oodometer.explorer.testset.pages import Pages


@dataclass(frozen=True)
class Step:
    """A part of the way to a test set, with how much of it is done.

    Args:
        title: Of the card.
        told: The numbers in words.
        done: Of ``wanted``; None where nothing is to be reached.
        page: Where it is done; empty: at the command line.
    """

    title: str
    told: str
    done: int | None = None
    wanted: int = 0
    page: str = ""


def add_to(app: FastAPI, pages: Pages) -> None:
    """The page."""

    @app.get("/")
    def overview() -> Response:
        progress = project_progress(pages.project)
        values = {
            "title": pages.project.name,
            "here": "/",
            "steps": steps_of(progress),
            "next": next_step(progress, str(pages.project.folder)),
            "table": classes_table(progress),
            "n_classes": len(progress.classes),
        }
        return pages.page("overview", values)


def steps_of(progress: ProjectProgress) -> list[Step]:
    """The way to a test set."""
    n_candidates, n_in_tasks, n_answers, n_wanted, n_chosen = (
        progress.total(what) for what in ("n_candidates", "n_in_tasks", "n_answers", "n_wanted", "n_chosen")
    )
    n_classes = sum(one.n_chosen > 0 for one in progress.classes)
    n_reviewed = sum(one.n_chosen > 0 and one.is_reviewed for one in progress.classes)
    n_pairs, n_open = progress.n_looked_at + progress.n_open_pairs, progress.n_open_pairs
    in_revision = f"{n_chosen:,} images in revision {progress.revision}"
    return [
        Step(
            "Pool",
            f"{n_candidates:,} candidates and {progress.total('n_originals'):,} originals; "
            f"{progress.total('n_excluded'):,} excluded",
        ),
        Step("In tasks", f"{n_in_tasks:,} of {n_candidates:,} candidates", n_in_tasks, n_candidates),
        Step("Answers", f"{n_answers:,} of {n_wanted:,} pages of images", n_answers, n_wanted),
        Step(
            "Near-duplicates",
            _of_pairs(progress),
            n_pairs - n_open,
            n_pairs,
            "/pairs",
        ),
        Step("Sample", in_revision if progress.revision else "nothing sampled yet", page="/revisions"),
        Step("Review", f"{n_reviewed:,} of {n_classes:,} classes reviewed", n_reviewed, n_classes, "/review"),
    ]


def _of_pairs(progress: ProjectProgress) -> str:
    n_pairs = progress.n_looked_at + progress.n_open_pairs
    if not n_pairs:
        return "searched: no close pairs" if progress.was_searched else "not searched yet"
    return f"{progress.n_looked_at:,} of {n_pairs:,} close pairs looked at"


def classes_table(progress: ProjectProgress) -> Table:
    """Every class in a row; its name leads to its review."""
    columns = (
        Column("Class", about="Its review is behind the name."),
        Column("Candidates", "count", "Images in the pool that may show it."),
        Column("Originals", "count", "Images of the original set."),
        Column("In tasks", "count", "Candidates that annotators are asked about."),
        Column("Answers", "count", "Pages of images that were answered, each by as many people as it needs."),
        Column("Wanted", "count", "Answers that there are to be."),
        Column(
            "Frequency",
            "percent",
            "Mean selection frequency of the answered candidates, with Student's 95 % interval over images.",
            bar=True,
        ),
        Column("Excluded", "count", "Candidates that a person or a filter took out."),
        Column("Chosen", "count", "Images in the latest revision."),
        Column("Reviewed", "text", "Whether somebody has gone through it in the latest revision."),
    )
    return Table(
        "classes",
        "How far each class is",
        columns,
        tuple(_row(one) for one in progress.classes),
        filters="Reviewed",
        links={(at, 0): path_link("review", one.name) for at, one in enumerate(progress.classes) if one.n_chosen},
    )


def _row(one: ClassProgress) -> tuple[Any, ...]:
    return (
        one.title if one.title == one.name else f"{one.title} ({one.name})",
        one.n_candidates,
        one.n_originals,
        one.n_in_tasks,
        one.n_answers,
        one.n_wanted,
        one.frequency,
        one.n_excluded,
        one.n_chosen,
        "yes" if one.is_reviewed else "no" if one.n_chosen else "–",
    )
