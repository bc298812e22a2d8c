"""The page: one file, nothing from elsewhere, and nothing in it but what was meant."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from oodometer.core.errors import UsageError
from oodometer.document.html_environment import json_in_html
from oodometer.document.section import Pictures, Plot, Section, Words
from oodometer.document.table import Column, Table
from oodometer.report.html.page import SECTIONS, page_html, write_report

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028'\"&"

SCRIPTS = re.compile(r"<script>(.*?)</script>", flags=re.DOTALL)
PACKED = re.compile(r'<script type="text/plain" id="oodometer-plotly">(.*?)</script>', flags=re.DOTALL)


def run_scripts(page: str) -> list[str]:
    """What is run on the page: plotly, unpacked, from the moment when a plot is drawn."""
    packed = [gzip.decompress(base64.b64decode(text)).decode() for text in PACKED.findall(page)]
    return [*SCRIPTS.findall(page), *packed]


class Reader(HTMLParser):
    """What is in a page: tags with their attributes, and scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script" and "type" not in self.tags[-1][1]:
            self.scripts.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def hostile_sections() -> list[Section]:
    table = Table(
        "t", HOSTILE, (Column(HOSTILE, about=HOSTILE), Column("n", "count")), ((HOSTILE, 1),), filters=HOSTILE
    )
    folded = Table("f", HOSTILE, table.columns, table.rows, folded=True)
    pictures = Pictures("p", HOSTILE, (("data:image/png;base64,AAAA", HOSTILE, (HOSTILE,)),))
    plot = Plot("plot", HOSTILE, "scatter", {HOSTILE: HOSTILE}, table=folded)
    kinds = ("paragraphs", "list", "commands", "note")
    words = [Words((HOSTILE,), kind) for kind in kinds]  # type: ignore[arg-type]
    return [Section("s", HOSTILE, (HOSTILE,), (table, plot, pictures, *words), short=HOSTILE)]


@pytest.fixture(scope="module")
def page() -> str:
    return page_html(hostile_sections(), [HOSTILE, "standard"], title=HOSTILE, facts=HOSTILE)


def test_nothing_that_was_given_becomes_a_tag(page: str) -> None:
    read = Reader(page)
    assert [one["src"] for one in read.of("img")] == ["data:image/png;base64,AAAA"]
    assert not any("onerror" in attributes for _, attributes in read.tags)
    assert not any("alert(1)" in script for script in read.scripts)


def test_every_script_is_allowed_by_its_digest_and_no_other_is(page: str) -> None:
    read = Reader(page)
    policy = next(one["content"] for one in read.of("meta") if one.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    allowed = set(re.findall(r"'sha256-([^']+)'", policy))
    scripts = run_scripts(page)
    assert {base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in scripts} == allowed
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "script-src 'unsafe-inline'" not in policy


def test_it_asks_for_nothing_from_elsewhere(page: str) -> None:
    for tag, attributes in Reader(page).tags:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            address = attributes.get(name) or ""
            assert address.startswith(("#", "data:")) or not address, (tag, address)


def test_what_scripts_read_is_json_again(page: str) -> None:
    found = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, flags=re.DOTALL)
    assert {HOSTILE: HOSTILE} in [json.loads(one) for one in found]
    assert len(found) == 4  # table, folded table, plot, looks


def test_json_in_html_ends_no_script() -> None:
    text = json_in_html([HOSTILE, float("nan"), "<!--"])
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == [HOSTILE, None, "<!--"]


def test_the_same_sections_make_the_same_bytes(page: str) -> None:
    assert page_html(hostile_sections(), [HOSTILE, "standard"], title=HOSTILE, facts=HOSTILE) == page


def test_plotly_comes_once_and_only_where_there_is_a_plot(page: str) -> None:
    assert sum(len(script) > 2_000_000 for script in run_scripts(page)) == 1
    words = page_html([Section("s", "S", (), (Words(("w",)),))], [], title="T")
    assert len(words) < 100_000


def test_headings_are_linked_and_regions_named(page: str) -> None:
    read = Reader(page)
    assert {"href": "#s"} in read.of("a")
    assert {"aria-labelledby": "s", "style": "--leads:1"} in read.of("section")
    assert [one.get("scope") for one in read.of("th")] == ["col", "col", "row"]
    assert all(one.get("alt") == HOSTILE for one in read.of("img"))
    assert read.of("html") == [{"lang": "en"}]


def test_a_folded_table_and_hidden_columns_are_in_the_data_alone() -> None:
    columns = (Column("model"), Column("secret", "percent", hidden=True))
    table = Table("t", "Shown.", columns, (("a", 0.123456),))
    page = page_html([Section("s", "S", (), (table,))], [], title="T")
    assert "12.3" not in page
    assert '["a",0.123456]' in page


def test_every_section_has_a_module() -> None:
    folder = Path(__file__).parents[3] / "src" / "oodometer" / "report" / "html" / "sections"
    for name in SECTIONS:
        assert (folder / f"{name}.py").is_file()


def test_a_report_is_written_whole(tmp_path: Path) -> None:
    place = tmp_path / "report.html"
    place.write_text("older")
    assert write_report("<p>é</p>", place) == 9
    assert place.read_text("utf-8") == "<p>é</p>"
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_a_place_that_is_not_there_is_said_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"missing/report\.html: can't be written .*-o"):
        write_report("x", tmp_path / "missing" / "report.html")
