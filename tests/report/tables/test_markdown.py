"""Markdown that shows what was meant, read by another program."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from oodometer.analysis.origins import Origin
from oodometer.report.tables import TableOptions, leaderboard_table, markdown_of


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


def test_names_come_back_as_they_were(study, names):
    origins = {name: Origin("one | two") for name in names[:2]}
    made = study({name: (900 - 100 * place, 500) for place, name in enumerate(names)}, origins=origins)
    table = leaderboard_table(made, TableOptions(columns=("clean", "accuracy")))
    rows = read(markdown_of(table))
    assert all(len(row) == 3 for row in rows)
    first = [row[0] for row in rows]
    assert first[0] == "model"
    printable = ["".join(one if one.isprintable() else " " for one in name) for name in names]
    flat = [re.sub(r"\s+", " ", name).strip() for name in printable]
    assert sorted(first[1:]) == sorted([*flat, "standard", "one | two"])


def test_as_it_is_written(four):
    clean = four.conditions[0].accuracies["a"]
    lines = markdown_of(leaderboard_table(four, TableOptions(columns=("clean", "accuracy")))).splitlines()
    assert lines[0] == "Top-1 accuracy of each model in per cent, clean and under shift."
    assert lines[2:4] == ["| model | clean | new acc. |", "| --- | ---: | ---: |"]
    assert lines[4].startswith(f"| a | **95.0** [{100 * clean.low:.1f}, {100 * clean.high:.1f}] | 60.0 [")
    assert "- n = 1,000 images." in lines


@pytest.mark.parametrize("link", ["https://example.org", "www.example.org", "HTTP://x.org"])
def test_addresses_do_not_become_links(study, link):
    source = markdown_of(leaderboard_table(study({link: (900, 500)}), TableOptions(columns=("clean",))))
    found = re.findall(r"https?:|www\.", source, re.IGNORECASE)
    assert not found
    assert read(source)[1][0] == link
