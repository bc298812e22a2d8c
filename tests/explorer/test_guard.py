"""Who may look at the pages, and what a browser may do with them."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from oodometer.explorer.app import explorer_app
from oodometer.explorer.guard import HEADERS

TOKEN = "a-token-that-nobody-knows"
COOKIE = "oodometer_8000"
"""Of an explorer at that port."""


@pytest.fixture
def guarded(guarded_by):
    return guarded_by(token=TOKEN)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_nothing_can_be_changed(pages, method):
    answer = pages.request(method, "/")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    assert "Nothing can be changed here" in answer.text


@pytest.mark.parametrize("path", ["/", "/.json", "/model/plain", "/nothing", "/static/theme.js", "/images?page=0"])
def test_every_answer_has_the_headers(pages, path):
    answer = pages.get(path)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert "unsafe-inline" not in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] in ("no-store", "no-cache")


def test_no_page_needs_what_the_headers_forbid(pages):
    for path in ("/", "/model/plain", "/shift/sketch", "/compare", "/images", "/image?data=val&id=ünï"):
        text = pages.get(path).text
        assert "<script>" not in text
        assert " style=" not in text
        assert "<style" not in text
        assert " onclick=" not in text


def test_head_is_get_without_the_body(pages):
    answer, whole = pages.head("/model/plain"), pages.get("/model/plain")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == whole.headers["content-length"]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("127.0.0.1:8000", 200),
        ("LOCALHOST:8000", 200),
        ("[::1]:8000", 200),
        ("evil.example", 403),
        ("evil.example:8000", 403),
        ("127.0.0.1.evil.example", 403),
        ("", 403),
    ],
)
def test_a_foreign_name_that_points_here_is_refused(guarded_by, host, status):
    pages = guarded_by(hosts=("127.0.0.1", "localhost", "[::1]"))
    for path in ("/model/plain", "/model/plain.json", "/static/theme.js"):
        assert pages.get(path, headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    "path", ["/", "/.json", "/picture?data=val&id=x&on=clean", "/static/theme.js", "/openapi.json"]
)
def test_without_the_token_nothing_is_shown(guarded, path):
    for answer in (
        guarded.get(path),
        guarded.get(path, params={"token": "another"}),
        guarded.get(path, params={"token": ""}),
        guarded.get(path, headers={"cookie": f"{COOKIE}=another"}),
        guarded.get(path, headers={"cookie": 'x="; $$$'}),
        guarded.get(path, headers={"authorization": "Bearer another"}),
        guarded.get(path, headers={"authorization": f"Basic {TOKEN}"}),
    ):
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert "plain" not in answer.text.replace("text/plain", "")
        assert TOKEN not in answer.text


def test_the_token_in_the_address_becomes_a_cookie(guarded):
    answer = guarded.get("/images", params={"on": "sketch", "token": TOKEN, "class": "cat"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/images?on=sketch&class=cat")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}={TOKEN};")
    # Lax: with Strict, who follows a link from a mail would be sent on without the cookie, and refused.
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= {one.strip() for one in cookie.split(";")}
    assert guarded.get(answer.headers["location"]).status_code == 200  # the client keeps the cookie


@pytest.mark.parametrize("others", ['x={"a": 1}; ', "x; ", "a=b=c; ", "é=é; ", 'x="; '])
def test_cookies_of_others_are_no_hindrance(guarded, others):
    answer = guarded.get("/", headers={"cookie": f"{others}{COOKIE}={TOKEN}".encode()})
    assert answer.status_code == 200


def test_two_explorers_of_one_machine_have_a_cookie_each(explorer):
    """Browsers keep cookies by machine, not by port."""
    ports = [TestClient(explorer_app(explorer, token=TOKEN), base_url=f"http://10.0.0.1:{port}") for port in (1, 2)]
    names = {one.get(f"/?token={TOKEN}", follow_redirects=False).headers["set-cookie"].split("=")[0] for one in ports}
    assert len(names) == 2


def test_programs_show_the_token_in_a_header(guarded):
    assert guarded.get("/.json", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


@pytest.mark.parametrize("path", ["//evil.example/", "///evil.example", "/\\evil.example", "//evil.example/%2e%2e"])
def test_the_token_leads_to_no_other_machine(guarded, path):
    answer = guarded.get(f"http://127.0.0.1:8000{path}?token={TOKEN}")
    assert answer.status_code == 303
    where = answer.headers["location"]
    assert where.startswith("/")
    assert not where.startswith(("//", "/\\"))


def test_a_name_with_line_breaks_adds_no_header(guarded):
    answer = guarded.get(f"/model/a%0d%0aset-cookie:%20x=y?token={TOKEN}")
    assert answer.status_code == 303
    assert "x=y" not in answer.headers["set-cookie"]
