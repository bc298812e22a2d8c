"""What a form of a page sends, and where the browser goes afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Path, Query, Request
from fastapi.responses import RedirectResponse, Response

from oodometer.core.errors import UsageError
from oodometer.explorer.links import query_link
from oodometer.explorer.testset.access import Refused

KIND = "application/x-www-form-urlencoded"
MOST_FIELDS = 2000
MOST_NUMBER = 2**31 - 1
"""Of what is counted in a database."""

Number = Annotated[int, Path(ge=0, le=MOST_NUMBER)]
"""A number in the path of an address."""

MaybeNumber = Annotated[int | None, Query(ge=0, le=MOST_NUMBER)]
"""A number after the question mark of an address, or none."""


@dataclass(frozen=True)
class Sent:
    """The fields of a form; each may be there more than once."""

    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def one(self, name: str) -> str:
        """The value of a field; empty where there is none."""
        return self.fields.get(name, ("",))[-1].strip()

    def number(self, name: str) -> int:
        """A field that has a number of something."""
        text = self.one(name)
        if not (text.isascii() and text.isdigit() and len(text) <= len(str(MOST_NUMBER)) and int(text) <= MOST_NUMBER):
            raise UsageError(f"{name} {text[:40]!r}: expected a number up to {MOST_NUMBER:,}")
        return int(text)

    def all(self, name: str) -> tuple[str, ...]:
        """Every value of a field that is not empty."""
        return tuple(value for value in self.fields.get(name, ()) if value)


async def _sent(request: Request) -> Sent:
    """The form as browsers send it unless it has files: names and values as in an address."""
    content = await request.body()
    if content and request.headers.get("content-type", "").partition(";")[0] != KIND:
        raise Refused(415, "That is not what the form of this page sends.")
    try:
        pairs = parse_qsl(content.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise Refused(400, "The form can't be read.") from error
    fields: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:
        fields[name] = (*fields.get(name, ()), value)
    return Sent(fields)


Form = Annotated[Sent, Depends(_sent)]
"""A parameter of a page that takes a form."""


def go_to(path: str, *, at: str = "", **query: object) -> Response:
    """Lead the browser to another page of this server, maybe to a place in it."""
    address = query_link(path, **query)
    return RedirectResponse(f"{address}#{at}" if at else address, status_code=303)
