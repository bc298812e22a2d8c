"""Who may look, and what a browser may do with what it gets: in front of every page."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, urlencode

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
SECTION_POLICY = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'").replace(
    "img-src 'self'", "img-src 'self' data: blob:"
)
"""Of pages with plots: these place what they draw by styles of elements, and save pictures; scripts are ours alone."""

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True)
class Refusal:
    """Why a request is not answered."""

    status: int
    message: str


Refuse = Callable[[Scope, Refusal], tuple[str, bytes]]
"""A refusal as a page, or as JSON: content type and body."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Guard:
    """An application that answers only whom it should, and only to read.

    Args:
        hosts: Names by which it may be called, so that no foreign name that points here reaches it; empty: any.
        token: What must be shown, in a cookie, an ``Authorization: Bearer`` header, or once as ``?token=``; None: none.
    """

    app: App
    refuse: Refuse
    hosts: tuple[str, ...] = ()
    token: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        send = _with_headers(send, without_body=scope["method"] == "HEAD")
        refusal = self._refusal(scope, headers)
        if refusal is None and self._shown_in_query(scope):
            await _redirect(scope, send, str(self.token))
        elif refusal is not None:
            await self._answer_refused(scope, send, refusal)
        else:
            await self.app({**scope, "method": "GET"}, receive, send)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> Refusal | None:
        if scope["method"] not in ("GET", "HEAD"):
            return Refusal(405, "Nothing can be changed here: only GET and HEAD are answered.")
        if self.hosts and name_in(headers.get("host", "")) not in self.hosts:
            return Refusal(403, f"This page is for this machine alone; call it by its address: {self.hosts[0]}.")
        if self.token is None or self._shown_in_query(scope) or self._shown(scope, headers):
            return None
        return Refusal(401, "Open the address that 'oodometer serve' printed: it has the token that is missing here.")

    def _shown(self, scope: Scope, headers: dict[str, str]) -> bool:
        """Whether the token is in the cookie, or in the header for programs."""
        given = headers.get("authorization", "")
        if given.lower().startswith("bearer ") and self._is_token(given[7:].strip()):
            return True
        cookies = (one.strip().partition("=") for one in headers.get("cookie", "").split(";"))
        return any(name == _cookie_of(scope) and self._is_token(value) for name, _, value in cookies)

    def _shown_in_query(self, scope: Scope) -> bool:
        return self.token is not None and any(
            name == "token" and self._is_token(value) for name, value in _query_of(scope)
        )

    def _is_token(self, given: str) -> bool:
        return self.token is not None and secrets.compare_digest(given.encode(), self.token.encode())

    async def _answer_refused(self, scope: Scope, send: Send, refusal: Refusal) -> None:
        kind, body = self.refuse(scope, refusal)
        headers = [("content-type", kind), ("content-length", str(len(body)))]
        headers += [("allow", "GET, HEAD")] if refusal.status == 405 else []
        headers += [("www-authenticate", "Bearer")] if refusal.status == 401 else []
        await _send_all(send, refusal.status, headers, body)


def name_in(host: str) -> str:
    """The name in a Host header, without the port.

    >>> name_in("LocalHost:8000"), name_in("[::1]:8000")
    ('localhost', '[::1]')
    """
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).lower().rstrip(".")


def _query_of(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)


def _cookie_of(scope: Scope) -> str:
    """The name of the cookie: browsers keep those of all ports of a machine together."""
    return f"oodometer_{(scope.get('server') or ('', ''))[1]}"


async def _redirect(scope: Scope, send: Send, token: str) -> None:
    """To the same page without the token, which a cookie has from then on."""
    rest = urlencode([(name, value) for name, value in _query_of(scope) if name != "token"])
    path = scope.get("raw_path", scope["path"].encode()).decode("latin-1").partition("?")[0]
    # Two slashes at the beginning would lead to another machine.
    where = "/" + path.lstrip("/\\") + (f"?{rest}" if rest else "")
    # Lax, so that links can be shared: followed from a mail, the cookie comes along, and nothing here can be changed.
    cookie = f"{_cookie_of(scope)}={token}; Path=/; HttpOnly; SameSite=Lax"
    await _send_all(send, 303, [("location", where), ("set-cookie", cookie), ("content-length", "0")], b"")


async def _send_all(send: Send, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
    encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


def _with_headers(send: Send, *, without_body: bool) -> Send:
    """The same, with the headers that keep a page safe; without the body for HEAD."""
    more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = list(message["headers"])
            known = {name.lower() for name, _ in own}
            added = [*more, (b"cache-control", b"no-store")]
            message = {**message, "headers": [*own, *(header for header in added if header[0] not in known)]}
        elif without_body and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return sending
