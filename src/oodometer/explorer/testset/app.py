"""The pages of a test set as an application: who may reach what, and errors as a sentence."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.routing import Route

from oodometer import __version__
from oodometer.build.testset.project.schema import sa
from oodometer.core.errors import OodometerError
from oodometer.explorer.guard import HEADERS, App, Message, Receive, Scope, Send, name_in
from oodometer.explorer.render import static_file
from oodometer.explorer.testset.access import (
    FOR_WORKERS,
    OWNER_COOKIE,
    WORKER_COOKIE,
    Refused,
    check_origin,
    is_owner,
    worker_of,
)
from oodometer.explorer.testset.pages import Pages, static_files

PAGES = ("overview", "annotate", "pairs", "review", "revisions", "quiz", "choose")
"""Modules of this package, each with ``add_to(app, pages)``."""

MOST_BYTES = 1_000_000
"""Of what somebody sends."""

SECONDS_UNTIL_AGAIN = 5
"""After which a page looks whether the database is back."""

AWAY = "The database is away, so nothing was kept. Go back, and try again in a moment."

SECONDS_OF_STATIC = 600
"""For which a browser does not ask for a script or style again."""

OWN_HEADERS = {**HEADERS, "referrer-policy": "same-origin", "cache-control": "no-store"}
"""With no referrer at all, browsers don't say either that a form of ours is from here."""

KEPT_SAFE = [(name.encode(), value.encode()) for name, value in OWN_HEADERS.items()]


def app_of(pages: Pages, *, hosts: tuple[str, ...] = (), owner: str | None = None) -> FastAPI:
    """The pages of a project.

    Args:
        hosts: Names by which it may be called; empty: any.
        owner: The token of whoever may review; None: everybody who reaches it, on this machine alone.
    """
    app = FastAPI(title="Oodometer test set", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(_Door, pages=pages, hosts=hosts, owner=owner)
    _add_static(app)
    for name in PAGES:
        import_module(f"oodometer.explorer.testset.{name}").add_to(app, pages)
    _add_errors(app, pages)
    return app


@dataclass(frozen=True)
class _Door:
    """In front of every page: who is let in, and what a browser may do with what it gets."""

    app: App
    pages: Pages
    hosts: tuple[str, ...]
    owner: str | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it in, or refuse."""
        if scope["type"] != "http":
            return
        request, send = Request(scope), _with_headers(send)
        try:
            self._check(request)
            answer = await self._with_cookie(request) or self.app
        except Refused as refused:
            answer = told(self.pages, request, refused.status, refused.message)
        except sa.exc.SQLAlchemyError:
            answer = away(self.pages, request)
        await answer(scope, receive, send)

    def _check(self, request: Request) -> None:
        headers = request.headers
        if self.hosts and name_in(headers.get("host", "")) not in self.hosts:
            raise Refused(403, f"Call this page by its address: {self.hosts[0]}.")
        check_origin(request.method, headers)
        if int(headers.get("content-length") or 0) > MOST_BYTES:
            raise Refused(413, "That is too much at once.")
        if "transfer-encoding" in headers:  # of a length that nobody says
            raise Refused(411, "Say how long it is.")
        if not request.url.path.startswith(FOR_WORKERS) and not is_owner(
            request.cookies.get(OWNER_COOKIE, ""), self.owner
        ):
            raise Refused(401, "Open the address that 'oodometer testset serve' printed: it has the owner's token.")

    async def _with_cookie(self, request: Request) -> Response | None:
        """An address with a token leads to the same one without, and the cookie has it from then on."""
        if request.method != "GET" or not request.url.query:
            return None
        for name, cookie in (("worker", WORKER_COOKIE), ("owner", OWNER_COOKIE)):
            token = request.query_params.get(name)
            if token is None:
                continue
            if name == "worker":
                await run_in_threadpool(worker_of, self.pages.project, token)
            elif not is_owner(token, self.owner):
                raise Refused(401, "That is not the owner's token.")
            # Two slashes at the beginning would lead to another machine.
            response = RedirectResponse("/" + request.url.path.lstrip("/\\"), status_code=303)
            # Lax: followed from a mail, the cookie comes along. Whatever changes something is asked where it is from.
            response.set_cookie(cookie, token, httponly=True, samesite="lax", max_age=90 * 24 * 3600)
            response.headers["referrer-policy"] = "no-referrer"  # no page is told an address with a token
            return response
        return None


def _with_headers(send: Send) -> Send:
    """The same, with the headers that keep a page safe, and none kept by a browser that does not say so."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = list(message["headers"])
            known = {name for name, _ in own}
            message = {**message, "headers": [*own, *(header for header in KEPT_SAFE if header[0] not in known)]}
        await send(message)

    return sending


def told(pages: Pages, request: Request, status: int, message: str) -> Response:
    """A sentence instead of a page: as JSON where a script asks."""
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"error": message}, status_code=status)
    return pages.page("error", {"title": "Not shown", "message": message}, status=status)


def away(pages: Pages, request: Request) -> Response:
    """A sentence when the database can't be asked; a page that only shows something looks again by itself."""
    again = request.method in ("GET", "HEAD")
    message = "The database is away; this page tries again." if again else AWAY
    answer = told(pages, request, 503, message)
    answer.headers["retry-after"] = str(SECONDS_UNTIL_AGAIN)
    if again:
        answer.headers["refresh"] = str(SECONDS_UNTIL_AGAIN)
    return answer


def _add_static(app: FastAPI) -> None:
    """Routes of the framework below: they are asked for more often than all others, and each check costs."""

    async def static(request: Request) -> Response:
        kind, content, digest = _static(request.path_params["name"])
        headers = {"cache-control": f"private, max-age={SECONDS_OF_STATIC}", "etag": digest}
        if request.headers.get("if-none-match") == digest:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=kind, headers=headers)

    async def icon(_: Request) -> Response:
        return Response(status_code=204)

    app.router.routes.append(Route("/static/{name}", static))
    app.router.routes.append(Route("/favicon.ico", icon))


@lru_cache(64)
def _static(name: str) -> tuple[str, bytes, str]:
    """The type, content and digest of a script or style."""
    kind, content = static_files().get(name) or static_file(name)
    return kind, content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def _add_errors(app: FastAPI, pages: Pages) -> None:
    def of_user(request: Request, error: Any) -> Response:
        return told(pages, request, 400, str(error))

    def of_http(request: Request, error: Any) -> Response:
        message = "There is no such page." if error.status_code == 404 else "That can't be done."
        return told(pages, request, error.status_code, message)

    def of_query(request: Request, error: Any) -> Response:
        wrong = error.errors()[0]
        return told(pages, request, 422, f"{wrong['loc'][-1]}: {wrong['msg']}.")

    def of_access(request: Request, error: Any) -> Response:
        return told(pages, request, error.status, error.message)

    def of_database(request: Request, _: Any) -> Response:
        return away(pages, request)

    def of_value(request: Request, _: Any) -> Response:
        return told(pages, request, 400, "No database keeps what was sent.")

    app.add_exception_handler(sa.exc.SQLAlchemyError, of_database)
    app.add_exception_handler(sa.exc.DataError, of_value)
    app.add_exception_handler(Refused, of_access)
    app.add_exception_handler(OodometerError, of_user)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(RequestValidationError, of_query)
