"""The explorer as an application: every page and its twin in JSON, behind the guard."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache, wraps
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from oodometer import __version__
from oodometer.core.errors import OodometerError
from oodometer.explorer import queries
from oodometer.explorer.catalogue import UnknownName
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.guard import Guard, Refusal, Scope
from oodometer.explorer.links import JSON
from oodometer.explorer.pages import compare as _compare
from oodometer.explorer.pages import image as _image
from oodometer.explorer.pages import images as _images
from oodometer.explorer.pages import leaderboard as _leaderboard
from oodometer.explorer.pages import model as _model
from oodometer.explorer.pages import picture as _picture
from oodometer.explorer.pages import shift as _shift
from oodometer.explorer.render import html_of, json_of, static_file
from oodometer.report.palette import looks_css

Page = Callable[..., dict[str, Any]]
Asked = tuple[tuple[str, Any], ...]

KEPT = 128
"""Answers to the same question that are kept, of each page."""

ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
"""How twins say in a sentence why they do not answer."""

OnPage = Annotated[int, Query(ge=1, le=1_000_000, description="Which page of the list.")]
On = Annotated[str | None, Query(description="The condition; by default a clean one.")]
Share = Annotated[float | None, Query(ge=0, le=1)]
Number = Annotated[int | None, Query(ge=0, le=2**31 - 1)]


def explorer_app(explorer: Explorer, *, hosts: tuple[str, ...] = (), token: str | None = None) -> Guard:
    """The pages over a store.

    Args:
        hosts: Names by which it may be called; empty: any.
        token: What a reader must show; None: nothing.
    """
    app = FastAPI(
        title="Oodometer explorer",
        version=__version__,
        description="What models of a store answer, by model, shift and image. Read-only.",
        docs_url=None,  # its page would fetch scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    _add_lists(app, explorer)
    _add_named(app, explorer)
    _add_images(app, explorer)
    _add_files(app, explorer)
    _add_errors(app)
    return Guard(app, _refused, hosts, token)


def warm(explorer: Explorer) -> None:
    """Make pages that many ask for, so that nobody waits for what is imported when it is first used."""
    first: dict[str, Callable[[], dict[str, Any]]] = {
        "compare": lambda: _compare.compare(explorer),
        "images": lambda: _images.images(explorer, _images.Filters()),
    }
    for template, page in first.items():
        with suppress(OodometerError):
            html_of(template, {**page(), "address": "", "pictures": False})


def _add_page(
    app: FastAPI, explorer: Explorer, path: str, template: str, page: Page, more: Page = lambda **_: {}
) -> None:
    """A page as HTML, and its values as JSON under the same path with ``.json``.

    Args:
        more: What the template needs besides, from the same arguments: drawings.
    """

    # Kept as long as nothing changes: what many look at is made once.
    @lru_cache(KEPT)
    def json_body(state: object, asked: Asked) -> bytes:  # noqa: ARG001
        return json_of(page(**dict(asked)))

    @lru_cache(KEPT)
    def html_body(state: object, asked: Asked, address: str) -> bytes:  # noqa: ARG001
        values = {**page(**dict(asked)), **more(**dict(asked))}
        shared = {"address": address, "pictures": explorer.picture is not None, "progress": explorer.progress()}
        return html_of(template, {**values, **shared}).encode()

    @wraps(page)
    def as_json(**asked: Any) -> Response:
        return Response(json_body(explorer.state(), tuple(asked.items())), media_type="application/json")

    @wraps(page)
    def as_html(request: Request, **asked: Any) -> Response:
        return HTMLResponse(html_body(explorer.state(), tuple(asked.items()), _address(request)))

    # What is asked is read off the signatures; wrapped functions have none of their own.
    signature = inspect.signature(page, eval_str=True)
    request = inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY, annotation=Request)
    as_json.__signature__ = signature.replace(return_annotation=dict[str, Any])  # type: ignore[attr-defined]
    as_html.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), request], return_annotation=Response
    )
    app.get(path + JSON, response_model=dict[str, Any], responses=_errors({"application/json": {"schema": ERROR}}))(
        as_json
    )
    app.get(path, include_in_schema=False, response_model=None)(as_html)


def _errors(content: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI is told about answers that are none."""
    why = {400: "There is nothing to tell.", 404: "Nothing here has that name.", 422: "That can't be asked."}
    return {status: {"description": text, "content": content} for status, text in why.items()}


def _address(request: Request) -> str:
    """The path and query as they came."""
    raw: bytes = request.scope.get("raw_path", request.url.path.encode())
    path = raw.decode("latin-1").partition("?")[0]
    return path + (f"?{request.url.query}" if request.url.query else "")


def _add_lists(app: FastAPI, explorer: Explorer) -> None:
    def leaderboard(
        *, shift: Annotated[str | None, Query(description="Under which robustness is told.")] = None
    ) -> dict[str, Any]:
        """All models on every condition, the best first, and their robustness under a shift."""
        return _leaderboard.leaderboard(explorer, shift=shift)

    def compare(
        *,
        a: Annotated[str | None, Query(description="A model.")] = None,
        b: Annotated[str | None, Query(description="The model that is compared with it.")] = None,
        on: On = None,
        show: Annotated[str, Query(description=f"The images listed: {', '.join(queries.SIDES)}.")] = "only_a",
        page: OnPage = 1,
    ) -> dict[str, Any]:
        """Two models on the images that both saw: the difference, and what one gets right and the other wrong."""
        return _compare.compare(explorer, a=a or None, b=b or None, on=on or None, show=show, page=page)

    def glance(*, shift: str | None = None) -> dict[str, Any]:  # noqa: ARG001 - the same whatever is chosen below
        return _leaderboard.glance(explorer)

    _add_page(app, explorer, "/", "leaderboard", leaderboard, glance)
    _add_page(app, explorer, "/compare", "compare", compare)


