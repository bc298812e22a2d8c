"""Pages as HTML and as JSON, from the same plain values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from markupsafe import Markup, escape

from oodometer.analysis.judged_pair import p_text
from oodometer.core.extras import import_extra
from oodometer.document.html_environment import environment_of
from oodometer.document.html_table import plain
from oodometer.document.numbers import bounds, value_text, with_interval
from oodometer.document.table import Table
from oodometer.explorer.catalogue import UnknownName
from oodometer.explorer.links import path_link, query_link, twin
from oodometer.report.palette import UNKNOWN

PLOTLY = "plotly.js"
STATIC = {"oodometer.report.html": "static", "oodometer.document": "static", "oodometer.explorer": "static"}
"""Packages with scripts and styles, and the folder of these."""

TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}


def html_of(template: str, values: Mapping[str, Any]) -> str:
    """A page."""
    page: str = environment().get_template(f"{template}.html.j2").render(values)
    return page


@lru_cache(1)
def environment() -> Any:
    """The templates, in which everything is escaped."""
    made = environment_of("oodometer.explorer", extra="web", what="pages")
    made.globals.update(link=query_link, page_of=path_link, twin=twin, options=options)
    made.filters.update(written=value_text, bounds=bounds, with_interval=with_interval)
    made.filters.update(in_kinds=in_kinds, p_text=p_text)
    return made


@lru_cache(1)
def static_names() -> dict[str, Any]:
    """The name of every script and style to its file."""
    folders = [files(package).joinpath(folder) for package, folder in STATIC.items()]
    return {place.name: place for folder in folders for place in folder.iterdir() if _ending(place.name) in TYPES}


def static_file(name: str) -> tuple[str, bytes]:
    """The type and content of a script or style; of these names and no others."""
    if name == PLOTLY:
        return TYPES["js"], _plotly()
    if name not in static_names():
        raise UnknownName(f"no such file: {name}")
    return TYPES[_ending(name)], static_names()[name].read_bytes()


def _ending(name: str) -> str:
    return name.rpartition(".")[2]


@lru_cache(1)
def _plotly() -> bytes:
    """As its Python package brings it."""
    script: str = import_extra("plotly.offline", extra="report", what="plots").get_plotlyjs()
    return script.encode()


def category_of(category: str) -> str:
    """What a category is called on pages.

    >>> category_of("more_data"), category_of("")
    ('more data', 'category unknown')
    """
    return category.replace("_", " ") or UNKNOWN


def options(names: Iterable[str], chosen: str | None, whichever: str = "") -> Markup:
    """The options of a choice, of which one is chosen.

    >>> options(["a", "b"], "b")
    Markup('<option value="a">a</option><option value="b" selected>b</option>')
    """
    text, places = _options(tuple(names), whichever)
    at = places.get(chosen)
    return Markup(text if at is None else f"{text[:at]} selected{text[at:]}")


@lru_cache(64)
def _options(names: tuple[str, ...], whichever: str) -> tuple[str, Mapping[str | None, int]]:
    """The options, and behind which sign of them that one is chosen is said; a thousand classes stand on many pages."""
    text = f'<option value="">{escape(whichever)}</option>' if whichever else ""
    places: dict[str | None, int] = {}
    parts = [text]
    length = len(text)
    for name in names:
        shown = str(escape(name))
        begin, end = f'<option value="{shown}"', f">{shown}</option>"
        places[name] = length + len(begin)
        parts.append(begin + end)
        length += len(begin) + len(end)
    return "".join(parts), places


def in_kinds(conditions: Sequence[Mapping[str, Any]]) -> list[tuple[tuple[str, str], list[Mapping[str, Any]]]]:
    """Corrupted conditions together by family and corruption, in the order they come."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for one in conditions:
        found.setdefault((one["corrupted"].name, one["corrupted"].corruption), []).append(one)
    return list(found.items())


def json_of(value: Any) -> bytes:
    """Plain values and dataclasses as JSON; what is not a number is null.

    >>> from oodometer.core.estimate import Estimate
    >>> json_of({"a": (Estimate(0.5, None, None, 4, "none"), float("nan"))})
    b'{"a": [{"value": 0.5, "low": null, "high": null, "n": 4, "interval": "none"}, null]}'
    """
    try:
        text = json.dumps(value, default=_as_plain, ensure_ascii=False, allow_nan=False)
    except ValueError:  # some number is none: rare, and looked for only then
        text = json.dumps(plain(json.loads(json.dumps(value, default=_as_plain))), ensure_ascii=False, allow_nan=False)
    return text.encode()


def _as_plain(value: Any) -> Any:
    if isinstance(value, Table):
        return value.as_json()
    if hasattr(value, "tolist"):
        return value.tolist()
    return {name: one for name, one in vars(value).items() if not name.startswith("_")}
