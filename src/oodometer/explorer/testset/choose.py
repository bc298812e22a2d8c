"""The page on which two people choose images by keyword: one selects, the other verifies."""

from __future__ import annotations

from functools import lru_cache

from fastapi import FastAPI, Request
from fastapi.responses import Response

from oodometer.build.testset.project.choosing import n_with_other, next_turn
from oodometer.build.testset.project.class_review import file_of_key
from oodometer.build.testset.project.two_people import decide_all, named_people, take_back
from oodometer.core.errors import UsageError
from oodometer.explorer.testset.access import WORKER_COOKIE, Refused, worker_of
from oodometer.explorer.testset.forms import Form, go_to
from oodometer.explorer.testset.pages import Pages

REMEMBERED = 100_000


def add_to(app: FastAPI, pages: Pages) -> None:
    """The page, its pictures, and where decisions go."""
    project = pages.project

    @lru_cache(REMEMBERED)
    def file_of(key: str) -> str:
        file = file_of_key(project, key)
        if file is None:
            raise UsageError("no image is shown under that address")
        return file

    def person_at(request: Request) -> str:
        """The worker with this cookie, who must be one of the two."""
        person = str(worker_of(project, request.cookies.get(WORKER_COOKIE, "")))
        if person not in named_people(project):
            raise Refused(403, "Images are chosen by two people, and this address is of nobody among them.")
        return person

    @app.get("/choose")
    def choose(request: Request) -> Response:
        person = person_at(request)
        turn = next_turn(project, person)
        if turn is None:
            values = {"title": "Thank you", "n_with_other": n_with_other(project, person)}
            return pages.page("choose_done", values)
        return pages.page("choose", {"title": f"{turn.about.title}: {turn.keyword}", "turn": turn})

    @app.post("/choose/decide")
    def decided(request: Request, form: Form) -> Response:
        person, taken = person_at(request), set(form.all("take"))
        shown = form.all("shown")
        if not shown or not taken <= set(shown):
            raise Refused(400, "That is no answer about the images of a page. Open the page again.")
        try:
            decide_all(project, person, {key: key in taken for key in shown})
        except UsageError as error:
            raise Refused(409, f"{error}. Nothing was kept; open the page again.") from error
        return go_to("/choose")

    @app.post("/choose/undo")
    def undo(request: Request) -> Response:
        try:
            take_back(project, person_at(request))
        except UsageError as error:
            text = str(error)
            raise Refused(409, f"{text[:1].upper()}{text[1:]}: what you said stays.") from error
        return go_to("/choose")

    @app.get("/choose/picture/{name}")
    def picture(request: Request, name: str) -> Response:
        person_at(request)
        return pages.picture(file_of(name.removesuffix(".jpg")))
