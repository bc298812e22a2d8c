"""How a page is answered: as HTML, and its values as JSON under the same path with ``.json``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response

from oodometer.explorer.explorer import Explorer
from oodometer.explorer.links import JSON
from oodometer.explorer.navigation import navigation
from oodometer.explorer.render import html_of, json_of
from oodometer.explorer.site_extent import Extent

Page = Callable[..., dict[str, Any]]
Asked = tuple[tuple[str, Any], ...]

KEPT = 128
"""Answers to the same question that are kept, of each page."""

ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
"""How twins say in a sentence why they do not answer."""


@dataclass(frozen=True)
class Routes:
    """Where pages are added.

    Args:
        fixed: What a made site has; None where pages are made when they are asked for.
    """

    app: FastAPI
    explorer: Explorer
    fixed: Extent | None = None

    def add(self, path: str, template: str, page: Page, extra: Extra | None = None) -> None:
        """A page and its twin.

        Args:
            page: Gives its values; what can be asked is read off its signature.
        """
        shown = extra or Extra()

        # Kept as long as nothing changes: what many look at is made once.
        @lru_cache(KEPT)
        def json_body(state: object, asked: Asked) -> bytes:  # noqa: ARG001
            return json_of(page(**dict(asked)))

        @lru_cache(KEPT)
        def html_body(state: object, asked: Asked, address: str) -> bytes:  # noqa: ARG001
            values = page(**dict(asked))
            return html_of(template, {**values, **shown.more(values), **self.around(address)}).encode()

        @wraps(page)
        def as_json(**asked: Any) -> Response:
            return Response(json_body(self.explorer.state(), tuple(asked.items())), media_type="application/json")

        @wraps(page)
        def as_html(request: Request, **asked: Any) -> Response:
            body = html_body(self.explorer.state(), tuple(asked.items()), _address(request))
            return HTMLResponse(body, headers=shown.headers)

        # What is asked is read off the signatures; wrapped functions have none of their own.
        signature = inspect.signature(page, eval_str=True)
        request = inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY, annotation=Request)
        as_json.__signature__ = signature.replace(return_annotation=dict[str, Any])  # type: ignore[attr-defined]
        as_html.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*signature.parameters.values(), request], return_annotation=Response
        )
        errors = errors_told({"application/json": {"schema": ERROR}})
        self.app.get(path + JSON, response_model=dict[str, Any], responses=errors)(as_json)
        self.app.get(path, include_in_schema=False, response_model=None)(as_html)

    def around(self, address: str) -> dict[str, Any]:
        """What every page has around its content."""
        return {
            "address": address,
            "pictures": self.explorer.picture is not None,
            "pages": navigation(self.explorer),
            "fixed": self.fixed,
            "progress": self.explorer.progress(),
        }


@dataclass(frozen=True)
class Extra:
    """What the HTML of a page has and its twin has not.

    Args:
        more: Values for the template, from those of the page: tables and drawings.
        headers: Of the answer.
    """

    more: Callable[[dict[str, Any]], dict[str, Any]] = lambda _: {}
    headers: dict[str, str] = field(default_factory=dict)


def errors_told(content: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI is told about answers that are none."""
    why = {400: "There is nothing to tell.", 404: "Nothing here has that name.", 422: "That can't be asked."}
    return {status: {"description": text, "content": content} for status, text in why.items()}


def _address(request: Request) -> str:
    """The path and query as they came."""
    raw: bytes = request.scope.get("raw_path", request.url.path.encode())
    path = raw.decode("latin-1").partition("?")[0]
    return path + (f"?{request.url.query}" if request.url.query else "")
