"""The page on which a worker says which images of a grid show a class."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from oodometer.build.testset.project.handing_out import (
    RefusedAnswerError,
    files_beside,
    next_task,
    progress_of,
    submit,
)
from oodometer.build.testset.project.image_files import small_copy
from oodometer.build.testset.project.tasks import MOST_IMAGES, drawings_count
from oodometer.core.errors import UsageError
from oodometer.explorer.testset.access import WORKER_COOKIE, Refused, worker_of
from oodometer.explorer.testset.pages import KEY, Pages

MOST_KEPT = 64_000_000
"""Bytes of pictures in memory. A page asks for 48, and many people are shown the same ones."""

OF_PICTURES = {"cache-control": "private, max-age=3600"}


class Pictures:
    """Those that were asked for last, by what pages call them: what an address stands for never changes."""

    def __init__(self, most_bytes: int) -> None:
        self.left = most_bytes
        self.contents: OrderedDict[str, bytes] = OrderedDict()

    def get(self, key: str) -> bytes | None:
        """A picture, if it is there."""
        if key in self.contents:
            self.contents.move_to_end(key)
        return self.contents.get(key)

    def add(self, key: str, content: bytes) -> None:
        """Keep one, and let go of those that nobody has asked for the longest."""
        if key not in self.contents:
            self.contents[key] = content
            self.left -= len(content)
        while self.left < 0:
            self.left += len(self.contents.popitem(last=False)[1])


class Answer(BaseModel):
    """What the page sends."""

    model_config = ConfigDict(extra="forbid")

    task: Annotated[str, Field(max_length=64, pattern=f"^{KEY}$")]
    selected: Annotated[list[StrictBool], Field(max_length=MOST_IMAGES)]
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None


def add_to(app: FastAPI, pages: Pages) -> None:
    """The page, its pictures, and where its answers go."""
    kept = Pictures(MOST_KEPT)
    files: dict[str, str] = {}  # small beside the pool: an address and a name for each image in a task

    def picture_of(key: str) -> bytes:
        if not re.fullmatch(KEY, key):
            raise UsageError("no image is shown under that address")
        if key not in files:
            files.update(files_beside(pages.project, key))
        return small_copy(pages.project.folder, files[key])

    def worker_at(request: Request) -> int:
        return worker_of(pages.project, request.cookies.get(WORKER_COOKIE, ""))

    @app.get("/annotate")
    def annotate(request: Request) -> Response:
        worker = worker_at(request)
        task = next_task(pages.project, worker)
        progress = progress_of(pages.project, worker)
        if task is None:
            return pages.page("annotate_no_task", {"title": "Thank you", "progress": progress})
        drawings = drawings_count(pages.project)
        values = {"title": task.about.title, "task": task, "progress": progress, "drawings": drawings}
        return pages.page("annotate", values)

    @app.post("/annotate/answer")
    def answer(request: Request, said: Answer) -> Response:
        try:
            new = submit(pages.project, worker_at(request), said.task, said.selected, seconds=said.seconds)
        except RefusedAnswerError as error:
            raise Refused(409, _sentence(error)) from error
        return JSONResponse({"new": new})

    async def shown(request: Request) -> Response:
        key = request.path_params["name"].removesuffix(".jpg")
        content = kept.get(key)
        if content is None:
            content = await run_in_threadpool(picture_of, key)
            kept.add(key, content)
        return Response(content, media_type="image/jpeg", headers=OF_PICTURES)

    app.router.routes.append(Route("/shown/{name}", shown))


def _sentence(error: Any) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."
