"""What every page of a test set is made with: the project, the templates, and small copies of its images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from fastapi.responses import HTMLResponse, Response

from oodometer.build.testset.project.image_files import small_copy
from oodometer.build.testset.project.project import Project
from oodometer.document.html_environment import environment_of

KEY = "[A-Za-z0-9_-]+"
"""What tasks and images are called in addresses. A database need not take all other characters."""

TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}


@dataclass(frozen=True)
class Pages:
    """The pages of one project."""

    project: Project

    def page(self, template: str, values: Mapping[str, Any], *, status: int = 200) -> HTMLResponse:
        """A page; everything in it is escaped."""
        text = environment().get_template(f"{template}.html.j2").render({"project": self.project.name, **values})
        return HTMLResponse(text, status_code=status)

    def picture(self, file: str) -> Response:
        """A small copy of an image of the project, the same size and kind for all."""
        headers = {"cache-control": "private, max-age=3600"}
        return Response(small_copy(self.project.folder, file), media_type="image/jpeg", headers=headers)


@lru_cache(1)
def environment() -> Any:
    """The templates."""
    return environment_of("oodometer.explorer.testset", extra="web", what="pages")


@lru_cache(1)
def static_files() -> dict[str, tuple[str, bytes]]:
    """The type and content of every script and style, by name."""
    folder = files("oodometer.explorer.testset").joinpath("static")
    found = [place for place in folder.iterdir() if place.name.rpartition(".")[2] in TYPES]
    return {place.name: (TYPES[place.name.rpartition(".")[2]], place.read_bytes()) for place in found}
