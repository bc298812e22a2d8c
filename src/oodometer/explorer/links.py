"""Addresses of pages: any name can stand in one, and none is ever taken for a path.

A name stands in the path where that is sure to arrive as it is (``/model/NAME``), and in the query elsewhere
(``/model?name=NAME``): browsers resolve ``.`` and ``..`` however they are written, some servers decode ``%`` twice, and
``.json`` at the end asks for the numbers.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import quote

JSON = ".json"


def path_link(kind: str, name: str, **query: object) -> str:
    """The page of a name: ``model`` or ``shift``.

    >>> path_link("model", "a/b c"), path_link("model", ".."), path_link("shift", "x.json")
    ('/model/a%2Fb%20c', '/model?name=..', '/shift?name=x.json')
    """
    if name in ("", ".", "..") or "%" in name or name.endswith(JSON):
        return query_link(f"/{kind}", name=name, **query)
    return query_link(f"/{kind}/{_quoted(name)}", **query)


def query_link(path: str, **query: object) -> str:
    """A page with what is asked of it, in a fixed order, so that a page has one address; what is None is not asked.

    >>> query_link("/images", page=2, on="fog/3", model=None)
    '/images?on=fog%2F3&page=2'
    """
    asked = [
        f"{_quoted(name.rstrip('_'))}={_quoted(str(value))}"
        for name, value in sorted(query.items())
        if value not in (None, "")
    ]
    return f"{path}?{'&'.join(asked)}" if asked else path


@lru_cache(65536)
def _quoted(text: str) -> str:
    """As it stands in an address; pages have the same names hundreds of times."""
    return quote(text, safe="")


def twin(address: str) -> str:
    """The same numbers as JSON.

    >>> twin("/model/a?on=clean"), twin("/")
    ('/model/a.json?on=clean', '/.json')
    """
    path, mark, query = address.partition("?")
    return f"{path}{JSON}{mark}{query}"
