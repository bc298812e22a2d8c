"""People name images of both sets without knowing which set each is of; the owner sees what came of it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from oodometer.build.testset.project.handing_out import RefusedAnswerError
from oodometer.build.testset.project.quiz import (
    MOST_NAMES,
    file_of_question,
    key_after_next,
    n_named,
    next_question,
    sizes_of,
    submit_names,
    take_back,
)
from oodometer.build.testset.project.quiz_results import QuizResults, quiz_results
from oodometer.core.errors import UsageError
from oodometer.core.estimate import Estimate
from oodometer.document.numbers import bounds, value_text
from oodometer.document.table import Column, Table
from oodometer.explorer.testset.access import WORKER_COOKIE, Refused, worker_of
from oodometer.explorer.testset.forms import Form, go_to
from oodometer.explorer.testset.pages import KEY, Pages

RESULTS = "/results/quiz"
"""Not below ``/quiz``, which is for those who answer."""

REMEMBERED = 100_000


def add_to(app: FastAPI, pages: Pages) -> None:
    """The page, its pictures, where its answers go, and the results."""
    project = pages.project

    @lru_cache(REMEMBERED)
    def file_of(key: str) -> str:
        return file_of_question(project, key)

    def worker_at(request: Request) -> int:
        return worker_of(project, request.cookies.get(WORKER_COOKIE, ""))

    @app.get("/quiz")
    def quiz(request: Request) -> Response:
        worker = worker_at(request)
        question = next_question(project, worker)
        if question is None:
            values = {
                "title": "Thank you",
                "n_done": n_named(project, worker),
                "there": any(sizes_of(project).values()),
            }
            return pages.page("quiz_done", values)
        values = {
            "title": "What is this?",
            "question": question,
            "ahead": key_after_next(project, worker),
            "classes": _classes(pages),
            "most": MOST_NAMES,
        }
        return pages.page("quiz", values)

    @app.post("/quiz/name")
    def name(request: Request, form: Form) -> Response:
        said = () if form.one("cannot_tell") else form.all("class")
        if not said and not form.one("cannot_tell"):
            raise Refused(400, "Choose a name, or say that you can't tell.")
        if not re.fullmatch(KEY, form.one("key")):
            raise Refused(400, "That is no answer about an image. Open the page again.")
        try:
            submit_names(project, worker_at(request), form.one("key"), said)
        except RefusedAnswerError as error:
            text = str(error)
            raise Refused(409, f"{text[:1].upper()}{text[1:]}.") from error
        return go_to("/quiz")

    @app.post("/quiz/undo")
    def undo(request: Request) -> Response:
        take_back(project, worker_at(request))
        return go_to("/quiz")

    @app.get("/quiz/picture/{name}")
    def picture(name: str) -> Response:
        key = name.removesuffix(".jpg")
        if not re.fullmatch(KEY, key):
            raise UsageError("no image is shown under that address")
        return pages.picture(file_of(key))

    @app.get("/quiz/results")
    def moved() -> Response:
        return go_to(RESULTS)

    @app.get(RESULTS)
    def results() -> Response:
        there = any(sizes_of(project).values())
        found = quiz_results(project) if there else None
        values = {
            "title": "Quiz",
            "here": RESULTS,
            "found": found,
            "table": results_table(found) if found and found.people else None,
            "said": said_of(found) if found else "",
            "folder": str(project.folder),
        }
        return pages.page("quiz_results", values)


def results_table(found: QuizResults) -> Table:
    """The paired table: each person on both sets, and all of them."""
    about = "Share of the images whose class is among the names that were given, with Wilson's 95 % interval."
    columns = (
        Column("Person"),
        Column("Original", "percent", about, bar=True),
        Column("New", "percent", about, bar=True),
        Column("New − original", "points", "With Newcombe's 95 % interval.", bar=True),
        Column("First name, original", "percent", "Share whose class is the first name.", hidden=True),
        Column("First name, new", "percent", "Share whose class is the first name.", hidden=True),
        Column("Images", "count", "That the person named or could not tell."),
        Column("Can't tell", "count", "Of these, without a name; they count as not right."),
    )
    rows: list[tuple[Any, ...]] = []
    for one in found.people:
        sets = [on_set for on_set in (one.old, one.new) if on_set is not None]
        rows.append(
            (
                f"person {one.person}",
                one.old and one.old.accuracy,
                one.new and one.new.accuracy,
                one.difference,
                one.old and one.old.first,
                one.new and one.new.first,
                sum(on_set.n for on_set in sets),
                sum(on_set.n_cannot_tell for on_set in sets),
            )
        )
    if len(found.people) > 1:
        rows.append(("all", found.old, found.new, found.difference, None, None, None, None))
    footnote = (
        "All: the mean over images of the share of people who were right; the interval is for other images that these "
        "people might have been shown."
    )
    return Table("quiz", "Accuracy of people on the hardest images", columns, tuple(rows), footnotes=(footnote,))


def said_of(found: QuizResults) -> str:
    """What the results come to, in a sentence.

    >>> said_of(QuizResults(50, 40, (), None, None, None, None))
    '50 images of the original set and 40 of the new one; nobody has named any yet.'
    """
    sizes = f"{found.n_old:,} images of the original set and {found.n_new:,} of the new one"
    if not found.people:
        return f"{sizes}; nobody has named any yet."
    n = len(found.people)
    told = f"{sizes}, named by {n} {'person' if n == 1 else 'people'}."
    if found.difference is None:
        return told
    told += f" New minus original: {_points(found.difference)}, for other images that these people might be shown"
    if found.over_people is not None and n > 1:
        told += f"; {_points(found.over_people)}, for other people who might be shown these"
    return f"{told}."


def _points(one: Estimate) -> str:
    return f"{value_text(one, 'points')} points {bounds(one, 'points')}".rstrip()


def _classes(pages: Pages) -> list[dict[str, str]]:
    """By title, and where two have the same one with what tells them apart."""
    entries = sorted(pages.project.classes().values(), key=lambda one: (one.title.casefold(), one.name))
    titles = [one.title for one in entries]
    return [
        {
            "name": one.name,
            "title": one.title if titles.count(one.title) == 1 else f"{one.title} ({one.gloss or one.name})",
            "gloss": one.gloss,
            "also": " ".join(word for word in one.synonyms if word != one.title),
        }
        for one in entries
    ]