def _add_named(app: FastAPI, explorer: Explorer) -> None:
    """Pages whose names stand in the path; in the query those that can't."""

    def model(*, name: str, on: On = None) -> dict[str, Any]:
        """A model: what it is, its accuracies, its robustness, its classes."""
        return _model.model(explorer, name, on=on or None)

    def shift(*, name: str) -> dict[str, Any]:
        """A shift: every model on both sides, and the line."""
        return _shift.shift(explorer, name)

    def drawing(*, name: str) -> dict[str, Any]:
        return {"scatter": _shift.drawing(explorer, name)}

    for path in ("/model/{name:path}", "/model"):
        _add_page(app, explorer, path, "model", model)
    for path in ("/shift/{name:path}", "/shift"):
        _add_page(app, explorer, path, "shift", shift, drawing)


def _add_images(app: FastAPI, explorer: Explorer) -> None:
    def images(
        *,
        on: On = None,
        model: Annotated[str | None, Query(description="Whose answers are shown.")] = None,
        class_: Annotated[str | None, Query(alias="class", description="The true class.")] = None,
        answer: Annotated[Literal["", "right", "wrong"] | None, Query(description="Of the model.")] = None,
        sure_from: Share = None,
        sure_to: Share = None,
        right_from: Number = None,
        right_to: Number = None,
        order: Annotated[str, Query(description=f"One of {', '.join(queries.ORDERS)}.")] = "hardest",
        page: OnPage = 1,
    ) -> dict[str, Any]:
        """Images by class, condition, confidence, right or wrong, and how many models are right."""
        filters = _images.Filters(
            on or None, model or None, class_ or None, answer or None, sure_from, sure_to, right_from, right_to, order
        )
        return _images.images(explorer, filters, page=page)

    def image(
        *,
        data: Annotated[str, Query(description="The data set.")],
        id_: Annotated[str, Query(alias="id", description="The image in it.")],
        on: On = None,
    ) -> dict[str, Any]:
        """An image: all models' answers under all conditions."""
        return _image.image(explorer, data=data, id_=id_, on=on or None)

    _add_page(app, explorer, "/images", "images", images)
    _add_page(app, explorer, "/image", "image", image)


def _add_files(app: FastAPI, explorer: Explorer) -> None:
    @app.get("/progress" + JSON, response_model=dict[str, Any])
    def progress() -> dict[str, Any]:
        """How far what is computed in the background is; nothing where all is computed."""
        explorer.catalogue()
        found = explorer.progress()
        return {"computing": found.as_json() if found else None}

    told = {200: {"content": {"image/png": {}}}, **_errors({"text/html": {}})}

    @app.get("/picture", response_class=Response, responses=told)
    def picture(
        data: str,
        id_: Annotated[str, Query(alias="id")],
        on: str,
        size: Literal["small", "large"] = "small",
    ) -> Response:
        """An image as it was shown under a condition, as PNG."""
        content = _picture.picture(explorer, data=data, id_=id_, on=on, size=size)
        return Response(content, media_type="image/png", headers={"cache-control": "private, max-age=3600"})

    @app.get("/static/looks.css", include_in_schema=False)
    def looks() -> Response:
        return Response(looks_css(_shift.categories(explorer)), media_type="text/css")

    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        kind, content = static_file(name)
        return Response(content, media_type=kind, headers={"cache-control": "no-cache"})

    @app.get("/favicon.ico", include_in_schema=False)
    def icon() -> Response:
        return Response(status_code=204)


# Errors: a page or JSON of one sentence, whatever happens.


def _add_errors(app: FastAPI) -> None:
    def of_user(request: Request, error: Exception) -> Response:
        return _error(request.scope, Refusal(404 if isinstance(error, UnknownName) else 400, str(error)))

    def of_http(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        return _error(
            request.scope, Refusal(status, "There is no such page." if status == 404 else "That can't be done.")
        )

    def of_query(request: Request, error: Exception) -> Response:
        wrong = error.errors()[0] if isinstance(error, RequestValidationError) else {"loc": ("",), "msg": str(error)}
        return _error(request.scope, Refusal(422, f"{wrong['loc'][-1]}: {wrong['msg']}."))

    def of_ours(request: Request, error: Exception) -> Response:
        what = f"{type(error).__name__} in the program"
        return _error(request.scope, Refusal(500, f"This page can't be shown ({what}): please report it."))

    app.add_exception_handler(OodometerError, of_user)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(RequestValidationError, of_query)
    app.add_exception_handler(Exception, of_ours)


def _error(scope: Scope, refusal: Refusal) -> Response:
    kind, body = _refused(scope, refusal)
    return Response(body, status_code=refusal.status, media_type=kind)


def _refused(scope: Mapping[str, Any], refusal: Refusal) -> tuple[str, bytes]:
    """Why nothing is shown: as JSON where that was asked for."""
    if scope["path"].endswith(JSON):
        return "application/json", json.dumps({"error": refusal.message}).encode()
    page = html_of("error", {"title": "Not shown", "message": refusal.message, "address": "", "status": refusal.status})
    return "text/html; charset=utf-8", page.encode()
