"""Who may do what: workers with a token of their own may answer; the owner of the project sees and decides the rest.

A worker's address has the token once; a cookie has it from then on, which no other site can send along. What changes
anything is asked for by POST from a page of this server alone.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from oodometer.build.testset.project.annotators import digest_of_token
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import WORKER, sa

FOR_WORKERS = ("/annotate", "/choose", "/quiz", "/shown/", "/static/")
"""Where paths begin that are not the owner's."""

WORKER_COOKIE, OWNER_COOKIE = "oodometer_worker", "oodometer_owner"


@dataclass(eq=False)  # not frozen: whoever passes an exception on notes in it where it was
class Refused(Exception):  # noqa: N818 - it is an answer
    """Why a request is not answered."""

    status: int
    message: str


def worker_of(project: Project, token: str) -> int:
    """The number of the worker with this token; refused where there is none, or they are blocked."""
    query = sa.select(WORKER.c.id, WORKER.c.blocked).where(WORKER.c.token == digest_of_token(token))
    for row in project.database.rows(query):
        if row.blocked:
            raise Refused(403, "This address is no longer in use. Thank you for your work so far.")
        return int(row.id)
    raise Refused(401, "Open the whole address that you were given: a part of it is missing here, or is another.")


def is_owner(given: str, token: str | None) -> bool:
    """Whether this is the owner's token; without one, on this machine alone, everybody is."""
    return token is None or secrets.compare_digest(given.encode(), token.encode())


def check_origin(method: str, headers: Mapping[str, str]) -> None:
    """Refuse a change that another site asks for in somebody's name."""
    if method in ("GET", "HEAD"):
        return
    said = headers.get("origin") or headers.get("referer") or ""
    if said and urlsplit(said).netloc != headers.get("host", ""):
        raise Refused(403, "This was asked for by another site.")
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Refused(403, "This was asked for by another site.")
