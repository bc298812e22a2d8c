"""Errors as a page or as JSON of one sentence, whatever happens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from oodometer.core.errors import OodometerError
from oodometer.explorer.catalogue import UnknownName
from oodometer.explorer.guard import Refusal, Scope
from oodometer.explorer.links import JSON
from oodometer.explorer.render import html_of


def add_errors(app: FastAPI) -> None:
    """Answer each kind of error."""

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
    kind, body = refused(scope, refusal)
    return Response(body, status_code=refusal.status, media_type=kind)


def refused(scope: Mapping[str, Any], refusal: Refusal) -> tuple[str, bytes]:
    """Why nothing is shown: as JSON where that was asked for."""
    if scope["path"].endswith(JSON):
        return "application/json", json.dumps({"error": refusal.message}).encode()
    values = {"title": "Not shown", "message": refusal.message, "address": "", "status": refusal.status}
    page = html_of("error", {**values, "pages": [("/", "Leaderboard")], "fixed": None})
    return "text/html; charset=utf-8", page.encode()
