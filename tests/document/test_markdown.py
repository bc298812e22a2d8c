"""Markdown that shows what was meant, read by another program."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from oodometer.document.markdown import markdown_of


def read(source: str) -> list[list[str]]:
    """The cells of the only table, as a reader of Markdown shows them."""
    tokens = MarkdownIt("commonmark").enable("table").parse(source)
    assert sum(token.type == "table_open" for token in tokens) == 1
    assert not [token for token in tokens if token.type in ("html_block", "heading_open", "fence", "code_block")]
    rows: list[list[str]] = []
    inside = False
    for token in tokens:
        if token.type in ("table_open", "table_close"):
            inside = token.type == "table_open"
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and inside:
            kinds = {child.type for child in token.children}
            assert not kinds & {"link_open", "html_inline", "image", "code_inline"}, kinds
            rows[-1].append("".join(child.content for child in token.children))
    return rows


def test_names_come_back_as_they_were(hostile, names):
    rows = read(markdown_of(hostile))
    assert all(len(row) == 4 for row in rows)
    first = [row[0] for row in rows]
    printable = ["".join(letter if letter.isprintable() else " " for letter in name) for name in names]
    flat = [re.sub(r"\s+", " ", name).strip() for name in printable]
    assert first == ["Model", "cat_0 & co", *flat[:3], "one | two", *flat[3:]]


def test_as_it_is_written(four):
    clean = four.rows[0][2]
    lines = markdown_of(four).splitlines()
    assert lines[:4] == ["Accuracy.", "", "| Model | clean | new acc. | new ρ |", "| --- | ---: | ---: | ---: |"]
    assert lines[4].startswith(f"| a | **95.0** [{100 * clean.low:.1f}, {100 * clean.high:.1f}] | 60.0 [")
    assert lines[4].endswith(" | −35.0 |")
    assert "- n = 1,000 images." in lines


@pytest.mark.parametrize("link", ["https://example.org", "www.example.org", "HTTP://x.org"])
def test_addresses_do_not_become_links(table_of, link):
    source = markdown_of(table_of({link: (900, 500)}))
    found = re.findall(r"https?:|www\.", source, re.IGNORECASE)
    assert not found
    assert read(source)[1][0] == link
